//! The terminal.

use std::env;
use std::io::{self, IsTerminal as _};

use popef_show::{ProgressLine, Screen, When};

/// The terminal that the output goes to, if it goes to one.
pub(crate) fn screen() -> Option<Screen> {
    let stdout = io::stdout();
    let (width, height) = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten()?;
    Some(Screen { width: width.0.into(), height: height.0.into() })
}

/// Whether the output has colours.
pub(crate) fn colors(when: When) -> bool {
    when.colors(io::stdout().is_terminal(), |name| env::var(name).ok())
}

/// A progress line on stderr, if that is a terminal.
pub(crate) fn progress(what: &'static str) -> ProgressLine {
    let stderr = io::stderr();
    if stderr.is_terminal() { ProgressLine::new(what, Box::new(stderr)) } else { ProgressLine::hidden() }
}
