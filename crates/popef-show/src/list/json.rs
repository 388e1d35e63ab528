//! JSON: one document, or one line per blob. The document has one blob per line too, so that line tools can read it. Both
//! are written blob by blob, so that memory stays small.

use std::io;

use popef::read::{ExecutableBlob, Value};
use popef::types::{Diagnostic, ExecutableInside, Text};
use popef::{Blob, Content, Metadata};
use popef_payload::{Framework, Payload};
use serde::{Serialize, Serializer};

use super::ListRenderer;
use crate::failure::Failures;
use crate::output::json::{Keyed, Lazy, line, network, object, open, value};
use crate::output::out::Out;
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};
use crate::report::options::Options;
use crate::report::payload::{PayloadView, is_json};
use crate::report::stats::Stats;
use crate::report::tensor::TensorView;
use crate::report::tiles::TilesView;
use crate::report::values::{Element, Values};
use popef::seam::List;

/// The version of this shape, `docs/dump.schema.json`.
const SCHEMA_VERSION: u32 = 1;

/// One document: `{"schemaVersion": 1, "files": [...]}`.
pub(crate) struct Json;

/// One line per blob, with its `file`, and one with an `error` for a file that could not be read to its end. Each has its `kind`.
pub(crate) struct JsonLines;

impl ListRenderer for Json {
    fn begin(&self, out: &mut Out) -> io::Result<()> {
        out.put("{\"schemaVersion\":").put(SCHEMA_VERSION).put(",\"files\":[");
        Ok(())
    }

    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        out.put(if report.input.index > 0 { ",\n" } else { "\n" });
        open(out, &file_members(report), "blobs")?;
        let mut separator = "\n";
        for blob in report.selected() {
            out.put(separator);
            separator = ",\n";
            blob_object(out, report, None, blob, failures)?;
            out.flush_if_full()?;
        }
        out.put(if separator == "\n" { "]" } else { "\n]" });
        if let Some((requests, bytes)) = report.network() {
            out.put(",\"network\":");
            value(out, &object! { requests, bytes })?;
        }
        if let Some(failure) = report.input.failure {
            out.put(",\"error\":");
            value(out, failure)?;
        }
        out.put("}").flush_if_full()
    }

    fn end(&self, files: usize, out: &mut Out) -> io::Result<()> {
        out.put(if files > 0 { "\n]}" } else { "]}" }).end_line()
    }
}

impl ListRenderer for JsonLines {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        for blob in report.selected() {
            blob_object(out, report, Some(report.path()), blob, failures)?;
            out.end_line()?;
        }
        let file = || Keyed("file", report.path());
        if let Some(network) = network(report.network()) {
            line(out, &object! { kind: "network", #[serde(flatten)] file: file(), #[serde(flatten)] network })?;
        }
        if let Some(error) = report.input.failure {
            line(out, &object! { kind: "error", #[serde(flatten)] file: file(), error })?;
        }
        Ok(())
    }
}

/// The JSON of a file, for programs that use its parts.
impl<'f> FileReport<'f> {
    /// The object of the file, without its blobs.
    pub fn file_object(&self) -> impl Serialize {
        let error = self.input.failure.map(|error| object! { error });
        object! { #[serde(flatten)] file: file_members(self), #[serde(flatten)] error }
    }

    /// The objects of the selected blobs. Data is read when the iterator comes to its blob.
    pub fn blob_objects(&self) -> impl Iterator<Item: Serialize> {
        self.selected().map(|blob| BlobObject::new(self, None, blob))
    }
}

/// The members of a file's object before its blobs.
fn file_members(report: &FileReport<'_>) -> impl Serialize {
    let prefix = report.before().map(|prefix| object! { prefix: PayloadObject(prefix) });
    object! {
        #[serde(flatten)]
        path: Keyed("path", report.path()),
        size: report.size(),
        #[serde(flatten)]
        prefix,
    }
}

fn blob_object<'f>(
    out: &mut Out,
    report: &FileReport<'f>,
    file: Option<Text<'f>>,
    blob: Blob<'f>,
    failures: &mut Failures,
) -> io::Result<()> {
    let object = BlobObject::new(report, file, blob);
    object.info.failures().for_each(|failure| failures.push(failure));
    value(out, &object)?;
    object.info.late_failure().into_iter().for_each(|failure| failures.push(failure));
    Ok(())
}

struct BlobObject<'a, 'f> {
    /// The path of the file, if the object is a line.
    file: Option<Text<'f>>,
    blob: Blob<'f>,
    content: Content<'f>,
    info: Info<'a, 'f>,
}

impl<'a, 'f> BlobObject<'a, 'f> {
    fn new(report: &'a FileReport<'f>, file: Option<Text<'f>>, blob: Blob<'f>) -> Self {
        let content = blob.content();
        let info = Info::of(&blob, &content, report);
        BlobObject { file, blob, content, info }
    }
}

impl Serialize for BlobObject<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BlobObject { file, blob, content, info } = self;
        let file = file.clone().map(|file| object! { kind: "blob", #[serde(flatten)] file: Keyed("file", file) });
        // This is known only after the values were written.
        let error = || info.failure().or(info.late_failure()).map(|error| object! { error });
        let object = object! {
            #[serde(flatten)]
            file,
            index: blob.index(),
            offset: blob.offset(),
            size: blob.size(),
            #[serde(flatten)]
            version: Keyed("version", blob.version()),
            #[serde(rename = "type")]
            blob_type: blob.blob_type(),
            data_offset: blob.data_offset(),
            data_size: blob.data().len(),
            info: info.with(content),
            #[serde(flatten)]
            payload: info.payload().map(|payload| object! { payload: PayloadObject(payload) }),
            #[serde(flatten)]
            error: Lazy(error),
        };
        object.serialize(serializer)
    }
}

/// The facts about a blob besides those in its content. They are computed before anything is written, because failures are
/// written after them.
enum Info<'a, 'f> {
    Executable(Option<Result<ExecutableInside, Diagnostic>>, Option<TilesView>),
    Metadata(&'a MetadataView<'f>, &'a Options),
    Tensor(Box<TensorView<'f>>, Option<Values<'f>>),
    Opaque(Option<PayloadView<'f>>),
    Other,
}

impl<'a, 'f> Info<'a, 'f> {
    fn of(blob: &Blob<'f>, content: &Content<'f>, report: &'a FileReport<'f>) -> Self {
        match content {
            Content::Executable(executable) => Info::executable(executable, report),
            Content::Tensor(tensor) => Info::tensor(TensorView::of_tensor(tensor), report),
            Content::Feed(feed) => Info::tensor(TensorView::of_feed(feed), report),
            Content::Opaque(opaque) => Info::Opaque(report.payload(opaque)),
            _ => report.metadata_of(blob).map_or(Info::Other, |view| Info::Metadata(view, report.options)),
        }
    }

    /// If not even the first bytes can be read, reading all is useless.
    fn executable(executable: &ExecutableBlob<'_>, report: &FileReport<'_>) -> Self {
        let inside = report.inside(executable);
        let tiles = if matches!(inside, Some(Err(_))) { None } else { report.tiles(executable) };
        Info::Executable(inside, tiles)
    }

    fn tensor(mut view: TensorView<'f>, report: &FileReport<'f>) -> Self {
        let values = view.values(report.options);
        Info::Tensor(Box::new(view), values)
    }

    /// The failure of the blob as a whole.
    fn failure(&self) -> Option<&Diagnostic> {
        match self {
            Info::Executable(inside, tiles) => {
                let of_tiles = || tiles.as_ref()?.failure.as_ref();
                inside.as_ref().and_then(|inside| inside.as_ref().err()).or_else(of_tiles)
            }
            Info::Metadata(view, _) => view.value.as_ref().err(),
            Info::Tensor(view, _) => view.failure.as_deref(),
            Info::Opaque(payload) => payload.as_ref()?.failure(),
            Info::Other => None,
        }
    }

    /// The payload of an opaque blob.
    fn payload(&self) -> Option<&PayloadView<'f>> {
        match self {
            Info::Opaque(payload) => payload.as_ref(),
            _ => None,
        }
    }

    /// The failure that came while the info was written.
    fn late_failure(&self) -> Option<&Diagnostic> {
        match self {
            Info::Tensor(_, Some(values)) => values.late_failure(),
            _ => None,
        }
    }

    /// The failures of the blob as a whole, and of its anchors if they are shown.
    fn failures(&self) -> impl Iterator<Item = &Diagnostic> {
        let (of_metadata, of_other) = match self {
            Info::Metadata(view, _) => (Some(view.failures()), None),
            _ => (None, self.failure()),
        };
        of_metadata.into_iter().flatten().chain(of_other)
    }

    /// The content, and the other facts.
    fn with(&self, content: &Content<'f>) -> impl Serialize {
        let (mut inside, mut tiles, mut metadata, mut values) = (None, None, None, None);
        match self {
            Info::Executable(of_inside, of_tiles) => {
                inside = of_inside.as_ref().and_then(|inside| inside.as_ref().ok());
                tiles = of_tiles.as_ref().map(|view| object! { tiles: &view.tiles, tiles_not_read: &view.not_read });
            }
            Info::Metadata(view, options) => metadata = Some(metadata_members(view, options)),
            Info::Tensor(_, Some(of_tensor)) => values = Some(object! { values: of_tensor }),
            _ => {}
        }
        object! {
            #[serde(flatten)]
            content: OfContent(content),
            #[serde(flatten)]
            inside,
            #[serde(flatten)]
            tiles,
            #[serde(flatten)]
            metadata,
            #[serde(flatten)]
            values,
        }
    }
}

/// The members that the library gives, for all content but Metadata.
struct OfContent<'c, 'f>(&'c Content<'f>);

impl Serialize for OfContent<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Content::Executable(executable) => executable.serialize(serializer),
            Content::Tensor(tensor) => tensor.serialize(serializer),
            Content::Feed(feed) => feed.serialize(serializer),
            Content::Opaque(opaque) => opaque.serialize(serializer),
            _ => serializer.serialize_none(),
        }
    }
}

fn metadata_members(view: &MetadataView<'_>, options: &Options) -> impl Serialize {
    let value = view.value.as_ref().ok();
    let shown = value.filter(|_| options.selected().metadata).map(without_anchors);
    let executable = shown.is_none().then(|| Keyed("executable", view.blob.executable()));
    let anchors = value.filter(|_| options.shows_anchors());
    let anchors = anchors.map(|_| object! { anchors: List(|| view.anchors().map(anchor_object)) });
    object! {
        #[serde(flatten)]
        shown,
        #[serde(flatten)]
        executable,
        #[serde(flatten)]
        anchors,
    }
}

fn without_anchors(metadata: &Metadata) -> impl Serialize {
    let Metadata {
        replication_factor,
        num_ipus,
        num_processes,
        ipu_version,
        is_pod,
        is_inference,
        device_iterations,
        executable,
        seed_handle,
        engine_options,
        device_options,
        program_flow,
        programs_map,
        anchors: _,
    } = metadata;
    object! {
        replication_factor,
        num_ipus,
        num_processes,
        ipu_version,
        #[serde(rename = "isPOD")]
        is_pod,
        is_inference,
        device_iterations,
        #[serde(flatten)]
        executable: Keyed("executable", Text::from(executable.as_bytes())),
        #[serde(flatten)]
        seed_handle: Keyed("seedHandle", Text::from(seed_handle.as_bytes())),
        engine_options,
        device_options,
        program_flow,
        programs_map,
    }
}

fn anchor_object(view: AnchorView<'_>) -> impl Serialize {
    let AnchorView { anchor, provider, failure, .. } = view;
    let provided_by = match provider {
        Provider::User => "user",
        Provider::Popef => "popef",
        Provider::Unknown => "unknown",
    };
    let error = failure.map(|error| object! { error });
    object! {
        #[serde(flatten)]
        anchor,
        provided_by,
        #[serde(flatten)]
        error,
    }
}

/// A payload, or why it cannot be read.
struct PayloadObject<P>(P);

impl<'f, P: std::borrow::Borrow<PayloadView<'f>>> Serialize for PayloadObject<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.0.borrow();
        match &view.value {
            Ok(Payload::Text(text)) if is_json(text) => {
                object! { kind: "json", bytes: text.as_bytes().len(), text }.serialize(serializer)
            }
            Ok(payload) => payload.serialize(serializer),
            Err(error) => {
                object! { kind: view.framework.map_or("unknown", Framework::as_str), error }.serialize(serializer)
            }
        }
    }
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let statistics = |stats: &Stats| {
            let Stats { nan, infinite, zeros, .. } = *stats;
            let [min, max, mean] = [stats.min, stats.max, stats.mean.map(Value::F64)].map(|it| it.map(Element::Value));
            object! { min, max, mean, nan, infinite, zeros }
        };
        let object = object! {
            first: List(|| self.first()),
            count: self.count(),
            #[serde(flatten)]
            statistics: self.stats.as_ref().map(statistics),
        };
        object.serialize(serializer)
    }
}

/// Floats have as few digits as tell them apart. JSON has no NaN and no infinities, so these are strings.
impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Element::Bits(byte) => serializer.collect_str(&format_args!("{byte:#04x}")),
            Element::Value(Value::Bool(value)) => serializer.serialize_bool(value),
            Element::Value(Value::Int(value)) => serializer.serialize_i64(value),
            Element::Value(Value::UInt(value)) => serializer.serialize_u64(value),
            Element::Value(Value::F32(value)) if value.is_finite() => serializer.serialize_f32(value),
            Element::Value(Value::F64(value)) if value.is_finite() => serializer.serialize_f64(value),
            Element::Value(value) => serializer.serialize_str(not_finite(value.to_f64())),
        }
    }
}

fn not_finite(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}
