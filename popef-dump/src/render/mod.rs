//! From a report to text or JSON.

pub(crate) mod color;
pub(crate) mod escape;
mod json;
mod out;
mod overview;
mod text;
mod units;
mod values;

use std::io;

pub(crate) use json::{Json, JsonLines};
pub(crate) use out::Out;
pub(crate) use overview::{Overview, Screen};
pub(crate) use text::Listing;
pub(crate) use units::size as human_size;

use crate::report::{Failure, Report};

/// One way to show files.
pub(crate) trait Renderer {
    /// Before the first file.
    fn begin(&mut self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }

    /// One file. What is wrong with its parts is said in place, and noted in `failures`.
    fn file(&mut self, out: &mut Out, report: &Report<'_>, failures: &mut Vec<Failure>) -> io::Result<()>;

    /// After the last file.
    fn end(&mut self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }
}
