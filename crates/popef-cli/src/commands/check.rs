//! The library's checks.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::File;
use popef::read::FileId;
use popef_check::{CheckOptions, Progress, Report, check_with_progress};
use popef_open::{Network, Opened, StreamData, in_order, name_of};
use popef_show::{
    CheckedFile, FindingsFormat, FindingsOptions, FindingsRenderer, Group, Out, ProgressLine, Totals, escape,
};
use poplar_inspect::executable::inspect_archive;

use super::files::{EmptyList, files};
use super::mend::mends;
use super::policy;
use crate::groups::{Checks, Sources};
use crate::line::failure;
use crate::log::{Log, Verbosity};
use crate::program::{Complaint, Program, Refusal};
use crate::screen::{progress, screen};

/// The maximum number of groups that are checked ahead of being shown.
const AHEAD: usize = 4;

/// The files to check, and how.
#[derive(Clone, Copy, Debug)]
pub struct Checking<'a> {
    /// The files; `-` is standard input.
    pub files: &'a [PathBuf],
    /// Lists of more files, and whether each file is checked on its own.
    pub sources: &'a Sources,
    /// What to check, and what is a failure.
    pub checks: &'a Checks,
    /// Whether only findings are shown.
    pub quiet: bool,
    /// Whether reading is logged, and the meaning of findings is shown.
    pub verbose: bool,
    /// Opens a file: [`popef_open::open`], or a function that lets the data of streams be read too.
    pub open: fn(&Path, StreamData) -> Opened,
}

/// A format of findings, and where they go.
#[derive(Debug)]
pub struct Shown<'o> {
    /// The format.
    pub format: FindingsFormat,
    /// The output: an [`UntilClosed`](popef_show::UntilClosed) if the reader may leave early.
    pub out: &'o mut Out,
    /// Whether the output is standard output, which may be a terminal.
    pub on_screen: bool,
}

/// How a check ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The exit status.
    pub status: ExitCode,
    /// Whether there were files, and none of them could be opened.
    pub opened_none: bool,
}

impl Checking<'_> {
    /// Checks the files once, and shows what was found in each format.
    pub fn run(&self, program: Program, shown: &mut [Shown<'_>]) -> Result<Ended, Refusal> {
        if let Some(wrong) = self.contradiction(shown) {
            return Err(Refusal::Options(wrong));
        }
        let log = Log::from_environment(program, self.verbose);
        let files = files(program, self.files, self.sources, &self.checks.policy, self.empty_list())?;
        let options = self.options(program)?;
        Ok(self.check(program, &files, options, &log, shown))
    }

    /// The error if an option would have no effect.
    fn contradiction(&self, shown: &[Shown<'_>]) -> Option<String> {
        let is_quiet = |shown: &Shown<'_>| matches!(shown.format, FindingsFormat::Text | FindingsFormat::GitHub);
        let name = shown.first().map_or("", |shown| shown.format.as_str());
        (self.quiet && !shown.iter().any(is_quiet))
            .then(|| format!("--quiet is for --format text and github: {name} always has everything"))
    }

    fn empty_list(&self) -> EmptyList {
        if self.checks.allow_empty {
            EmptyList::Permitted
        } else {
            EmptyList::Refused(", so nothing was checked; --allow-empty permits this")
        }
    }

    fn options(&self, program: Program) -> Result<CheckOptions, Refusal> {
        let mut options = CheckOptions::new();
        options.deep(self.checks.deep).inspect_archives(inspect_archive);
        for &loader in &self.checks.loaders {
            options.loader(loader);
        }
        match self.checks.policy.as_slice() {
            [] => {}
            [path] => _ = options.policy(policy::read(program, path)?),
            _ => {
                let message = "--policy can be given only once: put all requirements into one file";
                return Err(Refusal::Options(message.to_owned()));
            }
        }
        Ok(options)
    }

    fn check(
        &self,
        program: Program,
        files: &[PathBuf],
        options: CheckOptions,
        log: &Log,
        shown: &mut [Shown<'_>],
    ) -> Ended {
        let leaves_file = shown.iter().any(|shown| !shown.on_screen);
        let mut renderers = self.renderers(program, shown);
        let (checks, each) = (self.checks, self.sources.each);
        let check = Check {
            program,
            args: checks,
            each,
            open: self.open,
            options,
            leaves_file,
            progress: progress("data"),
            log,
        };
        let mut totals = Totals::default();
        let result = check.all(files, &mut renderers, &mut totals);
        check.progress.clear();
        let status = match result {
            Err(error) => program.written(Err(error)),
            Ok(()) => ExitCode::from(totals.verdict(checks.strict).status()),
        };
        Ended { status, opened_none: totals.files > 0 && totals.opened == 0 }
    }

    fn renderers<'o>(&self, program: Program, shown: &'o mut [Shown<'_>]) -> Vec<Rendered<'o>> {
        let rendered = |Shown { format, out, on_screen }: &'o mut Shown<'_>| Rendered {
            renderer: format.renderer(self.options_of(program, *on_screen)),
            out,
        };
        shown.iter_mut().map(rendered).collect()
    }

    fn options_of(&self, program: Program, on_screen: bool) -> FindingsOptions {
        let mut options = FindingsOptions::default();
        options.tool = program.tool();
        options.screen = screen().filter(|_| on_screen);
        options.verbose = self.verbose;
        options.strict = self.checks.strict;
        options.quiet = self.quiet;
        options
    }
}

/// A renderer, and its output.
struct Rendered<'o> {
    renderer: Box<dyn FindingsRenderer>,
    out: &'o mut Out,
}

/// Files that were checked together.
struct Checked {
    group: Group,
    /// Complaints about files that could not be opened, besides the report.
    unread: Vec<Complaint>,
    /// Notices about how files were read.
    notices: Vec<String>,
}

/// Everything that checking files needs.
struct Check<'a> {
    program: Program,
    args: &'a Checks,
    /// Whether each file is checked on its own.
    each: bool,
    open: fn(&Path, StreamData) -> Opened,
    options: CheckOptions,
    /// Whether the findings go to a file, which is there when a user types the next command.
    leaves_file: bool,
    progress: ProgressLine,
    log: &'a Log,
}

impl Check<'_> {
    fn all(&self, files: &[PathBuf], to: &mut [Rendered<'_>], totals: &mut Totals) -> io::Result<()> {
        let mut result = Ok(());
        self.each_group(files, |checked| {
            totals.add(&checked.group);
            self.progress.clear();
            result = self.show(checked, to);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        let verdict = totals.verdict(self.args.strict);
        to.iter_mut().try_for_each(|Rendered { renderer, out }| {
            renderer.end(out, totals, verdict)?;
            out.send()
        })
    }

    /// Checks one group after the other until `take` breaks.
    fn each_group(&self, files: &[PathBuf], mut take: impl FnMut(Checked) -> ControlFlow<()>) {
        if self.each {
            let files = by_file(files);
            let single = |index: usize| {
                let paths = files.get(index)?;
                Some(self.check(paths.iter().map(|path| self.open(path)).collect()))
            };
            in_order(files.len(), AHEAD, single, |checked| checked.map_or(ControlFlow::Continue(()), &mut take));
            return;
        }
        let mut all = Vec::with_capacity(files.len());
        let open = |index: usize| files.get(index).map(|path| self.open(path));
        in_order(files.len(), files.len(), open, |opened| {
            all.extend(opened);
            ControlFlow::Continue(())
        });
        let _ = take(self.check(all));
    }

    fn open(&self, path: &Path) -> Opened {
        self.log.opening(path);
        (self.open)(path, if self.args.deep { StreamData::Keep } else { StreamData::Skip })
    }

    fn check(&self, files: Vec<Opened>) -> Checked {
        let report = check_telling(&files, &self.options, &self.progress);
        files.iter().for_each(|opened| self.log.cost(opened));
        // Findings of nothing are not written to the file.
        let leaves_file = self.leaves_file && files.iter().any(|opened| opened.file.is_ok());
        let notices = files.iter().filter_map(notice).collect();
        let mends = mends(&files, &report);
        let files: Vec<_> = files.into_iter().map(|opened| checked(opened, leaves_file)).collect();
        let unread = files
            .iter()
            .filter(|file| self.program.tells_unread && file.size.is_none())
            .filter_map(|file| file.failure.as_ref());
        let unread = unread.map(Complaint::from).collect();
        Checked { group: Group::new(files, report).mended_by(mends), unread, notices }
    }

    /// Shows a report in each format. Every format has what could not be checked.
    fn show(&self, checked: Checked, to: &mut [Rendered<'_>]) -> io::Result<()> {
        let Checked { group, unread, notices } = checked;
        for complaint in group.complaints(|_| false) {
            self.log.line(Verbosity::Err, || escape(&complaint).into_owned());
        }
        if let Some((last, others)) = to.split_last_mut() {
            others.iter_mut().try_for_each(|other| other.renderer.group(other.out, group.clone()))?;
            last.renderer.group(last.out, group)?;
        }
        if !unread.is_empty() || !notices.is_empty() {
            to.iter_mut().try_for_each(|shown| shown.out.send())?;
            notices.iter().for_each(|notice| self.program.complain(notice));
            self.program.complain_of(&unread);
        }
        Ok(())
    }
}

fn checked(opened: Opened, leaves_file: bool) -> CheckedFile {
    let size = opened.file().map(File::size);
    let network = opened.network.as_ref().map(Network::cost).map(|cost| (cost.requests, cost.bytes));
    let failure = failure(&opened, leaves_file);
    CheckedFile { path: opened.path, size, failure, network }
}

/// The notice for users about how a file was read.
fn notice(opened: &Opened) -> Option<String> {
    let notice = opened.network.as_ref()?.notice()?;
    Some(format!("{}: {notice}", name_of(&opened.path)))
}

/// Each file with all paths by which it was given, in the order of the first ones.
fn by_file(paths: &[PathBuf]) -> Vec<Vec<&Path>> {
    let mut files: Vec<Vec<&Path>> = Vec::with_capacity(paths.len());
    let mut places = HashMap::new();
    for path in paths {
        let new = files.len();
        // A pipe may give something else each time that it is opened.
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let id = FileId::of_path(path).ok().filter(|_| is_file);
        let place = id.map_or(new, |id| *places.entry(id).or_insert(new));
        match files.get_mut(place) {
            Some(file) => file.push(path),
            None => files.push(vec![path]),
        }
    }
    files
}

/// Checks files together, and tells the progress line.
pub fn check_telling(files: &[Opened], options: &CheckOptions, line: &ProgressLine) -> Report {
    let told = Told::default();
    check_with_progress(files.iter().map(|opened| &opened.file), options, &mut |so_far| {
        told.tell(line, so_far);
        ControlFlow::Continue(())
    })
}

/// How much of a group was already reported to the progress line.
#[derive(Default)]
struct Told {
    total: Cell<u64>,
    done: Cell<u64>,
}

impl Told {
    fn tell(&self, progress: &ProgressLine, so_far: Progress) {
        let more = |told: &Cell<u64>, now: u64| now.saturating_sub(told.replace(now));
        progress.expect(more(&self.total, so_far.total));
        progress.add(more(&self.done, so_far.done));
    }
}
