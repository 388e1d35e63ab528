//! Findings as JUnit XML, which GitLab, Jenkins and most other CI systems show as test results.
//!
//! A file is a test suite, and each finding a test case. A finding that is not a failure has passed, with the finding as its
//! output. A file without findings has one test case that passed, because without any, a CI system has nothing to show.

use std::collections::HashMap;
use std::io;

use popef_check::{Finding, Severity, Skipped};

use super::FindingsOptions;
use super::FindingsRenderer;
use super::group::{Group, Totals, Verdict, reason};
use crate::output::escape::xml;
use crate::output::escape::{escape, escape_rest};
use crate::output::out::Out;

pub(super) struct JUnit {
    /// The program that checks.
    tool: &'static str,
    /// Whether warnings are failures.
    strict: bool,
    /// Whether the beginning was written.
    begun: bool,
}

impl JUnit {
    pub(super) fn new(options: FindingsOptions) -> Self {
        JUnit { tool: options.tool, strict: options.strict, begun: false }
    }

    fn begin(&mut self, out: &mut Out) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        out.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
        attribute(out, "name", self.tool).put(">").end_line()
    }

    fn of_finding(&self, group: &Group, finding: &Finding) -> Case {
        let Finding { severity, message, rule, .. } = finding;
        let text = group.text(finding);
        let fails = *severity == Severity::Error || self.strict && *severity == Severity::Warning;
        let passed = || Outcome::Passed(format!("{severity}: {text}"));
        let outcome = if fails { Outcome::Failure { severity: *severity, text } } else { passed() };
        Case { label: rule.id, what: escape_rest(message), outcome }
    }
}

impl FindingsRenderer for JUnit {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        self.begin(out)?;
        for (number, file) in group.files.iter().enumerate() {
            let findings = group.findings_in(number).iter().map(|finding| self.of_finding(&group, finding));
            let skipped = group.skipped_in(Some(number));
            let mut cases: Vec<Case> = findings.chain(skipped.iter().map(of_skipped)).collect();
            if !cases.iter().any(Case::was_run) {
                cases.insert(0, Case { label: "checked", what: "nothing found".to_owned(), outcome: Outcome::Clean });
            }
            suite(out, &escape(&file.path.to_string_lossy()), group.is_unsafe(number), &cases)?;
        }
        let of_all: Vec<Case> = group.skipped_in(None).iter().map(of_skipped).collect();
        if of_all.is_empty() { Ok(()) } else { suite(out, "all files", false, &of_all) }
    }

    fn end(&mut self, out: &mut Out, _totals: &Totals, _verdict: Verdict) -> io::Result<()> {
        self.begin(out)?;
        out.put("</testsuites>").end_line()
    }
}

struct Case {
    /// The rule, or the words in its place.
    label: &'static str,
    what: String,
    outcome: Outcome,
}

enum Outcome {
    /// Nothing was found.
    Clean,
    /// Something was found that is not a failure.
    Passed(String),
    Failure {
        severity: Severity,
        text: String,
    },
    /// A requested check could not be done.
    Error,
    Skipped,
}

impl Case {
    fn was_run(&self) -> bool {
        !matches!(self.outcome, Outcome::Skipped)
    }

    /// The name of the test case, which is the `nth` with its label and text. GitLab shows only the first test case of
    /// a name.
    fn name(&self, nth: usize) -> String {
        let Case { label, what, .. } = self;
        if nth == 1 { format!("{label}: {what}") } else { format!("{label} #{nth}: {what}") }
    }

    /// Writes the part after its attributes.
    fn write(&self, out: &mut Out) -> io::Result<()> {
        let what = &self.what;
        match &self.outcome {
            Outcome::Clean => return out.put("/>").end_line(),
            Outcome::Passed(text) => out.put("><system-out>").put(&xml(text)).put("</system-out>"),
            Outcome::Failure { severity, text } => {
                attribute(out.put("><failure"), "type", &severity.to_string());
                attribute(out, "message", what).put(">").put(&xml(text)).put("</failure>")
            }
            Outcome::Error => attribute(out.put("><error"), "message", what).put(">").put(&xml(what)).put("</error>"),
            Outcome::Skipped => attribute(out.put("><skipped"), "message", what).put("/>"),
        };
        out.put("</testcase>").end_line()
    }
}

fn of_skipped(skipped: &Skipped) -> Case {
    let outcome = if skipped.failed { Outcome::Error } else { Outcome::Skipped };
    Case { label: "not checked", what: escape_rest(&reason(skipped)), outcome }
}

fn suite(out: &mut Out, name: &str, is_unsafe: bool, cases: &[Case]) -> io::Result<()> {
    let count = |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.outcome)).count().to_string();
    attribute(out.put("  <testsuite"), "name", name);
    attribute(out, "tests", &cases.len().to_string());
    attribute(out, "failures", &count(|outcome| matches!(outcome, Outcome::Failure { .. })));
    attribute(out, "errors", &count(|outcome| matches!(outcome, Outcome::Error)));
    attribute(out, "skipped", &count(|outcome| matches!(outcome, Outcome::Skipped))).put(">").end_line()?;
    if is_unsafe {
        out.put("    <properties><property name=\"notSafeToUnpickle\" value=\"true\"/></properties>").end_line()?;
    }
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    for case in cases {
        let nth = seen.entry((case.label, &case.what)).or_default();
        *nth += 1;
        attribute(out.put("    <testcase"), "classname", name);
        attribute(out, "name", &case.name(*nth));
        case.write(out)?;
    }
    out.put("  </testsuite>").end_line()
}

fn attribute<'o>(out: &'o mut Out, name: &str, value: &str) -> &'o mut Out {
    out.put(" ").put(name).put("=\"").put(&xml(value)).put("\"")
}
