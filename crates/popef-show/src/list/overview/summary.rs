use std::collections::BTreeSet;
use std::io;

use popef::Metadata;
use popef::types::TensorType;
use unicode_width::UnicodeWidthStr as _;

use crate::output::color::Kind::Number;
use crate::output::out::Out;
use crate::output::shown::{Show, Shown};
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{MetadataView, Provider};
use crate::report::sums::{Count, OVERVIEW, Sums};

/// The figures of a file. They are about the whole file, except for the number of blobs that pass a filter.
#[derive(Default)]
pub(super) struct Summary {
    size: Option<u64>,
    /// The number of blobs that pass the filter. `None` without a filter.
    shown: Option<usize>,
    sums: Sums,
    unread: u64,
    /// Whether the file could not be read to its end.
    damaged: bool,
    /// The targets of the models, each once.
    targets: BTreeSet<Target>,
    inputs: Anchors,
    outputs: Anchors,
    /// Anchors whose direction is not known.
    others: Anchors,
}

/// The hardware that a model needs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    ipus: u32,
    ipu_version: u32,
    replicas: u32,
}

#[derive(Default)]
struct Anchors {
    all: usize,
    by_user: usize,
    by_unknown: usize,
}

impl Summary {
    pub(super) fn of(report: &FileReport<'_>) -> Self {
        let (size, damaged) = (report.size(), report.input.failure.is_some());
        let mut summary = Summary { size, damaged, ..Summary::default() };
        let Some(file) = report.input.file else { return summary };
        summary.unread = file.size().saturating_sub(file.end());
        summary.shown = (!report.options.pass_all()).then(|| report.blobs().count());
        summary.sums = Sums::of([report]);
        let metadata = report.all_metadata().iter().filter_map(|view| view.value.as_ref().ok());
        summary.targets = metadata.map(Target::of).collect();
        summary.count_anchors(report);
        summary
    }

    fn count_anchors(&mut self, report: &FileReport<'_>) {
        for view in report.all_metadata().iter().flat_map(MetadataView::all_anchors) {
            let anchors = match view.anchor.tensor_type {
                TensorType::Input => &mut self.inputs,
                TensorType::Output => &mut self.outputs,
                _ => &mut self.others,
            };
            anchors.all += 1;
            anchors.by_user += usize::from(view.provider == Provider::User);
            anchors.by_unknown += usize::from(view.provider == Provider::Unknown);
        }
    }

    pub(super) fn write(&self, out: &mut Out, width: Option<usize>) -> io::Result<()> {
        let blobs = self.sums.blobs;
        // For a stream, only the part that was read is known.
        let Some(size) = self.size.filter(|&size| blobs > 0 || size > 0 || !self.damaged) else {
            return out.put("  nothing could be read").end_line();
        };
        write_phrases(out, 2, &self.blobs(size, blobs), width)?;
        self.write_targets(out, width)?;
        self.write_anchors(out, width)?;
        match self.shown {
            None => Ok(()),
            Some(shown) => {
                let of_all = shown!(" of {}", units::counted(blobs, "blob", "blobs"));
                write_phrases(out, 2, &[Phrase::new("shown: ", shown, of_all)], width)
            }
        }
    }

    /// `65.3 KiB in 2 blobs: 1 executable (62.3 KiB), 1 metadata (3 KiB)`
    fn blobs(&self, size: u64, blobs: usize) -> Vec<Phrase> {
        if blobs == 0 && self.damaged {
            return vec![Phrase::new("", units::size(size), ", but no blob could be read")];
        }
        let colon = if blobs > 0 { ":" } else { "" };
        let blobs = units::counted(blobs, "blob", "blobs");
        let mut phrases = vec![Phrase::new("", units::size(size), shown!(" in {}{}", blobs, colon))];
        phrases.extend(self.sums.present().map(counted));
        if self.unread > 0 {
            phrases.push(Phrase::new("then ", units::size(self.unread), " that cannot be read"));
        }
        phrases
    }

    fn write_anchors(&self, out: &mut Out, width: Option<usize>) -> io::Result<()> {
        if self.inputs.all + self.outputs.all + self.others.all == 0 {
            return Ok(());
        }
        let mut anchors = vec![self.inputs.phrase(" input", " inputs"), self.outputs.phrase(" output", " outputs")];
        if self.others.all > 0 {
            anchors.push(self.others.phrase(" anchor of unknown direction", " anchors of unknown direction"));
        }
        write_phrases(out, 2, &anchors, width)
    }

    fn write_targets(&self, out: &mut Out, width: Option<usize>) -> io::Result<()> {
        for target in self.targets.iter().take(MOST_TARGETS) {
            write_phrases(out, 2, &target.phrases(), width)?;
        }
        match self.targets.len().saturating_sub(MOST_TARGETS) {
            0 => Ok(()),
            more => write_phrases(out, 2, &[Phrase::new("and on ", more, " more targets, which -m shows")], width),
        }
    }
}

/// The maximum number of targets that are shown. A file can have any
/// number of models, each for another target.
const MOST_TARGETS: usize = 3;

impl Target {
    fn of(metadata: &Metadata) -> Self {
        let Metadata { num_ipus, ipu_version, replication_factor, .. } = *metadata;
        Target { ipus: num_ipus, ipu_version, replicas: replication_factor }
    }

    /// `runs on 4 IPUs, IPU version 2, 2 replicas`
    fn phrases(&self) -> [Phrase; 3] {
        [
            Phrase::new("runs on ", self.ipus, if self.ipus == 1 { " IPU" } else { " IPUs" }),
            Phrase::new("IPU version ", self.ipu_version, ""),
            Phrase::new("", self.replicas, if self.replicas == 1 { " replica" } else { " replicas" }),
        ]
    }
}

fn counted((kind, count): (usize, Count)) -> Phrase {
    let (one, many) = OVERVIEW.get(kind).copied().unwrap_or_default();
    let word = if count.blobs == 1 { one } else { many };
    Phrase::new("", count.blobs, shown!(" {} ({})", word, units::size(count.bytes)))
}

impl Anchors {
    fn phrase(&self, one: &'static str, many: &'static str) -> Phrase {
        let word = if self.all == 1 { one } else { many };
        let unknown = match self.by_unknown {
            0 => Shown::default(),
            unknown => shown!(", {} with unknown provider", unknown),
        };
        Phrase::new("", self.all, shown!("{} ({} user provided{})", word, self.by_user, unknown))
    }
}

/// A piece of a sentence with a number in it: `min `, `1.5`, and nothing after it.
pub(super) struct Phrase {
    before: &'static str,
    number: Shown<'static>,
    after: Shown<'static>,
}

impl Phrase {
    pub(super) fn new(before: &'static str, number: impl Show, after: impl Show) -> Self {
        Phrase { before, number: shown!("{}", number), after: shown!("{}", after) }
    }

    fn width(&self) -> usize {
        self.before.width() + self.number.width() + self.after.width()
    }
}

/// Writes phrases with commas between them, on as many lines as the width needs.
pub(super) fn write_phrases(out: &mut Out, indent: usize, phrases: &[Phrase], width: Option<usize>) -> io::Result<()> {
    let width = width.unwrap_or(usize::MAX);
    let mut used = indent;
    out.spaces(indent);
    for (index, phrase) in phrases.iter().enumerate() {
        let ends = index + 1 == phrases.len() || phrase.after.ends_with(':');
        let comma = if ends { "" } else { "," };
        let needed = phrase.width() + comma.len() + 1;
        if index > 0 && used.saturating_add(needed) > width {
            out.end_line()?;
            out.spaces(indent);
            used = indent;
        } else if index > 0 {
            out.put(" ");
        }
        out.put(phrase.before).put_as(Number, &phrase.number).put(&phrase.after).put(comma);
        used = used.saturating_add(needed);
    }
    out.end_line()
}
