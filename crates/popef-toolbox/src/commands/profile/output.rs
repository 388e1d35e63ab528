//! Files that are written: the timeline and the page.

use std::path::Path;

use popef_cli::common::Place;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::Out;

use super::Args;

impl Args {
    pub(super) fn place<'p>(&self, path: &'p Path) -> Place<'p> {
        Place { path: Some(path), force: self.force, dry_run: self.dry_run }
    }

    /// Fails early if a file must not be replaced: reading may take long.
    pub(super) fn check_place(&self) -> Result<(), Error> {
        self.trace.iter().chain(&self.output).try_for_each(|path| self.place(path).begin(self.inputs(), []).map(drop))
    }

    /// Writes a file, which appears only if it is complete. `write` asks from time to time whether to stop. `noun` says what the file
    /// is.
    pub(super) fn write_file<T>(
        &self,
        tool: &Tool,
        path: &Path,
        noun: &'static str,
        write: impl FnOnce(&mut Out) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.place(path).write_report(tool, &self.inputs().collect::<Vec<_>>(), noun, write)
    }
}
