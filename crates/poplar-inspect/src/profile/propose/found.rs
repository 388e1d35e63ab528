//! What a rule finds, and what it cannot look at.

use popef::types::Text;
use popef_findings::{Finding, Report, Rule, Severity, Skipped, Unlisted};

/// Why a rule draws no conclusion: what the report does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing(String);

impl Missing {
    /// The report does not have the part at this path.
    pub(super) fn part(path: &str) -> Self {
        Missing(format!("the report has no {path}"))
    }

    pub(super) fn because(why: impl Into<String>) -> Self {
        Missing(why.into())
    }
}

/// The findings of a rule.
pub(super) struct Found {
    rule: &'static Rule,
    severity: Severity,
    findings: Vec<Finding>,
    more: u64,
}

impl Found {
    /// The maximum number of findings of one rule that are kept. The rule gives the worst ones first.
    const MOST: usize = 20;

    pub(super) fn new(rule: &'static Rule, severity: Severity) -> Self {
        Found { rule, severity, findings: Vec::new(), more: 0 }
    }

    /// Adds a finding. The caller escapes names from the report in the message, but not in `names`.
    pub(super) fn add<'n>(&mut self, names: impl IntoIterator<Item = &'n str>, message: String) {
        if self.findings.len() >= Self::MOST {
            self.more = self.more.saturating_add(1);
            return;
        }
        let mut finding = Finding::new(self.rule, self.severity, message);
        finding.names = names.into_iter().map(|name| Text::from(name.to_owned())).collect();
        self.findings.push(finding);
    }

    pub(super) fn finish(mut self, file: usize, report: &mut Report) {
        self.findings.iter_mut().for_each(|finding| finding.file = file);
        report.findings.append(&mut self.findings);
        if self.more > 0 {
            let mut unlisted = Unlisted::new(self.rule, self.severity, self.more);
            unlisted.file = file;
            report.unlisted.push(unlisted);
            let what = format!("{} more findings of {}", self.more, self.rule.id);
            let why = format!("only the first {} of a rule are listed", Self::MOST);
            report.skipped.push(Skipped::new(what, why, false));
        }
    }
}

/// The rules that draw no conclusion, by what the report does not have.
#[derive(Default)]
pub(super) struct Skips(Vec<(Missing, bool, Vec<&'static str>)>);

impl Skips {
    /// `is_failure`: the user asked for exactly this rule.
    pub(super) fn add(&mut self, id: &'static str, missing: Missing, is_failure: bool) {
        match self.0.iter_mut().find(|(why, failed, _)| *why == missing && *failed == is_failure) {
            Some((_, _, ids)) => ids.push(id),
            None => self.0.push((missing, is_failure, vec![id])),
        }
    }

    pub(super) fn finish(self, report: &mut Report) {
        let skipped = self.0.into_iter().map(|(missing, failed, ids)| Skipped::new(ids.join(", "), missing.0, failed));
        report.skipped.extend(skipped);
    }
}
