//! `popef profile`.

mod args;
mod bars;
mod diff;
mod findings;
mod form;
pub(in crate::commands) mod input;
mod model;
mod output;
mod page;
mod rows;
mod summary;
mod tables;
mod trace;

use std::cmp::Reverse;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use args::Args;
use args::What;
use form::Form;
use input::{Input, Keep};
use popef_check::{Report, Severity};
use popef_ops::{Error, FilePath};
use popef_show::Out;
use poplar_inspect::profile::{
    Bucket, Consistency, ExecutionProfile, Facts, GraphProfile, Policy, Remarks, consistency, propose, facts, histogram, items_per_second,
};
use serde::Serialize;

use super::Command;
use crate::common::plain::Place;
use crate::common::end::unwritten;
use crate::common::format::{json_document, json_line, Format};
use crate::common::tool::Tool;
use crate::common::words::wrong;
use model::Models;

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
    /// What the rules find, the worst first.
    findings: Vec<Finding>,
    /// Rules that draw no conclusion, and why.
    skipped: Vec<Skipped>,
    /// The model of a PopEF file.
    model: Option<Models>,
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

impl<'r> Head<'r> {
    fn new(graph: &Path, execution: Option<&Path>, remarks: &'r Remarks) -> Self {
        let execution_path = execution.map(|path| path.to_string_lossy().into_owned());
        Head { path: graph.into(), execution_path, remarks }
    }
}

/// A finding in the summary.
#[derive(Serialize)]
struct Finding {
    id: &'static str,
    severity: Severity,
    names: Vec<String>,
    message: String,
}

impl From<popef_findings::Finding> for Finding {
    fn from(finding: popef_findings::Finding) -> Self {
        let popef_findings::Finding { rule, severity, names, message, .. } = finding;
        let names = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        Finding { id: rule.id, severity, names, message }
    }
}

/// Rules that draw no conclusion.
#[derive(Serialize)]
struct Skipped {
    what: String,
    why: String,
}

impl From<popef_findings::Skipped> for Skipped {
    fn from(skipped: popef_findings::Skipped) -> Self {
        Skipped { what: skipped.what, why: skipped.why }
    }
}

/// A report that has a graph.
struct Profile<'r> {
    graph: &'r GraphProfile,
    execution: Option<&'r ExecutionProfile>,
}

impl Profile<'_> {
    /// Whether the steps follow from the graph.
    fn consistency(&self) -> Option<Consistency> {
        self.execution.and_then(|execution| consistency(self.graph, execution))
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if let Some(What::Diff(args)) = &self.what {
            if self.findings.is_check() || self.by.is_some() || self.output.is_some() || self.trace.is_some() {
                return Err(wrong("only --format goes before diff; its own options go behind it"));
            }
            return args.run(tool, self.form());
        }
        self.apart()?.show_report(tool)
    }

    fn output(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }
    }

    fn format(&self) -> Option<Format> {
        self.format.and_then(|form| Format::named(form.name()))
    }
}

impl Args {
    /// With the format that the options choose, and the PopEF file in its own place, if it stands in that of the execution.
    fn apart(&self) -> Result<Self, Error> {
        let mut args = self.clone();
        // Findings do not go to files, which is said later.
        let output = self.output.as_deref().filter(|_| !self.findings.is_check());
        args.format = Some(Form::FORMS.chosen(self.format, output)?);
        match (&self.execution, &self.model) {
            (Some(path), None) if model::is_popef(path) => args.model = args.execution.take(),
            (_, Some(path)) if !model::is_popef(path) => {
                return Err(wrong("this is no PopEF file: a profile has at most two files").in_file(path));
            }
            _ => {}
        }
        Ok(args)
    }

    fn show_report(&self, tool: &Tool) -> Result<ExitCode, Error> {
        self.hold_together()?;
        self.check_place()?;
        let keep = match () {
            () if self.trace.is_some() => Keep::All,
            () if self.by.is_some() => Keep::Sums,
            () => Keep::Some,
        };
        let input = input::read(self.graph(), self.execution.as_deref(), keep)?;
        if input.is_swapped {
            let (graph, execution) = (self.execution.clone(), self.graph.clone());
            return Args { graph, execution, ..self.clone() }.show_input(tool, &input);
        }
        self.show_input(tool, &input)
    }

    fn show_input(&self, tool: &Tool, input: &Input) -> Result<ExitCode, Error> {
        let report = &input.report;
        let Some(graph) = &report.graph else {
            return Err(wrong("this is an execution profile: give the graph profile before it").in_file(self.graph()));
        };
        let profile = Profile { graph, execution: report.execution.as_ref() };
        if self.findings.is_check() {
            return self.check(tool, &profile, input);
        }
        if let Some(path) = &self.trace {
            return self.write_trace(tool, &profile, path);
        }
        if let Some(path) = self.page() {
            return self.write_page(tool, &profile, path);
        }
        match &self.output {
            Some(path) => {
                let inputs: Vec<_> = self.inputs().collect();
                self.place(path).write_report(tool, &inputs, "a report", |out| self.show(tool, out, &profile, input))?;
            }
            None => self.show(tool, &mut tool.out(), &profile, input)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Shows the summary or a table.
    fn show(&self, tool: &Tool, out: &mut Out, profile: &Profile<'_>, input: &Input) -> Result<(), Error> {
        match self.by {
            None => {
                let compare = |path| model::compare(tool, profile.graph, path);
                let models = self.model.as_ref().map(compare).transpose()?;
                self.summary(out, profile, &input.report.remarks, models)?
            }
            Some(by) => self.table(tool, out, profile, input, by)?,
        }
        .and_then(|()| out.send())
        .map_err(unwritten)
    }

    fn head<'r>(&self, remarks: &'r Remarks) -> Head<'r> {
        Head::new(self.graph(), self.execution.as_deref(), remarks)
    }

    fn summary(
        &self,
        out: &mut Out,
        profile: &Profile<'_>,
        remarks: &Remarks,
        model: Option<Models>,
    ) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let per_second = |items: NonZeroU64| {
            let known = execution.and_then(|execution| items_per_second(graph, execution, items.get()));
            known.ok_or_else(|| wrong("--items needs the clock and the cycles of an execution, which the report does not have"))
        };
        let items_per_second = self.items.map(per_second).transpose()?;
        let (facts, consistency) = (facts(graph, execution), profile.consistency());
        let Report { mut findings, skipped, .. } = propose(graph, execution, &facts, consistency.as_ref(), &Policy::default());
        findings.sort_by_key(|finding| (Reverse(finding.severity), finding.rule.id));
        let summary = Summary {
            findings: findings.into_iter().map(Finding::from).collect(),
            skipped: skipped.into_iter().map(Skipped::from).collect(),
            model,
            head: self.head(remarks),
            facts,
            tile_sizes: histogram(graph, 10),
            consistency,
            items_per_second,
        };
        Ok(match self.form() {
            Form::Json => json_document(out, &summary),
            Form::Ndjson => json_line(out, "report", &summary),
            _ => summary::write(out, graph, &summary),
        })
    }
}
