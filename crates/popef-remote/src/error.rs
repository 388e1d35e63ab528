//! Failures between this machine and a store, and what to do about them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popef::error::{ErrorCode, SourceError};
use popef::read::ReadAt;
use popef::seam::{codes, lower_case_phrase};
use popef::{Error, File, OpenOptions};

/// Why a file on another machine could not be read.
///
/// The text says what happened, and what the server said. It does not repeat the [location](Self::location).
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

codes! {
    /// What kind of failure it is. The names are stable.
    pub enum Code;

    Url = "remote-url", Io as InvalidInput,
        "The address cannot be used.",
        "Give s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, https://HOST/PATH, hf://OWNER/NAME/PATH or file:///PATH.";
    Output = "remote-output", Io as InvalidInput,
        "No object can be written there.",
        "Give an object in a bucket: s3://BUCKET/KEY, gs://BUCKET/KEY or az://CONTAINER/KEY.";
    NotFound = "remote-not-found", Io as NotFound,
        "There is no such object.",
        "Look at the spelling of the bucket and the key.";
    Denied = "remote-denied", Io as PermissionDenied,
        "The store refuses access.",
        Advice::GiveCredentials;
    NoCredentials = "remote-no-credentials", Io as PermissionDenied,
        "No credentials were found.",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_SERVICE_ACCOUNT, or AZURE_STORAGE_ACCOUNT_NAME and \
         AZURE_STORAGE_ACCOUNT_KEY; for a public bucket AWS_SKIP_SIGNATURE=true, GOOGLE_SKIP_SIGNATURE=true or \
         AZURE_SKIP_SIGNATURE=true.";
    Region = "remote-region", Io as InvalidInput,
        "The bucket is in another region.",
        Advice::GiveRegion;
    Changed = "remote-changed", Changed as Other,
        "The object was changed while it was read.",
        "Try again when nobody writes to it.";
    NoRanges = "remote-no-ranges", Io as Unsupported,
        "The server cannot send parts of a file.",
        "Download the file first.";
    Page = "remote-page", Io as InvalidData,
        "The server sent a web page and not a file.",
        Advice::GiveHeader;
    WrongRange = "remote-wrong-range", Io as InvalidData,
        "The server sent another range than was asked for.",
        "Try again without the proxy or cache in between, or download the file first.";
    Encoded = "remote-encoded", Io as InvalidData,
        "The server changed the encoding of the file.",
        "Turn off compression in the server, or in the proxy in between.";
    Malformed = "remote-malformed", Io as InvalidData,
        "The server's answer breaks the rules of HTTP.",
        "Look at the server, or at the proxy in between; or download the file first.";
    Cut = "remote-cut", Io as ConnectionAborted,
        "The answer ended too early.",
        "Try again; if it happens again, a proxy in between may cut answers.";
    Redirect = "remote-redirect", Io as InvalidInput,
        "The redirect was not followed.",
        "Look at where the server redirects, and give another address if you trust it.";
    Http = "remote-http", Io as InvalidInput,
        "Plain http protects neither the data nor secrets.",
        Advice::AllowHttp;
    Timeout = "remote-timeout", Io as TimedOut,
        "The server took too long.",
        "Try again, or look at the network and the proxy.";
    Connect = "remote-connect", Io as NotConnected,
        "Cannot connect to the server.",
        "Look at the address, the network, and HTTPS_PROXY and NO_PROXY.";
    Tls = "remote-tls", Io as NotConnected,
        "There is no safe connection to the server.",
        "If its certificate is from an authority of your own, name that in SSL_CERT_FILE.";
    Busy = "remote-busy", Io as Other,
        "The server could not answer.",
        "Try again later.";
    Refused = "remote-refused", Io as InvalidInput,
        "The server refused the request.",
        "Look at the address and at what the server says.";
    Stopped = "remote-stopped", Stopped as Other,
        "The work was stopped.",
        "Start it again.";
    NoMatch = "remote-no-match", Io as NotFound,
        "No object fits.",
        "Look at the pattern: * stays within a folder, ** does not.";
    Exists = "remote-exists", Exists as AlreadyExists,
        "There is an object with that name.",
        Advice::AllowOverwriting;
    NoCondition = "remote-no-condition", Io as Unsupported,
        "The object cannot be replaced safely.",
        Advice::WriteElsewhere;
    Unsure = "remote-unsure", Io as Other,
        "It is not known whether the object was written.",
        "Look at the object, and write it again if it is not the new one.";
    Local = "remote-local", Io as Other,
        "The new file could not be read on this machine.",
        "Look at the disk that has the temporary files.";
    Settings = "remote-settings", Io as InvalidInput,
        "A setting of the store is wrong.",
        "Correct the option or the variable.";
    Listing = "remote-listing", Io as Other,
        "The listing of the bucket is too long.",
        "Give a longer prefix, or name the objects.";
    Key = "remote-key", Io as InvalidInput,
        "The bucket has a key that cannot be read.",
        "Name objects one by one, or give a prefix or a pattern without such keys.";
    Other = "remote-failed", Io as Other,
        "The store could not be used.",
        "Look at the settings of the store (docs/REMOTE.md).";
}

impl Code {
    /// What happened, as the beginning of a text.
    pub(crate) fn what(self) -> String {
        lower_case_phrase(&self.info().meaning)
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

    /// What is left of the failed work, in words, if anything is.
    pub fn left(&self) -> Option<&str> {
        self.left.as_deref()
    }

    /// The error of this crate behind another error, if there is one.
    pub fn of<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e RemoteError> {
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
        f.write_str(&self.code.what())?;
        if !self.found.is_empty() {
            write!(f, ": {}", self.found)?;
        }
        if let Some(status) = self.status {
            write!(f, " (HTTP {status})")?;
        }
        if let Some(left) = &self.left {
            write!(f, "; {left}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        let kind = error.code.io_kind().unwrap_or(io::ErrorKind::Other);
        io::Error::new(kind, SourceError::new(error.code.nearest(), error.code, error))
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
        assert_eq!((of_library.code(), of_library.info()), (ErrorCode::NotFound, Code::NotFound.info()));
    }
}
