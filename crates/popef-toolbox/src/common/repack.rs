//! What `popef compress` and `popef decompress` have in common.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use popef::write::Packing;
use popef_ops::{Error, FilePath, RepackOptions, RepackOutcome, Repacked, RepackedExecutable, repack};
use popef_show::{Kind, Out, size};
use serde::Serialize;

use super::end::{FAILED, STOPPED, unwritten};
use super::filter::Filter;
use super::format::{Format, json_document, json_line};
use super::input::{Inputs, open_whole};
use super::output::{EachArgs, Goes};
use super::table::{Column, Table};
use super::tool::Tool;

/// What is done with the executables of files.
pub(crate) struct Repack<'a> {
    /// `None` decompresses.
    pub(crate) packing: Option<Packing>,
    pub(crate) again: bool,
    pub(crate) threads: usize,
    pub(crate) inputs: &'a Inputs,
    pub(crate) filter: &'a Filter,
    pub(crate) output: &'a EachArgs,
    pub(crate) format: Format,
}

/// A file of the report. It has either `error` or the rest.
#[derive(Serialize)]
struct FileReport {
    #[serde(flatten)]
    path: FilePath,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<FilePath>,
    #[serde(flatten)]
    done: Option<Repacked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

#[derive(Serialize)]
struct ErrorReport {
    code: &'static str,
    message: String,
}

#[derive(Serialize)]
struct Document {
    files: Vec<FileReport>,
}

impl Repack<'_> {
    /// Changes each file on its own. The failure of one does not keep the others from being changed.
    pub(crate) fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let paths = self.inputs.paths()?;
        let places = self.output.places(&paths)?;
        let mut out = tool.report(self.output.is_stdout());
        let mut document = Document { files: Vec::new() };
        let mut any_compressed = false;
        let mut status = ExitCode::SUCCESS;
        for (path, place) in paths.iter().zip(&places) {
            let done = self.change(tool, path, place);
            match &done {
                Err(error) if error.is_stop() && paths.len() > 1 => {
                    tool.say(&format!("stopped at {}; this file and those after it were not changed", path.display()));
                    status = ExitCode::from(STOPPED);
                    break;
                }
                Err(_) if paths.len() == 1 => return done.map(|_| status),
                Err(error) => {
                    tool.complain(error);
                    status = ExitCode::from(FAILED);
                }
                Ok(done) => any_compressed |= self.packing.is_some() && done.is_changed(),
            }
            let report = FileReport::of(path, place, done);
            match self.format {
                Format::Text => self.show(&mut out, &report).and_then(|()| out.send()),
                Format::Ndjson => json_line(&mut out, "file", &report),
                Format::Json => {
                    document.files.push(report);
                    Ok(())
                }
            }
            .map_err(unwritten)?;
        }
        if any_compressed {
            tool.say("it is not known which formats the vendor's library can read; zlib is the most likely one");
        }
        if self.format == Format::Json {
            json_document(&mut out, &document).map_err(unwritten)?;
        }
        out.send().map_err(unwritten)?;
        Ok(status)
    }

    fn change(&self, tool: &Tool, path: &Path, place: &Goes) -> Result<Repacked, Error> {
        let file = open_whole(path)?;
        let watch = tool.progress(if self.packing.is_some() { "compressing" } else { "decompressing" });
        let options = RepackOptions {
            packing: self.packing,
            again: self.again,
            threads: self.threads,
            select: &|blob| self.filter.takes(blob),
            only_changes: self.output.is_in_place(),
        };
        repack(&file, place.target(), &options, &watch)
    }

    /// Shows what became of a file: a line, and a table of its executables.
    fn show(&self, out: &mut Out, report: &FileReport) -> io::Result<()> {
        let FileReport { path, output, done: Some(done), .. } = report else { return Ok(()) };
        out.text(Kind::Name, path.text());
        if let Some(output) = output.as_ref().filter(|output| *output != path) {
            out.put(" -> ").text(Kind::Name, output.text());
        }
        out.put(&format!(": {}", self.summary(done))).end_line()?;
        if done.executables.is_empty() {
            return Ok(());
        }
        let mut table = Table::new([
            Column::left("EXECUTABLE", Kind::Name),
            Column::right("BEFORE"),
            Column::right("AFTER"),
            Column::right("RATIO"),
            Column::left("NOW", Kind::Plain),
        ]);
        for one in &done.executables {
            let name = one.name.to_string();
            table.row([&name, &size(one.before), &size(one.after), &percent(one.after, one.before), &self.now(one)]);
        }
        table.write(out)
    }

    fn summary(&self, done: &Repacked) -> String {
        if done.executables.is_empty() {
            return format!(
                "no executables{}; nothing changed",
                if self.filter.is_everything() { "" } else { " chosen" }
            );
        }
        if !done.is_changed() {
            return "nothing changed".to_owned();
        }
        let [before, after] = [done.before, done.after].map(size);
        format!("{before} -> {after}, {}", percent(done.after, done.before))
    }

    /// The format of an executable now, and why it did not change.
    fn now(&self, one: &RepackedExecutable) -> String {
        let format = match one.now {
            Some(compression) => compression.as_str(),
            None if one.outcome == RepackOutcome::AlreadyCompressed => "an unknown format",
            None => "not compressed",
        };
        match one.outcome {
            RepackOutcome::Compressed => self.packing.map_or_else(String::new, |packing| packing.to_string()),
            RepackOutcome::WouldGrow => format!("{format}: would not become smaller"),
            RepackOutcome::AlreadyCompressed => format!("{format} already"),
            RepackOutcome::NotCompressed => "not compressed before either".to_owned(),
            _ => format.to_owned(),
        }
    }
}

impl FileReport {
    fn of(path: &Path, place: &Goes, done: Result<Repacked, Error>) -> Self {
        let path = FilePath::from(path);
        match done {
            Ok(done) => {
                let output = place.path().filter(|_| done.written).map(FilePath::from);
                FileReport { path, output, done: Some(done), error: None }
            }
            Err(error) => {
                let error = ErrorReport { code: error.code(), message: error.to_string() };
                FileReport { path, output: None, done: None, error: Some(error) }
            }
        }
    }
}

/// A size as a part of another one in percent, rounded down to a tenth, or as a multiple.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match tenths {
        ..10_000 => format!("{}.{} %", tenths / 10, tenths % 10),
        _ => format!("{} x", tenths / 1000),
    }
}
