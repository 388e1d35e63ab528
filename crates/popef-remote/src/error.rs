//! Failures between this machine and a store, and what to do about them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popef::error::{ErrorCode, SourceError};
use popef::read::ReadAt;
use popef::{Error, File, OpenOptions};

/// Why a file on another machine could not be read.
///
/// The text says what happened, what the server said, and what to try. It does not repeat the [location](Self::location).
#[derive(Clone, Debug)]
pub struct RemoteError {
    code: Code,
    location: String,
    /// The details, in words without secrets.
    found: String,
    status: Option<u16>,
    /// The leftovers of the failed work.
    left: Option<String>,
}

macro_rules! codes {
    ($($name:ident, $text:literal, $kind:ident, $what:literal, $advice:literal;)*) => {
        /// What kind of failure it is. The names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $what] $name,)* }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The name for programs.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// The nearest kind of the standard library's errors.
            pub fn io_kind(self) -> io::ErrorKind {
                match self { $(Code::$name => io::ErrorKind::$kind,)* }
            }

            /// The library's nearest code.
            pub fn nearest(self) -> ErrorCode {
                match self {
                    Code::NotFound | Code::NoMatch => ErrorCode::NotFound,
                    Code::Denied | Code::NoCredentials => ErrorCode::PermissionDenied,
                    Code::Changed => ErrorCode::FileChanged,
                    Code::Exists => ErrorCode::FileExists,
                    Code::Stopped => ErrorCode::Stopped,
                    _ => ErrorCode::Io,
                }
            }

            /// What happened.
            pub fn what(self) -> &'static str {
                match self { $(Code::$name => $what,)* }
            }

            /// What to do about it.
            pub fn advice(self) -> &'static str {
                match self { $(Code::$name => $advice,)* }
            }
        }
    };
}

codes! {
    Url, "remote-url", InvalidInput, "the address cannot be used",
        "give s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, https://HOST/PATH, hf://OWNER/NAME/PATH or file:///PATH";
    Output, "remote-output", InvalidInput, "no object can be written there",
        "give an object in a bucket: s3://BUCKET/KEY, gs://BUCKET/KEY or az://CONTAINER/KEY";
    NotFound, "remote-not-found", NotFound, "there is no such object",
        "look at the spelling of the bucket and the key";
    Denied, "remote-denied", PermissionDenied, "the store refuses access",
        "give credentials in the environment (docs/REMOTE.md has the variables of each store), or --header for https";
    NoCredentials, "remote-no-credentials", PermissionDenied, "no credentials were found",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_SERVICE_ACCOUNT, or AZURE_STORAGE_ACCOUNT_NAME and \
         AZURE_STORAGE_ACCOUNT_KEY; for a public bucket AWS_SKIP_SIGNATURE=true, GOOGLE_SKIP_SIGNATURE=true or \
         AZURE_SKIP_SIGNATURE=true";
    Region, "remote-region", InvalidInput, "the bucket is in another region",
        "give its region with --region or AWS_REGION";
    Changed, "remote-changed", Other, "the object was changed while it was read",
        "try again when nobody writes to it";
    NoRanges, "remote-no-ranges", Unsupported, "the server cannot send parts of a file",
        "download the file first";
    Page, "remote-page", InvalidData, "the server sent a web page and not a file",
        "look at the address in a browser; if that asks who you are, give --header, such as \"Authorization: Bearer ...\"";
    WrongRange, "remote-wrong-range", InvalidData, "the server sent another range than was asked for",
        "try again without the proxy or cache in between, or download the file first";
    Encoded, "remote-encoded", InvalidData, "the server changed the encoding of the file",
        "turn off compression in the server, or in the proxy in between";
    Malformed, "remote-malformed", InvalidData, "the server's answer breaks the rules of HTTP",
        "look at the server, or at the proxy in between; or download the file first";
    Cut, "remote-cut", ConnectionAborted, "the answer ended too early",
        "try again; if it happens again, a proxy in between may cut answers";
    Redirect, "remote-redirect", InvalidInput, "the redirect was not followed",
        "look at where the server redirects, and give another address if you trust it";
    Http, "remote-http", InvalidInput, "http protects neither the data nor secrets",
        "use https, or allow http with --allow-http";
    Timeout, "remote-timeout", TimedOut, "the server took too long",
        "try again, or look at the network and the proxy";
    Connect, "remote-connect", NotConnected, "cannot connect to the server",
        "look at the address, the network, and HTTPS_PROXY and NO_PROXY";
    Tls, "remote-tls", NotConnected, "there is no safe connection to the server",
        "if its certificate is from an authority of your own, name that in SSL_CERT_FILE";
    Busy, "remote-busy", Other, "the server could not answer",
        "try again later";
    Refused, "remote-refused", InvalidInput, "the server refused the request",
        "look at the address and at what the server says";
    Stopped, "remote-stopped", Interrupted, "the work was stopped",
        "start it again";
    NoMatch, "remote-no-match", NotFound, "no object fits",
        "look at the pattern: * stays within a folder, ** does not";
    Exists, "remote-exists", AlreadyExists, "there is an object with that name",
        "choose another name, or allow with --force that it is replaced";
    NoCondition, "remote-no-condition", Unsupported, "the object cannot be replaced safely",
        "write to another name with -o, and compare before you replace it";
    Unsure, "remote-unsure", Other, "it is not known whether the object was written",
        "look at the object, and write it again if it is not the new one";
    Local, "remote-local", Other, "the new file could not be read on this machine",
        "look at the disk that has the temporary files";
    Settings, "remote-settings", InvalidInput, "a setting of the store is wrong",
        "correct the option or the variable";
    Listing, "remote-listing", Other, "the listing of the bucket is too long",
        "give a longer prefix, or name the objects";
    Key, "remote-key", InvalidInput, "the bucket has a key that cannot be read",
        "name objects one by one, or give a prefix or a pattern without such keys";
    Other, "remote-failed", Other, "the store could not be used",
        "look at the settings of the store (docs/REMOTE.md)";
}

impl RemoteError {
    pub(crate) fn new(code: Code, location: String, found: impl Into<String>) -> Self {
        RemoteError { code, location, found: found.into(), status: None, left: None }
    }

    pub(crate) fn with_status(mut self, status: Option<u16>) -> Self {
        self.status = status;
        self
    }

    /// With what is left of the work.
    pub(crate) fn leaving(mut self, what: String) -> Self {
        self.left = Some(what);
        self
    }

    /// Whether the store says that there is no such bucket.
    pub(crate) fn is_of_bucket(&self) -> bool {
        matches!(&*self.found, "NoSuchBucket" | "ContainerNotFound")
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Where the file is, without secrets. Empty if the error is not about a file.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The status of the server's last answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        self.code.advice()
    }

    /// The error of this crate behind an error of the library, if there is one.
    pub fn of(error: &Error) -> Option<&RemoteError> {
        source(error)
    }

    /// Returns the library's error for a file that cannot be read. Its path is the location.
    pub fn into_result(self) -> Result<File, Error> {
        struct Failing(PathBuf, RemoteError);
        impl ReadAt for Failing {
            fn size(&self) -> u64 {
                0
            }
            fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
                Err(self.1.clone().into())
            }
            fn is_unchanged(&self) -> io::Result<bool> {
                Err(self.1.clone().into())
            }
            fn name(&self) -> Option<&Path> {
                Some(&self.0)
            }
        }
        // A file without bytes has no blob that the error could belong to.
        OpenOptions::new().indexer(0).finish_on(Failing(self.location.clone().into(), self))
    }
}

/// The first error of a type, among an error and its sources.
pub(crate) fn source<'e, E: std::error::Error + 'static>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e E> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
}

/// The text of the first cause of an error.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.what())?;
        if !self.found.is_empty() {
            write!(f, ": {}", self.found)?;
        }
        if let Some(status) = self.status {
            write!(f, " (HTTP {status})")?;
        }
        if let Some(left) = &self.left {
            write!(f, "; {left}")?;
        }
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        // For the library, `Interrupted` means to try again.
        let kind = match error.code.io_kind() {
            io::ErrorKind::Interrupted => io::ErrorKind::Other,
            kind => kind,
        };
        let code = error.code;
        io::Error::new(kind, SourceError::new(code.nearest(), code.as_str(), code.advice(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_says_the_same_without_a_blob() {
        let error = RemoteError::new(Code::NotFound, "s3://b/k".to_owned(), "NoSuchKey").with_status(Some(404));
        let of_library = error.clone().into_result().unwrap_err();
        assert_eq!((of_library.blob(), of_library.path()), (None, Some(Path::new("s3://b/k"))));
        assert!(of_library.to_string().ends_with(&error.to_string()), "{of_library}");
        assert_eq!(RemoteError::of(&of_library).map(RemoteError::code), Some(Code::NotFound));
        assert_eq!((of_library.code(), of_library.code_name()), (ErrorCode::NotFound, "remote-not-found"));
        assert_eq!(of_library.advice(), error.advice());
    }

    #[test]
    fn the_documentation_has_all_codes() {
        let docs = include_str!("../../../docs/REMOTE.md").replace("\r\n", "\n");
        let row = |code: &Code| {
            let kind = code.nearest().kind();
            format!("| `{}` | `{kind}` | {} | {} |\n", code.as_str(), code.what(), code.advice())
        };
        let table: String = Code::ALL.iter().map(row).collect();
        assert!(docs.contains(&format!("|---|---|---|---|\n{table}\n")), "docs/REMOTE.md needs these rows:\n{table}");
    }

    #[test]
    fn names_of_codes_are_unique() {
        let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
