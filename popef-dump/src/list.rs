//! Showing files.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use popef_open::{Foreign, Inputs, Opened, Presence, Provided, StreamData, in_order};
use popef_show::{
    Failure, Failures, FileReport, FileToShow, ListFormat, ListRenderer, Options, Out, Provider, Workers, escape,
};

use crate::args::Args;
use crate::exit::{UNREAD, complain, written};
use crate::log::{Log, Verbosity};
use crate::screen::{colors, progress, screen};

pub(crate) fn run(files: &[PathBuf], args: &Args, format: ListFormat, log: &Log, to: Box<dyn Write>) -> ExitCode {
    let options = options(args);
    let colors = colors(args.output.color);
    let renderer = format.renderer(&options, screen());
    let show = Show { renderer: &*renderer, colors, options: &options, log };
    let mut out = Out::new(to, colors);
    let mut failed = false;
    let result = show.all(files, &mut out, &mut failed);
    options.progress.clear();
    match result {
        Ok(()) if failed => ExitCode::from(UNREAD),
        // A reader that closes the pipe has seen enough. What was found until then counts.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && failed => ExitCode::from(UNREAD),
        result => written(result),
    }
}

fn options(args: &Args) -> Options {
    let mut options = Options::default();
    options.select = args.parts.selected();
    options.filter.clone_from(&args.narrow.filter);
    options.sort = args.narrow.sort;
    options.values = args.narrow.values;
    options.inside = args.output.verbose;
    options.workers = Box::new(AllProcessors);
    options.progress = progress("values");
    options
}

#[derive(Debug)]
struct AllProcessors;

impl Workers for AllProcessors {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        /// So many parts may wait until those before them are done.
        const AHEAD: usize = 32;
        let work = |index| {
            work(index);
            index
        };
        in_order(count, AHEAD, work, done);
    }
}

/// What is needed to show a file.
struct Show<'a> {
    renderer: &'a dyn ListRenderer,
    colors: bool,
    options: &'a Options,
    log: &'a Log,
}

impl Show<'_> {
    fn all(&self, files: &[PathBuf], out: &mut Out, failed: &mut bool) -> io::Result<()> {
        self.renderer.begin(out)?;
        let data = if self.options.values.is_some() { StreamData::Keep } else { StreamData::Skip };
        let opening = |path: &_| self.log.opening(path);
        let inputs = Inputs { paths: files, data, with_names: self.options.shows_anchors(), opening: &opening };
        // The output of a single file, or one with all values, can be too large to be kept in memory. Threads would not make
        // it faster.
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

    /// Shows one file. Gives what is wrong with it, in a line each.
    fn file(&self, index: usize, opened: &Opened, provided: &Provided<'_>, out: &mut Out) -> io::Result<Vec<String>> {
        self.log_file(opened);
        let failure = failure(opened);
        let input = FileToShow {
            index,
            path: &opened.path,
            file: opened.file(),
            failure: failure.as_ref(),
            provider: &|name| provider(provided.has(name)),
        };
        let mut failures = Failures::default();
        self.renderer.file(out, &FileReport::new(input, self.options), &mut failures)?;
        let line = |failure: String| format!("{}: {failure}", opened.path.display());
        Ok(failures.lines().chain(failure.map(|failure| failure.to_string())).map(line).collect())
    }

    /// Errors go to stderr, after the file's output on stdout.
    fn report(&self, complaints: &[String], out: &mut Out, failed: &mut bool) -> io::Result<()> {
        if complaints.is_empty() {
            return Ok(());
        }
        *failed = true;
        out.send()?;
        for line in complaints {
            complain(line);
            self.log.line(Verbosity::Err, || escape(line).into_owned());
        }
        Ok(())
    }

    fn log_file(&self, opened: &Opened) {
        let path = opened.path.display().to_string();
        let path = escape(&path);
        let Some(file) = opened.file() else { return };
        let s = |count| if count == 1 { "" } else { "s" };
        self.log.line(Verbosity::Debug, || {
            format!("{path}: read {} blob{} in {} bytes", file.len(), s(file.len()), file.end())
        });
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

fn provider(presence: Presence) -> Provider {
    match presence {
        Presence::Present => Provider::Popef,
        Presence::Absent => Provider::User,
        Presence::Unknown => Provider::Unknown,
    }
}

/// What kept a file from being read to its end.
fn failure(opened: &Opened) -> Option<Failure> {
    match &opened.foreign {
        Some(foreign) => Some(Failure::new(foreign.to_string(), Foreign::KIND, Foreign::CODE)),
        None => opened.error().map(Failure::from),
    }
}

fn go_on(result: &io::Result<()>) -> ControlFlow<()> {
    if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
