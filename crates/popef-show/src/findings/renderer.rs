use std::io;

use super::group::{Group, Totals, Verdict};
use crate::output::out::Out;

/// Shows findings in one format.
pub trait FindingsRenderer {
    /// Takes what came of one group of files. It is written now or at the end.
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()>;

    /// Writes what comes after the last group.
    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()>;
}
