//! The gate. All requests of all stores go through it. It checks the claims of an answer before the answer is used.

mod body;
mod fault;
mod range;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE,
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, LOCATION,
    RANGE, TRANSFER_ENCODING,
};
use http::{Method, StatusCode, Uri, Version};
use http_body::Body as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use url::{Position, Url};

use crate::client::Clients;
use crate::host::{Place, is_in_names, is_metadata};

pub(crate) use fault::{Fault, TRACE, Trace};

use body::Checked;

/// A gate for a store, or for one address.
#[derive(Clone)]
pub(crate) struct Gate {
    clients: Arc<Clients>,
    allow_http: bool,
    address: Option<Address>,
    /// A header with which an upload is completed.
    condition: Option<(HeaderName, HeaderValue)>,
    /// Whether the requests are for the credentials that a machine in a cloud has.
    of_credentials: bool,
    /// Whether such credentials may be asked for.
    has_services: bool,
    /// The only hosts that have such credentials. If there are none, each host of these services may be asked.
    services: Vec<String>,
}

/// One address exactly as it was given, with its query, which may be a signature.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) url: Url,
    /// The caller's headers. They are sent to this host only.
    pub(crate) headers: HeaderMap,
}

/// Refusals and their reasons are short.
const MOST_OF_A_REFUSAL: u64 = 64 << 10;
/// Pages of listings have a thousand names, of a thousand bytes each at most, and as much again around them.
const MOST_OF_A_LISTING: u64 = 16 << 20;
/// Answers about uploads: their addresses and a few tokens.
const MOST_OF_AN_UPLOAD: u64 = 64 << 10;
const MOST_REDIRECTS: usize = 10;
/// Headers by which a request is done only for a certain version of an object, or only if there is none.
const CONDITIONS: [&str; 3] = ["if-match", "if-none-match", "x-goog-if-generation-match"];
/// The services for credentials on a cloud's machines answer at once, or do not exist. One that a variable names is waited for as for
/// any server.
const CREDENTIALS_TIMEOUT: Duration = Duration::from_secs(2);
/// How Google's store authenticates a write if it has no credentials.
const EMPTY_TOKEN: &[u8] = b"Bearer ";
/// Why a request to an address is refused.
pub(crate) const OF_METADATA: &str = "it leads to addresses at which clouds have the credentials of a machine";

impl Gate {
    pub(crate) fn new(clients: Arc<Clients>, allow_http: bool, address: Option<Address>) -> Self {
        let has_services = address.is_none();
        Gate {
            clients,
            allow_http,
            address,
            condition: None,
            of_credentials: false,
            has_services,
            services: Vec::new(),
        }
    }

    /// A gate for a store that needs no credentials of the machine.
    pub(crate) fn without_services(self) -> Self {
        Gate { has_services: false, ..self }
    }

    /// A gate that asks only these hosts for credentials of the machine, if there are any.
    pub(crate) fn with_services(self, services: Vec<String>) -> Self {
        Gate { services, ..self }
    }

    /// A gate that adds a header to the request that completes an upload.
    pub(crate) fn with_condition(self, condition: Option<(HeaderName, HeaderValue)>) -> Self {
        Gate { condition, ..self }
    }

    /// Requests the whole file, for servers without ranges.
    pub(crate) async fn whole(&self) -> Result<HttpResponse, HttpError> {
        let mut request = HttpRequest::new(object_store::client::HttpRequestBody::empty());
        *request.method_mut() = Method::GET;
        self.call(request).await
    }

    async fn send(&self, mut request: HttpRequest, trace: &Trace) -> Result<HttpResponse, HttpError> {
        let Some(address) = &self.address else { return self.send_once(request, trace).await };
        let mut url = address.url.clone();
        request.headers_mut().extend(address.headers.clone());
        for _ in 0..=MOST_REDIRECTS {
            let mut once = HttpRequest::new(object_store::client::HttpRequestBody::empty());
            *once.method_mut() = request.method().clone();
            *once.headers_mut() = request.headers().clone();
            *once.uri_mut() = url.as_str().parse().map_err(|error| HttpError::new(HttpErrorKind::Decode, error))?;
            let answer = self.send_once(once, trace).await?;
            if answer.status() == StatusCode::NOT_MODIFIED {
                return Err(trace.fault(HttpErrorKind::Decode, no_status_of_a_file(answer.status())));
            }
            if !answer.status().is_redirection() {
                return Ok(answer);
            }
            if !answer.headers().contains_key(LOCATION) {
                return Err(trace.fault(HttpErrorKind::Decode, Fault::NoLocation));
            }
            let Some(next) = text(answer.headers(), &LOCATION).and_then(|to| url.join(to).ok()) else {
                return Err(trace.fault(HttpErrorKind::Decode, Fault::Redirect("its address is not one".to_owned())));
            };
            let is_same = next.scheme() == url.scheme() || (url.scheme(), next.scheme()) == ("http", "https");
            if !is_same {
                let what = format!("it leads from {} to {}", url.scheme(), origin(&next));
                return Err(trace.fault(HttpErrorKind::Decode, Fault::Redirect(what)));
            }
            if is_metadata(next.host_str().unwrap_or_default()) {
                return Err(trace.fault(HttpErrorKind::Decode, Fault::Redirect(OF_METADATA.to_owned())));
            }
            if (next.host_str(), next.port_or_known_default()) != (url.host_str(), url.port_or_known_default()) {
                address.headers.keys().for_each(|name| _ = request.headers_mut().remove(name));
                request.headers_mut().remove(AUTHORIZATION);
            }
            trace.redirected(origin(&next));
            url = next;
        }
        Err(trace.fault(HttpErrorKind::Decode, Fault::Redirect(format!("there are more than {MOST_REDIRECTS}"))))
    }

    async fn send_once(&self, request: HttpRequest, trace: &Trace) -> Result<HttpResponse, HttpError> {
        // As the client reads it: a host has many spellings.
        let url =
            Url::parse(&request.uri().to_string()).map_err(|_| trace.fault(HttpErrorKind::Decode, Fault::NoAddress))?;
        let place = Place::of(url.host_str().unwrap_or_default());
        if place == Place::Metadata && !self.of_credentials {
            return Err(trace.fault(HttpErrorKind::Decode, Fault::Metadata));
        }
        if self.of_credentials && !is_among(&self.services, request.uri()) {
            // The answer of the one that is named counts.
            return Err(HttpError::new(HttpErrorKind::Decode, Fault::NoCredentials));
        }
        if url.scheme() != "https" && place == Place::Elsewhere && !self.allow_http {
            return Err(trace.fault(HttpErrorKind::Decode, Fault::Http));
        }
        // No proxy is nearer to this machine, or should see its credentials.
        let client = self.clients.client(place == Place::Elsewhere, url.scheme() == "http");
        let client = client.map_err(|reason| trace.fault(HttpErrorKind::Decode, Fault::NoClient(reason)))?;
        trace.begin(match () {
            () if self.of_credentials => Some("the service that has this machine's"),
            () if self.has_services && request.method() == Method::POST && !is_of_upload(&request) => {
                Some("the service for tokens")
            }
            () => None,
        });
        let settles = settles(&request);
        let answer = client.call(request);
        let answer = if self.of_credentials {
            let longest = if place == Place::Metadata { CREDENTIALS_TIMEOUT } else { Duration::MAX };
            match tokio::time::timeout(longest, answer).await {
                Ok(Ok(answer)) => answer,
                _ => return Err(trace.fault(HttpErrorKind::Decode, Fault::NoCredentials)),
            }
        } else {
            let answer = answer.await;
            if settles && !answer.as_ref().is_err_and(|error| error.kind() == HttpErrorKind::Connect) {
                trace.settles();
            }
            answer?
        };
        let region = answer.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
        let region = region.filter(|region| is_region(region)).map(str::to_owned);
        trace.answered(answer.status().as_u16(), region, is_page(answer.headers()));
        Ok(answer)
    }
}

#[async_trait]
impl HttpService for Gate {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let trace = Trace::current();
        // The store repeats a request after any failure of its body. This one would not pass.
        if trace.seen().fault == Some(Fault::Long) {
            return Err(trace.fault(HttpErrorKind::Decode, Fault::Long));
        }
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if request.headers().get(AUTHORIZATION).is_some_and(|value| value.as_bytes() == EMPTY_TOKEN) {
            request.headers_mut().remove(AUTHORIZATION);
        }
        let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok()).and_then(range::asked);
        let [reads, puts, posts] = [Method::GET, Method::PUT, Method::POST].map(|method| request.method() == method);
        if let Some((name, value)) = self.condition.as_ref().filter(|_| completes_upload(&request)) {
            request.headers_mut().insert(name, value.clone());
        }
        let uri = request.uri().clone();
        if !self.of_credentials {
            trace.calls(CONDITIONS.iter().any(|name| request.headers().contains_key(*name)));
        }
        let answer = self.send(request, &trace).await?;
        let (mut parts, body) = answer.into_parts();
        let checked = match (range, parts.status) {
            (Some(asked), StatusCode::PARTIAL_CONTENT) => {
                let len =
                    checked_len(&parts.headers, &asked).map_err(|fault| trace.fault(HttpErrorKind::Decode, fault))?;
                check_texts(&mut parts.headers).map_err(|fault| trace.fault(HttpErrorKind::Decode, fault))?;
                parts.headers.insert(CONTENT_LENGTH, len.into());
                Checked::exactly(len, body, trace)
            }
            // Some servers send an empty object as a whole, because it has no ranges.
            (Some(asked), StatusCode::OK) => {
                let is_empty = asked.start == 0 && text(&parts.headers, &CONTENT_LENGTH) == Some("0");
                let fault = match (trace.seen().is_page, is_empty) {
                    (true, _) => Fault::Page,
                    (false, true) => Fault::OutOfRange(Some(0)),
                    (false, false) => Fault::NoRanges,
                };
                return Err(trace.fault(HttpErrorKind::Decode, fault));
            }
            (Some(_), status) if status.is_success() => {
                return Err(trace.fault(HttpErrorKind::Decode, no_status_of_a_file(status)));
            }
            // Some stores leave out the size, but only an empty object has no byte at its start. For a web server, this
            // can have other causes.
            (Some(asked), StatusCode::RANGE_NOT_SATISFIABLE) => {
                let size = text(&parts.headers, &CONTENT_RANGE).and_then(range::size_without_range);
                let size = size.or((asked.start == 0 && self.address.is_none()).then_some(0));
                return Err(trace.fault(HttpErrorKind::Decode, Fault::OutOfRange(size)));
            }
            // Some stores give this label to an answer without content.
            (None, status)
                if status.is_success() && trace.seen().is_page && (reads || (puts && !body.is_end_stream())) =>
            {
                return Err(trace.fault(HttpErrorKind::Decode, Fault::Page));
            }
            (None, status) if status.is_success() && reads && self.address.is_some() => {
                check_encoding(&parts.headers).map_err(|fault| trace.fault(HttpErrorKind::Decode, fault))?;
                match text(&parts.headers, &CONTENT_LENGTH).and_then(|len| len.parse().ok()) {
                    Some(len) => Checked::exactly(len, body, trace),
                    None if is_framed(&parts) => Checked::framed(body, trace),
                    None => return Err(trace.fault(HttpErrorKind::Decode, Fault::NoLength)),
                }
            }
            (None, status) if status.is_success() && reads && !self.of_credentials && trace.repeats(&uri) => {
                return Err(trace.fault(HttpErrorKind::Decode, Fault::Repeats));
            }
            (None, status) if status.is_success() => {
                let most = if posts { MOST_OF_AN_UPLOAD } else { MOST_OF_A_LISTING };
                Checked::xml(most, reads && lists(&uri), body, trace)
            }
            _ => Checked::start(MOST_OF_A_REFUSAL, body, trace),
        };
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(checked)))
    }
}

/// Whether a request goes to one of the services that are named, if there are any.
fn is_among(services: &[String], uri: &Uri) -> bool {
    let is_of = |service: &String| uri.to_string().starts_with(&format!("http://{service}/"));
    services.is_empty() || services.iter().any(is_of)
}

/// Whether a request asks for a page of a listing, of Amazon's and Google's stores or of Azure's.
fn lists(uri: &Uri) -> bool {
    uri.query().unwrap_or_default().split('&').any(|part| matches!(part, "list-type=2" | "comp=list"))
}

/// Whether the end of a body differs from the end of its connection.
fn is_framed(answer: &http::response::Parts) -> bool {
    answer.version == Version::HTTP_2
        || (answer.version == Version::HTTP_11 && answer.headers.contains_key(TRANSFER_ENCODING))
}

/// The scheme and the host of an address.
fn origin(url: &Url) -> String {
    format!("{}://{}", url.scheme(), &url[Position::BeforeHost..Position::BeforePath])
}

/// Whether a text can be the name of a region.
pub(crate) fn is_region(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) && is_in_names(text)
}

/// Whether a request completes an upload in parts, at Amazon's or at Google's.
fn completes_upload(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method() == Method::POST && query.split('&').any(|part| part.starts_with("uploadId="))
}

/// Whether a request begins or completes an upload in parts. Other requests with this method are for tokens.
fn is_of_upload(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method() == Method::POST && query.split('&').any(|part| part.starts_with("upload"))
}

/// Whether a request makes an object or an upload appear: it has all of the object, or begins or completes an upload in parts.
fn settles(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let is_part = query.split('&').any(|part| part == "comp=block" || part.starts_with("partNumber="));
    is_of_upload(request) || (request.method() == Method::PUT && !is_part)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok())
}

fn no_status_of_a_file(status: StatusCode) -> Fault {
    Fault::WrongRange(format!("the status {}, which is none of a file", status.as_u16()))
}

/// Whether an answer is labelled as a web page.
fn is_page(headers: &HeaderMap) -> bool {
    let kind = text(headers, &CONTENT_TYPE).and_then(|what| what.split(';').next()).unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|page| kind.eq_ignore_ascii_case(page))
}

/// Removes the headers that nobody reads here, because the store fails if they are not ASCII. Fails if one of the others is not.
fn check_texts(headers: &mut HeaderMap) -> Result<(), Fault> {
    for unread in [CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LANGUAGE, CONTENT_TYPE] {
        headers.remove(unread);
    }
    let mut read = [ETAG, LAST_MODIFIED].into_iter();
    read.find(|name| headers.get(name).is_some_and(|value| value.to_str().is_err()))
        .map_or(Ok(()), |name| Err(Fault::Header(name)))
}

/// Fails if the body is compressed, in itself or in transit.
fn check_encoding(headers: &HeaderMap) -> Result<(), Fault> {
    for (header, plain) in [(CONTENT_ENCODING, "identity"), (TRANSFER_ENCODING, "chunked")] {
        let mut values = headers.get_all(&header).iter().map(|encoding| encoding.to_str().unwrap_or("unknown").trim());
        if let Some(found) = values.find(|found| !found.is_empty() && !found.eq_ignore_ascii_case(plain)) {
            let shown: String = found.chars().filter(char::is_ascii_graphic).take(40).collect();
            let name = if header == CONTENT_ENCODING { "Content-Encoding" } else { "Transfer-Encoding" };
            return Err(Fault::Encoded(format!("{name} is {shown}")));
        }
    }
    Ok(())
}

/// The length that the body must have, if the answer is for the requested range. Only the end of the object may shorten
/// a range.
fn checked_len(headers: &HeaderMap, asked: &std::ops::Range<u64>) -> Result<u64, Fault> {
    check_encoding(headers)?;
    let words = text(headers, &CONTENT_RANGE);
    let shown = || words.unwrap_or("no Content-Range").chars().filter(|c| !c.is_control()).take(80).collect();
    let answered = words.and_then(range::answered).ok_or_else(|| Fault::WrongRange(shown()))?;
    if answered.range.start != asked.start || answered.range.end != asked.end.min(answered.size) {
        return Err(Fault::WrongRange(shown()));
    }
    let len = answered.range.end.saturating_sub(answered.range.start);
    match headers.get(CONTENT_LENGTH) {
        Some(claim) if claim.as_bytes() != len.to_string().as_bytes() => Err(Fault::WrongLength),
        _ => Ok(len),
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may be a secret.
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl HttpConnector for Gate {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // A store allows http to the services of the machine only, and to an emulator.
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|allows| allows == "true");
        Ok(HttpClient::new(Gate { of_credentials: self.has_services && allows_http, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::is_among;

    /// Without a request: if this failed, it would reach the service of a machine in a cloud.
    #[test]
    fn a_service_that_is_named_is_the_only_one() {
        let named = ["127.0.0.1:1".to_owned()];
        let path = "computeMetadata/v1/instance/service-accounts/default/token";
        for (host, is_asked) in [
            ("127.0.0.1:1", true),
            ("127.0.0.1:11", false),
            ("169.254.169.254", false),
            ("metadata.google.internal", false),
        ] {
            let uri = format!("http://{host}/{path}").parse().unwrap();
            assert_eq!((is_among(&named, &uri), is_among(&[], &uri)), (is_asked, true), "{host}");
        }
    }
}
