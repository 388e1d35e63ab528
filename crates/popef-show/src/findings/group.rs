use std::mem;
use std::path::{Path, PathBuf};

use popef::error::{ErrorKind, Location};
use popef::types::Diagnostic;
use popef_check::{Finding, Report, Severity, Skipped};

use crate::output::shown::Shown;

/// Files that were checked together, and the report about them.
///
/// ```
/// use popef::error::{Advice, CodeInfo, ErrorKind};
/// use popef::types::Diagnostic;
/// use popef_check::{CheckOptions, check};
/// use popef_show::{CheckedFile, FindingsFormat, FindingsOptions, Group, Out, Totals};
///
/// let opened = [popef::File::from_bytes("no PopEF file at all")];
/// let report = check(&opened, &CheckOptions::new());
/// let code = CodeInfo::new("not-popef", ErrorKind::NotPopef, "It is another file.", Advice::Say("Give a PopEF file."));
/// let failure = Diagnostic::new(code, "this is a text");
/// let file = CheckedFile { path: "model.popef".into(), size: None, failure: Some(failure), network: None };
/// let group = Group::new(vec![file], report);
///
/// let mut out = Out::in_memory(false);
/// let mut renderer = FindingsFormat::Text.renderer(FindingsOptions::default());
/// let mut totals = Totals::default();
/// totals.add(&group);
/// renderer.group(&mut out, group)?;
/// renderer.end(&mut out, &totals, totals.verdict(false))?;
/// let text = String::from_utf8(out.into_bytes())?;
/// assert!(text.contains("error PE004: this is a text"));
/// assert!(text.ends_with("failed: 1 error, 0 warnings, 0 notes in 1 file; not everything was checked\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) files: Vec<CheckedFile>,
    pub(crate) report: Report,
    /// One for each finding, or empty.
    mends: Vec<Option<Mend>>,
}

/// A command that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Mend {
    /// The words to type into a shell. The command mends all findings of the same rule in the file, and writes a new
    /// file.
    pub command: String,
    /// What the command does, and what is lost.
    pub effect: &'static str,
}

/// A file that was checked, or could not be.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// Its path as the user gave it.
    pub path: PathBuf,
    /// Its length. `None` if it could not be opened.
    pub size: Option<u64>,
    /// Why the file could not be read to its end. If it is plainly not PopEF, this says more than the library's finding.
    pub failure: Option<Diagnostic>,
    /// The requests and bytes that reading it over the network has cost. JSON has them.
    pub network: Option<(u64, u64)>,
}

impl CheckedFile {
    /// Why nothing of the file could be read.
    pub(crate) fn unread(&self) -> Option<&Diagnostic> {
        self.failure.as_ref().filter(|failure| self.size.is_none() || failure.kind == ErrorKind::NotPopef)
    }
}

/// The words for the skipped check of a file that was checked by itself and could not be read.
const THE_FILE: &str = "the file";

impl Group {
    /// The files in the order in which they were given, and the library's report about them.
    pub fn new(files: Vec<CheckedFile>, report: Report) -> Self {
        let mut group = Group { files, report, mends: Vec::new() };
        group.leave_out_repeated();
        group.name_foreign_files();
        if let [file] = &*group.files {
            for skipped in &mut group.report.skipped {
                if file.unread().is_some() && skipped.file.is_some() {
                    THE_FILE.clone_into(&mut skipped.what);
                }
                skipped.file = Some(0);
            }
        }
        group
    }

    /// Adds the commands that mend findings, one for each finding of the report.
    pub fn mended_by(self, mends: Vec<Option<Mend>>) -> Self {
        Group { mends, ..self }
    }

    /// The command that mends a finding, by its number in the report.
    pub(super) fn mend(&self, finding: usize) -> Option<&Mend> {
        self.mends.get(finding)?.as_ref()
    }

    /// The number in the report of the first finding of a file.
    pub(super) fn first_in(&self, file: usize) -> usize {
        self.report.findings.partition_point(|finding| finding.file < file)
    }

    /// Leaves out files that were given before. Nothing in the report is about them.
    fn leave_out_repeated(&mut self) {
        let repeated = mem::take(&mut self.report.repeated);
        let place = |file: usize| file - repeated.partition_point(|&again| again < file);
        self.report.findings.iter_mut().for_each(|finding| finding.file = place(finding.file));
        self.report.unlisted.iter_mut().for_each(|unlisted| unlisted.file = place(unlisted.file));
        self.report.skipped.iter_mut().for_each(|skipped| skipped.file = skipped.file.map(place));
        self.report.unsafe_pickles.iter_mut().for_each(|file| *file = place(*file));
        let files = mem::take(&mut self.files).into_iter().enumerate();
        self.files = files.filter(|(file, _)| repeated.binary_search(file).is_err()).map(|(_, file)| file).collect();
    }

    /// "It is a ZIP archive" says more than which number in its first bytes is wrong. Nothing of such a file was read, so nothing
    /// in it has a place.
    fn name_foreign_files(&mut self) {
        let unread = |file: usize| self.files.get(file).and_then(|file| Some((file, file.unread()?)));
        for finding in &mut self.report.findings {
            if let Some((_, failure)) = unread(finding.file).filter(|_| is_damage(finding)) {
                finding.message.clone_from(&failure.message);
                (finding.blob, finding.offset) = (None, None);
            }
        }
        for skipped in &mut self.report.skipped {
            if let Some((file, failure)) = skipped.file.and_then(unread) {
                let why = if file.size.is_none() { &failure.message } else { "it is not a PopEF file" };
                why.clone_into(&mut skipped.why);
                "the file, and whether anything is missing from the others".clone_into(&mut skipped.what);
            }
        }
    }

    /// How to fix a finding. The rule's advice is for damaged files, and not for those that are plainly not PopEF.
    pub(crate) fn advice<'g>(&'g self, finding: &Finding) -> &'g str {
        let unread = || self.files.get(finding.file).and_then(CheckedFile::unread);
        unread().filter(|_| is_damage(finding)).map_or(finding.rule.fix, |failure| &failure.advice)
    }

    /// A finding without its severity and rule: its place, its message, and on a second line how to fix it.
    pub(super) fn text(&self, finding: &Finding) -> Shown<'static> {
        let place = Location { blob: finding.blob, offset: finding.offset };
        shown!("{}{}\nTo fix it: {}", place, Shown::message(&finding.message), Shown::message(self.advice(finding)))
    }

    /// The requested checks that could not be done, in a line each. Files about which enough was `told` are left out.
    pub fn complaints(&self, told: impl Fn(&Path) -> bool) -> impl Iterator<Item = String> {
        self.report.skipped.iter().filter(|skipped| skipped.failed).filter_map(move |skipped| {
            let file = skipped.file.and_then(|file| self.files.get(file));
            if file.is_some_and(|file| told(&file.path)) {
                return None;
            }
            let path = file.map(|file| format!("{}: ", file.path.display())).unwrap_or_default();
            let unopened = file.is_some_and(|file| file.size.is_none());
            Some(format!("{path}{}", if unopened { skipped.why.clone() } else { reason(skipped) }))
        })
    }

    /// Whether a file has a pickle that is not safe to unpickle.
    pub(super) fn is_unsafe(&self, file: usize) -> bool {
        self.report.unsafe_pickles.binary_search(&file).is_ok()
    }

    pub(super) fn findings_in(&self, file: usize) -> &[Finding] {
        of_file(&self.report.findings, file, |finding| finding.file)
    }

    /// The skipped checks of a file, or, for `None`, of all files together.
    pub(super) fn skipped_in(&self, file: Option<usize>) -> &[Skipped] {
        of_file(&self.report.skipped, file, |skipped| skipped.file)
    }

    /// The path of the file that a finding or a skipped check is about.
    pub(crate) fn path(&self, file: usize) -> Option<&Path> {
        self.files.get(file).map(|file| &*file.path)
    }
}

/// The part of a list that is about a file. The list is in the order of the files.
fn of_file<T, F: Ord + Copy>(list: &[T], file: F, file_of: impl Fn(&T) -> F) -> &[T] {
    let start = list.partition_point(|item| file_of(item) < file);
    let end = list.partition_point(|item| file_of(item) <= file);
    list.get(start..end).unwrap_or_default()
}

/// Whether a skipped check is shown. Checks that were left out by choice are shown only if `all`.
pub(super) fn is_shown(skipped: &Skipped, all: bool) -> bool {
    skipped.failed || all
}

/// Whether a finding says that a file could not be read from there on.
fn is_damage(finding: &Finding) -> bool {
    matches!(finding.rule.id, "PE001" | "PE002" | "PE003" | "PE004" | "PE005")
}

/// A line that says what was skipped, and why.
pub(crate) fn reason(skipped: &Skipped) -> String {
    let Skipped { what, why, .. } = skipped;
    if what == THE_FILE { why.clone() } else { format!("{what}: {why}") }
}

/// The number of findings of each severity, in all groups. Findings that are not listed count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Files. One that was given several times counts once.
    pub files: usize,
    /// Those of them that could be opened.
    pub opened: usize,
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
    /// Checks that were left out by choice.
    pub left_out: usize,
    /// Requested checks that could not be done.
    pub failed: usize,
    /// Files with a pickle that is not safe to unpickle.
    pub unsafe_pickles: usize,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing that counts was found.
    Passed,
    /// Something was found.
    Failed,
    /// Something could not be checked. There may also be findings.
    Incomplete,
}

impl Totals {
    /// Adds a group.
    pub fn add(&mut self, group: &Group) {
        let report = &group.report;
        let failed = report.skipped.iter().filter(|skipped| skipped.failed).count();
        self.files += group.files.len();
        self.opened += group.files.iter().filter(|file| file.size.is_some()).count();
        self.errors += report.count(Severity::Error);
        self.warnings += report.count(Severity::Warning);
        self.notes += report.count(Severity::Note);
        self.failed += failed;
        self.unsafe_pickles += report.unsafe_pickles.len();
        self.left_out += report.skipped.len() - failed;
    }

    /// The verdict. If `strict`, warnings count too.
    pub fn verdict(&self, strict: bool) -> Verdict {
        match self {
            _ if self.failed > 0 => Verdict::Incomplete,
            _ if self.errors > 0 || strict && self.warnings > 0 => Verdict::Failed,
            _ => Verdict::Passed,
        }
    }
}

impl Verdict {
    /// The exit status of a program that checks.
    pub fn status(self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::Failed => 1,
            Verdict::Incomplete => 2,
        }
    }
}
