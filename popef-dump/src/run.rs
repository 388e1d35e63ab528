//! From the arguments to the exit status.

use std::env;
use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{Args, Format};
use crate::input::{Inputs, Opened, listed};
use crate::log::{Log, Verbosity};
use crate::progress::ProgressLine;
use crate::render::{self, Json, JsonLines, Listing, Out, Overview, Renderer, Screen, color};
use crate::report::{Failures, FileReport, Options, Provided};
use crate::validate;

/// Something could not be read, or what was to be shown is damaged. 1 is kept for the findings of checks.
pub(crate) const UNREAD: u8 = 2;

/// Runs the tool. `to` is where what is shown goes, which is standard output.
pub(crate) fn run(args: &Args, mut to: Box<dyn Write>) -> ExitCode {
    if let Some(what) = args.other.generate {
        return written(crate::generate::write(what, &mut to));
    }
    if let Some(id) = &args.checks.explain {
        return validate::explain(id.as_deref(), args.output.color, screen(), to);
    }
    if args.output.format == Format::Sarif && !args.checks.validate {
        complain("--format sarif is for findings: it needs --validate");
        return ExitCode::from(UNREAD);
    }
    let (log, complaints) = log(args.output.verbose);
    complaints.iter().for_each(|complaint| complain(complaint));
    match files(args) {
        Ok(files) if args.checks.validate => validate::run(&files, args, screen(), &log, to),
        Ok(files) => show_all(&files, args, &log, to),
        Err(error) => {
            complain(&error);
            ExitCode::from(UNREAD)
        }
    }
}

fn log(verbose: bool) -> (Log, Vec<String>) {
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    Log::new(verbose, variable("POPEF_LOG_LEVEL").as_deref(), variable("POPEF_LOG_DEST").as_deref())
}

/// The files that were given, and those that a list names.
fn files(args: &Args) -> Result<Vec<PathBuf>, String> {
    let mut files = args.files.clone();
    if let Some(list) = &args.narrow.files_from {
        let failed = |error| format!("cannot read the list {}: {error}", list.display());
        files.extend(listed(list).map_err(failed)?);
    }
    let from_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if files.iter().chain(&args.narrow.files_from).filter(from_stdin).nth(1).is_some() {
        return Err("standard input (-) can be read only once".to_owned());
    }
    Ok(files)
}

fn show_all(files: &[PathBuf], args: &Args, log: &Log, to: Box<dyn Write>) -> ExitCode {
    let options = options(args);
    let colors = color::wanted(args.output.color);
    let renderer = renderer(args);
    let show = Show { renderer: &*renderer, colors, options: &options, log };
    let mut out = Out::new(to, colors);
    let mut failed = false;
    let result = show.all(files, &mut out, &mut failed);
    options.progress.clear();
    match result {
        Ok(()) if failed => ExitCode::from(UNREAD),
        // Who closed the pipe has seen enough; what was found until then counts.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && failed => ExitCode::from(UNREAD),
        result => written(result),
    }
}

fn options(args: &Args) -> Options {
    Options {
        select: args.select.resolved(),
        filter: args.narrow.filter.clone(),
        sort: args.narrow.sort,
        values: args.narrow.values,
        verbose: args.output.verbose,
        progress: ProgressLine::new("values"),
    }
}

fn renderer(args: &Args) -> Box<dyn Renderer> {
    match args.output.format {
        Format::Json | Format::Sarif => Box::new(Json),
        Format::Ndjson => Box::new(JsonLines),
        Format::Text if args.select.any() => Box::new(Listing),
        Format::Text => Box::new(Overview::new(screen())),
    }
}

/// The terminal that the output goes to, if it goes to one.
fn screen() -> Option<Screen> {
    let stdout = io::stdout();
    let (width, height) = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten()?;
    Some(Screen { width: width.0.into(), height: height.0.into() })
}

/// What is needed to show a file.
struct Show<'a> {
    renderer: &'a dyn Renderer,
    colors: bool,
    options: &'a Options,
    log: &'a Log,
}

impl Show<'_> {
    fn all(&self, files: &[PathBuf], out: &mut Out, failed: &mut bool) -> io::Result<()> {
        self.renderer.begin(out)?;
        let (keep_data, with_names) = (self.options.values.is_some(), self.options.shows_anchors());
        let inputs = Inputs { paths: files, keep_data, with_names, log: self.log };
        // One file's output, or that with all values, can be too large to be kept; and then there is nothing to gain.
        match files.len() == 1 || self.options.values.is_some() {
            true => self.in_turn(&inputs, out, failed)?,
            false => self.in_parallel(&inputs, out, failed)?,
        }
        self.renderer.end(files.len(), out)?;
        out.send()
    }

    fn in_turn(&self, inputs: &Inputs<'_>, out: &mut Out, failed: &mut bool) -> io::Result<()> {
        let mut result = Ok(());
        inputs.each_in_turn(|index, opened, provided| {
            let shown = self.file(index, opened, provided, out);
            result = shown.and_then(|complaints| self.report(&complaints, out, failed));
            go_on(&result)
        });
        result
    }

    fn in_parallel(&self, inputs: &Inputs<'_>, out: &mut Out, failed: &mut bool) -> io::Result<()> {
        let work = |index: usize, opened: &Opened, provided: &Provided<'_>| {
            let mut part = Out::in_memory(self.colors);
            let complaints = self.file(index, opened, provided, &mut part)?;
            Ok((part.into_bytes(), complaints))
        };
        let mut result = Ok(());
        inputs.each(work, |shown: io::Result<(Vec<u8>, Vec<String>)>| {
            result = shown.and_then(|(bytes, complaints)| {
                out.append(bytes)?;
                self.report(&complaints, out, failed)
            });
            go_on(&result)
        });
        result
    }

    /// Shows one file, and gives back what is wrong with it, a line each.
    fn file(&self, index: usize, opened: &Opened, provided: &Provided<'_>, out: &mut Out) -> io::Result<Vec<String>> {
        let report = FileReport {
            index,
            path: &opened.path,
            file: opened.file.as_ref(),
            failure: opened.failure.as_ref(),
            by_user: &|name| provided.by_user(name),
            options: self.options,
        };
        self.log_file(opened);
        report.expect_values();
        let mut failures = Failures::default();
        self.renderer.file(out, &report, &mut failures)?;
        let line = |failure: String| format!("{}: {failure}", opened.path.display());
        Ok(failures.lines().chain(report.failure.map(ToString::to_string)).map(line).collect())
    }

    /// Errors go to stderr, behind what is on stdout of their file.
    fn report(&self, complaints: &[String], out: &mut Out, failed: &mut bool) -> io::Result<()> {
        if complaints.is_empty() {
            return Ok(());
        }
        *failed = true;
        out.send()?;
        for line in complaints {
            complain(line);
            self.log.line(Verbosity::Err, || render::escape::escape(line).into_owned());
        }
        Ok(())
    }

    fn log_file(&self, opened: &Opened) {
        let path = opened.path.display().to_string();
        let path = render::escape::escape(&path);
        let Some(file) = &opened.file else { return };
        self.log.line(Verbosity::Debug, || format!("{path}: read {} blobs in {} bytes", file.len(), file.end()));
        if self.log.logs(Verbosity::Trace) {
            for blob in file.blobs() {
                let (index, offset, size) = (blob.index(), blob.offset(), blob.size());
                self.log.line(Verbosity::Trace, || {
                    format!("{path}: blob {index}, byte {offset}: {}, {size} bytes", blob.blob_type())
                });
            }
        }
    }
}

fn go_on(result: &io::Result<()>) -> ControlFlow<()> {
    if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// One line to stderr. It may hold names of files, which are as untrusted as those in them.
pub(crate) fn complain(text: &str) {
    // There is nobody to tell that stderr is closed.
    let _ = writeln!(io::stderr(), "popef-dump: {}", render::escape::escape(text));
}

/// The exit status of writing: a closed pipe is the reader's wish.
pub(crate) fn written(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("cannot write the output: {error}"));
            ExitCode::from(UNREAD)
        }
    }
}
