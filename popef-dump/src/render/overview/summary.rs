use std::io;

use popef::{File, TensorType};

use crate::render::color::Kind::Number;
use crate::render::{Out, units};
use crate::report::{MetadataView, Report};

/// What a file holds, in figures. The filter does not matter to it: it is about the file.
#[derive(Default)]
pub(super) struct Summary {
    size: Option<u64>,
    /// Executables, metadata, tensors, feeds, opaque blobs, and unknown ones, with their bytes.
    counts: [Count; 6],
    unread: u64,
    inputs: Anchors,
    outputs: Anchors,
}

#[derive(Clone, Copy, Default)]
struct Count {
    blobs: usize,
    bytes: u64,
}

#[derive(Default)]
struct Anchors {
    all: usize,
    by_user: usize,
}

const WORDS: [(&str, &str); 6] = [
    ("executable", "executables"),
    ("metadata", "metadata"),
    ("tensor", "tensors"),
    ("feed", "feeds"),
    ("opaque", "opaques"),
    ("blob of unknown type", "blobs of unknown types"),
];

impl Summary {
    pub(super) fn of(report: &Report<'_>) -> Self {
        let mut summary = Summary { size: report.size(), ..Summary::default() };
        let Some(file) = report.file else { return summary };
        summary.unread = file.size().saturating_sub(file.end());
        for blob in file.blobs() {
            let kind = usize::from(blob.blob_type().number()).min(WORDS.len() - 1);
            if let Some(count) = summary.counts.get_mut(kind) {
                count.blobs += 1;
                count.bytes = count.bytes.saturating_add(blob.size());
            }
        }
        summary.count_anchors(file, report);
        summary
    }

    fn count_anchors(&mut self, file: &File, report: &Report<'_>) {
        for metadata in file.metadata() {
            let Ok(value) = MetadataView::of(metadata).value else { continue };
            for anchor in &value.anchors {
                let anchors = match anchor.tensor_type {
                    TensorType::Input => &mut self.inputs,
                    TensorType::Output => &mut self.outputs,
                    _ => continue,
                };
                anchors.all += 1;
                anchors.by_user += usize::from((report.by_user)(&anchor.name));
            }
        }
    }

    pub(super) fn write(&self, out: &mut Out) -> io::Result<()> {
        let Some(size) = self.size else { return out.put("  nothing could be read").end_line() };
        out.put("  ").put_as(Number, &units::size(size)).put(": ").put(&self.blobs());
        if self.unread > 0 {
            out.put(", then ").put_as(Number, &units::size(self.unread)).put(" that cannot be read");
        }
        out.end_line()?;
        if self.inputs.all + self.outputs.all > 0 {
            let (inputs, outputs) = (self.inputs.shown("input", "inputs"), self.outputs.shown("output", "outputs"));
            out.put("  ").put(&inputs).put(", ").put(&outputs).end_line()?;
        }
        Ok(())
    }

    fn blobs(&self) -> String {
        let some = self.counts.iter().zip(WORDS).filter(|(count, _)| count.blobs > 0);
        let shown = |(count, (one, many)): (&Count, _)| {
            format!("{} ({})", units::counted(count.blobs, one, many), units::size(count.bytes))
        };
        let parts: Vec<String> = some.map(shown).collect();
        if parts.is_empty() { "no blobs".to_owned() } else { parts.join(", ") }
    }
}

impl Anchors {
    fn shown(&self, one: &str, many: &str) -> String {
        format!("{} ({} user provided)", units::counted(self.all, one, many), self.by_user)
    }
}
