//! `popef profile`.

mod args;
mod diff;
mod findings;
mod form;
pub(in crate::commands) mod input;
mod model;
mod output;
mod page;
mod rows;
mod trace;

use std::io;
use std::num::NonZeroU64;
use std::process::ExitCode;

pub(crate) use args::Args;
use args::What;
use form::FORMS;
use input::{Input, Keep};
use popef_cli::end::{unwritten, wrong};
use popef_cli::format::{Format, NETWORK};
use popef_cli::common::{Common, Place};
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::profile::{ComparedModels, Profile, ProfileHead, SummaryReport};
use popef_show::{Out, ReportFormat};
use poplar_inspect::profile::{Policy, Remarks, items_per_second, summary};

use super::Command;

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if let Some(What::Diff(args)) = &self.what {
            if self.findings.is_check() || self.by.is_some() || self.output.is_some() || self.trace.is_some() {
                return Err(wrong("only --format goes before diff; its own options go after it"));
            }
            return args.run(tool);
        }
        self.apart()?.show_report(tool)
    }

    fn common(&self) -> Common<'_> {
        Common::of(Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }).format(self.format.and_then(|form| Format::named(form.as_str())))
    }
}

impl Args {
    /// The options with the chosen format, and with a PopEF file in place of the execution moved to its own option.
    fn apart(&self) -> Result<Self, Error> {
        let mut args = self.clone();
        // Findings do not go to files. The error comes later.
        let output = self.output.as_deref().filter(|_| !self.findings.is_check());
        args.format = Some(FORMS.chosen(self.format, output)?);
        match (&self.execution, &self.model) {
            (Some(path), None) if model::is_popef(path) => args.model = args.execution.take(),
            (_, Some(path)) if !model::is_popef(path) => {
                return Err(wrong("this is not a PopEF file: a profile has at most two files").in_file(path));
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
            Some(path) => self.write_file(tool, path, "a report", |out| self.show(tool, out, &profile, input))?,
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
            Some(by) => self.table(tool, out, *profile, input, by)?,
        }
        .and_then(|()| out.send())
        .map_err(unwritten)
    }

    fn head<'r>(&self, remarks: &'r Remarks) -> ProfileHead<'r> {
        ProfileHead::new(self.graph(), self.execution.as_deref(), remarks)
    }

    fn summary(
        &self,
        out: &mut Out,
        profile: &Profile<'_>,
        remarks: &Remarks,
        model: Option<ComparedModels>,
    ) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let per_second = |items: NonZeroU64| {
            let known = execution.and_then(|execution| items_per_second(graph, execution, items.get()));
            known.ok_or_else(|| wrong("--items needs the clock and the cycles of an execution, which the report does not have"))
        };
        let items_per_second = self.items.map(per_second).transpose()?;
        let format = ReportFormat::named(self.form().as_str()).unwrap_or(ReportFormat::Text);
        let summary = summary(graph, execution, &Policy::default());
        let report = SummaryReport { head: self.head(remarks), graph, summary, items_per_second, model };
        Ok(report.write(out, format, NETWORK))
    }
}
