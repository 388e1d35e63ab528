use std::fmt::Write as _;

use popef::read::{ExecutableBlob, OpaqueBlob};
use popef::types::TensorType;
use popef::{Blob, Content, DataType};

use super::super::payload;
use crate::output::escape::escape;
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
    pub(crate) fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Holds::Executable(executable) if executable.is_compressed() => {
                write!(text, "compressed, {} unpacked", units::size(executable.uncompressed_size()))
            }
            Holds::Metadata(view) => write_metadata(text, view),
            Holds::Tensor(view, surplus) => write_tensor(text, view, *surplus),
            Holds::Opaque(opaque, payload) => write_opaque(text, opaque, payload.as_ref()),
            _ => Ok(()),
        };
    }
}

fn write_metadata(text: &mut String, view: &MetadataView<'_>) -> std::fmt::Result {
    let Ok(metadata) = &view.value else { return Ok(()) };
    let count = |wanted| view.anchors().filter(|view| view.anchor.tensor_type == wanted).count();
    let (inputs, outputs) = (count(TensorType::Input), count(TensorType::Output));
    let others = view.anchors().count() - inputs - outputs;
    write!(text, "{}, ", units::counted(inputs, "input", "inputs"))?;
    write!(text, "{}", units::counted(outputs, "output", "outputs"))?;
    if others > 0 {
        write!(text, ", {others} of unknown direction")?;
    }
    // Most models only infer.
    text.write_str(if metadata.is_inference { "" } else { ", training" })
}

fn write_opaque(text: &mut String, opaque: &OpaqueBlob<'_>, payload: Option<&PayloadView<'_>>) -> std::fmt::Result {
    let executable = opaque.executable();
    if !executable.is_empty() {
        write!(text, "for {}", escape(&executable.to_string_lossy()))?;
    }
    let Some(payload) = payload else { return Ok(()) };
    write!(text, "{}{}", if executable.is_empty() { "" } else { ", " }, payload::headline(payload))
}

fn write_tensor(text: &mut String, view: &TensorView<'_>, surplus: u64) -> std::fmt::Result {
    if let Some(tensors) = view.num_tensors {
        text.push_str(itoa::Buffer::new().format(tensors));
        text.push_str(" x ");
    }
    match view.data_type {
        DataType::Other(number) => write!(text, "type {number}")?,
        known => write!(text, "{known}")?,
    }
    text.push_str(" [");
    for (dimension, extent) in view.shape.iter().enumerate() {
        text.push_str(if dimension == 0 { "" } else { ", " });
        text.push_str(itoa::Buffer::new().format(extent));
    }
    text.push(']');
    if surplus > 0 {
        write!(text, ", {} surplus", units::size(surplus))?;
    }
    Ok(())
}
