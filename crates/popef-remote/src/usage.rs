use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What reading a file has cost so far. Clones count the same.
///
/// All requests count, also those that failed and were repeated, and those that a redirect needed. Bytes are those of bodies.
#[derive(Clone, Debug, Default)]
pub struct Usage(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Usage {
    /// How many requests were sent.
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// How many bytes were received.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_request(&self) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, count: usize) {
        self.0.bytes.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
