//! How far reading values or data to check has come, on stderr: only on a terminal, and only once it takes longer than a second.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::render::human_size;

pub(crate) struct ProgressLine {
    what: &'static str,
    terminal: bool,
    total: AtomicU64,
    done: AtomicU64,
    visible: AtomicBool,
    next: Mutex<Instant>,
}

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
const CELLS: u64 = 30;

impl ProgressLine {
    /// `what` is read.
    pub(crate) fn new(what: &'static str) -> Self {
        ProgressLine {
            what,
            terminal: io::stderr().is_terminal(),
            total: AtomicU64::new(0),
            done: AtomicU64::new(0),
            visible: AtomicBool::new(false),
            next: Mutex::new(Instant::now() + PATIENCE),
        }
    }

    /// So many bytes more are to be read.
    pub(crate) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes more were read.
    pub(crate) fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if self.terminal && self.is_due() {
            self.visible.store(true, Ordering::Relaxed);
            let total = self.total.load(Ordering::Relaxed).max(done);
            let _ = write!(io::stderr(), "\r{}\x1b[K", bar(self.what, done, total));
        }
    }

    fn is_due(&self) -> bool {
        let Ok(mut next) = self.next.try_lock() else { return false };
        let now = Instant::now();
        let due = now >= *next;
        if due {
            *next = now + PAUSE;
        }
        due
    }

    /// Makes room for other output.
    pub(crate) fn clear(&self) {
        let _drawing = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if self.visible.swap(false, Ordering::Relaxed) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn bar(what: &str, done: u64, total: u64) -> String {
    let of =
        |parts: u64| u64::try_from(u128::from(done) * u128::from(parts) / u128::from(total.max(1))).unwrap_or(parts);
    let full = "#".repeat(usize::try_from(of(CELLS)).unwrap_or_default());
    let width = usize::try_from(CELLS).unwrap_or_default();
    format!("{what} [{full:<width$}] {:>3} % of {}", of(100), human_size(total))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar("values", 0, 0), "values [                              ]   0 % of 0 B");
        assert_eq!(bar("values", 1 << 29, 1 << 30), "values [###############               ]  50 % of 1.0 GiB");
        assert_eq!(bar("values", u64::MAX, u64::MAX), "values [##############################] 100 % of 16.0 EiB");
    }
}
