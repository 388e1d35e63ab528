//! The renderers of files: one for each format of a listing.

mod json;
pub(crate) mod overview;
pub(crate) mod payload;
mod pieces;
mod text;

use std::io;

use crate::failure::Failures;
use crate::output::Screen;
use crate::output::out::Out;
use crate::report::file::FileReport;
use crate::report::options::Options;
use json::{Json, JsonLines};
use overview::Overview;
use popef::seam::named;
use text::Listing;

named! {
    /// The formats in which files are listed. A new one is a [`ListRenderer`] in a file of its own, one line here, and one in
    /// `renderer`.
    #[non_exhaustive]
    pub enum ListFormat {
        /// For people: the vendor's listing of what is selected, or an overview.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// One JSON object per line and blob.
        Ndjson = "ndjson",
    }
}

impl ListFormat {
    /// The renderer. Without a screen, text is not shortened.
    pub fn renderer(self, options: &Options, screen: Option<Screen>) -> Box<dyn ListRenderer> {
        match self {
            ListFormat::Text if options.select.is_some() => Box::new(Listing),
            ListFormat::Text => Box::new(Overview::new(screen, options.full_names)),
            ListFormat::Json => Box::new(Json),
            ListFormat::Ndjson => Box::new(JsonLines),
        }
    }
}

/// Shows files in one format. It has no state, so several threads can show files at once.
pub trait ListRenderer: Sync {
    /// Writes the part before the first file.
    fn begin(&self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }

    /// Shows one file. Failures of its blobs are shown there, and added to `failures`. The caller reports why the file
    /// could not be read to its end.
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()>;

    /// Writes the part after the last file. `files` is their number.
    fn end(&self, _files: usize, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }
}
