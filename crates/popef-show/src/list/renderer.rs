use std::io;

use crate::failure::Failures;
use crate::output::out::Out;
use crate::report::file::FileReport;

/// Shows files in one format. It has no state, so several threads can show files at once.
pub trait ListRenderer: Sync {
    /// Writes what comes before the first file.
    fn begin(&self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }

    /// Shows one file. What is wrong with its blobs is shown there, and added to `failures`. What kept the file from being
    /// read to its end is for the caller to report.
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()>;

    /// Writes what comes after the last of so many files.
    fn end(&self, _files: usize, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }
}
