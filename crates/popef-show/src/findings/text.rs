//! Findings for people: file by file, each with its place. The first finding of each rule says how to fix it.

use std::collections::BTreeSet;
use std::io;

use popef::types::Text as Name;
use popef_check::{Finding, Skipped};

use super::FindingsOptions;
use super::FindingsRenderer;
use super::group::{CheckedFile, Group, Mend, Totals, Verdict, is_shown, reason};
use crate::output::color::Kind;
use crate::output::heading;
use crate::output::out::Out;
use crate::output::paragraph::Paragraph;
use crate::output::shown::Shown;
use crate::output::units::counted;
use crate::rules::kind;

pub(super) struct Text {
    /// The word for a file.
    file_word: &'static str,
    width: Option<usize>,
    /// Whether to say what each finding means.
    verbose: bool,
    /// Whether to show only findings, and checks that could not be done.
    quiet: bool,
    /// The rules and the help for them that was shown.
    helped: BTreeSet<(&'static str, String)>,
    /// Whether an empty line comes before the next file.
    gap: bool,
}

impl Text {
    pub(super) fn new(options: FindingsOptions) -> Self {
        let FindingsOptions { file_word, screen, verbose, quiet, .. } = options;
        Text {
            file_word,
            width: screen.map(|screen| screen.width),
            verbose,
            quiet,
            helped: BTreeSet::new(),
            gap: false,
        }
    }

    fn file(&mut self, out: &mut Out, group: &Group, number: usize, file: &CheckedFile) -> io::Result<()> {
        let (findings, skipped) = (group.findings_in(number), self.shown(group.skipped_in(Some(number))));
        if self.quiet && findings.is_empty() && skipped.is_empty() {
            return Ok(());
        }
        if self.gap {
            out.end_line()?;
        }
        self.gap = !findings.is_empty() || !skipped.is_empty();
        let clean = findings.is_empty() && !skipped.iter().any(|skipped| skipped.failed);
        let path = Name::from(file.path.as_os_str().as_encoded_bytes());
        heading(out, self.file_word, &path).put(if clean { ": nothing found" } else { "" }).end_line()?;
        let first = group.first_in(number);
        let mut mended = BTreeSet::new();
        for (nth, finding) in findings.iter().enumerate() {
            self.finding(out, finding)?;
            let advice = group.advice(finding);
            if self.helped.insert((finding.rule.id, advice.to_owned())) {
                self.help(out, finding, advice)?;
            }
            let mend = group.mend(first.saturating_add(nth));
            if let Some(mend) = mend.filter(|_| mended.insert(finding.rule.id)) {
                self.mend(out, mend)?;
            }
        }
        if mended.len() > 1 {
            let text = "Each command begins with this file. To mend several things, give the new file to the next one.";
            Paragraph::new(2).add(Kind::Plain, text).write(out, self.width)?;
        }
        skipped.iter().try_for_each(|skipped| self.skipped(out, skipped, 2))?;
        match file.unread().filter(|_| findings.is_empty() && !skipped.is_empty()) {
            Some(unread) => self.fix(out, &unread.advice),
            None => Ok(()),
        }
    }

    fn shown<'g>(&self, skipped: &'g [Skipped]) -> Vec<&'g Skipped> {
        skipped.iter().filter(|skipped| is_shown(skipped, !self.quiet)).collect()
    }

    fn finding(&self, out: &mut Out, finding: &Finding) -> io::Result<()> {
        let line = Paragraph::new(2)
            .hanging(4)
            .add(kind(finding.severity), finding.severity)
            .add(Kind::Group, shown!("{}:", finding.rule.id));
        let line = place(line, finding.blob, finding.offset).add(Kind::Plain, Shown::message(&finding.message));
        line.write(out, self.width)
    }

    fn help(&self, out: &mut Out, finding: &Finding, advice: &str) -> io::Result<()> {
        if self.verbose {
            Paragraph::new(4).add(Kind::Plain, finding.rule.meaning).write(out, self.width)?;
        }
        self.fix(out, advice)
    }

    fn fix(&self, out: &mut Out, advice: &str) -> io::Result<()> {
        Paragraph::new(4).add(Kind::Group, "To fix it:").add(Kind::Plain, Shown::message(advice)).write(out, self.width)
    }

    /// The command is not wrapped, so that it can be copied.
    fn mend(&self, out: &mut Out, mend: &Mend) -> io::Result<()> {
        let words = shown!("This {}:", mend.effect);
        Paragraph::new(4).add(Kind::Plain, words).write(out, self.width)?;
        out.put("      ").put(Shown::message(&mend.command)).end_line()
    }

    fn skipped(&self, out: &mut Out, skipped: &Skipped, indent: usize) -> io::Result<()> {
        let kind = if skipped.failed { Kind::Error } else { Kind::Group };
        let line = Paragraph::new(indent).hanging(4).add(kind, "not checked:");
        line.add(Kind::Plain, Shown::message(&reason(skipped))).write(out, self.width)
    }
}

impl FindingsRenderer for Text {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        for (number, file) in group.files.iter().enumerate() {
            self.file(out, &group, number, file)?;
        }
        let of_all = self.shown(group.skipped_in(None));
        if !of_all.is_empty() {
            out.end_line()?;
            self.gap = true;
        }
        of_all.iter().try_for_each(|skipped| self.skipped(out, skipped, 0))
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        out.end_line()?;
        summary(totals, verdict).write(out, self.width)
    }
}

fn place(line: Paragraph, blob: Option<usize>, offset: Option<u64>) -> Paragraph {
    let comma = if offset.is_some() { "," } else { ":" };
    let blob = blob.map(|blob| ("blob", shown!("{}{}", blob, comma)));
    let places = blob.into_iter().chain(offset.map(|offset| ("byte", shown!("{}:", offset))));
    places.fold(line, |line, (what, number)| line.add(Kind::Plain, what).add(Kind::Number, number))
}

const UNSAFE: &str = "not safe to unpickle";

/// `passed: 0 errors, 0 warnings, 0 notes in 3 files`. A file that is not safe to unpickle has not just passed.
pub(super) fn summary(totals: &Totals, verdict: Verdict) -> Paragraph {
    let line = Paragraph::new(0).hanging(4);
    let line = match verdict {
        Verdict::Passed if totals.unsafe_pickles > 0 => line.add(Kind::Warning, shown!("{}:", UNSAFE)),
        Verdict::Passed => line.add(Kind::Name, "passed:"),
        Verdict::Failed => line.add(Kind::Error, "failed:"),
        Verdict::Incomplete => line.add(Kind::Error, "not finished:"),
    };
    let line = add_counts(line, totals);
    let rest = match (totals.failed, totals.left_out) {
        (0, 0) => Shown::default(),
        (0, _) => Shown::own("; not everything was checked"),
        (failed, _) => shown!("; {} could not be checked", counted(failed, "thing", "things")),
    };
    let files = counted(totals.files, "file", "files");
    let is_unsafe = verdict != Verdict::Passed && totals.unsafe_pickles > 0;
    let unpickling = if is_unsafe { shown!("; {}", UNSAFE) } else { Shown::default() };
    line.add(Kind::Plain, shown!("in {}{}{}", files, rest, unpickling))
}

fn add_counts(line: Paragraph, totals: &Totals) -> Paragraph {
    let counts = [
        (Kind::Error, totals.errors, ["error,", "errors,"]),
        (Kind::Warning, totals.warnings, ["warning,", "warnings,"]),
        (Kind::Note, totals.notes, ["note", "notes"]),
    ];
    counts.into_iter().fold(line, |line, (kind, count, [one, many])| {
        line.add(if count > 0 { kind } else { Kind::Plain }, counted(count, one, many))
    })
}
