//! Profiling reports: the summary, tables, differences, and a timeline.

mod diff;
mod model;
mod rows;
mod summary;
pub(crate) mod tables;
mod trace;

use std::path::Path;

use popef_ops::FilePath;
use poplar_inspect::profile::{ExecutionProfile, GraphProfile, Remarks};
use serde::Serialize;

use crate::FindingsFormat;
use popef::seam::named;

pub use diff::ProfileDiffReport;
pub use model::{Compared, ComparedModel, ComparedModels};
pub use rows::{ProfileTable, TableRequest, TableWritten};
pub use summary::SummaryReport;
pub use trace::Timeline;

/// A profiling report that has a graph.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'r> {
    /// The graph profile.
    pub graph: &'r GraphProfile,
    /// The execution profile, if there is one.
    pub execution: Option<&'r ExecutionProfile>,
}

/// The files of a report, and the remarks about them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileHead<'r> {
    #[serde(flatten)]
    path: FilePath,
    execution_path: Option<String>,
    remarks: &'r Remarks,
}

impl<'r> ProfileHead<'r> {
    /// The paths of the graph profile and of the execution profile, if that is a file of its own.
    pub fn new(graph: &Path, execution: Option<&Path>, remarks: &'r Remarks) -> Self {
        let execution_path = execution.map(|path| path.to_string_lossy().into_owned());
        ProfileHead { path: graph.into(), execution_path, remarks }
    }
}

named! {
    /// The formats of a profiling report and of the findings in it.
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
    /// The formats of files.
    pub const OF_FILES: [ProfileFormat; 5] =
        [ProfileFormat::Html, ProfileFormat::Text, ProfileFormat::Json, ProfileFormat::Ndjson, ProfileFormat::Csv];

    /// The same format for findings, if there is one.
    pub fn of_findings(self) -> Option<FindingsFormat> {
        FindingsFormat::ALL.iter().copied().find(|format| format.as_str() == self.as_str())
    }

    /// Whether the summary and tables have this format too.
    pub fn is_of_summary(self) -> bool {
        Self::OF_FILES.contains(&self)
    }
}
