use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The cost of reading a file so far. Clones share the counts.
///
/// All requests count, including those that failed and were repeated, and those that a redirect needed. Bytes are those
/// of bodies.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    counts: Arc<Counts>,
    /// A larger count that includes this one.
    total: Option<Arc<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Usage {
    /// The number of requests sent.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// The number of bytes received.
    pub fn bytes(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed)
    }

    /// Begins a count that is added to this one too.
    pub(crate) fn part(&self) -> Usage {
        Usage { counts: Arc::default(), total: Some(Arc::clone(&self.counts)) }
    }

    pub(crate) fn add_request(&self) {
        self.each(|counts| counts.requests.fetch_add(1, Ordering::Relaxed));
    }

    pub(crate) fn add_bytes(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.each(|counts| counts.bytes.fetch_add(count, Ordering::Relaxed));
    }

    fn each(&self, add: impl Fn(&Counts) -> u64) {
        add(&self.counts);
        self.total.as_deref().map(add);
    }
}
