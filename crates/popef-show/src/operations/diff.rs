//! How two files differ: as text in the manner of diff, and as JSON.

use std::io;
use std::path::Path;

use popef::File;
use popef_ops::FilePath;
use popef_ops::diff::{BlobDiff, BytesDiff, DiffSummary, FieldDiff, Side, Status, ValueDiff};
use serde::Serialize;
use serde_json::Value;

use crate::output::json::{LongObject, object};
use crate::{Kind, Network, Out, ReportFormat, Show, Shown, counted, json_item, size, type_name, width};

/// How much is shown as text.
#[derive(Clone, Copy, Debug)]
pub struct DiffExtent {
    /// Only one line for each blob.
    pub brief: bool,
    /// All differences, without a limit.
    pub all: bool,
}

/// The maximum numbers of blobs, and of changes of one, that are printed unless all are requested.
const MOST_BLOBS: usize = 100;
const MOST_CHANGES: usize = 20;

/// One of the two files.
#[derive(Debug, Serialize)]
struct DiffedFile {
    #[serde(flatten)]
    path: FilePath,
    size: u64,
    blobs: usize,
}

impl DiffedFile {
    fn new(path: &Path, file: &File) -> Self {
        DiffedFile { path: path.into(), size: file.size(), blobs: file.len() }
    }
}

/// Shows the blobs that differ, one after the other.
#[derive(Debug)]
pub struct DiffRenderer<'o> {
    out: &'o mut Out,
    format: ReportFormat,
    extent: DiffExtent,
    network: Network,
    files: [DiffedFile; 2],
    document: Option<LongObject>,
    shown: usize,
    hidden: usize,
}

impl<'o> DiffRenderer<'o> {
    /// Writes the part before the blobs.
    pub fn begin(
        out: &'o mut Out,
        a: (&Path, &File),
        b: (&Path, &File),
        format: ReportFormat,
        extent: DiffExtent,
        network: Network,
    ) -> io::Result<Self> {
        let files = [a, b].map(|(path, file)| DiffedFile::new(path, file));
        let [a, b] = &files;
        let document = match format {
            ReportFormat::Text if !extent.brief => begin_text(out, &files).map(|()| None)?,
            ReportFormat::Json => Some(LongObject::begin(out, &object! { schema_version: 1, a, b }, "blobs")?),
            ReportFormat::Text | ReportFormat::Ndjson => None,
        };
        Ok(DiffRenderer { out, format, extent, network, files, document, shown: 0, hidden: 0 })
    }

    /// Writes a blob that is not the same.
    pub fn blob(&mut self, blob: &BlobDiff) -> io::Result<()> {
        match (&mut self.document, self.format) {
            (Some(document), _) => document.element(self.out, blob),
            (None, ReportFormat::Ndjson) => json_item(self.out, "blob", blob),
            (None, _) => self.blob_as_text(blob),
        }
    }

    /// Writes the part after the blobs.
    pub fn end(mut self, summary: &DiffSummary) -> io::Result<()> {
        let [a, b] = &self.files;
        match (self.document.take(), self.format) {
            (Some(document), _) => {
                document.end(self.out, &object! { #[serde(flatten)] summary, #[serde(flatten)] network: self.network })
            }
            (None, ReportFormat::Ndjson) => json_item(self.out, "report", &object! { a, b, #[serde(flatten)] summary }),
            (None, _) => self.end_text(summary),
        }
    }

    /// Differences within the tolerance are only counted, at the end.
    fn blob_as_text(&mut self, blob: &BlobDiff) -> io::Result<()> {
        if blob.status == Status::Close && !self.extent.all {
            return Ok(());
        }
        if self.shown >= MOST_BLOBS && !self.extent.all {
            self.hidden = self.hidden.saturating_add(1);
            return Ok(());
        }
        self.shown = self.shown.saturating_add(1);
        self.head(blob)?;
        if !self.extent.brief {
            self.changes(&blob.changes)?;
            blob.values.as_ref().map_or(Ok(()), |values| self.values(values))?;
            blob.bytes.as_ref().map_or(Ok(()), |bytes| self.bytes(bytes))?;
            self.poplar(blob)?;
        }
        Ok(())
    }

    fn head(&mut self, blob: &BlobDiff) -> io::Result<()> {
        let (mark, kind) = match blob.status {
            Status::Removed => ("- ", Kind::Removed),
            Status::Added => ("+ ", Kind::Added),
            Status::NotComparable => ("! ", Kind::Warning),
            Status::Close => ("= ", Kind::Plain),
            _ => ("~ ", Kind::Number),
        };
        self.out.put_as(kind, mark).put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
        self.out.quoted(Kind::Name, blob.name.text());
        if let Some(side) = blob.a.as_ref().or(blob.b.as_ref()) {
            self.side(side, matches!(blob.status, Status::Removed | Status::Added));
        }
        match (blob.status, &blob.error) {
            (Status::Close, _) => _ = self.out.put(": other bytes, but the same values or within the tolerance"),
            (_, Some(error)) => {
                let code = Shown::escaped(&*error.code);
                self.out.put(shown!(": cannot be compared: {} [{}]", Shown::escaped(&*error.message), code));
            }
            _ => {}
        }
        self.out.end_line()
    }

    fn side(&mut self, side: &Side, with_size: bool) {
        if let Some(tensors) = &side.tensors {
            self.out.put("  ").put_as(Kind::Type, Shown::escaped(tensors));
        }
        if with_size {
            self.out.put(shown!("  {}", size(side.size)));
        }
    }

    fn changes(&mut self, changes: &[FieldDiff]) -> io::Result<()> {
        let most = if self.extent.all { changes.len() } else { MOST_CHANGES };
        let labels: Vec<_> = changes.iter().take(most).map(label).collect();
        let widest = labels.iter().map(|label| width(label)).max().unwrap_or_default().min(60);
        for (change, label) in changes.iter().zip(&labels) {
            let (mark, kind) = match (&change.field, &change.a, &change.b) {
                (None, Value::Null, _) => ("  + ", Kind::Added),
                (None, _, Value::Null) => ("  - ", Kind::Removed),
                _ => ("    ", Kind::Plain),
            };
            self.out.put_as(kind, mark).put(label).spaces(widest.saturating_sub(width(label)).saturating_add(2));
            match mark {
                "    " => self.values_of(shown(&change.a), shown(&change.b)),
                "  + " => _ = self.out.put_as(kind, shown(&change.b)),
                _ => _ = self.out.put_as(kind, shown(&change.a)),
            }
            self.out.end_line()?;
        }
        match changes.len().saturating_sub(most) {
            0 => Ok(()),
            more => self.out.put(shown!("    ... and {} more changes; --all shows them", more)).end_line(),
        }
    }

    fn values_of(&mut self, a: impl Show, b: impl Show) {
        self.out.put_as(Kind::Removed, a).put(" -> ").put_as(Kind::Added, b);
    }

    fn values(&mut self, values: &ValueDiff) -> io::Result<()> {
        self.out.put(shown!("    {} of {} differ", values.different, counted(values.elements, "element", "elements")));
        if let Some(tensors) = values.different_tensors {
            self.out.put(", in ").put(counted(tensors, "tensor", "tensors"));
        }
        if let Some(most) = values.max_abs {
            self.out.put("; largest difference ").put(most);
        }
        if let Some(most) = values.max_rel {
            self.out.put(", relative ").put(most);
        }
        if values.not_a_number > 0 {
            self.out.put(shown!("; {} with NaN", values.not_a_number));
        }
        self.out.end_line()?;
        let Some(first) = &values.first else { return Ok(()) };
        let tensor = first.tensor.map(|tensor| shown!("tensor {}, ", tensor)).unwrap_or_default();
        self.out.put(shown!("    first at {}[{}]: ", tensor, Shown::joined(&first.index, ", ")));
        self.values_of(first.a, first.b);
        self.out.end_line()
    }

    fn bytes(&mut self, bytes: &BytesDiff) -> io::Result<()> {
        let count = counted(bytes.b, "byte", "bytes");
        let count = if bytes.a == bytes.b { count } else { shown!("{} -> {}", bytes.a, count) };
        match bytes.behind_tensors {
            true => self.out.put(shown!("    {} after the tensor data", count)),
            false => self.out.put(shown!("    data of {}", count)),
        };
        if let Some(different) = bytes.different.filter(|different| *different > 0) {
            self.out.put(shown!(", {} differ", different));
        }
        if let Some(first) = bytes.first {
            self.out.put(", first at ").put(first).put(if bytes.behind_tensors { " of the data" } else { "" });
        }
        self.out.end_line()
    }

    /// Poplar's headers, if they differ.
    fn poplar(&mut self, blob: &BlobDiff) -> io::Result<()> {
        let header = |side: &Option<Side>| side.as_ref().and_then(|side| side.poplar_header);
        let (Some(a), Some(b)) = (header(&blob.a), header(&blob.b)) else { return Ok(()) };
        let fields = [
            ("Poplar's format", u64::from(a.format), u64::from(b.format)),
            ("Poplar's archive, unpacked", a.archive_size, b.archive_size),
            ("Poplar's archive", a.archive_compressed_size, b.archive_compressed_size),
            ("Poplar's metadata, unpacked", a.metadata_size, b.metadata_size),
            ("Poplar's metadata", a.metadata_compressed_size, b.metadata_compressed_size),
        ];
        for (name, a, b) in fields.into_iter().filter(|(_, a, b)| a != b) {
            self.out.put(shown!("    {:<29}", name));
            self.values_of(a, b);
            self.out.end_line()?;
        }
        Ok(())
    }

    fn end_text(&mut self, summary: &DiffSummary) -> io::Result<()> {
        if self.hidden > 0 {
            self.out
                .put(shown!("... and {} more; --all shows them", counted(self.hidden, "blob", "blobs")))
                .end_line()?;
        }
        if let Some(prefix) = &summary.prefix {
            self.out.put_as(Kind::Number, "~ ").put("what comes before PopEF").end_line()?;
            if !self.extent.brief {
                self.bytes(prefix)?;
            }
        }
        if summary.reordered == Some(true) {
            self.out.put_as(Kind::Number, "~ ").put("the order of the blobs").end_line()?;
        }
        if self.extent.brief {
            return Ok(());
        }
        if summary.same_file {
            return self.out.put("both are the same file").end_line();
        }
        self.out.put(total(summary)).end_line()?;
        match summary.ignored_bytes {
            0 => Ok(()),
            bytes => {
                let differ = if bytes == 1 {
                    "byte that means nothing here differs"
                } else {
                    "bytes that mean nothing here differ"
                };
                self.out
                    .put(shown!("note: {} {} (after tensors, or in messages); --exact says where", bytes, differ))
                    .end_line()
            }
        }
    }
}

fn begin_text(out: &mut Out, [a, b]: &[DiffedFile; 2]) -> io::Result<()> {
    for (mark, kind, file) in [("--- ", Kind::Removed, a), ("+++ ", Kind::Added, b)] {
        out.put_as(kind, mark).text(kind, file.path.text());
        out.put(shown!("  {}, {}", size(file.size), counted(file.blobs, "blob", "blobs"))).end_line()?;
    }
    Ok(())
}

/// One line about all blobs.
fn total(summary: &DiffSummary) -> Shown<'static> {
    let counts = &summary.counts;
    let verb =
        |count: u64, one: &'static str, many: &'static str| shown!("{} {}", count, if count == 1 { one } else { many });
    let parts = [
        (counts.same, verb(counts.same, "blob is the same", "blobs are the same")),
        (counts.close, verb(counts.close, "has the same values", "have the same values")),
        (counts.changed, verb(counts.changed, "differs", "differ")),
        (counts.renamed, verb(counts.renamed, "is renamed", "are renamed")),
        (counts.removed, verb(counts.removed, "is only in the first", "are only in the first")),
        (counts.added, verb(counts.added, "is only in the second", "are only in the second")),
        (counts.not_comparable, verb(counts.not_comparable, "cannot be compared", "cannot be compared")),
    ];
    let mut said = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).peekable();
    if said.peek().is_none() { Shown::own("no blobs to compare") } else { Shown::joined(said, ", ") }
}

/// The subject of a change: `numIpus`, `anchor "input" shape`.
fn label(change: &FieldDiff) -> Shown<'static> {
    let list = change.list.map(|list| match list {
        "anchors" => "anchor",
        "engineOptions" => "engine option",
        "deviceOptions" => "device option",
        "programsMap" => "program",
        other => other,
    });
    let name = change.name.as_ref().map(|name| Shown::from(name).quoted());
    let parts = [list.map(Shown::own), name, change.field.map(Shown::own)];
    Shown::joined(parts.into_iter().flatten(), " ")
}

/// A value of metadata as text.
fn shown(value: &Value) -> Shown<'static> {
    match value {
        Value::String(text) => Shown::escaped(text).quoted(),
        Value::Array(items) => shown!("[{}]", Shown::joined(items.iter().map(shown), ", ")),
        Value::Object(fields) => shown_object(fields),
        Value::Null => Shown::own("none"),
        other => other.to_string().into(),
    }
}

/// An anchor, an option or a program that only one side has, without its name.
fn shown_object(fields: &serde_json::Map<String, Value>) -> Shown<'static> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    if let (Some(direction), Some(info)) = (text("type"), fields.get("tensorInfo")) {
        let data_type = info.get("dataType").map(|of| of.as_str().map_or_else(|| of.to_string(), str::to_owned));
        let shape = info.get("shape").map(shown).unwrap_or_default();
        return shown!("{} {} {}", Shown::escaped(direction), Shown::escaped(&data_type.unwrap_or_default()), shape);
    }
    fields.get("value").or_else(|| fields.get("name")).map(shown).unwrap_or_default()
}
