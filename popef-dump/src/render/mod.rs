//! From a report to text or JSON.

pub(crate) mod color;
pub(crate) mod escape;
mod json;
mod out;
mod overview;
mod text;
pub(crate) mod units;
mod values;

use std::io;

pub(crate) use json::{Json, JsonLines, hex, object, text as json_text};
pub(crate) use out::Out;
pub(crate) use overview::{Overview, Screen};
pub(crate) use text::Listing;
pub(crate) use units::size as human_size;

use crate::report::{Failures, FileReport};

/// One way to show files.
pub(crate) trait Renderer: Sync {
    /// Before the first file.
    fn begin(&self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }

    /// One file: files are rendered on several threads. What is wrong with its parts is said in place, and noted in
    /// `failures`.
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()>;

    /// After the last file.
    fn end(&self, _files: usize, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }
}
