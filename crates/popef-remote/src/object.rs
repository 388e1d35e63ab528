//! One object. All answers must be of the same version of it.

use std::env;
use std::iter::successors;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use object_store::client::{HttpError, HttpErrorKind, HttpResponse};
use object_store::{GetOptions, GetRange, ObjectMeta};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::error::{Code, RemoteError, innermost, source};
use crate::gate::{Fault, Gate, TRACE, Trace};
use crate::options::{FIRST_PAUSE, LONGEST_PAUSE, Options};
use crate::store::Placed;
use crate::usage::Usage;

/// An object that is read by ranges. Clones are the same object.
#[derive(Clone)]
pub(crate) struct Object {
    placed: Placed,
    pin: Pin,
    context: Context,
}

/// The shared parts of all requests for a file.
#[derive(Clone)]
pub(crate) struct Context {
    /// The location, as it is shown.
    pub(crate) name: Arc<str>,
    pub(crate) usage: Usage,
    pub(crate) options: Arc<Options>,
    /// Has a permit for each request that may run at the same time.
    pub(crate) permits: Arc<Semaphore>,
}

/// The properties that reveal a change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pin {
    size: u64,
    /// The store's own number of the version.
    number: Option<String>,
    etag: Option<String>,
    modified: i64,
}

/// The version of an object when it was opened, for a store that replaces only that version.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) etag: String,
    /// The store's own version number, if it has one.
    pub(crate) number: Option<String>,
}

impl Pin {
    fn of(meta: &ObjectMeta) -> Self {
        Pin {
            size: meta.size,
            number: meta.version.clone(),
            etag: meta.e_tag.clone(),
            modified: meta.last_modified.timestamp_micros(),
        }
    }

    /// The ETag, if the server must compare it byte by byte. Weak ones are never equal to `If-Match`.
    fn strong(&self) -> Option<String> {
        self.etag.clone().filter(|etag| !etag.starts_with("W/"))
    }
}

/// No server may take longer for a range than at this rate, in bytes per second.
const LEAST_RATE: u64 = 16 << 10;

/// How long to wait before each repetition of a request.
fn pauses() -> impl Iterator<Item = Duration> {
    successors(Some(FIRST_PAUSE), |pause| Some(pause.saturating_mul(2).min(LONGEST_PAUSE)))
}

impl Object {
    /// Opens an object by its first bytes. Returns them too: the requested number, or all of them if there are fewer.
    pub(crate) async fn open(placed: Placed, context: Context) -> Result<(Object, Bytes), RemoteError> {
        let first = 0..context.options.first.max(1);
        match context.get(&placed, &GetOptions::default(), first).await {
            Ok((meta, bytes)) => Ok((Object { placed, pin: Pin::of(&meta), context }, bytes)),
            // An empty object has no ranges.
            Err(Failure { fault: Some(Fault::OutOfRange(Some(0))), .. }) => {
                let pin = Pin { size: 0, number: None, etag: None, modified: 0 };
                Ok((Object { placed, pin, context }, Bytes::new()))
            }
            Err(failure) => Err(failure.error),
        }
    }

    /// The current version, if the store can distinguish it from others.
    pub(crate) fn version(&self) -> Option<Version> {
        self.pin.strong().map(|etag| Version { etag, number: self.pin.number.clone() })
    }

    pub(crate) fn size(&self) -> u64 {
        self.pin.size
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Reads a range, which must not be empty.
    pub(crate) async fn read(&self, range: Range<u64>) -> Result<Bytes, RemoteError> {
        let options = GetOptions { if_match: self.pin.strong(), ..GetOptions::default() };
        match self.context.get(&self.placed, &options, range).await {
            Ok((meta, bytes)) if Pin::of(&meta) == self.pin => Ok(bytes),
            Ok(_) => Err(self.context.error(Code::Changed, "it is another version now")),
            Err(Failure { fault: Some(Fault::NoRanges), .. }) => {
                Err(self.context.error(Code::Changed, "the server sends all of it now, and sent parts before"))
            }
            // The object has become shorter.
            Err(Failure { fault: Some(Fault::OutOfRange(_)), .. }) => {
                Err(self.context.error(Code::Changed, "it is shorter now"))
            }
            Err(failure) => Err(failure.error),
        }
    }
}

/// An error, and the gate's observations.
struct Failure {
    error: RemoteError,
    fault: Option<Fault>,
    /// Whether the connection broke in the middle of an answer, so that another request is worthwhile.
    broke: bool,
}

impl Context {
    pub(crate) fn error(&self, code: Code, found: impl Into<String>) -> RemoteError {
        RemoteError::new(code, self.name.to_string(), found)
    }

    async fn get(
        &self,
        placed: &Placed,
        options: &GetOptions,
        range: Range<u64>,
    ) -> Result<(ObjectMeta, Bytes), Failure> {
        let (begun, trace) = (Instant::now(), Trace::new(self.usage.clone()));
        let mut pauses = pauses();
        loop {
            let result = self.get_once(placed, options, range.clone(), &trace).await;
            let may_try = trace.seen().calls <= self.options.retries && begun.elapsed() < self.options.retry_timeout;
            match result {
                Err(failure) if failure.broke && may_try => sleep(pauses.next().unwrap_or(LONGEST_PAUSE)).await,
                result => return result,
            }
        }
    }

    async fn get_once(
        &self,
        placed: &Placed,
        options: &GetOptions,
        range: Range<u64>,
        trace: &Trace,
    ) -> Result<(ObjectMeta, Bytes), Failure> {
        let _permit = self.permits.acquire().await;
        let len = range.end.saturating_sub(range.start);
        let slowest = Duration::from_secs(len.checked_div(LEAST_RATE).unwrap_or_default());
        let longest = self.options.retry_timeout.saturating_add(self.options.read_timeout).saturating_add(slowest);
        let is_start = range.start == 0;
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..options.clone() };
        let work = async {
            let answer = placed.store.get_opts(&placed.path, options).await?;
            let meta = answer.meta.clone();
            let expected = answer.range.end.saturating_sub(answer.range.start);
            let mut bytes = BytesMut::with_capacity(usize::try_from(expected).unwrap_or_default());
            let mut pieces = answer.into_stream();
            while let Some(piece) = pieces.next().await {
                bytes.extend_from_slice(&piece?);
            }
            Ok((meta, bytes.freeze(), expected))
        };
        match timeout(longest, TRACE.scope(trace.clone(), work)).await {
            Ok(Ok((_, bytes, _))) if is_start && trace.seen().is_page && is_text(&bytes) => {
                Err(Failure { error: self.error(Code::Page, ""), fault: Some(Fault::Page), broke: false })
            }
            Ok(Ok((meta, bytes, expected))) if u64::try_from(bytes.len()) == Ok(expected) => Ok((meta, bytes)),
            Ok(Ok(_)) => {
                let error = self.error(Code::Cut, "");
                Err(Failure { error, fault: Some(Fault::Cut), broke: true })
            }
            Ok(Err(error)) => Err(self.explain(&error, trace)),
            Err(_) => {
                let error = self.error(Code::Timeout, "");
                Err(Failure { error, fault: None, broke: false })
            }
        }
    }

    /// The ETag of an object. `None` if the object does not exist. Requests its first byte to learn it.
    pub(crate) async fn etag(&self, placed: &Placed) -> Result<Option<String>, RemoteError> {
        match self.get(placed, &GetOptions::default(), 0..1).await {
            Ok((meta, _)) => Ok(Some(meta.e_tag.unwrap_or_default())),
            Err(Failure { fault: Some(Fault::OutOfRange(Some(0))), .. }) => Ok(Some(String::new())),
            Err(failure) if failure.error.code() == Code::NotFound && !failure.error.is_of_bucket() => Ok(None),
            Err(failure) => Err(failure.error),
        }
    }

    fn explain(&self, error: &object_store::Error, trace: &Trace) -> Failure {
        let seen = trace.seen();
        let http = source::<HttpError>(error);
        let (code, found) = match (&seen.fault, http.map(HttpError::kind), error) {
            (Some(fault), ..) => of_fault(fault),
            (None, ..) if seen.service.is_some() => {
                let what = match seen.status {
                    None => "cannot be reached",
                    Some(300..) => "refuses them",
                    Some(_) => "gives none that can be read",
                };
                (Code::NoCredentials, format!("{} {what}", seen.service.unwrap_or_default()))
            }
            (None, Some(HttpErrorKind::Timeout), _) => (Code::Timeout, String::new()),
            (None, Some(HttpErrorKind::Connect), _) => of_connection(&innermost(error)),
            (None, Some(_), _) if source(error).is_some_and(hyper::Error::is_parse) => {
                (Code::Malformed, innermost(error))
            }
            (None, Some(HttpErrorKind::Request | HttpErrorKind::Interrupted | HttpErrorKind::Unknown), _) => {
                (Code::Cut, innermost(error))
            }
            (None, None, object_store::Error::Generic { .. }) if seen.status == Some(206) => {
                (Code::Malformed, format!("a header cannot be read: {}", innermost(error)))
            }
            (.., object_store::Error::InvalidPath { source }) => (Code::Key, source.to_string()),
            _ => {
                let said = said(&error.to_string()).or(seen.said.filter(|said| is_code(said))).unwrap_or_default();
                of_status(seen.status, seen.region.as_deref(), seen.is_conditional, said)
            }
        };
        let redirected = seen.redirected.map(|to| format!("it was redirected to {to}"));
        let found = joined(&found, redirected.as_deref().unwrap_or_default());
        let status = if seen.status.is_some_and(|status| status >= 300) { seen.status } else { None };
        // If no answer came at all, the store has already repeated the request.
        let broke = code == Code::Cut && seen.status.is_some();
        Failure { error: self.error(code, found).with_status(status), fault: seen.fault, broke }
    }

    /// The remote error for a store's failure.
    pub(crate) fn explained(&self, error: &object_store::Error, trace: &Trace) -> RemoteError {
        self.explain(error, trace).error
    }

    /// Begins to read a whole file, for servers without ranges. No store repeats this request.
    pub(crate) async fn whole(&self, gate: &Gate) -> Result<HttpResponse, RemoteError> {
        let begun = Instant::now();
        for pause in pauses().take(self.options.retries) {
            let passes =
                |error: &RemoteError| matches!(error.code(), Code::Busy | Code::Connect | Code::Cut | Code::Timeout);
            match self.whole_once(gate).await {
                Err(error) if passes(&error) && begun.elapsed() < self.options.retry_timeout => sleep(pause).await,
                result => return result,
            }
        }
        self.whole_once(gate).await
    }

    async fn whole_once(&self, gate: &Gate) -> Result<HttpResponse, RemoteError> {
        let trace = Trace::new(self.usage.clone());
        let answer = TRACE.scope(trace.clone(), gate.whole()).await;
        match answer {
            Ok(answer) if answer.status().as_u16() == 200 => Ok(answer),
            Ok(answer) => {
                let status = Some(answer.status().as_u16());
                let (code, found) = of_status(status, None, false, String::new());
                Err(self.error(code, found).with_status(status))
            }
            Err(error) => {
                let error = object_store::Error::Generic { store: "http", source: Box::new(error) };
                Err(self.explained(&error, &trace))
            }
        }
    }
}

/// Whether bytes are text as in a web page, and not a file that was labelled as one: reports are JSON, and other files have bytes
/// that no text has.
fn is_text(bytes: &[u8]) -> bool {
    let start = bytes.get(..512).unwrap_or(bytes);
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let is_json = start.trim_ascii_start().starts_with(b"{");
    let is_utf16 = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    is_utf16 || !(is_json || start.iter().any(is_control))
}

fn of_fault(fault: &Fault) -> (Code, String) {
    match fault {
        Fault::NoRanges => (Code::NoRanges, String::new()),
        Fault::Page => (Code::Page, String::new()),
        Fault::WrongRange(found) => (Code::WrongRange, found.clone()),
        Fault::WrongLength => (Code::WrongRange, "its Content-Length is not that of the range".to_owned()),
        Fault::Encoded(header) => (Code::Encoded, header.clone()),
        Fault::Cut => (Code::Cut, String::new()),
        Fault::Long => (Code::WrongRange, "its body is longer than it may be".to_owned()),
        Fault::NoLength => {
            (Code::NoRanges, "nor does it say how long the file is, so that a cut would not be noticed".to_owned())
        }
        Fault::NoListing(what) => (Code::Malformed, (*what).to_owned()),
        Fault::Repeats => (Code::Listing, "it begins again".to_owned()),
        Fault::Header(name) => (Code::Malformed, format!("the header {name} has characters that are not ASCII")),
        Fault::Redirect(what) => (Code::Redirect, what.clone()),
        Fault::NoLocation => (Code::Malformed, "a redirect does not say where it leads (no Location)".to_owned()),
        Fault::NoAddress => (Code::Settings, "the endpoint is no address that can be asked".to_owned()),
        Fault::Metadata => {
            let what =
                "the endpoint or the region: it leads to addresses at which clouds have the credentials of a machine";
            (Code::Settings, what.to_owned())
        }
        Fault::Http => (Code::Http, String::new()),
        Fault::NoClient(reason) => of_connection(reason),
        Fault::NoCredentials => (Code::NoCredentials, String::new()),
        Fault::OutOfRange(_) => (Code::WrongRange, "the server says that there is no such range".to_owned()),
    }
}

pub(crate) fn of_connection(reason: &str) -> (Code, String) {
    let is_tls = ["certificate", "tls", "TLS", "handshake"].iter().any(|word| reason.contains(word));
    if !is_tls {
        return (Code::Connect, reason.to_owned());
    }
    let missing = |variable: &str| {
        let path = env::var_os(variable).map(PathBuf::from)?;
        let missing = || match path.to_str() {
            Some("") => format!("{variable} is empty; unset it"),
            _ => format!("there is no {}, which {variable} names", path.display()),
        };
        (!path.exists()).then(missing)
    };
    let found = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().find_map(missing);
    (Code::Tls, found.unwrap_or_else(|| reason.to_owned()))
}

fn of_status(status: Option<u16>, region: Option<&str>, is_conditional: bool, said: String) -> (Code, String) {
    match (status, region) {
        (Some(301 | 307 | 308 | 400), Some(region)) => (Code::Region, format!("it is {region}")),
        // The object need not exist, and the upload was known before.
        (Some(404), _) if said == "NoSuchUpload" => (Code::Refused, said),
        (Some(404 | 410), _) => (Code::NotFound, said),
        (Some(401 | 403), _) => (Code::Denied, said),
        (Some(407), _) => (Code::Connect, "the proxy asks for a user and a password".to_owned()),
        (Some(412), _) if is_conditional => (Code::Changed, said),
        // Somebody else writes at the same time.
        (Some(409), _) if matches!(&*said, "ConditionalRequestConflict" | "OperationAborted") => (Code::Busy, said),
        (Some(409), _) if said == "BlobAlreadyExists" => (Code::Exists, said),
        (Some(501), _) if is_conditional => (Code::Refused, joined(&said, NO_CONDITIONS)),
        (Some(501), _) => (Code::Refused, said),
        (Some(408 | 429 | 500..), _) => (Code::Busy, said),
        // Under a status of success.
        (Some(..300), _) if matches!(&*said, "InternalError" | "ServiceUnavailable" | "SlowDown") => (Code::Busy, said),
        (Some(301..=303 | 307 | 308), _) => (Code::Redirect, "redirects of stores are never followed".to_owned()),
        (Some(300..), _) => (Code::Refused, said),
        _ => (Code::Other, said),
    }
}

const NO_CONDITIONS: &str = "the store may not know conditions (If-None-Match); with --force, it gets none";

fn joined(words: &str, more: &str) -> String {
    [words, more].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The code in a store's own words: `<Code>NoSuchKey</Code>`. The rest of the answer may have secrets.
fn said(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    is_code(code).then(|| code.to_owned())
}

fn is_code(word: &str) -> bool {
    word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
