//! What a report looks like.

use crate::FindingsFormat;

/// The formats of a profiling report and of what the rules find in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileFormat {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// Lines of JSON.
    Ndjson,
    /// A table.
    Csv,
    /// Findings for viewers of SARIF.
    Sarif,
    /// Findings as annotations of GitHub.
    GitHub,
    /// Findings as tests of JUnit.
    JUnit,
    /// One page.
    Html,
}

impl ProfileFormat {
    /// All formats.
    pub const ALL: [ProfileFormat; 8] = [
        ProfileFormat::Text,
        ProfileFormat::Json,
        ProfileFormat::Ndjson,
        ProfileFormat::Csv,
        ProfileFormat::Sarif,
        ProfileFormat::GitHub,
        ProfileFormat::JUnit,
        ProfileFormat::Html,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            ProfileFormat::Text => "text",
            ProfileFormat::Json => "json",
            ProfileFormat::Ndjson => "ndjson",
            ProfileFormat::Csv => "csv",
            ProfileFormat::Sarif => "sarif",
            ProfileFormat::GitHub => "github",
            ProfileFormat::JUnit => "junit",
            ProfileFormat::Html => "html",
        }
    }

    /// Those of files.
    pub const OF_FILES: [ProfileFormat; 5] =
        [ProfileFormat::Html, ProfileFormat::Text, ProfileFormat::Json, ProfileFormat::Ndjson, ProfileFormat::Csv];

    /// What it is for findings.
    pub fn of_findings(self) -> Option<FindingsFormat> {
        FindingsFormat::ALL.into_iter().find(|format| format.name() == self.name())
    }

    /// Whether it is one of the summary and of tables too.
    pub fn is_of_summary(self) -> bool {
        matches!(
            self,
            ProfileFormat::Text
                | ProfileFormat::Json
                | ProfileFormat::Ndjson
                | ProfileFormat::Csv
                | ProfileFormat::Html
        )
    }
}
