use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::units::size;

/// A line that shows how much was read. It appears only once the work takes longer than a second.
///
/// ```
/// let progress = popef_show::ProgressLine::hidden();
/// progress.expect(1 << 30);
/// progress.add(1 << 20);
/// progress.clear();
/// ```
#[derive(Debug)]
pub struct ProgressLine {
    what: &'static str,
    total: AtomicU64,
    done: AtomicU64,
    /// None if it is not shown.
    line: Option<Mutex<Line>>,
}

struct Line {
    terminal: Box<dyn Write + Send>,
    /// When it is drawn next.
    next: Instant,
    visible: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
const CELLS: u64 = 30;

impl ProgressLine {
    /// Shows on a terminal that `what` is being read.
    pub fn new(what: &'static str, terminal: Box<dyn Write + Send>) -> Self {
        let line = Line { terminal, next: Instant::now() + PATIENCE, visible: false };
        ProgressLine { what, line: Some(Mutex::new(line)), ..ProgressLine::hidden() }
    }

    /// One that is never shown.
    pub fn hidden() -> Self {
        ProgressLine { what: "", total: AtomicU64::new(0), done: AtomicU64::new(0), line: None }
    }

    /// So many bytes more will be read.
    pub fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many bytes more were read.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // Another thread that holds the lock draws instead.
        let Some(Ok(mut line)) = self.line.as_ref().map(Mutex::try_lock) else { return };
        let now = Instant::now();
        if now < line.next {
            return;
        }
        let total = self.total.load(Ordering::Relaxed).max(done);
        line.next = now + PAUSE;
        line.visible = true;
        line.write(format_args!("\r{}\x1b[K", bar(self.what, done, total)));
    }

    /// Removes the line from the terminal to make room for other output.
    pub fn clear(&self) {
        let Some(line) = &self.line else { return };
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut line.visible) {
            line.write(format_args!("\r\x1b[K"));
        }
    }
}

impl Line {
    fn write(&mut self, text: fmt::Arguments<'_>) {
        // The work goes on without the line.
        let _ = self.terminal.write_fmt(text).and_then(|()| self.terminal.flush());
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("visible", &self.visible).finish_non_exhaustive()
    }
}

fn bar(what: &str, done: u64, total: u64) -> String {
    let of =
        |parts: u64| u64::try_from(u128::from(done) * u128::from(parts) / u128::from(total.max(1))).unwrap_or(parts);
    let full = "#".repeat(usize::try_from(of(CELLS)).unwrap_or_default());
    let width = usize::try_from(CELLS).unwrap_or_default();
    format!("{what} [{full:<width$}] {:>3} % of {}", of(100), size(total))
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
