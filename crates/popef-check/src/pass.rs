//! The pass over all blobs of all files, which calls the rules.

use std::cell::{OnceCell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::findings::{Findings, Spot, no_memory};
use super::given::Given;
use super::options::{CheckOptions, Progress, Subject};
use super::rules;
use super::run::{Pickled, Run, Said};
use super::scan::{Executable, Parts, Reading, Scanned, bytes_to_read, scan};
use super::set::{Set, Uses, id_of};
use super::skips::Skips;
use super::start::Stored;
use super::tiles::{Programs, Tiles};
use super::words::{count, quote};
use popef::error::{Error, ErrorCode, ErrorKind};
use popef::model::{Linked, Model};
use popef::read::{Blob, Content, ExecutableBlob, File, OpaqueBlob};
use popef::seam::Links;
use popef::types::escape;
use popef_findings::Report;
use popef_findings::{InspectArchive, Inspection};
use popef_payload::Framework;
use popef_payload::pickle::Pickle;

pub(super) fn check(
    subjects: &[Subject<'_>],
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Report {
    let Given { files, unopened, numbers, again, repeated } = Given::of(subjects);
    let mut skips = Skips::new(&numbers, rules::active(options).any(|(.., run)| run.pickle.is_some()));
    let unopened = || (files.len()..).zip(&unopened);
    unopened().for_each(|(file, error)| skips.unopened(file, error));
    let damaged = unopened().filter(|(_, error)| error.is_about_the_file());
    let damaged = damaged.map(|(file, error)| (file, error.clone())).collect();
    let complete = unopened().next().is_none() && files.iter().all(|file| file.damage().is_none());
    let links = Links::of(Arc::from(files.as_slice())).unwrap_or_else(|_| {
        skips.no_memory_for_files();
        Links::none()
    });
    let complete = complete && links.files().len() == files.len();
    let set = Set {
        links,
        damaged,
        again,
        policy: options.policy_of().cloned().unwrap_or_default(),
        uses: Uses::default(),
        tiles: Tiles::default(),
        numbers: RefCell::default(),
        frameworks: OnceCell::new(),
        complete,
    };
    let active = rules::active(options);
    let outs = active.map(|(rule, severity, run)| (run, Findings::new(rule, severity, &numbers))).collect();
    let mut pass = Pass {
        numbers: &numbers,
        set,
        outs,
        skips,
        inspect: options.inspect(),
        meaningless: 0,
        packed_twice: 0,
        unsafe_pickles: Vec::new(),
    };
    pass.run(&files, options, progress);
    let mut report = pass.finish();
    report.repeated = repeated;
    report
}

struct Pass<'n> {
    /// The caller's numbers of the files.
    numbers: &'n [usize],
    set: Set,
    outs: Vec<(Run, Findings<'n>)>,
    skips: Skips<'n>,
    inspect: Option<InspectArchive>,
    /// The number of tensors and feeds with elements whose encoding is not known.
    meaningless: u64,
    /// The number of executables whose parts are compressed twice.
    packed_twice: u64,
    /// The files with pickles that are not safe to load.
    unsafe_pickles: Vec<usize>,
}

impl Pass<'_> {
    fn run(&mut self, files: &[File], options: &CheckOptions, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>) {
        let total = self.set.blobs().map(|blob| bytes_to_read(&blob)).fold(0, u64::saturating_add);
        if total > 0 && !options.is_deep() {
            let what = format!("{} of executables, tensors and feeds", count(total, "byte"));
            self.skips.left_out(what, "only a deep check reads them");
        }
        let mut reading = Reading::of(if options.is_deep() { total } else { 0 }, progress);
        self.blobs(files, options, &mut reading);
        if reading.is_stopped() {
            self.skips.stopped();
        }
        if self.meaningless > 0 {
            let what = format!("the elements of {} of type F8", count(self.meaningless, "tensor"));
            self.skips.left_out(what, "what their bits mean is not known");
        }
        if self.packed_twice > 0 {
            let what = format!("what is inside {}", count(self.packed_twice, "compressed Poplar executable"));
            self.skips.left_out(what, "only the outer of two layers of compression is unpacked");
        }
        self.skips.afterwards(files);
        // What the rest of the blobs have is not known after a stop, so nothing is said of the files as a whole.
        if !reading.is_stopped() {
            let Pass { set, outs, .. } = self;
            each(outs, |run| run.set, |run, out| run(set, out));
        }
    }

    /// Checks blob by blob, until it is stopped.
    fn blobs(&mut self, files: &[File], options: &CheckOptions, reading: &mut Reading<'_>) {
        for (file, opened) in files.iter().enumerate() {
            self.prefix(file, opened);
            for blob in opened.blobs() {
                if blob.index().is_multiple_of(MANY) {
                    reading.show(0);
                }
                if reading.is_stopped() {
                    return;
                }
                let blob = Linked::new(file, blob);
                self.blob(&blob, opened);
                if options.is_deep() {
                    self.data(&blob, reading);
                }
            }
        }
    }

    fn blob(&mut self, blob: &Linked<Blob<'_>>, opened: &File) {
        let Pass { set, outs, .. } = self;
        each(outs, |run| run.blob, |run, out| run(set, blob, out));
        match blob.content() {
            Content::Metadata(_) => self.model(blob, opened),
            Content::Opaque(opaque) => self.opaque(&Linked::new(blob.file, opaque)),
            Content::Executable(executable) => self.executable(&Linked::new(blob.file, executable)),
            _ => {}
        }
    }

    fn model(&mut self, blob: &Linked<Blob<'_>>, opened: &File) {
        let Pass { set, outs, skips, inspect, .. } = self;
        let Some(handle) = opened.handle(blob.index()) else { return };
        match Model::of(&set.links, Linked::new(blob.file, handle)) {
            Ok(model) => {
                each(outs, |run| run.model, |run, out| run(set, &model, out));
                Framework::ALL.iter().for_each(|&framework| payload(set, outs, &model, framework));
                if set.uses.add(&set.links, &model).is_none() {
                    skips.no_memory("which anchors use the data");
                    set.complete = false;
                }
                if inspect.is_some() && set.tiles.add_target(&model).is_none() {
                    skips.no_memory(NUMBERS_OF_TILES);
                }
            }
            Err(error) if error.is_about_the_file() => {
                set.complete = false;
                each(outs, |run| run.unreadable, |run, out| run(blob, &error, out));
            }
            Err(error) => {
                set.complete = false;
                skips.unsafe_unread(blob.file, format!("the metadata in blob {}", blob.index()), &error);
            }
        }
    }

    fn opaque(&mut self, opaque: &Linked<OpaqueBlob<'_>>) {
        let Pass { set, outs, skips, unsafe_pickles, .. } = self;
        let what = || format!("the data of opaque blob {}", opaque.blob.blob().index());
        match Pickle::scan(&opaque.data()) {
            Ok(Some(Pickle { fault: Some(fault), .. })) if fault.no_memory => {
                skips.unsafe_failed(opaque.file, what(), fault.reason.to_owned());
            }
            Ok(pickle) => {
                each(outs, |run| run.opaque, |run, out| run(set, opaque, pickle.as_ref(), out));
                if let Some(pickle) = &pickle {
                    let start = Spot::data(opaque.file, opaque.blob.blob());
                    let pickled = Pickled { pickle, start, name: Some(opaque.name()) };
                    judge(set, &pickled, unsafe_pickles);
                    each(outs, |run| run.pickle, |run, out| run(set, &pickled, out));
                }
            }
            Err(error) => skips.unsafe_unread(opaque.file, what(), &error),
        }
    }

    /// Looks for a pickle before the first blob.
    fn prefix(&mut self, file: usize, opened: &File) {
        let Pass { set, outs, skips, unsafe_pickles, .. } = self;
        let prefix = opened.prefix();
        if prefix.is_empty() {
            return;
        }
        let what = || format!("the {} before the first blob", count(prefix.len(), "byte"));
        match Pickle::scan(&prefix) {
            Ok(Some(Pickle { fault: Some(fault), .. })) if fault.no_memory => {
                skips.unsafe_failed(file, what(), fault.reason.to_owned());
            }
            Ok(pickle) => {
                if let Some(pickle) = &pickle {
                    let pickled = Pickled { pickle, start: Spot { offset: Some(0), ..Spot::file(file) }, name: None };
                    judge(set, &pickled, unsafe_pickles);
                    each(outs, |run| run.pickle, |run, out| run(set, &pickled, out));
                }
            }
            Err(error) => skips.unsafe_unread(file, what(), &error),
        }
    }

    fn executable(&mut self, executable: &Linked<ExecutableBlob<'_>>) {
        let Pass { outs, skips, .. } = self;
        match Stored::read(executable) {
            Ok(stored) => each(outs, |run| run.executable, |run, out| run(executable, &stored, out)),
            Err(error) => {
                let what = format!("the first bytes of executable {}", quote(&executable.name()));
                match error.code() {
                    ErrorCode::DataNotKept => skips.left_unread(what, &error),
                    _ => skips.unread(executable.file, what, &error),
                }
            }
        }
    }

    fn data(&mut self, blob: &Linked<Blob<'_>>, reading: &mut Reading<'_>) {
        let Pass { set, outs, skips, inspect, meaningless, packed_twice, .. } = self;
        let failed = |skips: &mut Skips<'_>, error: &Error| {
            skips.unread(blob.file, format!("the data of blob {}", blob.index()), error);
        };
        match scan(blob, *inspect, reading) {
            _ if reading.is_stopped() => {}
            Ok(None) => {}
            Ok(Some(Scanned::Meaningless)) => *meaningless = meaningless.saturating_add(1),
            Ok(Some(Scanned::Executable(Err(error)))) if error.code() == ErrorCode::CompressionNotBuilt => {
                let name = quote(&blob.name().unwrap_or_default());
                skips.left_out(format!("executable {name}"), &error.reason());
            }
            Ok(Some(Scanned::Executable(Err(error))))
                if !matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unknown) =>
            {
                failed(skips, &error);
            }
            Ok(Some(scanned)) => {
                if let Scanned::Executable(Ok(Executable { parts, .. })) = &scanned {
                    match parts {
                        Parts::Packed => *packed_twice = packed_twice.saturating_add(1),
                        Parts::Right(Some(found)) => inspected(set, blob, found, skips),
                        Parts::Right(None) | Parts::Damaged(..) => {}
                    }
                }
                each(outs, |run| run.data, |run, out| run(blob, &scanned, out));
            }
            Err(error) => failed(skips, &error),
        }
    }

    fn finish(self) -> Report {
        let mut report = Report::default();
        report.skipped = self.skips.finish();
        report.unsafe_pickles =
            self.unsafe_pickles.iter().filter_map(|&file| self.numbers.get(file).copied()).collect();
        report.unsafe_pickles.sort_unstable();
        for (_, out) in self.outs {
            let (findings, unlisted, skipped) = out.finish();
            report.unlisted.extend(unlisted);
            match report.findings.try_reserve(findings.len()) {
                Ok(()) => report.findings.extend(findings),
                Err(_) => report.skipped.push(no_memory(format!("{} findings", findings.len()))),
            }
            for skipped in skipped {
                // Several rules can skip the same thing.
                if skipped.file.is_some() || !report.skipped.contains(&skipped) {
                    report.skipped.push(skipped);
                }
            }
        }
        report.sort();
        report
    }
}

/// The number of blobs after which a check can be stopped, even if it reads no data.
const MANY: usize = 256;

const NUMBERS_OF_TILES: &str = "the numbers of tiles of executables";

/// Keeps what the rules over all files need of an executable.
fn inspected(set: &mut Set, executable: &Linked<Blob<'_>>, found: &Inspection, skips: &mut Skips<'_>) {
    match found {
        &Inspection::Tiles { count: tiles, fullest, bytes }
            if set.tiles.add_executable(id_of(executable), Programs { tiles, fullest, bytes }).is_none() =>
        {
            skips.no_memory(NUMBERS_OF_TILES);
        }
        Inspection::NotRead(why) => {
            let what = format!("the tiles of executable {}", quote(&executable.name().unwrap_or_default()));
            skips.failed(executable.file, what, escape(why).into_owned());
        }
        _ => {}
    }
}

/// Records a file whose pickle is not safe to load.
fn judge(set: &Set, pickled: &Pickled<'_>, unsafe_pickles: &mut Vec<usize>) {
    let is_safe = pickled.pickle.is_safe(|import| set.policy.knows_import(&import.path));
    // There are as many files as the caller opened.
    if !is_safe && unsafe_pickles.last() != Some(&pickled.start.file) {
        unsafe_pickles.push(pickled.start.file);
    }
}

/// Reads a framework's data about a model once, for all rules about it.
fn payload(set: &Set, outs: &mut [(Run, Findings<'_>)], model: &Model, framework: Framework) {
    let of = |run: &Run| run.payload.filter(|(own, _)| *own == framework).map(|(_, run)| run);
    if !outs.iter().any(|(run, _)| of(run).is_some()) {
        return;
    }
    let Some(opaque) = set.payload_of(model, framework) else { return };
    match popef_payload::Payload::read(&opaque.blob) {
        Ok(payload) => {
            let said = Said { model, opaque, payload: &payload };
            each(outs, of, |run, out| run(&said, out));
        }
        Err(error) => each(outs, of, |_, out| not_compared(framework, &error, out)),
    }
}

/// Reports that a model was not compared with a framework's data about it.
fn not_compared(framework: Framework, error: &Error, out: &mut Findings<'_>) {
    let title = framework.title();
    let why = match (error.code(), framework) {
        (ErrorCode::PayloadNotBuilt, _) => format!("this build leaves it out; build it with the feature {framework}"),
        // Other rules report data of PopTorch's that cannot be read.
        (_, Framework::Poptorch) => return,
        // The same words for all blobs: there can be many, and each line is said once. The rules for the framework's loader
        // say why.
        _ => format!("it cannot be read as {title}'s"),
    };
    out.skip(&format!("what {title}'s blob says of the model"), &why);
}

/// Runs the rules that check a kind of subject.
fn each<F>(
    outs: &mut [(Run, Findings<'_>)],
    of: impl Fn(&Run) -> Option<F>,
    mut run: impl FnMut(F, &mut Findings<'_>),
) {
    for (rule, out) in outs {
        if let Some(function) = of(rule) {
            run(function, out);
        }
    }
}
