//! What the gate observed about a request, for the resulting error.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderName, Uri};
use object_store::client::{HttpError, HttpErrorKind};

use crate::usage::Usage;

/// Why the gate refused a request or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The whole file came instead of a range.
    NoRanges,
    /// A web page came instead of a file.
    Page,
    /// The answer has another range, or an unreadable one.
    WrongRange(String),
    /// The answer states a length that differs from its range.
    WrongLength,
    /// The body is compressed. The header that says so.
    Encoded(String),
    /// The body ended too early.
    Cut,
    /// The body is longer than it may be.
    Long,
    /// The body of a whole file ends where the connection does, so that nothing tells if it is cut.
    NoLength,
    /// The answer is not what a page of a listing must be.
    NoListing(&'static str),
    /// A header has characters that are not ASCII. Its name.
    Header(HeaderName),
    /// A redirect to an address without https, or one of too many.
    Redirect(String),
    /// A redirect that leads nowhere.
    NoLocation,
    /// The store's address is none.
    NoAddress,
    /// The store's address leads to where clouds have the credentials of a machine.
    Metadata,
    /// Http, which was not allowed.
    Http,
    /// There is no client for the request, because certificates cannot be read. The reason.
    NoClient(String),
    /// The machine has no service for credentials, as machines in clouds do.
    NoCredentials,
    /// A page of a listing leads to one that came before.
    Repeats,
    /// The requested range is empty. The object's size, if the server states it.
    OutOfRange(Option<u64>),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Fault {}

/// The observations of the requests for one range, over all repetitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) usage: Usage,
    seen: Arc<Mutex<Seen>>,
    /// Hashes of the addresses of the pages of a listing.
    pages: Arc<Mutex<HashSet<u64>>>,
}

/// What was seen: of the last request, but for what is counted or collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) status: Option<u16>,
    pub(crate) fault: Option<Fault>,
    /// The code of an error in an answer that was none by its status.
    pub(crate) said: Option<String>,
    /// Where the last redirect led: a scheme and a host.
    pub(crate) redirected: Option<String>,
    /// Whether the request was to be done only for a certain version of the object.
    pub(crate) is_conditional: bool,
    /// The bucket's region, if the store states it.
    pub(crate) region: Option<String>,
    /// Whether the answer is labelled as a web page.
    pub(crate) is_page: bool,
    /// How many calls there were. Each store counts its own repetitions, but not those of its callers.
    pub(crate) calls: usize,
    /// How many requests that make an object or an upload appear may have arrived.
    pub(crate) settled: u32,
    /// The keys in a listing that end with a slash, without it.
    pub(crate) folders: HashSet<String>,
    /// The service for credentials that was contacted, and not the store.
    pub(crate) service: Option<&'static str>,
}

tokio::task_local! {
    /// The trace of the request that this task makes.
    pub(crate) static TRACE: Trace;
}

impl Trace {
    pub(crate) fn new(usage: Usage) -> Self {
        Trace { usage, ..Trace::default() }
    }

    /// The trace of this task. A task without one gets a trace that is not read.
    pub(super) fn current() -> Trace {
        TRACE.try_with(Trace::clone).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    pub(super) fn begin(&self, service: Option<&'static str>) {
        self.usage.add_request();
        let mut seen = self.lock();
        let Seen { settled, calls, is_conditional, .. } = *seen;
        let (folders, redirected) = (std::mem::take(&mut seen.folders), seen.redirected.take());
        *seen = Seen { service, settled, calls, is_conditional, folders, redirected, ..Seen::default() };
    }

    /// Counts a call, which may have several requests because of redirects. `is_conditional` is whether it is for a certain version.
    pub(super) fn calls(&self, is_conditional: bool) {
        let mut seen = self.lock();
        seen.calls = seen.calls.saturating_add(1);
        (seen.is_conditional, seen.redirected) = (is_conditional, None);
    }

    /// Records where a redirect leads.
    pub(super) fn redirected(&self, to: String) {
        self.lock().redirected = Some(to);
    }

    /// Forgets the requests that make an upload appear, before those that make its object appear.
    pub(crate) fn forget_settled(&self) {
        self.lock().settled = 0;
    }

    /// Counts a request that makes an object or an upload appear, and that may have arrived.
    pub(super) fn settles(&self) {
        let mut seen = self.lock();
        seen.settled = seen.settled.saturating_add(1);
    }

    /// Records a page of a listing. Returns whether there was one with this address before.
    pub(super) fn repeats(&self, page: &Uri) -> bool {
        let mut hasher = DefaultHasher::new();
        page.hash(&mut hasher);
        !self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(hasher.finish())
    }

    /// Records the code of an error.
    pub(super) fn said(&self, code: &[u8]) {
        self.lock().said = str::from_utf8(code).ok().map(str::to_owned);
    }

    /// Records a key that ends with a slash.
    pub(super) fn add_folder(&self, key: String) {
        self.lock().folders.insert(key);
    }

    /// Whether a key that was listed ended with a slash. Each is told once, so that no more than a page of them is kept.
    pub(crate) fn takes_folder(&self, key: &str) -> bool {
        self.lock().folders.remove(key)
    }

    pub(super) fn answered(&self, status: u16, region: Option<String>, is_page: bool) {
        let mut seen = self.lock();
        (seen.status, seen.region, seen.is_page) = (Some(status), region, is_page);
    }

    /// Records a fault, and returns its error.
    pub(super) fn fault(&self, kind: HttpErrorKind, fault: Fault) -> HttpError {
        self.lock().fault = Some(fault.clone());
        HttpError::new(kind, fault)
    }
}
