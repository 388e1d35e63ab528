use std::borrow::Cow;
use std::fmt::Write as _;

use popef::read::MetadataBlob;
use popef::types::{BlobType, ExecutableInside, TensorType};
use popef::{Blob, Content, DataType};

use crate::render::escape::escape;
use crate::render::units;
use crate::report::{Failure, FileReport, MetadataView, TensorView, inside, link};

/// One blob's line, as text that can be shown.
pub(super) struct Row<'f> {
    pub(super) index: usize,
    pub(super) kind: Cow<'static, str>,
    pub(super) name: Cow<'f, str>,
    pub(super) holds: String,
    pub(super) size: String,
    pub(super) offset: u64,
    pub(super) tensor: Option<TensorView<'f>>,
    failures: Vec<Failure>,
}

impl<'f> Row<'f> {
    pub(super) fn of(blob: &Blob<'f>, report: &FileReport<'f>) -> Self {
        let mut row = Row {
            index: blob.index(),
            kind: kind(blob.blob_type()),
            name: name(blob),
            holds: String::new(),
            size: units::size(blob.size()),
            offset: blob.offset(),
            tensor: None,
            failures: Vec::new(),
        };
        row.fill(&blob.content(), report);
        row
    }

    fn fill(&mut self, content: &Content<'f>, report: &FileReport<'f>) {
        match content {
            Content::Executable(executable) if executable.is_compressed() => {
                self.holds = format!("compressed, {} unpacked", units::size(executable.uncompressed_size()));
            }
            Content::Metadata(metadata) => self.metadata(*metadata, report),
            Content::Tensor(tensor) => self.tensor(TensorView::of_tensor(tensor), tensor.surplus()),
            Content::Feed(feed) => self.tensor(TensorView::of_feed(feed), feed.surplus()),
            Content::Opaque(opaque) if !opaque.executable().is_empty() => {
                self.holds = format!("for {}", escape(&opaque.executable().to_string_lossy()));
            }
            _ => {}
        }
    }

    /// What an executable's own bytes say of it, if that is wanted; what goes wrong is the row's failure.
    pub(super) fn look_inside(&mut self, blob: &Blob<'f>, report: &FileReport<'f>) -> Option<ExecutableInside> {
        let Content::Executable(executable) = blob.content() else { return None };
        inside(&executable, report.options)?.map_err(|failure| self.failures.push(failure)).ok()
    }

    fn metadata(&mut self, metadata: MetadataBlob<'f>, report: &FileReport<'f>) {
        let view = MetadataView::of(metadata);
        match &view.value {
            Ok(value) => {
                let anchors = view.anchors(report.options, report.by_user);
                let count = |wanted| anchors.iter().filter(|anchor| anchor.tensor_type() == wanted).count();
                let inputs = units::counted(count(TensorType::Input), "input", "inputs");
                let outputs = units::counted(count(TensorType::Output), "output", "outputs");
                // Most models only infer.
                let training = if value.is_inference { "" } else { ", training" };
                self.holds = format!("{inputs}, {outputs}{training}");
                self.failures = anchors.into_iter().filter_map(|anchor| anchor.failure).collect();
            }
            Err(failure) => self.failures.push(failure.clone()),
        }
    }

    /// `surplus` is how many bytes there are behind what shape and type call for.
    fn tensor(&mut self, view: TensorView<'f>, surplus: u64) {
        let holds = &mut self.holds;
        if let Some(tensors) = view.num_tensors {
            holds.push_str(itoa::Buffer::new().format(tensors));
            holds.push_str(" x ");
        }
        // Writing to a string cannot fail.
        let _ = match view.data_type {
            DataType::Other(number) => write!(holds, "type {number}"),
            known => write!(holds, "{known}"),
        };
        holds.push_str(" [");
        for (dimension, extent) in view.shape.iter().enumerate() {
            holds.push_str(if dimension == 0 { "" } else { ", " });
            holds.push_str(itoa::Buffer::new().format(extent));
        }
        holds.push(']');
        if surplus > 0 {
            let _ = write!(holds, ", {} surplus", units::size(surplus));
        }
        self.tensor = Some(view);
    }

    /// What is wrong with the blob, also what reading its values has shown.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.failures.iter().chain(self.tensor.as_ref().and_then(|tensor| tensor.failure.as_ref()))
    }
}

/// The name that a blob goes by, as it can be shown.
fn name<'f>(blob: &Blob<'f>) -> Cow<'f, str> {
    let link = link(blob);
    match link.clone().into_str() {
        Ok(Cow::Borrowed(text)) => escape(text),
        _ => Cow::Owned(escape(&link.to_string_lossy()).into_owned()),
    }
}

/// A blob's type in a word.
fn kind(blob_type: BlobType) -> Cow<'static, str> {
    let word = match blob_type {
        BlobType::PoplarExecutable => "executable",
        BlobType::Metadata => "metadata",
        BlobType::DataTensor => "tensor",
        BlobType::DataFeed => "feed",
        BlobType::Opaque => "opaque",
        other => return format!("type {}", other.number()).into(),
    };
    word.into()
}
