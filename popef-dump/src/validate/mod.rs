//! `--validate` and `--explain`: the library's checks, shown.

mod explain;
mod given;
mod group;
mod json;
mod nearest;
mod options;
mod paragraph;
mod policy;
mod sarif;
mod text;
mod uri;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::check::CheckOptions;

use crate::args::{Args, Format};
use crate::input::in_order;
use crate::log::{Log, Verbosity};
use crate::progress::ProgressLine;
use crate::render::escape::escape;
use crate::render::{Out, Screen, color};
use crate::run::{UNREAD, complain, written};
use given::Given;
use group::{Group, Totals, Verdict};

pub(crate) use explain::explain;
pub(crate) use options::Checks;

/// So many groups are checked before their turn to be shown.
const AHEAD: usize = 4;

/// One way to show what was found.
trait Show {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()>;
    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()>;
}

pub(crate) fn run(files: &[PathBuf], args: &Args, screen: Option<Screen>, log: &Log, to: Box<dyn Write>) -> ExitCode {
    let options = match options(&args.checks) {
        Ok(options) => options,
        Err(error) => {
            complain(&error);
            return ExitCode::from(UNREAD);
        }
    };
    let mut out = Out::new(to, color::wanted(args.output.color));
    let check = Check { args: &args.checks, options, progress: ProgressLine::new("data"), log };
    let mut totals = Totals::default();
    let result = check.all(files, &mut *show(args, screen), &mut out, &mut totals);
    check.progress.clear();
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => written(Err(error)),
        // Who closed the pipe has seen enough; what was found until then counts.
        _ => ExitCode::from(totals.verdict(args.checks.strict).status()),
    }
}

fn options(args: &Checks) -> Result<CheckOptions, String> {
    let mut options = CheckOptions::new();
    options.deep(args.deep);
    for &loader in &args.loaders {
        options.loader(loader);
    }
    if let Some(path) = &args.policy {
        options.policy(policy::read(path)?);
    }
    Ok(options)
}

fn show(args: &Args, screen: Option<Screen>) -> Box<dyn Show> {
    match args.output.format {
        Format::Text => Box::new(text::Text::new(screen, args.output.verbose)),
        Format::Json => Box::new(json::Document::default()),
        Format::Ndjson => Box::new(json::Lines),
        Format::Sarif => Box::new(sarif::Sarif::default()),
    }
}

/// What is needed to check files.
struct Check<'a> {
    args: &'a Checks,
    options: CheckOptions,
    progress: ProgressLine,
    log: &'a Log,
}

impl Check<'_> {
    fn all(&self, files: &[PathBuf], show: &mut dyn Show, out: &mut Out, totals: &mut Totals) -> io::Result<()> {
        let mut result = Ok(());
        self.each_group(files, |group| {
            totals.add(&group);
            self.progress.clear();
            result = self.group(group, show, out);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        show.end(out, totals, totals.verdict(self.args.strict))?;
        out.send()
    }

    fn each_group(&self, files: &[PathBuf], mut take: impl FnMut(Group) -> ControlFlow<()>) {
        if self.args.each {
            let single = |index: usize| files.get(index).map(|path| self.check(vec![self.open(path)]));
            in_order(files.len(), AHEAD, single, |group| group.map_or(ControlFlow::Continue(()), &mut take));
            return;
        }
        let mut subjects = Vec::with_capacity(files.len());
        let open = |index: usize| files.get(index).map(|path| self.open(path));
        in_order(files.len(), files.len(), open, |subject| {
            subjects.extend(subject);
            ControlFlow::Continue(())
        });
        let _ = take(self.check(subjects));
    }

    fn open(&self, path: &Path) -> Given {
        self.log.line(Verbosity::Debug, || format!("{}: reading", escape(&path.to_string_lossy())));
        Given::open(path, self.args.deep)
    }

    fn check(&self, subjects: Vec<Given>) -> Group {
        Group::check(subjects, &self.options, &self.progress)
    }

    /// What could not be done goes to stderr, behind what is on stdout of its files.
    fn group(&self, group: Group, show: &mut dyn Show, out: &mut Out) -> io::Result<()> {
        let failed = group.left.iter().filter(|left| left.failed);
        let complaints: Vec<_> = failed.map(|left| group.complaint(left)).collect();
        show.group(out, group)?;
        if !complaints.is_empty() {
            out.send()?;
        }
        for complaint in complaints {
            complain(&complaint);
            self.log.line(Verbosity::Err, || escape(&complaint).into_owned());
        }
        Ok(())
    }
}
