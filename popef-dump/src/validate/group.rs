use std::cell::Cell;
use std::path::PathBuf;

use popef::check::{CheckOptions, Finding, Severity, Skipped, check_with_progress};

use super::given::Given;
use crate::progress::ProgressLine;

/// Files that were checked together, and what came of it.
pub(super) struct Group {
    pub(super) files: Vec<Checked>,
    /// By file, then blob.
    pub(super) findings: Vec<Finding>,
    pub(super) left: Vec<Left>,
}

/// A file that was checked, or could not be.
pub(super) struct Checked {
    pub(super) path: PathBuf,
    pub(super) size: Option<u64>,
}

/// What was not looked at, and why.
pub(super) struct Left {
    /// Which of the group's files; none if it is about all of them.
    pub(super) file: Option<usize>,
    pub(super) what: String,
    pub(super) why: String,
    /// Whether it was asked for, and could not be done.
    pub(super) failed: bool,
}

/// What is left out if a file that is checked by itself could not be opened.
const THE_FILE: &str = "the file";

impl Left {
    /// What was not looked at and why, in a line.
    pub(super) fn reason(&self) -> String {
        if self.what == THE_FILE { self.why.clone() } else { format!("{}: {}", self.what, self.why) }
    }
}

impl Group {
    pub(super) fn check(subjects: Vec<Given>, options: &CheckOptions, progress: &ProgressLine) -> Self {
        let told = Told::default();
        let report = check_with_progress(subjects.iter().map(|subject| &subject.opened), options, &mut |so_far| {
            told.tell(progress, so_far);
        });
        let (findings, left) = (report.findings, left(&report.skipped, &subjects));
        let mut group = Group { files: Vec::new(), findings, left };
        group.name_what_is_no_popef_file(&subjects);
        group.files = subjects.into_iter().map(|it| Checked { size: it.size(), path: it.path }).collect();
        group
    }

    /// That the first bytes are a ZIP archive's says more than which number in them is odd.
    fn name_what_is_no_popef_file(&mut self, subjects: &[Given]) {
        for finding in &mut self.findings {
            let named = subjects.get(finding.file).and_then(|subject| subject.named.as_ref());
            // Damage is all that these are about.
            let is_damage = matches!(finding.rule.id, "PE001" | "PE002" | "PE003" | "PE004" | "PE005");
            if let Some(named) = named.filter(|_| is_damage) {
                finding.message.clone_from(named);
            }
        }
    }

    pub(super) fn findings_of(&self, file: usize) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.file == file)
    }

    /// What was not looked at in a file, or, for none, in all of them.
    pub(super) fn left_of(&self, file: Option<usize>) -> impl Iterator<Item = &Left> {
        self.left.iter().filter(move |left| left.file == file)
    }

    /// What a failure is of, for stderr: why is enough where it is the whole file.
    pub(super) fn complaint(&self, left: &Left) -> String {
        let file = left.file.and_then(|file| self.files.get(file));
        let path = file.map(|file| format!("{}: ", file.path.display())).unwrap_or_default();
        let unopened = file.is_some_and(|file| file.size.is_none());
        format!("{path}{}", if unopened { left.why.clone() } else { left.reason() })
    }

    /// The path of what a finding or something left out is about.
    pub(super) fn path(&self, file: usize) -> Option<&PathBuf> {
        self.files.get(file).map(|file| &file.path)
    }
}

/// How much the progress was told of.
#[derive(Default)]
struct Told {
    total: Cell<u64>,
    done: Cell<u64>,
}

impl Told {
    fn tell(&self, progress: &ProgressLine, so_far: popef::check::Progress) {
        let more = |told: &Cell<u64>, now: u64| now.saturating_sub(told.replace(now));
        progress.expect(more(&self.total, so_far.total));
        progress.add(more(&self.done, so_far.done));
    }
}

/// What the library left out; why a file could not be opened the tool knows better.
fn left(skipped: &[Skipped], subjects: &[Given]) -> Vec<Left> {
    let alone = subjects.len() == 1;
    let failure = |file: usize| subjects.get(file)?.failure.as_ref();
    let left = skipped.iter().map(|skipped| {
        let failure = skipped.file.and_then(failure);
        let what = if alone && failure.is_some() { THE_FILE } else { &skipped.what };
        Left {
            file: skipped.file.or(alone.then_some(0)),
            what: what.to_owned(),
            why: failure.map_or_else(|| skipped.why.clone(), ToString::to_string),
            failed: skipped.failed,
        }
    });
    left.collect()
}

/// How many there are of each severity, in all groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) files: usize,
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
    /// What was left out by choice.
    pub(super) left: usize,
    /// What could not be done.
    pub(super) failed: usize,
}

/// What a check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// Something could not be looked at; there may be findings beside.
    Incomplete,
}

impl Totals {
    pub(super) fn add(&mut self, group: &Group) {
        let count = |severity| group.findings.iter().filter(|finding| finding.severity == severity).count();
        let failed = group.left.iter().filter(|left| left.failed).count();
        self.files += group.files.len();
        self.errors += count(Severity::Error);
        self.warnings += count(Severity::Warning);
        self.notes += count(Severity::Note);
        self.failed += failed;
        self.left += group.left.len() - failed;
    }

    pub(super) fn verdict(&self, strict: bool) -> Verdict {
        match self {
            _ if self.failed > 0 => Verdict::Incomplete,
            _ if self.errors > 0 || strict && self.warnings > 0 => Verdict::Failed,
            _ => Verdict::Passed,
        }
    }
}

impl Verdict {
    pub(super) fn status(self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::Failed => 1,
            Verdict::Incomplete => crate::run::UNREAD,
        }
    }
}
