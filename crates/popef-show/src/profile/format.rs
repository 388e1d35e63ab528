//! What a report looks like.

use crate::FindingsFormat;
use crate::output::named::named;

named! {
    /// The formats of a profiling report and of what the rules find in it.
    pub enum ProfileFormat {
        /// For people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// Lines of JSON.
        Ndjson = "ndjson",
        /// A table.
        Csv = "csv",
        /// Findings for viewers of SARIF.
        Sarif = "sarif",
        /// Findings as annotations of GitHub.
        GitHub = "github",
        /// Findings as tests of JUnit.
        JUnit = "junit",
        /// One page.
        Html = "html",
    }
}

impl ProfileFormat {
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
