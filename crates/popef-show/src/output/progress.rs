use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::units::size;

/// A line that shows how much was done, how fast, and how long the rest will take. It appears only once the work takes longer
/// than a second.
///
/// ```
/// let progress = popef_show::ProgressLine::hidden();
/// progress.expect(1 << 30);
/// progress.add(1 << 20);
/// progress.clear();
/// ```
#[derive(Debug, Default)]
pub struct ProgressLine {
    what: &'static str,
    total: AtomicU64,
    done: AtomicU64,
    /// `None` if the line is not shown.
    line: Option<Mutex<Line>>,
}

struct Line {
    terminal: Box<dyn Write + Send>,
    /// When the work began.
    begun: Instant,
    /// When it is drawn next.
    next: Instant,
    visible: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
const CELLS: u64 = 20;

impl ProgressLine {
    /// Shows on a terminal that `what` is being done or read.
    pub fn new(what: &'static str, terminal: Box<dyn Write + Send>) -> Self {
        let begun = Instant::now();
        let line = Line { terminal, begun, next: begun + PATIENCE, visible: false };
        ProgressLine { what, line: Some(Mutex::new(line)), ..ProgressLine::hidden() }
    }

    /// A line that is never shown.
    pub fn hidden() -> Self {
        ProgressLine::default()
    }

    /// Adds to the number of bytes to be done.
    pub fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds to the number of bytes that are done.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // Another thread that holds the lock draws instead.
        let Some(Ok(mut line)) = self.line.as_ref().map(Mutex::try_lock) else { return };
        let now = Instant::now();
        if now < line.next {
            return;
        }
        let total = self.total.load(Ordering::Relaxed).max(done);
        if total == 0 {
            return;
        }
        line.next = now + PAUSE;
        line.visible = true;
        let time = now.duration_since(line.begun);
        line.write(format_args!("\r{}{}\x1b[K", bar(self.what, done, total), pace(done, total, time)));
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

/// The speed of the work, and how long the rest takes at this speed: `, 1.2 GiB/s, 3 s left`.
fn pace(done: u64, total: u64, time: Duration) -> String {
    let millis = time.as_millis().max(1);
    let of = |part: u64, whole: u128| u64::try_from(u128::from(part) * whole / millis).unwrap_or(u64::MAX);
    let rate = of(done, 1000);
    let left = total.saturating_sub(done).checked_div(rate).map(duration);
    format!(", {}/s{}", size(rate), left.map(|left| format!(", {left} left")).unwrap_or_default())
}

/// `9 s`, `2 min 5 s`, `3 h 20 min`
fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bar, pace};

    #[test]
    fn the_pace_has_rate_and_time_left() {
        let cases = [
            (1 << 30, 4 << 30, 1, ", 1.0 GiB/s, 3 s left"),
            (1 << 30, 1 << 40, 10, ", 102.4 MiB/s, 2 h 50 min left"),
            (100 << 20, 13 << 30, 1, ", 100.0 MiB/s, 2 min 12 s left"),
            (5, 5, 1, ", 5 B/s, 0 s left"),
            (0, 5, 1, ", 0 B/s"),
            (0, 0, 0, ", 0 B/s"),
        ];
        for (done, total, seconds, shown) in cases {
            assert_eq!(pace(done, total, Duration::from_secs(seconds)), shown);
        }
    }

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar("values", 0, 0), "values [                    ]   0 % of 0 B");
        assert_eq!(bar("values", 1 << 29, 1 << 30), "values [##########          ]  50 % of 1.0 GiB");
        assert_eq!(bar("values", u64::MAX, u64::MAX), "values [####################] 100 % of 16.0 EiB");
    }
}
