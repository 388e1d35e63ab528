use std::fmt;
use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::{Code, RemoteError};

/// How long to wait before a request is repeated.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How files are read from other machines.
///
/// Missing values come from the usual environment of each store, such as `AWS_REGION`.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The number of bytes of the first request, and of each request for a header that is far from the one before.
    pub first: u64,
    /// Maximum number of bytes of a request where headers are close together.
    pub most: u64,
    /// The size of the pieces in which data is read. Several are read at once.
    pub piece: u64,
    /// How far data is read ahead of sequential readers.
    pub ahead: u64,
    /// Maximum number of requests at the same time, for all files together.
    pub parallel: usize,
    /// The address of the store, for stores other than those of Amazon, Google and Microsoft, such as MinIO.
    pub endpoint: Option<String>,
    /// The region of the bucket.
    pub region: Option<String>,
    /// Whether addresses may be http, which protects neither the data nor secrets. Addresses of this machine may always
    /// be.
    pub allow_http: bool,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a server may be silent.
    pub read_timeout: Duration,
    /// Maximum number of times that a request is repeated after a failure that may be temporary.
    pub retries: usize,
    /// For how long a request is repeated.
    pub retry_timeout: Duration,
    /// How long the listing of a bucket may bring no object that fits.
    pub list_timeout: Duration,
    /// Called several times a second during a wait. Returns whether to give up.
    pub stopped: Option<fn() -> bool>,
    pub(crate) headers: HeaderMap,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            first: 64 << 10,
            most: 512 << 10,
            piece: 1 << 20,
            ahead: 4 << 20,
            parallel: 64,
            endpoint: None,
            region: None,
            allow_http: false,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            retries: 5,
            retry_timeout: Duration::from_secs(60),
            list_timeout: Duration::from_secs(300),
            stopped: None,
            headers: HeaderMap::new(),
        }
    }
}

impl Options {
    /// Adds a header to requests for addresses with https and http, such as `Authorization: Bearer ...`. It is never
    /// shown, and not sent to another machine after a redirect.
    ///
    /// ```
    /// let mut options = popef_remote::Options::default();
    /// options.header("Authorization: Bearer secret")?;
    /// assert!(!format!("{options:?}").contains("secret"));
    /// assert!(options.header("no colon").is_err());
    /// # Ok::<(), popef_remote::RemoteError>(())
    /// ```
    pub fn header(&mut self, line: &str) -> Result<(), RemoteError> {
        let wrong = |what| RemoteError::new(Code::Settings, String::new(), what);
        let (name, value) = line.split_once(':').ok_or_else(|| wrong("a header is NAME: VALUE"))?;
        let name: HeaderName = name.trim().parse().map_err(|_| wrong("the name of a header has other characters"))?;
        let mut value: HeaderValue =
            value.trim().parse().map_err(|_| wrong("the value of a header has other characters"))?;
        if FIXED.contains(&name) {
            return Err(wrong("this header is part of how ranges are read, and cannot be changed"));
        }
        value.set_sensitive(true);
        self.headers.append(name, value);
        Ok(())
    }
}

/// The headers that a caller must not set, because they change what is read.
const FIXED: [HeaderName; 8] = [
    http::header::RANGE,
    http::header::IF_MATCH,
    http::header::IF_RANGE,
    http::header::ACCEPT_ENCODING,
    http::header::HOST,
    http::header::CONTENT_LENGTH,
    http::header::TRANSFER_ENCODING,
    http::header::CONNECTION,
];

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("first", &self.first)
            .field("endpoint", &self.endpoint.as_deref().map(popef::types::redact_word))
            .field("region", &self.region)
            .field("allow_http", &self.allow_http)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
