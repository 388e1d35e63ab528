//! The code that `popef compress` and `popef decompress` share.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::File;
use popef::types::Diagnostic;
use popef::write::Packing;
use popef_cli::end::{FAILED, stopped, unwritten};
use popef_cli::filter::Filter;
use popef_cli::format::{Format, end_of_files, json_line, json_line_in};
use popef_cli::input::{Inputs, open_whole};
use popef_cli::output::{EachArgs, Goes};
use popef_cli::tool::{Tool, described};
use popef_ops::{
    CompressOptions, DecompressOptions, Error, FilePath, InFile, OutputPath, Recompressed, RecompressedExecutable,
    compress, decompress,
};
use popef_show::Out;
use popef_show::operations::RecompressedText;
use serde::Serialize;

use super::rows::Rows;

/// The work on the executables of files.
pub(crate) struct Work<'a> {
    pub(crate) to: To,
    pub(crate) inputs: &'a Inputs,
    pub(crate) filter: &'a Filter,
    pub(crate) output: &'a EachArgs,
    pub(crate) format: Format,
}

/// The new form of executables.
pub(crate) enum To {
    Compressed { packing: Packing, again: bool, threads: usize },
    Plain,
}

#[derive(Serialize)]
struct FileReport {
    #[serde(flatten)]
    path: FilePath,
    #[serde(flatten)]
    output: Option<OutputPath>,
    #[serde(flatten)]
    done: Option<Recompressed>,
    error: Option<Diagnostic>,
}

/// Shows the results during the work.
struct Show<'s> {
    work: &'s Work<'s>,
    out: Out,
    /// The executables of this file that are shown in text.
    shown: Vec<RecompressedExecutable>,
    /// The files that are shown as JSON in the end, and their executables.
    files: Vec<FileReport>,
    rows: Rows,
}

impl Work<'_> {
    /// Changes each file on its own. If one fails, the others are still changed.
    pub(crate) fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let paths = self.inputs.paths()?;
        let places = self.output.places(&paths)?;
        places.iter().try_for_each(|place| place.target().check_sources(self.inputs.lists()))?;
        self.check_filter(tool, &paths)?;
        let mut show = Show::new(self, tool.report());
        let mut any_compressed = false;
        let mut status = ExitCode::SUCCESS;
        for (path, place) in paths.iter().zip(&places) {
            let done = self.change(tool, path, place, &mut show);
            match &done {
                Err(error) if error.is_stop() && paths.len() > 1 => {
                    tool.say(&format!("stopped at {}; this file and those after it were not changed", path.display()));
                    status = ExitCode::from(stopped());
                    break;
                }
                Err(_) if paths.len() == 1 => return done.map(|_| status),
                Err(error) => {
                    tool.complain(error);
                    status = ExitCode::from(FAILED);
                }
                Ok(done) => any_compressed |= self.packing().is_some() && done.changed > 0,
            }
            show.file(path, place, done).map_err(unwritten)?;
        }
        if any_compressed {
            tool.say("it is not known which formats the vendor's library can read; zlib is the most likely one");
        }
        show.end()?;
        Ok(status)
    }

    fn packing(&self) -> Option<Packing> {
        match self.to {
            To::Compressed { packing, .. } => Some(packing),
            To::Plain => None,
        }
    }

    fn text(&self) -> RecompressedText {
        let (is_chosen, dry_run) = (!self.filter.is_everything(), self.output.dry_run);
        RecompressedText { packing: self.packing(), is_chosen, dry_run }
    }

    /// Fails if no executable of any file is chosen, before anything is written. Files that cannot be opened may have one,
    /// and so may standard input, which can be read only once.
    fn check_filter(&self, tool: &Tool, paths: &[PathBuf]) -> Result<(), Error> {
        if self.filter.is_everything() || paths.iter().any(|path| path.as_os_str() == "-") {
            return Ok(());
        }
        let none_in = |path: &PathBuf| open_whole(tool, path).is_ok_and(|file| !self.any_chosen(&file));
        if paths.iter().all(none_in) { Err(self.filter.nothing_chosen(paths)) } else { Ok(()) }
    }

    fn any_chosen(&self, file: &File) -> bool {
        file.executables().any(|executable| self.filter.takes(executable.blob()))
    }

    fn change(&self, tool: &Tool, path: &Path, place: &Goes, show: &mut Show<'_>) -> Result<Recompressed, Error> {
        let file = open_whole(tool, path)?;
        let is_stdin = path.as_os_str() == "-";
        if is_stdin && !self.filter.is_everything() && !self.any_chosen(&file) {
            return Err(self.filter.nothing_chosen(&[path]));
        }
        let select = |blob: &popef::Blob<'_>| self.filter.takes(blob);
        let only_changes = self.output.is_in_place();
        let each = &mut |executable| show.executable(path, executable);
        match self.to {
            To::Compressed { packing, again, threads } => {
                let options = CompressOptions { packing, again, threads, select: &select, only_changes };
                compress(&file, place.target(), &options, &tool.progress("compressing"), each)
            }
            To::Plain => {
                let options = DecompressOptions { select: &select, only_changes };
                decompress(&file, place.target(), &options, &tool.progress("decompressing"), each)
            }
        }
    }
}

impl<'s> Show<'s> {
    fn new(work: &'s Work<'s>, out: Out) -> Self {
        Show { work, out, shown: Vec::new(), files: Vec::new(), rows: Rows::new() }
    }

    fn executable(&mut self, path: &Path, executable: RecompressedExecutable) -> Result<(), Error> {
        match self.work.format {
            Format::Ndjson => {
                let written = json_line_in(&mut self.out, "blob", &InFile::from(path), &executable);
                written.and_then(|()| self.out.send()).map_err(unwritten)
            }
            Format::Json => self.rows.push(self.files.len(), &executable),
            Format::Text => {
                if self.shown.len() < MOST_SHOWN {
                    self.shown.push(executable);
                }
                Ok(())
            }
        }
    }

    fn file(&mut self, path: &Path, place: &Goes, done: Result<Recompressed, Error>) -> io::Result<()> {
        let report = FileReport::of(path, place, done);
        match self.work.format {
            Format::Text => {
                let shown = mem::take(&mut self.shown);
                if let Some(done) = &report.done {
                    self.work.text().write(&mut self.out, &report.path, report.output.as_ref(), done, &shown)?;
                }
            }
            Format::Ndjson => json_line(&mut self.out, "file", &report)?,
            Format::Json => self.files.push(report),
        }
        self.out.send()
    }

    fn end(mut self) -> Result<(), Error> {
        if self.work.format == Format::Json {
            self.out.put("{\"schemaVersion\":1,\"files\":[");
            self.rows.write_objects(&mut self.out, &self.files, "executables")?;
            end_of_files(&mut self.out).map_err(unwritten)?;
        }
        self.out.send().map_err(unwritten)
    }
}

/// The maximum number of executables of a file in text.
const MOST_SHOWN: usize = 1000;

impl FileReport {
    fn of(path: &Path, place: &Goes, done: Result<Recompressed, Error>) -> Self {
        let written = done.as_ref().is_ok_and(|done| done.written);
        let output = place.path().filter(|_| written).map(OutputPath::from);
        let error = done.as_ref().err().map(described);
        FileReport { path: path.into(), output, done: done.ok(), error }
    }
}
