//! Findings for people: file by file, each with its place; how to mend what a rule finds at its first finding.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use popef::check::{Finding, Severity};
use popef::types::Text as Name;

use super::group::{Group, Left, Totals, Verdict};
use super::paragraph::Paragraph;
use super::{Show, group::Checked};
use crate::render::color::Kind;
use crate::render::escape::escape_rest;
use crate::render::units::counted;
use crate::render::{Out, Screen};

pub(super) struct Text {
    width: Option<usize>,
    /// Whether to say what each finding means, too.
    verbose: bool,
    /// The rules whose help was shown.
    helped: BTreeSet<&'static str>,
    /// Whether the next file is set off from what is above it.
    gap: bool,
}

impl Text {
    pub(super) fn new(screen: Option<Screen>, verbose: bool) -> Self {
        Text { width: screen.map(|screen| screen.width), verbose, helped: BTreeSet::new(), gap: false }
    }

    fn file(&mut self, out: &mut Out, group: &Group, number: usize, file: &Checked) -> io::Result<()> {
        let found = group.findings_of(number).next().is_some();
        let left = || group.left_of(Some(number));
        if self.gap {
            out.end_line()?;
        }
        self.gap = found || left().next().is_some();
        let clean = !found && !left().any(|left| left.failed);
        heading(out, &file.path, if clean { ": nothing found" } else { "" })?;
        for finding in group.findings_of(number) {
            self.finding(out, finding)?;
        }
        left().try_for_each(|left| self.left(out, left, 2))
    }

    fn finding(&mut self, out: &mut Out, finding: &Finding) -> io::Result<()> {
        let line = Paragraph::new(2)
            .hanging(4)
            .add(kind(finding.severity), &finding.severity.to_string())
            .add(Kind::Group, &format!("{}:", finding.rule.id));
        let line = place(line, finding.blob, finding.offset).add(Kind::Plain, &escape_rest(&finding.message));
        line.write(out, self.width)?;
        if self.helped.insert(finding.rule.id) {
            self.help(out, finding)?;
        }
        Ok(())
    }

    fn help(&self, out: &mut Out, finding: &Finding) -> io::Result<()> {
        if self.verbose {
            Paragraph::new(4).add(Kind::Plain, finding.rule.meaning).write(out, self.width)?;
        }
        Paragraph::new(4).add(Kind::Group, "To mend it:").add(Kind::Plain, finding.rule.mend).write(out, self.width)
    }

    fn left(&self, out: &mut Out, left: &Left, indent: usize) -> io::Result<()> {
        let kind = if left.failed { Kind::Error } else { Kind::Group };
        let line =
            Paragraph::new(indent).hanging(4).add(kind, "not checked:").add(Kind::Plain, &escape_rest(&left.reason()));
        line.write(out, self.width)
    }
}

impl Show for Text {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        for (number, file) in group.files.iter().enumerate() {
            self.file(out, &group, number, file)?;
        }
        if group.left_of(None).next().is_some() {
            out.end_line()?;
            self.gap = true;
        }
        group.left_of(None).try_for_each(|left| self.left(out, left, 0))
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        out.end_line()?;
        let line = Paragraph::new(0).hanging(4);
        let line = match verdict {
            Verdict::Passed => line.add(Kind::Name, "passed:"),
            Verdict::Failed => line.add(Kind::Error, "failed:"),
            Verdict::Incomplete => line.add(Kind::Error, "not finished:"),
        };
        let line = add_counts(line, totals);
        let rest = match (totals.failed, totals.left) {
            (0, 0) => String::new(),
            (0, _) => "; not everything was checked".to_owned(),
            (failed, _) => format!("; {} could not be checked", counted(failed, "thing", "things")),
        };
        let files = counted(totals.files, "file", "files");
        line.add(Kind::Plain, &format!("in {files}{rest}")).write(out, self.width)
    }
}

fn add_counts(line: Paragraph, totals: &Totals) -> Paragraph {
    let counts = [
        (Kind::Error, totals.errors, "error", ","),
        (Kind::Warning, totals.warnings, "warning", ","),
        (Kind::Note, totals.notes, "note", ""),
    ];
    counts.into_iter().fold(line, |line, (kind, count, what, end)| {
        let kind = if count > 0 { kind } else { Kind::Plain };
        line.add(kind, &format!("{}{end}", counted(count, what, &format!("{what}s"))))
    })
}

fn heading(out: &mut Out, path: &Path, what: &str) -> io::Result<()> {
    let path = Name::from(path.as_os_str().as_encoded_bytes());
    out.put_as(Kind::Group, "PopEF file:").put(" ").text(Kind::Name, &path).put(what).end_line()
}

fn place(line: Paragraph, blob: Option<usize>, offset: Option<u64>) -> Paragraph {
    let number = |line: Paragraph, what: &str, number: String, end: &str| {
        line.add(Kind::Plain, what).add(Kind::Number, &format!("{number}{end}"))
    };
    match (blob, offset) {
        (Some(blob), Some(offset)) => {
            number(number(line, "blob", blob.to_string(), ","), "byte", offset.to_string(), ":")
        }
        (Some(blob), None) => number(line, "blob", blob.to_string(), ":"),
        (None, Some(offset)) => number(line, "byte", offset.to_string(), ":"),
        (None, None) => line,
    }
}

pub(super) fn kind(severity: Severity) -> Kind {
    match severity {
        Severity::Error => Kind::Error,
        Severity::Warning => Kind::Warning,
        Severity::Note => Kind::Note,
    }
}
