//! `popef report`.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::error::ErrorCode;
use popef::File;
use popef_check::CheckOptions;
use popef::types::{Diagnostic, Text};
use popef_cli::screen;
use popef_cli::commands::check_telling;
use popef_cli::end::FAILED;
use popef_cli::input::{Inputs, open_any};
use popef_cli::common::{Common, Place};
use popef_cli::line::failure;
use popef_cli::plain::Plain;
use popef_cli::program::Complaint;
use popef_cli::signals::is_stopped;
use popef_cli::to_file::Forms;
use popef_cli::tool::Tool;
use popef_cli::values::path;
use popef_open::{Opened, in_order, is_stdin};
use popef_ops::Error;
use popef_show::{
    CheckedFile, Failures, FileReport, FileToShow, Group, Options, Page, Provider, Shown, Workers, shown,
};

use super::Command;
use crate::common::page::{self, MADE_BY};

/// Make one HTML page about a model
///
/// The page shows what the model needs, its inputs and outputs as a picture, what takes the space, and what the checks found.
/// It needs no network and no other file, can be read without scripts, and can be printed. Several files are shown together,
/// as one model. A damaged file gets a page too, which says what is missing; the exit status is then 2.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef report [OPTIONS] -o <NEW> <FILE>...", after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    /// The page to write; `-` is standard output
    ///
    /// A name with the ending of another format, such as .json, is refused.
    #[arg(short, long, value_name = "NEW", value_parser = path(), required_unless_present = "dry_run", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the page if it exists
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Read the values of all tensors, and show statistics and histograms
    #[arg(long)]
    values: bool,
    /// Run the checks that read all data too
    #[arg(long)]
    deep: bool,
    /// Read the executables, and show how full their tiles are, and whether they fit
    #[arg(long)]
    tiles: bool,
    /// The heading of the page, instead of the name of the first file
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  popef report model.popef -o model.html
  popef report model.popef --tiles -o model.html
  popef report executable.popef weights.popef --values -o model.html
  popef report model.popef --title 'BERT, batch 8' --force -o model.html";

/// A report is a page. A name with the ending of another format is refused.
const FORMS: Forms<'static, &str> =
    Forms { command: "popef report", all: &["html"], name: |form| form, of_file: "html", of_report: "html" };

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        FORMS.chosen(None, self.output.as_deref())?;
        let opened = self.inputs.paths()?.iter().map(|path| open_any(path)).collect::<Result<Vec<_>, _>>()?;
        // A page of nothing would only be in the way of the next one.
        let is_nothing = opened.iter().all(|opened| opened.file.is_err() || opened.foreign.is_some());
        let leaves_file = !is_nothing && !self.dry_run && self.output.as_deref().is_some_and(|output| !is_stdin(output));
        let unread: Vec<_> = opened.iter().map(|opened| failure(opened, leaves_file)).collect();
        let mut failures = Failures::default();
        if is_nothing {
            return Ok(told(tool, &opened, &unread, None, &failures));
        }
        // A page that must not be replaced is an error before the work.
        drop(self.begin(&opened)?);
        // A check cannot be stopped, but so far Ctrl-C ends the program.
        let group = self.check(&opened);
        tool.hear_signals();
        let mut page = self.begin(&opened)?;
        let written = self.write(&opened, &unread, &group, &mut page, &mut failures);
        written.map_err(|error| self.place().of_file(error))?;
        self.place().finish(tool, page, "a page")?;
        Ok(told(tool, &opened, &unread, Some(&group), &failures))
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.place()).lists()
    }
}

impl Args {
    fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }
    }

    fn begin(&self, opened: &[Opened]) -> Result<Plain, Error> {
        self.place().begin(self.inputs.lists(), opened.iter().filter_map(Opened::file))
    }

    fn check(&self, opened: &[Opened]) -> Group {
        let mut options = CheckOptions::new();
        options.deep(self.deep).inspect_archives(poplar_inspect::executable::inspect_archive);
        let line = screen::progress("data");
        let report = check_telling(opened, &options, &line);
        line.clear();
        Group::new(opened.iter().map(checked).collect(), report)
    }

    fn write(
        &self,
        opened: &[Opened],
        unread: &[Option<Diagnostic>],
        group: &Group,
        to: &mut dyn Write,
        failures: &mut Failures,
    ) -> Result<(), Error> {
        let mut options = Options::default();
        options.values = self.values.then_some(0);
        options.tiles = self.tiles;
        options.workers = Box::new(UntilStopped);
        options.progress = screen::progress("values");
        let provider = |name: &Text<'_>| provider(opened, name);
        let report = |(index, (opened, failure))| {
            let (opened, failure): (&Opened, &Option<Diagnostic>) = (opened, failure);
            let (path, file, failure) = (&*opened.path, opened.file(), failure.as_ref());
            FileReport::new(FileToShow { index, path, file, failure, provider: &provider }, &options)
        };
        let reports: Vec<_> = opened.iter().zip(unread).enumerate().map(report).collect();
        let title = self.title.as_deref().map_or_else(|| title(opened), Shown::message);
        let page = Page { title: &title, made_by: MADE_BY, reports: &reports, group, stopped: &is_stopped };
        let written = page.write(to, failures);
        options.progress.clear();
        match written {
            _ if is_stopped() => Err(Error::new(ErrorCode::Stopped, "the work was stopped")),
            written => written.map_err(|error| Error::io("write the page", error)),
        }
    }
}

/// All processors, until Ctrl-C. Later results are not used.
#[derive(Debug)]
struct UntilStopped;

impl Workers for UntilStopped {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        /// The maximum number of parts that wait for earlier ones.
        const AHEAD: usize = 32;
        let work = |index| {
            work(index);
            index
        };
        in_order(count, AHEAD, work, |index| if is_stopped() { ControlFlow::Break(()) } else { done(index) });
    }
}

/// Who provides the data of an anchor, if the files belong together.
fn provider(opened: &[Opened], name: &Text<'_>) -> Provider {
    let has = |file: &File| file.tensor(name.as_bytes()).is_some() || file.feed(name.as_bytes()).is_some();
    match opened.iter().filter_map(Opened::file).any(has) {
        true => Provider::Popef,
        false if opened.iter().any(|opened| opened.error().is_some()) => Provider::Unknown,
        false => Provider::User,
    }
}

/// The name of the first file.
fn title(opened: &[Opened]) -> Shown<'static> {
    let first = opened.first().map(|opened| page::title(&opened.path)).unwrap_or_default();
    match opened.len().saturating_sub(1) {
        0 => first.into_owned(),
        more => shown!("{} and {} more", first, more),
    }
}

fn checked(opened: &Opened) -> CheckedFile {
    let failure = failure(opened, false);
    CheckedFile { path: opened.path.clone(), size: opened.file().map(File::size), failure, network: None }
}

/// Says on stderr what could not be read, which the page says too.
fn told(
    tool: &Tool,
    opened: &[Opened],
    unread: &[Option<Diagnostic>],
    group: Option<&Group>,
    failures: &Failures,
) -> ExitCode {
    let program = tool.program();
    let unread: Vec<_> =
        opened.iter().zip(unread).filter_map(|(opened, failure)| Some((&*opened.path, failure.as_ref()?))).collect();
    let of_files = unread.iter().map(|(_, failure)| Complaint::from(*failure));
    let is_told = |path: &Path| unread.iter().any(|(unread, _)| *unread == path);
    let of_checks = group.into_iter().flat_map(|group| group.complaints(&is_told)).map(Complaint::from);
    let of_blobs = failures.first().iter().map(Complaint::from);
    let more = failures.more().map(Complaint::from);
    let complaints: Vec<_> = of_files.chain(of_checks).chain(of_blobs).chain(more).collect();
    program.complain_of(&complaints);
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}
