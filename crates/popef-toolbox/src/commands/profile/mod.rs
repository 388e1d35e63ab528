//! `popef profile`.

mod args;
mod bars;
pub(in crate::commands) mod input;
mod rows;
mod summary;
mod tables;

use std::io;
use std::process::ExitCode;

pub(crate) use args::Args;
use args::Form;
use popef_ops::{Error, FilePath};
use popef_show::Out;
use poplar_inspect::profile::{
    Bucket, Consistency, ExecutionProfile, Facts, GraphProfile, Remarks, consistency, facts, histogram, items_per_second,
};
use serde::Serialize;

use super::Command;
use crate::common::end::unwritten;
use crate::common::format::{json_document, json_line};
use crate::common::tool::Tool;
use crate::common::words::wrong;

/// A report, and what was computed of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'r> {
    #[serde(flatten)]
    head: Head<'r>,
    facts: Facts<'r>,
    /// Tiles by what they need.
    tile_sizes: Vec<Bucket>,
    consistency: Option<Consistency>,
    items_per_second: Option<f64>,
}

/// The files, and what is odd in them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'r> {
    #[serde(flatten)]
    path: FilePath,
    execution_path: Option<String>,
    remarks: &'r Remarks,
}

/// A report that has a graph.
struct Profile<'r> {
    graph: &'r GraphProfile,
    execution: Option<&'r ExecutionProfile>,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.format == Form::Csv && self.by.is_none() {
            return Err(wrong("--format csv needs a table: add --by"));
        }
        let report = input::read(&self.graph, self.execution.as_deref(), self.by.is_none())?;
        let Some(graph) = &report.graph else {
            return Err(wrong("this is an execution profile: give the graph profile before it").in_file(&self.graph));
        };
        let profile = Profile { graph, execution: report.execution.as_ref() };
        let mut out = tool.out();
        match self.by {
            None => self.summary(&mut out, &profile, &report.remarks),
            Some(by) => self.table(&mut out, &profile, &report.remarks, by)?,
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Args {
    fn head<'r>(&self, remarks: &'r Remarks) -> Head<'r> {
        let execution_path = self.execution.as_ref().map(|path| path.to_string_lossy().into_owned());
        Head { path: self.graph.as_path().into(), execution_path, remarks }
    }

    fn summary(&self, out: &mut Out, profile: &Profile<'_>, remarks: &Remarks) -> io::Result<()> {
        let Profile { graph, execution } = *profile;
        let summary = Summary {
            head: self.head(remarks),
            facts: facts(graph, execution),
            tile_sizes: histogram(graph, 10),
            consistency: execution.and_then(|execution| consistency(graph, execution)),
            items_per_second: execution
                .zip(self.items)
                .and_then(|(execution, items)| items_per_second(graph, execution, items)),
        };
        match self.format {
            Form::Json => json_document(out, &summary),
            Form::Ndjson => json_line(out, "report", &summary),
            Form::Text | Form::Csv => summary::write(out, graph, &summary),
        }
    }
}
