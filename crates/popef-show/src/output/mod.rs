//! The output: text in pieces, with colours, escaped and broken into lines; and the formats of reports.

#[macro_use]
pub(crate) mod shown;
#[macro_use]
pub(crate) mod code;

pub(crate) mod color;
pub(crate) mod escape;
pub(crate) mod hex;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod out;
pub(crate) mod paragraph;
pub(crate) mod progress;
#[cfg(feature = "reports")]
pub(crate) mod table;
pub(crate) mod units;
pub(crate) mod width;

use std::io;

use popef::seam::named;
use popef::types::Text;
use serde::Serialize;

use color::Kind;
use json::{Network, document, item};
use out::Out;

named! {
    /// The formats that every report has.
    pub enum ReportFormat {
        /// For people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// Lines of JSON.
        Ndjson = "ndjson",
    }
}

impl ReportFormat {
    /// The format with this name, if there is one.
    pub fn named(name: &str) -> Option<ReportFormat> {
        ReportFormat::ALL.iter().copied().find(|format| format.as_str() == name)
    }

    /// Writes a report as one object of JSON, or as text with `text`.
    pub fn write<T: Serialize>(
        self,
        out: &mut Out,
        report: &T,
        network: Network,
        text: impl FnOnce(&mut Out, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            ReportFormat::Text => text(out, report),
            ReportFormat::Json => document(out, report, network),
            ReportFormat::Ndjson => item(out, "report", report),
        }
    }
}

/// How much of a report is shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct ReportOptions {
    /// The format.
    pub format: ReportFormat,
    /// The maximum number of rows of each table in text.
    pub top: usize,
    /// The cost that is written at the end of documents.
    pub network: Network,
}

/// The size of the terminal that the output goes to, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its width.
    pub width: usize,
    /// Its height.
    pub height: usize,
}

/// The words for a PopEF file in headings.
pub(crate) const POPEF_FILE: &str = "PopEF file";

/// Begins the part of a file: `PopEF file: model.popef`.
pub(crate) fn heading<'o>(out: &'o mut Out, what: &'static str, path: &Text<'_>) -> &'o mut Out {
    out.put_as(Kind::Group, shown!("{}:", what)).put(" ").text(Kind::Name, path)
}
