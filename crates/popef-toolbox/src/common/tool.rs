//! What a command gets from the tool.

use std::io;
use std::ops::ControlFlow;

use popef_dump_tool::screen::{colors, progress};
use popef_ops::Progress;
use popef_show::{Out, ProgressLine, When};

use super::end::is_stopped;

/// The tool as a command sees it: where its output goes, and how.
#[derive(Debug)]
pub(crate) struct Tool {
    colors: bool,
}

impl Tool {
    pub(crate) fn new(when: When) -> Self {
        Tool { colors: colors(when) }
    }

    /// Standard output. Data and reports go there; words for people about the work go to stderr.
    pub(crate) fn out(&self) -> Out {
        Out::new(Box::new(io::stdout()), self.colors)
    }

    /// A progress line on stderr, if that is a terminal, which says that `what` is read or written. Ctrl-C stops the work.
    pub(crate) fn progress(&self, what: &'static str) -> Watch {
        Watch(progress(what))
    }
}

/// Shows how far the work is, and stops it at Ctrl-C. The line disappears when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch(ProgressLine);

impl Progress for Watch {
    fn expect(&self, bytes: u64) {
        self.0.expect(bytes);
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        self.0.add(bytes);
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.clear();
    }
}
