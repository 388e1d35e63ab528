//! What an address names.

use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use popef::types::redact_word;
use url::Url;

use crate::environment::variable;
use crate::error::{Code, RemoteError};
use crate::host::is_in_names;

/// Where a file is: the meaning of an address such as `s3://bucket/model.popef`.
///
/// It is shown without what may be secret: the query of an address, which can be a signature, and a user's name and
/// password.
///
/// ```
/// let location = popef_remote::Location::parse("https://me:word@example.com/model.popef?signature=1234")?;
/// assert_eq!(location.to_string(), "https://example.com/model.popef?...");
/// # Ok::<(), popef_remote::RemoteError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location {
    pub(crate) place: Place,
    shown: String,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// An object in a bucket, a prefix, or a pattern.
    Bucket { kind: Kind, bucket: Bucket, key: String },
    /// An address, unchanged, and the header that authenticates the user.
    Address { url: Url, authorization: Option<HeaderValue> },
    /// A file on this machine.
    File(PathBuf),
}

/// Whose buckets they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    S3,
    Google,
    Azure,
}

/// A bucket, or a container of Azure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    /// The account, if the address has it.
    pub(crate) account: Option<String>,
    /// Whether the address has the host of that account.
    pub(crate) has_host: bool,
    /// The part before the key in addresses: `s3://bucket`.
    pub(crate) base: String,
}

const SCHEMES: [&str; 10] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "https", "http", "hf"];

/// Whether a text is an address of a file, and not a path. Addresses with `file:` are files on this machine, and count
/// too.
///
/// ```
/// assert!(popef_remote::is_remote("s3://bucket/model.popef"));
/// assert!(!popef_remote::is_remote("models/s3/model.popef"));
/// assert!(!popef_remote::is_remote(r"C:\model.popef"));
/// ```
pub fn is_remote(text: &str) -> bool {
    scheme_of(text).is_some_and(|(scheme, _)| scheme == "file" || SCHEMES.contains(&scheme.as_str()))
}

fn scheme_of(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_word = (1..=8).contains(&scheme.len()) && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| (scheme.to_ascii_lowercase(), rest))
}

impl Location {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Location, RemoteError> {
        let wrong = |what: &str| RemoteError::new(Code::Url, redact_word(text).into_owned(), what);
        let of_hub = |what: &str| RemoteError::new(Code::Settings, redact_word(text).into_owned(), what);
        let (scheme, rest) = scheme_of(text).ok_or_else(|| wrong("it does not begin with a scheme and ://"))?;
        match scheme.as_str() {
            "s3" | "s3a" => in_bucket(Kind::S3, "s3", rest).ok_or_else(|| wrong(NO_BUCKET)),
            "gs" => in_bucket(Kind::Google, "gs", rest).ok_or_else(|| wrong(NO_BUCKET)),
            "az" | "azure" => in_azure("az", rest).map_err(wrong),
            "abfs" | "abfss" => in_azure("abfs", rest).map_err(wrong),
            "https" | "http" => at_address(text).map_err(|what| wrong(&what)),
            "hf" => of_hugging_face(&hub().map_err(of_hub)?, token().map_err(of_hub)?, rest)
                .ok_or_else(|| wrong("it is hf://OWNER/NAME[@REVISION]/PATH")),
            "file" => on_this_machine(text).ok_or_else(|| wrong("it is file:///PATH")),
            _ => Err(wrong("its scheme is not known")),
        }
    }

    /// The path of a file on this machine, for an address with `file:`.
    pub fn local_path(&self) -> Option<&std::path::Path> {
        match &self.place {
            Place::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether it means several objects: a prefix, which ends with a slash, or a pattern.
    pub fn is_many(&self) -> bool {
        matches!(&self.place, Place::Bucket { key, .. } if key.is_empty() || key.ends_with('/') || has_pattern(key))
    }

    /// The name of the file without its folders, and without a query. `None` if it means no file.
    ///
    /// ```
    /// let location = popef_remote::Location::parse("https://example.com/a/model.popef?signature=1234")?;
    /// assert_eq!(location.file_name(), Some("model.popef"));
    /// # Ok::<(), popef_remote::RemoteError>(())
    /// ```
    pub fn file_name(&self) -> Option<&str> {
        let path = match &self.place {
            Place::Bucket { key, .. } => key,
            Place::Address { .. } => self.shown.strip_suffix(QUERY).unwrap_or(&self.shown),
            Place::File(path) => return path.file_name()?.to_str(),
        };
        path.rsplit('/').next().filter(|name| !name.is_empty())
    }

    pub(crate) fn of_object(kind: Kind, bucket: Bucket, key: String) -> Location {
        let shown = redact_word(&format!("{}/{key}", bucket.base)).into_owned();
        Location { place: Place::Bucket { kind, bucket, key }, shown }
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

/// Whether a key is a pattern.
pub(crate) fn has_pattern(key: &str) -> bool {
    key.contains(['*', '?', '['])
}

const NO_BUCKET: &str = "it has no bucket, or one whose name has other characters than letters, digits, -, ., _ and $, or \
                         begins with xn-- and is no name of a host";
const NO_CONTAINER: &str =
    "it has no container, or one whose name has other characters than letters, digits, -, ., _ and $";
const OTHER_HOST: &str = "its host is not ACCOUNT.dfs.core.windows.net; for another cloud, give az://CONTAINER/KEY with \
                          --endpoint and the account in AZURE_STORAGE_ACCOUNT_NAME";
/// No store has longer names of buckets.
const LONGEST_BUCKET: usize = 255;

fn in_bucket(kind: Kind, scheme: &str, rest: &str) -> Option<Location> {
    let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
    // Names of buckets have few characters, and go into addresses as they are.
    let in_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-._$".contains(&byte);
    // . and .. would lead to another bucket.
    let is_name = |name: &str| {
        (1..=LONGEST_BUCKET).contains(&name.len()) && name.bytes().all(in_names) && !matches!(name, "." | "..")
    };
    // Amazon's buckets can be hosts.
    let is_host_of_amazon = |name: &str| kind != Kind::S3 || is_in_names(name);
    let is_host = |(_, account): (&str, &str)| account.bytes().all(in_names);
    let base = format!("{scheme}://{host}");
    let (name, account, has_host) = match host.split_once('@') {
        Some((name, host)) if kind == Kind::Azure => (name, Some(account_of(host).to_owned()), host.contains('.')),
        _ => (host, None, false),
    };
    let bucket = Bucket { name: name.to_owned(), account, has_host, base };
    (is_name(name) && is_host_of_amazon(name) && host.split_once('@').is_none_or(is_host))
        .then(|| Location::of_object(kind, bucket, key.to_owned()))
}

fn in_azure(scheme: &str, rest: &str) -> Result<Location, &'static str> {
    let location = in_bucket(Kind::Azure, scheme, rest).ok_or(NO_CONTAINER)?;
    let is_other = |bucket: &Bucket| bucket.account.as_ref().is_some_and(|account| account.contains('.'));
    match &location.place {
        Place::Bucket { bucket, .. } if is_other(bucket) => Err(OTHER_HOST),
        _ => Ok(location),
    }
}

/// The account in a host of Azure's, or in one of another cloud the whole host.
pub(crate) fn account_of(host: &str) -> &str {
    let known = [".dfs.core.windows.net", ".blob.core.windows.net"];
    let (account, rest) = host.split_at(host.find('.').unwrap_or(host.len()));
    if known.iter().any(|known| rest.eq_ignore_ascii_case(known)) { account } else { host }
}

fn at_address(text: &str) -> Result<Location, String> {
    let mut url = Url::parse(text).map_err(|error| error.to_string())?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err("it has no host".to_owned());
    }
    let authorization = (!url.username().is_empty() || url.password().is_some()).then(|| {
        let decoded = |part: &str| {
            url::form_urlencoded::parse(part.replace('+', "%2B").as_bytes()).next().map(|(name, _)| name.into_owned())
        };
        let user = decoded(url.username()).unwrap_or_default();
        let password = url.password().and_then(decoded).unwrap_or_default();
        secret(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    });
    // Both succeed for an address with a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    let shown = shown(&url);
    Ok(Location { place: Place::Address { url, authorization: authorization.flatten() }, shown })
}

fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    // Its path may hold another address.
    let shown = redact_word(shown.as_str());
    if url.query().is_some() { format!("{shown}{QUERY}") } else { shown.into_owned() }
}

/// What is shown of a query.
const QUERY: &str = "?...";

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The address of the hub of Hugging Face, which may be another one.
fn hub() -> Result<Url, &'static str> {
    let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
    let url = Url::parse(&endpoint).ok().filter(|url| matches!(url.scheme(), "http" | "https") && is_plain(url));
    url.ok_or("the address of the hub, in HF_ENDPOINT, cannot be used: give one such as https://hub.example.com")
}

/// Whether an address has neither a login nor a query, which would not be sent.
pub(crate) fn is_plain(url: &Url) -> bool {
    let has_login = !url.username().is_empty() || url.password().is_some();
    !has_login && url.query().is_none() && url.fragment().is_none()
}

/// The header with the token for the hub, if there is one.
fn token() -> Result<Option<HeaderValue>, &'static str> {
    let Some(token) = variable("HF_TOKEN") else { return Ok(None) };
    let header = secret(&format!("Bearer {token}"));
    header.map(Some).ok_or("HF_TOKEN: it has characters that cannot be sent, such as the end of a line")
}

/// Addresses in the form of Hugging Face's own tools. The files are behind https.
fn of_hugging_face(hub: &Url, token: Option<HeaderValue>, rest: &str) -> Option<Location> {
    let (folder, rest) = match rest.split_once('/')? {
        (kind @ ("datasets" | "spaces"), rest) => (format!("{kind}/"), rest),
        ("models", rest) => (String::new(), rest),
        _ => (String::new(), rest),
    };
    let (owner, rest) = rest.split_once('/')?;
    let (name, path) = rest.split_once('/')?;
    let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
    let mut url = hub.clone();
    let parts = format!("{folder}{owner}/{name}/resolve/{revision}");
    url.path_segments_mut().ok()?.pop_if_empty().extend(parts.split('/')).extend(path.split('/'));
    let shown = redact_word(&format!("hf://{folder}{owner}/{rest}")).into_owned();
    // An address with these would name another file.
    let goes_up = parts.split('/').chain(path.split('/')).any(|part| matches!(part, "." | ".."));
    (!owner.is_empty() && !owner.contains([':', '@']) && !name.is_empty() && !path.is_empty() && !goes_up)
        .then_some(Location { place: Place::Address { url, authorization: token }, shown })
}

fn on_this_machine(text: &str) -> Option<Location> {
    let path = Url::parse(text).ok()?.to_file_path().ok()?;
    Some(Location { place: Place::File(path), shown: text.to_owned() })
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Kind, String, Option<String>, String) {
        match Location::parse(text).unwrap().place {
            Place::Bucket { kind, bucket, key } => (kind, bucket.name, bucket.account, key),
            _ => panic!("{text} is in no bucket"),
        }
    }

    #[test]
    fn buckets_and_keys_are_told_apart() {
        assert_eq!(parts("s3://b/k/a b?c.popef"), (Kind::S3, "b".into(), None, "k/a b?c.popef".into()));
        assert_eq!(parts("GS://b/k"), (Kind::Google, "b".into(), None, "k".into()));
        assert_eq!(parts("az://c/k"), (Kind::Azure, "c".into(), None, "k".into()));
        let account = Some("store".into());
        assert_eq!(parts("abfss://c@store.dfs.core.windows.net/k"), (Kind::Azure, "c".into(), account, "k".into()));
        for host in ["store", "store.blob.core.windows.net", "STORE.DFS.core.windows.net"] {
            assert_eq!(parts(&format!("abfs://c@{host}/k")).2.unwrap().to_lowercase(), "store");
        }
        for host in ["store.dfs.core.chinacloudapi.cn", "store.evil.example", "store.", "store.dfs.core.windows.net.x"]
        {
            assert!(Location::parse(&format!("abfs://c@{host}/k")).is_err(), "{host}");
        }
        assert!(Location::parse("hf://o/n/a/../b").is_err() && Location::parse("hf://o/../n/a").is_err());
        for scheme in ["s3", "gs", "az", "abfs"] {
            for bucket in [".", ".."] {
                assert!(Location::parse(&format!("{scheme}://{bucket}/b/k")).is_err(), "{scheme} {bucket}");
            }
        }
        assert!(Location::parse("s3://xn--a/k").is_err() && Location::parse("s3://xn--nxasmq6b/k").is_ok());
        assert!(Location::parse("s3://").is_err() && Location::parse("s3:///k").is_err());
        assert!(Location::parse("ftp://host/file").is_err() && !is_remote("ftp://host/file"));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let texts = [
            "https://user:SECRET@h/p.popef?X-Amz-Signature=SECRET#SECRET",
            "https://SECRET@h/p.popef?sig=SECRET",
            "http://:SECRET@h:80x/?SECRET",
            "s3://user:SECRET@b/k",
            "https://SECRET@/p?SECRET",
            "https://u:SEC?SECRET@h/p",
            "s3://b/k?X-Amz-Signature=SECRET",
            "abfs://c@a.dfs.core.windows.net/k?sig=SECRET",
            "abfs://c@u:SECRET@a/k",
            "http://h/a.popef,http://u:SECRET@h/b.popef",
            "http://h/https:u:SECRET@h/b.popef",
            "hf://u:SECRET@o/n/p",
            "hf://o/n/p?token=SECRET",
            "file://u:SECRET@h/p?SECRET",
            "ftp://u:SECRET@h/p",
        ];
        for text in texts {
            let shown = match Location::parse(text) {
                Ok(location) => format!("{location} {location:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("SECRET"), "{text} is shown as {shown}");
        }
    }

    #[test]
    fn patterns_and_prefixes_mean_many() {
        for many in ["s3://b", "s3://b/", "s3://b/models/", "gs://b/**/*.popef", "az://c/m[12].popef"] {
            assert!(Location::parse(many).unwrap().is_many(), "{many}");
        }
        for one in ["s3://b/m.popef", "https://h/a*?b=c", "hf://o/n/p"] {
            assert!(!Location::parse(one).unwrap().is_many(), "{one}");
        }
    }

    #[test]
    fn hugging_face_is_behind_https() {
        let place = Location::parse("hf://datasets/o/n@v1/a/m 1.popef").unwrap().place;
        let Place::Address { url, .. } = place else { panic!("it is an address") };
        assert!(url.path().ends_with("/datasets/o/n/resolve/v1/a/m%201.popef"), "{url}");
    }
}
