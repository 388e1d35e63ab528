//! The terminal.

use std::env;
use std::io::{self, IsTerminal};
use std::ops::RangeInclusive;
#[cfg(unix)]
use std::os::fd::AsFd as Handle;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Handle;

use popef_show::{ProgressLine, Screen, When};

/// The terminal that the output goes to, if it goes to one.
pub fn screen() -> Option<Screen> {
    screen_of(&io::stdout())
}

fn screen_of(terminal: &(impl IsTerminal + Handle)) -> Option<Screen> {
    let (width, height) = terminal.is_terminal().then(|| size(terminal)).flatten()?;
    // Some terminals know only one of the two.
    let height = if height == 0 { usize::MAX } else { height };
    (width > 0).then_some(Screen { width, height })
}

/// The width and the height of a terminal; 0 if it does not know them.
#[cfg(unix)]
fn size(terminal: &impl Handle) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(windows)]
fn size(terminal: &impl Handle) -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size_of(terminal)?;
    Some((width.0.into(), height.0.into()))
}

/// The width of help: that of the terminal, even if a pager shows it, or `COLUMNS`, within limits.
pub fn help_width() -> usize {
    const WIDTHS: RangeInclusive<usize> = 30..=100;
    let columns = || env::var("COLUMNS").ok()?.parse().ok();
    let terminal = screen().or_else(|| screen_of(&io::stderr()));
    let width = terminal.map(|screen| screen.width).or_else(columns).unwrap_or(*WIDTHS.end());
    width.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// Whether the output has colours.
pub fn colors(when: When) -> bool {
    when.colors(io::stdout().is_terminal(), |name| env::var(name).ok())
}

/// A progress line on stderr, if that is a terminal.
pub fn progress(what: &'static str) -> ProgressLine {
    let stderr = io::stderr();
    if stderr.is_terminal() { ProgressLine::new(what, Box::new(stderr)) } else { ProgressLine::hidden() }
}
