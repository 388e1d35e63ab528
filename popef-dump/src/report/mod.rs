//! What is to be shown of a file, worked out once for all renderers.

mod executable;
mod failure;
mod metadata;
mod natural;
mod provided;
mod stats;
mod tensor;
mod values;

use std::path::Path;

use glob::{MatchOptions, Pattern};
use popef::types::{BlobType, Text};
use popef::{Blob, Content, File};

pub(crate) use executable::inside;
pub(crate) use failure::{Failure, Failures};
pub(crate) use metadata::{AnchorView, MetadataView};
pub(crate) use provided::{Provided, names};
pub(crate) use stats::Stats;
pub(crate) use tensor::TensorView;
pub(crate) use values::{Shown, Values};

use crate::args::{Select, Sort};
use crate::progress::ProgressLine;

/// What was asked for.
pub(crate) struct Options {
    /// With nothing selected, everything.
    pub(crate) select: Select,
    pub(crate) filter: Vec<Pattern>,
    pub(crate) sort: Sort,
    pub(crate) values: Option<u64>,
    pub(crate) verbose: bool,
    pub(crate) progress: ProgressLine,
}

/// One file that was given.
pub(crate) struct FileReport<'f> {
    /// Which of the files given, counted from 0.
    pub(crate) index: usize,
    /// As it was given.
    pub(crate) path: &'f Path,
    /// None if nothing at all could be read.
    pub(crate) file: Option<&'f File>,
    /// What kept it from being read to its end.
    pub(crate) failure: Option<&'f Failure>,
    pub(crate) by_user: &'f ByUser<'f>,
    pub(crate) options: &'f Options,
}

/// Whether the data of an anchor of a name has to come from the user.
pub(crate) type ByUser<'a> = dyn Fn(&Text<'_>) -> bool + 'a;

type Iter<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

impl<'f> FileReport<'f> {
    /// All blobs that pass the filter, in the order asked for.
    pub(crate) fn blobs(&self) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.file else { return Box::new(std::iter::empty()) };
        self.narrowed(Box::new(file.blobs()))
    }

    /// The same of one type.
    pub(crate) fn of_type(&self, blob_type: BlobType) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.file else { return Box::new(std::iter::empty()) };
        self.narrowed(match blob_type {
            BlobType::PoplarExecutable => Box::new(file.executables().map(|executable| *executable.blob())),
            BlobType::Metadata => Box::new(file.metadata().map(|metadata| *metadata.blob())),
            BlobType::DataTensor => Box::new(file.tensors().map(|tensor| *tensor.blob())),
            BlobType::DataFeed => Box::new(file.feeds().map(|feed| *feed.blob())),
            BlobType::Opaque => Box::new(file.opaques().map(|opaque| *opaque.blob())),
            _ => Box::new(file.blobs().filter(move |blob| blob.blob_type() == blob_type)),
        })
    }

    /// Those of types that are not known.
    pub(crate) fn unknown(&self) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.file else { return Box::new(std::iter::empty()) };
        self.narrowed(Box::new(file.blobs().filter(|blob| matches!(blob.content(), Content::Unknown))))
    }

    pub(crate) fn metadata(&self) -> impl Iterator<Item = MetadataView<'f>> {
        self.of_type(BlobType::Metadata).filter_map(|blob| match blob.content() {
            Content::Metadata(metadata) => Some(MetadataView::of(metadata)),
            _ => None,
        })
    }

    /// The bytes of the file: none if it could not be opened.
    pub(crate) fn size(&self) -> Option<u64> {
        self.file.map(File::size)
    }

    /// Tells the progress bar how much is going to be read.
    pub(crate) fn expect_values(&self) {
        if self.options.values.is_some() {
            let sizes = self.blobs().map(|blob| self.options.values_size(&blob));
            self.options.progress.expect(sizes.fold(0, u64::saturating_add));
        }
    }

    fn narrowed<'a>(&'a self, blobs: Iter<'a, Blob<'f>>) -> Iter<'a, Blob<'f>> {
        let passing: Iter<'a, Blob<'f>> = match self.options.filter.is_empty() {
            true => blobs,
            false => Box::new(blobs.filter(|blob| self.options.passes_blob(blob))),
        };
        match self.options.sort {
            Sort::Offset => passing,
            Sort::Name => sorted(passing, |a, b| natural::compare(link(a).as_bytes(), link(b).as_bytes())),
            Sort::Size => sorted(passing, |a, b| b.size().cmp(&a.size())),
        }
    }
}

fn sorted<'f>(
    blobs: impl Iterator<Item = Blob<'f>>,
    order: impl Fn(&Blob<'f>, &Blob<'f>) -> std::cmp::Ordering,
) -> Iter<'f, Blob<'f>> {
    let mut blobs: Vec<_> = blobs.collect();
    blobs.sort_by(order);
    Box::new(blobs.into_iter())
}

/// The name that a blob goes by: its own, or that of the executable that it describes.
pub(crate) fn link<'f>(blob: &Blob<'f>) -> Text<'f> {
    match blob.content() {
        Content::Metadata(metadata) => metadata.executable(),
        _ => blob.name().unwrap_or_default(),
    }
}

impl Options {
    /// Whether a name is one of those asked for.
    pub(crate) fn passes(&self, name: &Text<'_>) -> bool {
        let name = name.to_string_lossy();
        self.filter.is_empty() || self.filter.iter().any(|glob| glob.matches_with(&name, GLOB))
    }

    /// How many bytes of a blob are read to show its values.
    fn values_size(&self, blob: &Blob<'_>) -> u64 {
        match blob.content() {
            Content::Tensor(tensor) if self.select.tensors => tensor.size_in_bytes().unwrap_or(0),
            Content::Feed(feed) if self.select.feeds => feed.size_in_bytes().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether it is to be said who provides an anchor's data.
    pub(crate) fn shows_anchors(&self) -> bool {
        self.select.anchors || self.select.user_anchors
    }

    /// Metadata goes by its executable's name and by those of its anchors.
    fn passes_blob(&self, blob: &Blob<'_>) -> bool {
        let anchor_passes = || match blob.content() {
            Content::Metadata(metadata) => {
                metadata.read().is_ok_and(|value| value.anchors.iter().any(|anchor| self.passes(&anchor.name)))
            }
            _ => false,
        };
        self.passes(&link(blob)) || anchor_passes()
    }
}

/// Names are no paths: `*` crosses `/`, and a leading dot is nothing special.
const GLOB: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: false, require_literal_leading_dot: false };
