//! What a report looks like.

use std::io;

use serde::Serialize;

use super::out::Out;
use crate::json::stream::{Network, document, item};

/// The formats that every report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// Lines of JSON.
    Ndjson,
}

impl ReportFormat {
    /// All formats.
    pub const ALL: [ReportFormat; 3] = [ReportFormat::Text, ReportFormat::Json, ReportFormat::Ndjson];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            ReportFormat::Text => "text",
            ReportFormat::Json => "json",
            ReportFormat::Ndjson => "ndjson",
        }
    }

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
