//! Showing files.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use popef::File;
use popef::types::{BlobType, Diagnostic};
use popef_open::{Cost, Inputs, Network, Opened, Presence, Provided, StreamData, in_order, name_of};
use popef_show::{Failures, FileReport, FileToShow, ListFormat, ListRenderer, Options, Out, Provider, Workers, escape};

use super::files::{EmptyList, files, values_meant};
use crate::filter::given;
use crate::groups::{Narrow, Parts, Sources};
use crate::line::failure;
use crate::log::{Log, Verbosity};
use crate::program::{Complaint, Program, Refusal, UNREAD};
use crate::screen::{progress, screen};

/// The files to show, and how.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The files; `-` is standard input.
    pub files: &'a [PathBuf],
    /// Lists of more files.
    pub sources: &'a Sources,
    /// The parts to show. If none is selected, text is an overview.
    pub parts: &'a Parts,
    /// Only blobs of these types, or all if the list is empty.
    pub types: &'a [BlobType],
    /// Filters, order and number of values.
    pub narrow: &'a Narrow,
    /// The format.
    pub format: ListFormat,
    /// Whether the overview shows all names in full.
    pub full_names: bool,
    /// Whether reading is logged, and more of the contents of blobs is shown.
    pub verbose: bool,
}

impl Listing<'_> {
    /// Shows the files, and returns the exit status.
    pub fn run(&self, program: Program, out: &mut Out) -> Result<ExitCode, Refusal> {
        let meant = || values_meant(self.files, self.narrow.values);
        if let Some(wrong) = meant().or_else(|| self.contradiction().map(str::to_owned)) {
            return Err(Refusal::Options(wrong));
        }
        let log = Log::from_environment(program, self.verbose);
        let files = files(program, self.files, self.sources, &[], EmptyList::Refused(""))?;
        Ok(self.show(program, &files, &log, out))
    }

    /// The error if an option would have no effect.
    fn contradiction(&self) -> Option<&'static str> {
        let Listing { parts, narrow, format, full_names, .. } = *self;
        let selected = parts.selected();
        match selected {
            Some(select) if narrow.values.is_some() && !select.tensors && !select.feeds => {
                Some("--values shows elements of tensors and feeds: it needs --tensors or --feeds")
            }
            _ if narrow.ignore_case && narrow.filter.is_empty() && narrow.exclude.is_empty() => {
                Some("--ignore-case needs --filter or --exclude")
            }
            _ if full_names && (selected.is_some() || format != ListFormat::Text) => {
                Some("--full-names is for the overview: other listings always have full names")
            }
            _ => None,
        }
    }

    fn show(&self, program: Program, files: &[PathBuf], log: &Log, out: &mut Out) -> ExitCode {
        let options = self.options();
        let renderer = self.format.renderer(&options, screen());
        let together = options.shows_anchors() && !self.sources.each;
        let everything = options.pass_all() && (options.select.is_none() || self.parts.all);
        let show =
            Show { program, renderer: &*renderer, format: self.format, options: &options, together, everything, log };
        let mut so_far = SoFar::default();
        let result = show.all(files, out, &mut so_far);
        options.progress.clear();
        let SoFar { failed, shown } = so_far;
        if !files.is_empty() && !shown && !failed && result.is_ok() {
            program.complain(&self.nothing(files.len(), &options));
        }
        match result {
            Ok(()) if failed => ExitCode::from(UNREAD),
            // A reader that closes the pipe has seen enough. What was found so far counts.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && failed => ExitCode::from(UNREAD),
            result => program.written(result),
        }
    }

    /// Why nothing was shown.
    fn nothing(&self, files: usize, options: &Options) -> String {
        if !options.pass_all() {
            return format!("nothing matches {}", given(self.types, &self.narrow.filter, &self.narrow.exclude));
        }
        let parts = parts(self.parts).join(" or ");
        if files == 1 { format!("the file has no {parts}") } else { format!("none of the files has {parts}") }
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        options.select = self.parts.selected();
        options.types = self.types.to_owned();
        options.filter.clone_from(&self.narrow.filter);
        options.exclude.clone_from(&self.narrow.exclude);
        options.ignore_case = self.narrow.ignore_case;
        options.sort = self.narrow.sort;
        options.full_names = self.full_names;
        options.values = self.narrow.values;
        options.inside = self.verbose;
        options.tiles = self.verbose && options.select.is_some_and(|select| select.executables);
        options.workers = Box::new(AllProcessors);
        options.progress = progress("values");
        options
    }
}

/// The outcome for the files so far.
#[derive(Default)]
struct SoFar {
    /// Whether something could not be read.
    failed: bool,
    /// Whether anything was shown.
    shown: bool,
}

/// The parts that were selected, in words.
fn parts(parts: &Parts) -> Vec<&'static str> {
    let Parts { all: _, metadata, anchors, user_anchors, execs, tensors, feeds, opaques } = *parts;
    let words = [
        (metadata, "metadata"),
        (anchors && !user_anchors, "anchors"),
        (user_anchors, "anchors whose data you must provide"),
        (execs, "executables"),
        (tensors, "tensors"),
        (feeds, "feeds"),
        (opaques, "opaque blobs"),
    ];
    words.into_iter().filter_map(|(selected, word)| selected.then_some(word)).collect()
}

#[derive(Debug)]
struct AllProcessors;

impl Workers for AllProcessors {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        /// The maximum number of parts that wait for earlier ones.
        const AHEAD: usize = 32;
        let work = |index| {
            work(index);
            index
        };
        in_order(count, AHEAD, work, done);
    }
}

/// The outcome for one file.
struct Shown {
    /// What is wrong with it.
    complaints: Vec<Complaint>,
    /// Remarks that are no complaints.
    remarks: Vec<String>,
    /// Whether anything was shown.
    anything: bool,
}

/// Everything that showing a file needs.
struct Show<'a> {
    program: Program,
    renderer: &'a dyn ListRenderer,
    format: ListFormat,
    options: &'a Options,
    /// Whether the data of an anchor can be in any of the files.
    together: bool,
    /// Whether everything in the files is shown.
    everything: bool,
    log: &'a Log,
}

impl Show<'_> {
    fn all(&self, files: &[PathBuf], out: &mut Out, so_far: &mut SoFar) -> io::Result<()> {
        self.renderer.begin(out)?;
        let data =
            if self.options.values.is_some() || self.options.inside { StreamData::Keep } else { StreamData::Skip };
        let opening = |path: &_| self.log.opening(path);
        let inputs = Inputs { paths: files, data, together: self.together, opening: &opening };
        // The output of a single file, or one with all values, can be too large to be kept in memory. Threads would not make
        // it faster.
        if files.len() == 1 || self.options.values.is_some() {
            self.in_turn(&inputs, out, so_far)?;
        } else {
            self.in_parallel(&inputs, out, so_far)?;
        }
        self.renderer.end(files.len(), out)?;
        out.send()
    }

    fn in_turn(&self, inputs: &Inputs<'_>, out: &mut Out, so_far: &mut SoFar) -> io::Result<()> {
        let mut result = Ok(());
        inputs.each_in_turn(|index, opened, provided| {
            let shown = self.file(index, opened, provided, out);
            result = shown.and_then(|shown| self.report(&shown, out, so_far));
            go_on(&result)
        });
        result
    }

    fn in_parallel(&self, inputs: &Inputs<'_>, out: &mut Out, so_far: &mut SoFar) -> io::Result<()> {
        let colors = out.has_colors();
        let work = |index: usize, opened: &Opened, provided: &Provided<'_>| {
            let mut part = Out::in_memory(colors);
            let shown = self.file(index, opened, provided, &mut part)?;
            Ok((part.into_bytes(), shown))
        };
        let mut result = Ok(());
        inputs.each(work, |part: io::Result<(Vec<u8>, Shown)>| {
            result = part.and_then(|(bytes, shown)| {
                out.append(bytes)?;
                self.report(&shown, out, so_far)
            });
            go_on(&result)
        });
        result
    }

    /// Shows one file.
    fn file(&self, index: usize, opened: &Opened, provided: &Provided<'_>, out: &mut Out) -> io::Result<Shown> {
        self.log_file(opened);
        let failure = failure(opened, false);
        let input = FileToShow {
            index,
            path: &opened.path,
            file: opened.file(),
            failure: failure.as_ref(),
            provider: &|name| provider(provided.has(name)),
        };
        let mut failures = Failures::default();
        let cost = opened.network.as_ref().map(|network| {
            || -> (u64, u64) {
                let Cost { requests, bytes } = network.cost();
                (requests, bytes)
            }
        });
        let mut report = FileReport::new(input, self.options);
        if let Some(cost) = &cost {
            report.with_network(cost);
        }
        self.renderer.file(out, &report, &mut failures)?;
        self.log.cost(opened);
        let line = |failure: String| format!("{}: {failure}", name_of(&opened.path));
        let complaint = |error: &Diagnostic| Complaint::from(&error.clone().in_file(&opened.path));
        let more = failures.more().map(|more| Complaint::from(line(more)));
        let complaints: Vec<_> =
            failures.first().iter().map(complaint).chain(more).chain(failure.iter().map(complaint)).collect();
        let says_nothing = match self.format {
            ListFormat::Json => false,
            ListFormat::Text => self.options.select.is_some(),
            _ => true,
        };
        let is_silent = self.everything && says_nothing && opened.file().is_some_and(File::is_empty);
        let mut remarks: Vec<_> = opened.before_popef().map(line).into_iter().collect();
        remarks.extend(opened.network.iter().filter_map(Network::notice).map(|notice| line(notice.to_owned())));
        match opened.empty_stream() {
            Some(empty) => remarks.push(line(empty.to_owned())),
            None if is_silent && complaints.is_empty() => remarks.push(line("the file has no blobs".to_owned())),
            None => {}
        }
        Ok(Shown { complaints, remarks, anything: self.everything || !report.is_empty() })
    }

    /// Errors go to stderr, after the file's output on stdout.
    fn report(&self, shown: &Shown, out: &mut Out, so_far: &mut SoFar) -> io::Result<()> {
        let Shown { complaints, remarks, anything } = shown;
        so_far.shown |= anything;
        so_far.failed |= !complaints.is_empty();
        if complaints.is_empty() && remarks.is_empty() {
            return Ok(());
        }
        out.send()?;
        remarks.iter().for_each(|remark| self.program.complain(remark));
        self.program.complain_of(complaints);
        complaints.iter().for_each(|complaint| self.log.line(Verbosity::Err, || escape(&complaint.text).into_owned()));
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

fn go_on(result: &io::Result<()>) -> ControlFlow<()> {
    if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
