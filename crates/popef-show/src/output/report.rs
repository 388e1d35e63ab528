//! What a report looks like.

use std::io;

use serde::Serialize;

use super::out::Out;
use crate::json::stream::{Network, document, item};
use crate::output::named::named;

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
    /// Writes a report that is one object, or as `text` shows it.
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
    /// Text has at most so many rows of each table.
    pub top: usize,
    /// What is said at the end of documents.
    pub network: Network,
}
