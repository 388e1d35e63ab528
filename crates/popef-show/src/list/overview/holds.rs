use popef::read::{ExecutableBlob, OpaqueBlob};
use popef::types::TensorType;
use popef::{Blob, Content, DataType};

use super::super::payload;
use crate::output::shown::Shown;
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::MetadataView;
use crate::report::options::Options;
use crate::report::payload::PayloadView;
use crate::report::tensor::TensorView;

/// What a blob holds, computed for its line and for the lines under it.
pub(crate) enum Holds<'r, 'f> {
    Executable(ExecutableBlob<'f>),
    Metadata(&'r MetadataView<'f>),
    /// With the number of bytes beyond those that shape and type need.
    Tensor(TensorView<'f>, u64),
    /// With the framework's payload, if it was read.
    Opaque(OpaqueBlob<'f>, Option<PayloadView<'f>>),
    Unknown,
}

impl<'r, 'f> Holds<'r, 'f> {
    pub(crate) fn of(blob: &Blob<'f>, report: &'r FileReport<'f>) -> Self {
        match blob.content() {
            Content::Executable(executable) => Holds::Executable(executable),
            Content::Tensor(tensor) => Holds::Tensor(TensorView::of_tensor(&tensor), tensor.surplus()),
            Content::Feed(feed) => Holds::Tensor(TensorView::of_feed(&feed), feed.surplus()),
            Content::Opaque(opaque) => Holds::Opaque(opaque, report.payload(&opaque)),
            _ => report.metadata_of(blob).map_or(Holds::Unknown, Holds::Metadata),
        }
    }

    /// Whether there are lines under the blob's line.
    pub(crate) fn has_details(&self, options: &Options) -> bool {
        match self {
            Holds::Executable(_) => options.inside,
            Holds::Metadata(view) => view.failures().next().is_some(),
            Holds::Tensor(view, _) => options.values.is_some() || view.failure.is_some(),
            Holds::Opaque(..) => options.inside,
            Holds::Unknown => false,
        }
    }

    /// The text in the blob's line.
    pub(crate) fn text(&self) -> Shown<'static> {
        let mut text = Shown::default();
        self.write(&mut text);
        text
    }

    /// Adds the text in the blob's line.
    pub(crate) fn write(&self, text: &mut Shown<'_>) {
        match self {
            Holds::Executable(executable) if executable.is_compressed() => {
                text.push("compressed, ").push(units::size(executable.uncompressed_size())).push(" unpacked");
            }
            Holds::Metadata(view) => write_metadata(text, view),
            Holds::Tensor(view, surplus) => write_tensor(text, view, *surplus),
            Holds::Opaque(opaque, payload) => write_opaque(text, opaque, payload.as_ref()),
            _ => {}
        }
    }
}

fn write_metadata(text: &mut Shown<'_>, view: &MetadataView<'_>) {
    let Ok(metadata) = &view.value else { return };
    let count = |wanted| view.anchors().filter(|view| view.anchor.tensor_type == wanted).count();
    let (inputs, outputs) = (count(TensorType::Input), count(TensorType::Output));
    let others = view.anchors().count() - inputs - outputs;
    text.push(units::counted(inputs, "input", "inputs")).push(", ").push(units::counted(outputs, "output", "outputs"));
    if others > 0 {
        text.push(", ").push(others).push(" of unknown direction");
    }
    // Most models only infer.
    text.push(if metadata.is_inference { "" } else { ", training" });
}

fn write_opaque(text: &mut Shown<'_>, opaque: &OpaqueBlob<'_>, payload: Option<&PayloadView<'_>>) {
    let executable = opaque.executable();
    if !executable.is_empty() {
        text.push("for ").push(Shown::escaped(&executable));
    }
    if let Some(payload) = payload {
        text.push(if executable.is_empty() { "" } else { ", " }).push(payload::headline(payload));
    }
}

fn write_tensor(text: &mut Shown<'_>, view: &TensorView<'_>, surplus: u64) {
    if let Some(tensors) = view.num_tensors {
        text.push_number(tensors).push(" x ");
    }
    match view.data_type {
        DataType::Other(number) => text.push("type ").push(number),
        known => text.push(known),
    };
    text.push(" [");
    for (dimension, extent) in view.shape.iter().enumerate() {
        text.push(if dimension == 0 { "" } else { ", " }).push_number(extent);
    }
    text.push("]");
    if surplus > 0 {
        text.push(", ").push(units::size(surplus)).push(" surplus");
    }
}
