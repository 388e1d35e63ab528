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
use crate::output::code::{Code, Xml};
use crate::output::out::Out;
use crate::output::shown::Shown;

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
        out.code(code!(Xml: " name=\"{}\">", self.tool)).end_line()
    }

    fn of_finding(&self, group: &Group, finding: &Finding) -> Case {
        let Finding { severity, message, rule, .. } = finding;
        let text = group.text(finding);
        let fails = *severity == Severity::Error || self.strict && *severity == Severity::Warning;
        let passed = || Outcome::Passed(shown!("{}: {}", severity, text));
        let outcome = if fails { Outcome::Failure { severity: *severity, text } } else { passed() };
        Case { label: rule.id, what: Shown::message(message), outcome }
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
                let what = Shown::own("nothing found");
                cases.insert(0, Case { label: "checked", what, outcome: Outcome::Clean });
            }
            let name = Shown::escaped(file.path.as_os_str().as_encoded_bytes());
            suite(out, &name, group.is_unsafe(number), &cases)?;
        }
        let of_all: Vec<Case> = group.skipped_in(None).iter().map(of_skipped).collect();
        if of_all.is_empty() { Ok(()) } else { suite(out, &Shown::own("all files"), false, &of_all) }
    }

    fn end(&mut self, out: &mut Out, _totals: &Totals, _verdict: Verdict) -> io::Result<()> {
        self.begin(out)?;
        out.put("</testsuites>").end_line()
    }
}

struct Case {
    /// The rule, or the words in its place.
    label: &'static str,
    what: Shown<'static>,
    outcome: Outcome,
}

enum Outcome {
    /// Nothing was found.
    Clean,
    /// Something was found that is not a failure.
    Passed(Shown<'static>),
    Failure {
        severity: Severity,
        text: Shown<'static>,
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
    fn name(&self, nth: usize) -> Shown<'static> {
        let Case { label, what, .. } = self;
        if nth == 1 { shown!("{}: {}", label, what) } else { shown!("{} #{}: {}", label, nth, what) }
    }

    /// The part after its attributes.
    fn content(&self) -> Code<Xml> {
        let what = &self.what;
        match &self.outcome {
            Outcome::Clean => Code::default(),
            Outcome::Passed(text) => code!(Xml: "<system-out>{}</system-out>", text),
            Outcome::Failure { severity, text } => {
                code!(Xml: "<failure type=\"{}\" message=\"{}\">{}</failure>", severity, what, text)
            }
            Outcome::Error => code!(Xml: "<error message=\"{}\">{}</error>", what, what),
            Outcome::Skipped => code!(Xml: "<skipped message=\"{}\"/>", what),
        }
    }
}

fn of_skipped(skipped: &Skipped) -> Case {
    let outcome = if skipped.failed { Outcome::Error } else { Outcome::Skipped };
    Case { label: "not checked", what: Shown::message(&reason(skipped)), outcome }
}

fn suite(out: &mut Out, name: &Shown<'_>, is_unsafe: bool, cases: &[Case]) -> io::Result<()> {
    let count = |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.outcome)).count();
    out.code(code!(
        Xml: "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        name,
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failure { .. })),
        count(|outcome| matches!(outcome, Outcome::Error)),
        count(|outcome| matches!(outcome, Outcome::Skipped))
    ));
    out.end_line()?;
    if is_unsafe {
        out.put("    <properties><property name=\"notSafeToUnpickle\" value=\"true\"/></properties>").end_line()?;
    }
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    for case in cases {
        let nth = seen.entry((case.label, &case.what)).or_default();
        *nth += 1;
        out.code(code!(Xml: "    <testcase classname=\"{}\" name=\"{}\"", name, case.name(*nth)));
        match case.outcome {
            Outcome::Clean => out.put("/>").end_line()?,
            _ => out.code(code!(Xml: ">{}</testcase>", case.content())).end_line()?,
        }
    }
    out.put("  </testsuite>").end_line()
}
