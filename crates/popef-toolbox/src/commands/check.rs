//! `popef check`: popef-dump's `--validate`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_cli::commands::{Checking, Ended, Shown};
use popef_cli::end::{refused, unwritten, wrong};
use popef_cli::format::Format;
use popef_cli::groups::{Checks, Quiet, Sources};
use popef_cli::input::open_to_check;
use popef_cli::common::{Common, Place};
use popef_cli::plain::Plain;
use popef_cli::to_file::Forms;
use popef_cli::tool::Tool;
use popef_cli::values::{FormatTo, format_to, path};
use popef_open::is_stdin;
use popef_ops::Error;
use popef_show::{FindingsFormat, Out};

use super::Command;

/// Check what would fail when a model is loaded
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef check [OPTIONS] <FILE>...", after_help = "\
Examples:
  popef check model.popef weights.popef     two files of one model
  popef check --each -q *.popef             independent models; only what was found
  popef check --deep --for triton model.popef
  popef check --policy team.toml --strict model.popef
  popef check --format sarif model.popef -o findings.sarif
  popef check --format text --format sarif=findings.sarif --format junit=findings.xml model.popef
  popef explain PE101                       what a finding means")]
pub(crate) struct Args {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present_any = ["files_from", "allow_empty"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    checks: Checks,
    #[command(flatten, next_help_heading = "Selection")]
    sources: Sources,
    /// Format of the report, and the file that it goes to; can be given several times
    ///
    /// text: for people; json: one document; ndjson: one line per finding; sarif: for code scanners; github: annotations in
    /// GitHub Actions; junit: JUnit XML, for CI systems. Only one format can be without a file: it goes to standard output.
    #[arg(
        long,
        value_name = "FORMAT[=NEW]",
        value_parser = format_to(FindingsFormat::ALL.iter().copied(), |format| format.as_str()),
        help_heading = "Output"
    )]
    format: Vec<FormatTo<FindingsFormat>>,
    /// The file for the format that names none; `-` is standard output
    ///
    /// Without --format, its name says the format: .json, .ndjson, .sarif, .xml (JUnit) or .txt. Other names get text.
    #[arg(short, long, value_name = "NEW", value_parser = path(), help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the files of findings if they exist
    #[arg(long, help_heading = "Output")]
    force: bool,
    #[command(flatten, next_help_heading = "Output")]
    quiet: Quiet,
    /// Log what is read, and show what findings mean
    ///
    /// The log goes to stderr.
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let Args { files, checks, sources, quiet, verbose, .. } = self;
        let (quiet, verbose) = (quiet.quiet, *verbose);
        let checking = Checking { files, sources, checks, quiet, verbose, open: open_to_check };
        let formats = self.formats()?;
        // A file that must not be replaced is an error before the work.
        formats.iter().try_for_each(|(_, file)| self.begin(*file).map(drop))?;
        let mut outs: Vec<Out> = formats.iter().map(|(_, file)| out(tool, *file)).collect();
        let places = formats.iter().zip(&mut outs);
        let shown = places.map(|((format, file), out)| Shown { format: *format, out, on_screen: file.is_none() });
        let mut shown: Vec<Shown<'_>> = shown.collect();
        let Ended { status, opened_none } = checking.run(tool.program(), &mut shown).map_err(refused)?;
        if opened_none {
            // Then the user needs another line, for which no file may be in the way.
            return Ok(status);
        }
        formats.iter().zip(outs).try_for_each(|((_, file), out)| self.write(tool, *file, out))?;
        Ok(status)
    }

    fn common(&self) -> Common<'_> {
        // The renderer of the last format that names no file.
        let mut to_stdout = self.format.iter().rev().filter(|to| to.file.is_none());
        let format = to_stdout.find_map(|to| Format::named(to.format.as_str()));
        Common::of(Place { path: self.output.as_deref(), force: self.force, dry_run: false }).format(format).lists().text()
    }
}

/// The formats of the output, and when each is the default.
const FORMS: Forms<'static, FindingsFormat> = Forms {
    command: "popef check",
    all: FindingsFormat::ALL,
    name: FindingsFormat::as_str,
    of_file: FindingsFormat::Text,
    of_report: FindingsFormat::Text,
};

/// A format, and its file. Without one, it goes to standard output.
type To<'a> = (FindingsFormat, Option<&'a Path>);

impl Args {
    /// The formats, each with its place. Fails if two have the same.
    fn formats(&self) -> Result<Vec<To<'_>>, Error> {
        let formats = self.format.iter().map(|to| (to.format, to.file.as_deref()));
        let mut formats: Vec<To<'_>> = formats.collect();
        if formats.is_empty() {
            formats.push((FORMS.chosen(None, self.output.as_deref())?, None));
        }
        self.give_output(&mut formats)?;
        formats.iter_mut().for_each(|(_, file)| *file = file.filter(|file| !is_stdin(file)));
        distinct(&formats)?;
        if self.force && formats.iter().all(|(_, file)| file.is_none()) {
            return Err(wrong("--force is for findings that go to a file: add -o NEW, or --format FORMAT=NEW"));
        }
        Ok(formats)
    }

    /// Gives the file of `--output` to the format that has none.
    fn give_output<'a>(&'a self, formats: &mut [To<'a>]) -> Result<(), Error> {
        let Some(output) = &self.output else { return Ok(()) };
        let mut without = formats.iter_mut().filter(|(_, file)| file.is_none());
        match (without.next(), without.next()) {
            (Some((_, file)), None) => *file = Some(output),
            (None, _) => return Err(wrong("--output is for a format without a file, and each has one")),
            (Some(_), Some(_)) => return Err(wrong(ONE_EACH)),
        }
        Ok(())
    }

    fn place<'a>(&'a self, file: &'a Path) -> Place<'a> {
        Place { path: Some(file), force: self.force, dry_run: false }
    }

    /// Begins the file, if there is one. It never replaces an input.
    fn begin(&self, file: Option<&Path>) -> Result<Option<Plain>, Error> {
        let sources = self.files.iter().chain(&self.sources.lists.files_from).chain(&self.checks.policy);
        file.map(|file| self.place(file).begin(sources, [])).transpose()
    }

    /// Writes findings that were kept for a file.
    fn write(&self, tool: &Tool, file: Option<&Path>, out: Out) -> Result<(), Error> {
        let (Some(file), Some(mut plain)) = (file, self.begin(file)?) else { return Ok(()) };
        plain.write_all(&out.into_bytes()).map_err(|error| self.place(file).of_file(unwritten(error)))?;
        self.place(file).finish(tool, plain, "findings")
    }
}

const ONE_EACH: &str = "only one format goes to standard output: give the others a file, such as --format sarif=findings.sarif";

fn distinct(formats: &[To<'_>]) -> Result<(), Error> {
    let again = |(number, (_, file)): (usize, &To<'_>)| formats.iter().take(number).any(|(_, other)| other == file);
    match formats.iter().enumerate().find(|(number, to)| again((*number, to))) {
        None => Ok(()),
        Some((_, (_, None))) => Err(wrong(ONE_EACH)),
        Some((_, (_, Some(file)))) => Err(wrong(format!("two formats would be written to {}", file.display()))),
    }
}

/// Findings for a file are kept until the check is done, so that a file is whole or not there.
fn out(tool: &Tool, file: Option<&Path>) -> Out {
    if file.is_some() { Out::in_memory(false) } else { tool.out() }
}
