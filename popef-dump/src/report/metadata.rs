use std::cmp::Reverse;

use popef::Metadata;
use popef::read::MetadataBlob;
use popef::types::{Anchor, TensorType};

use super::failure::Failure;
use super::natural;
use super::tensor::sound;
use super::{ByUser, Options};
use crate::args::Sort;

/// A metadata blob, read.
pub(crate) struct MetadataView<'f> {
    pub(crate) blob: MetadataBlob<'f>,
    pub(crate) value: Result<Metadata, Failure>,
}

/// An anchor, with who provides its data.
pub(crate) struct AnchorView<'m> {
    pub(crate) anchor: &'m Anchor,
    pub(crate) by_user: bool,
    pub(crate) size: Option<u64>,
    pub(crate) failure: Option<Failure>,
}

impl<'f> MetadataView<'f> {
    pub(crate) fn of(blob: MetadataBlob<'f>) -> Self {
        MetadataView { blob, value: blob.read().map_err(Failure::from) }
    }

    /// The anchors that were asked for, in the order that was asked for.
    pub(crate) fn anchors<'m>(&'m self, options: &Options, by_user: &ByUser<'_>) -> Vec<AnchorView<'m>> {
        let Ok(metadata) = &self.value else { return Vec::new() };
        let view = |anchor| self.anchor(anchor, by_user);
        let passes = |view: &AnchorView<'_>| view.by_user || !options.select.user_anchors;
        let named = metadata.anchors.iter().filter(|anchor| options.passes(&anchor.name));
        let mut anchors: Vec<_> = named.map(view).filter(passes).collect();
        match options.sort {
            Sort::Offset => {}
            Sort::Name => anchors.sort_by(|a, b| natural::compare(a.name(), b.name())),
            Sort::Size => anchors.sort_by_key(|anchor| Reverse(anchor.size)),
        }
        anchors
    }

    fn anchor<'m>(&self, anchor: &'m Anchor, by_user: &ByUser<'_>) -> AnchorView<'m> {
        let (size, failure) = sound(anchor.tensor_info.size_in_bytes());
        let at = |failure: Failure| failure.at(self.blob.blob().index(), self.info_offset());
        AnchorView { anchor, by_user: by_user(&anchor.name), size, failure: failure.map(at) }
    }

    /// Where the info message begins in the file; it ends where data would begin.
    fn info_offset(&self) -> u64 {
        let blob = self.blob.blob();
        let len = u64::try_from(blob.info_bytes().len()).unwrap_or(u64::MAX);
        blob.data_offset().saturating_sub(len)
    }
}

impl AnchorView<'_> {
    fn name(&self) -> &[u8] {
        self.anchor.name.as_bytes()
    }

    /// What the listing counts as an anchor's kind.
    pub(crate) fn tensor_type(&self) -> TensorType {
        self.anchor.tensor_type
    }
}
