//! The `info` of a blob, by its type.

use popef::read::{ExecutableBlob, PoplarHeader};
use popef::types::{EngineOption, ProgramFlow, ProgramInfo};
use popef::{Content, Metadata};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::fields::{List, TensorInfo, tensor_type, text};
use crate::args::Select;
use crate::report::{AnchorView, Failure, Inside, MetadataView, Report, TensorView, Values};

/// What is said of a blob beyond what its content says itself, worked out before anything is written: what goes
/// wrong on the way stands behind the info.
pub(super) enum Info<'a, 'f> {
    Executable(Option<Result<Inside, Failure>>),
    Metadata(Box<MetadataView<'f>>, &'a Report<'f>),
    Tensor(Box<TensorView<'f>>, Option<Values<'f>>),
    Other,
}

impl<'a, 'f> Info<'a, 'f> {
    pub(super) fn of(content: &Content<'f>, report: &'a Report<'f>) -> Self {
        match content {
            Content::Executable(executable) => Info::Executable(Inside::of(executable, report.options)),
            Content::Metadata(metadata) => Info::Metadata(Box::new(MetadataView::of(*metadata)), report),
            Content::Tensor(tensor) => Info::tensor(TensorView::of_tensor(tensor), report),
            Content::Feed(feed) => Info::tensor(TensorView::of_feed(feed), report),
            _ => Info::Other,
        }
    }

    fn tensor(mut view: TensorView<'f>, report: &Report<'f>) -> Self {
        let values = view.values(report.options);
        Info::Tensor(Box::new(view), values)
    }

    /// What is wrong with the blob as a whole.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match self {
            Info::Executable(inside) => inside.as_ref()?.as_ref().err(),
            Info::Metadata(view, _) => view.value.as_ref().err(),
            Info::Tensor(view, _) => view.failure.as_ref(),
            Info::Other => None,
        }
    }

    /// What went wrong while the info was written.
    pub(super) fn late_failure(&self) -> Option<&Failure> {
        match self {
            Info::Tensor(_, Some(values)) => values.late_failure(),
            _ => None,
        }
    }

    /// The same as `failure`, and what is wrong with its anchors if they are shown.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let anchors = match self {
            Info::Metadata(view, report) => shown_anchors(view, report),
            _ => None,
        };
        let of_anchors = anchors.into_iter().flatten().filter_map(|anchor| anchor.failure);
        self.failure().cloned().into_iter().chain(of_anchors).collect()
    }

    pub(super) fn with<'i>(&'i self, content: &'i Content<'f>) -> WithContent<'i, 'a, 'f> {
        WithContent { info: self, content }
    }
}

fn shown_anchors<'v>(view: &'v MetadataView<'_>, report: &Report<'_>) -> Option<Vec<AnchorView<'v>>> {
    let Select { anchors, user_anchors, .. } = report.options.select;
    (anchors || user_anchors).then(|| view.anchors(report.options, report.by_user))
}

pub(super) struct WithContent<'i, 'a, 'f> {
    info: &'i Info<'a, 'f>,
    content: &'i Content<'f>,
}

impl Serialize for WithContent<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match (self.info, self.content) {
            (Info::Executable(inside), Content::Executable(blob)) => executable(&mut map, blob, inside.as_ref())?,
            (Info::Metadata(view, report), _) => metadata(&mut map, view, report)?,
            (Info::Tensor(view, values), _) => tensor(&mut map, view, values.as_ref())?,
            (_, Content::Opaque(opaque)) => {
                text(&mut map, "name", &opaque.name())?;
                text(&mut map, "executable", &opaque.executable())?;
            }
            _ => {}
        }
        map.end()
    }
}

fn executable<M: SerializeMap>(
    map: &mut M,
    executable: &ExecutableBlob<'_>,
    inside: Option<&Result<Inside, Failure>>,
) -> Result<(), M::Error> {
    text(map, "name", &executable.name())?;
    map.serialize_entry("isCompressed", &executable.is_compressed())?;
    map.serialize_entry("uncompressedSize", &executable.uncompressed_size())?;
    if let Some(Ok(inside)) = inside {
        map.serialize_entry("compression", &inside.compression)?;
        map.serialize_entry("poplarHeader", &inside.header.as_ref().map(Header))?;
    }
    Ok(())
}

struct Header<'a>(&'a PoplarHeader);

impl Serialize for Header<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", &self.0.format)?;
        map.serialize_entry("archiveSize", &self.0.archive_size)?;
        map.serialize_entry("archiveCompressedSize", &self.0.archive_compressed_size)?;
        map.serialize_entry("metadataSize", &self.0.metadata_size)?;
        map.serialize_entry("metadataCompressedSize", &self.0.metadata_compressed_size)?;
        map.end()
    }
}

fn tensor<M: SerializeMap>(map: &mut M, view: &TensorView<'_>, values: Option<&Values<'_>>) -> Result<(), M::Error> {
    text(map, "name", &view.name)?;
    let info = TensorInfo { data_type: view.data_type, shape: List(|| view.shape.iter()), size: view.size };
    map.serialize_entry("tensorInfo", &info)?;
    if let Some(tensors) = view.num_tensors {
        map.serialize_entry("numTensors", &tensors)?;
    }
    if let Some(values) = values {
        map.serialize_entry("values", values)?;
    }
    Ok(())
}

fn metadata<M: SerializeMap>(map: &mut M, view: &MetadataView<'_>, report: &Report<'_>) -> Result<(), M::Error> {
    match &view.value {
        Ok(metadata) if report.options.select.metadata => target(map, metadata)?,
        _ => text(map, "executable", &view.blob.executable())?,
    }
    match shown_anchors(view, report) {
        Some(anchors) if view.value.is_ok() => map.serialize_entry("anchors", &List(|| anchors.iter().map(Anchor))),
        _ => Ok(()),
    }
}

fn target<M: SerializeMap>(map: &mut M, metadata: &Metadata) -> Result<(), M::Error> {
    map.serialize_entry("replicationFactor", &metadata.replication_factor)?;
    map.serialize_entry("numIpus", &metadata.num_ipus)?;
    map.serialize_entry("numProcesses", &metadata.num_processes)?;
    map.serialize_entry("ipuVersion", &metadata.ipu_version)?;
    map.serialize_entry("isPOD", &metadata.is_pod)?;
    map.serialize_entry("isInference", &metadata.is_inference)?;
    map.serialize_entry("deviceIterations", &metadata.device_iterations)?;
    text(map, "executable", &metadata.executable)?;
    text(map, "seedHandle", &metadata.seed_handle)?;
    map.serialize_entry("engineOptions", &List(|| metadata.engine_options.iter().map(EngineOptionObject)))?;
    map.serialize_entry("deviceOptions", &List(|| metadata.device_options.iter().map(EngineOptionObject)))?;
    map.serialize_entry("programFlow", &Flow(&metadata.program_flow))?;
    map.serialize_entry("programsMap", &List(|| metadata.programs_map.iter().map(Program)))
}

struct EngineOptionObject<'a>(&'a EngineOption);

impl Serialize for EngineOptionObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        text(&mut map, "name", &self.0.name)?;
        text(&mut map, "value", &self.0.value)?;
        map.end()
    }
}

struct Flow<'a>(&'a ProgramFlow);

impl Serialize for Flow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("load", &self.0.load)?;
        map.serialize_entry("main", &self.0.main)?;
        map.serialize_entry("save", &self.0.save)?;
        map.end()
    }
}

struct Program<'a>(&'a ProgramInfo);

impl Serialize for Program<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.0.index)?;
        text(&mut map, "name", &self.0.name)?;
        map.end()
    }
}

struct Anchor<'a, 'm>(&'a AnchorView<'m>);

impl Serialize for Anchor<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AnchorView { anchor, by_user, size, failure } = self.0;
        let mut map = serializer.serialize_map(None)?;
        text(&mut map, "name", &anchor.name)?;
        map.serialize_entry("type", &tensor_type(anchor.tensor_type))?;
        text(&mut map, "handle", &anchor.handle)?;
        let shape = List(|| anchor.tensor_info.shape.iter().copied());
        let data_type = anchor.tensor_info.data_type;
        map.serialize_entry("tensorInfo", &TensorInfo { data_type, shape, size: *size })?;
        map.serialize_entry("programs", &anchor.programs)?;
        map.serialize_entry("isPerReplica", &anchor.is_per_replica)?;
        map.serialize_entry("useRemoteBuffers", &anchor.use_remote_buffers)?;
        map.serialize_entry("repeats", &anchor.repeats)?;
        map.serialize_entry("providedBy", if *by_user { "user" } else { "popef" })?;
        if let Some(failure) = failure {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
