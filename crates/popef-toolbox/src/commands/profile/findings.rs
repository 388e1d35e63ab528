//! Findings of the rules, and limits.

use std::io;
use std::process::ExitCode;

use popef_check::Report;
use popef_cli::commands::read_policy;
use popef_cli::end::{refused, unwritten};
use popef_cli::screen::screen;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::profile::Profile;
use popef_show::{CheckedFile, FindingsFormat, FindingsOptions, Group, Out, Totals};
use poplar_inspect::profile::{Policy, rules, summary};

use super::args::{Args, FindingsArgs};
use super::input::Input;

impl FindingsArgs {
    fn policy(&self, tool: &Tool) -> Result<Policy, Error> {
        let all = || rules().flat_map(|(_, rules)| rules).collect();
        let mut policy = match &self.policy {
            Some(path) => read_policy(tool.program(), path, all).map_err(refused)?,
            None => Policy::default(),
        };
        policy.max_tile = self.max_tile.or(policy.max_tile);
        policy.max_total = self.max_total.or(policy.max_total);
        policy.max_cycles = self.max_cycles.or(policy.max_cycles);
        policy.min_balance = self.min_balance.or(policy.min_balance);
        Ok(policy)
    }
}

impl Args {
    /// Shows the findings of the rules, and returns the exit status.
    pub(super) fn check(&self, tool: &Tool, profile: &Profile<'_>, input: &Input) -> Result<ExitCode, Error> {
        let policy = self.findings.policy(tool)?;
        let mut report = summary(profile.graph, profile.execution, &policy).findings;
        place(&mut report, input);
        let paths = [Some(self.graph()), self.execution.as_deref()].into_iter().flatten();
        let files = paths.zip(&input.sizes);
        let files = files.map(|(path, size)| CheckedFile { path: path.to_owned(), size: Some(*size), failure: None, network: None });
        let group = Group::new(files.collect(), report);
        let mut totals = Totals::default();
        totals.add(&group);
        let status = totals.verdict(self.findings.strict).status();
        self.show_findings(&mut tool.out(), group, &totals).map_err(unwritten)?;
        Ok(ExitCode::from(status))
    }

    fn show_findings(&self, out: &mut Out, group: Group, totals: &Totals) -> io::Result<()> {
        let mut options = FindingsOptions::default();
        options.file_word = "profile";
        options.screen = screen();
        options.verbose = self.findings.verbose;
        options.strict = self.findings.strict;
        options.quiet = self.findings.quiet;
        let format = self.form().of_findings().unwrap_or(FindingsFormat::Text);
        let mut renderer = format.renderer(options);
        renderer.group(out, group)?;
        renderer.end(out, totals, totals.verdict(self.findings.strict))?;
        out.send()
    }
}

/// Says which of the files each finding is about: the one that has its half of the report.
fn place(report: &mut Report, input: &Input) {
    let last = input.sizes.len().saturating_sub(1);
    for finding in &mut report.findings {
        finding.file = finding.file.min(last);
    }
    for unlisted in &mut report.unlisted {
        unlisted.file = unlisted.file.min(last);
    }
    report.findings.sort_by_key(|finding| (finding.file, finding.rule.id));
}
