use std::cmp::Reverse;

use popef::Metadata;
use popef::read::MetadataBlob;
use popef::types::{Anchor, Diagnostic, Text};

use super::natural;
use super::options::{Options, Sort};
use super::tensor::sound;

/// Who provides the data of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The user, because no file has it.
    User,
    /// One of the files.
    Popef,
    /// Unknown, because a file could not be read to its end.
    Unknown,
}

/// Says who provides the data of an anchor with a name.
pub(crate) type ProviderOf<'a> = dyn Fn(&Text<'_>) -> Provider + 'a;

/// A metadata blob, read.
pub(crate) struct MetadataView<'f> {
    pub(crate) blob: MetadataBlob<'f>,
    pub(crate) value: Result<Metadata, Diagnostic>,
    /// The computed facts about each anchor. Empty if anchors are not shown.
    worked_out: Vec<WorkedOut>,
    /// The requested anchors, in the requested order.
    shown: Vec<usize>,
}

/// The computed facts about an anchor.
struct WorkedOut {
    provider: Provider,
    size: Option<u64>,
    /// Boxed, because there may be very many anchors, and hardly ever a failure.
    failure: Option<Box<Diagnostic>>,
}

/// An anchor, with who provides its data.
#[derive(Clone, Copy)]
pub(crate) struct AnchorView<'m> {
    pub(crate) anchor: &'m Anchor,
    pub(crate) provider: Provider,
    pub(crate) size: Option<u64>,
    pub(crate) failure: Option<&'m Diagnostic>,
}

impl<'f> MetadataView<'f> {
    pub(crate) fn of(blob: MetadataBlob<'f>, options: &Options, provider: &ProviderOf<'_>) -> Self {
        let value = blob.read().map_err(Diagnostic::from);
        let mut view = MetadataView { blob, value, worked_out: Vec::new(), shown: Vec::new() };
        if options.shows_anchors() {
            view.worked_out = view.work_out(provider);
            view.shown = view.chosen(options);
        }
        view
    }

    pub(crate) fn anchor_names(&self) -> impl Iterator<Item = &Text<'static>> {
        self.anchor_values().iter().map(|anchor| &anchor.name)
    }

    /// All anchors, in the order of the file.
    pub(crate) fn all_anchors(&self) -> impl Iterator<Item = AnchorView<'_>> {
        self.anchor_values().iter().zip(&self.worked_out).map(|(anchor, worked_out)| view(anchor, worked_out))
    }

    /// The requested anchors, in the requested order.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = AnchorView<'_>> + Clone {
        let nth = |&index: &usize| Some(view(self.anchor_values().get(index)?, self.worked_out.get(index)?));
        self.shown.iter().filter_map(nth)
    }

    /// The failures of the Metadata as a whole, or of the requested anchors.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &Diagnostic> {
        self.value.as_ref().err().into_iter().chain(self.anchors().filter_map(|view| view.failure))
    }

    fn anchor_values(&self) -> &[Anchor] {
        self.value.as_ref().map_or(&[], |metadata| &metadata.anchors)
    }

    fn work_out(&self, provider: &ProviderOf<'_>) -> Vec<WorkedOut> {
        let work_out = |anchor: &Anchor| {
            let (size, failure) = sound(anchor.tensor_info.size_in_bytes());
            let failure = failure.map(|failure| failure.at(self.blob.blob().index(), self.info_offset()));
            WorkedOut { provider: provider(&anchor.name), size, failure: failure.map(Box::new) }
        };
        self.anchor_values().iter().map(work_out).collect()
    }

    fn chosen(&self, options: &Options) -> Vec<usize> {
        let user_only = options.selected().user_anchors;
        let may_be_users = |view: &AnchorView<'_>| view.provider != Provider::Popef;
        let passes = |view: &AnchorView<'_>| (may_be_users(view) || !user_only) && options.passes(&view.anchor.name);
        let chosen = self.all_anchors().enumerate().filter(|(_, view)| passes(view));
        let mut chosen: Vec<usize> = chosen.map(|(index, _)| index).collect();
        let name = |index: usize| self.anchor_values().get(index).map(|anchor| anchor.name.as_bytes());
        let size = |index: usize| self.worked_out.get(index).and_then(|worked_out| worked_out.size);
        match options.sort {
            Sort::Offset => {}
            Sort::Name => {
                chosen.sort_by(|&a, &b| natural::compare(name(a).unwrap_or_default(), name(b).unwrap_or_default()));
            }
            _ => chosen.sort_by_key(|&index| Reverse(size(index))),
        }
        chosen
    }

    /// Where the info message begins in the file; it ends where data would begin.
    fn info_offset(&self) -> u64 {
        let blob = self.blob.blob();
        blob.data_offset().saturating_sub(blob.info_bytes().len())
    }
}

fn view<'m>(anchor: &'m Anchor, worked_out: &'m WorkedOut) -> AnchorView<'m> {
    let WorkedOut { provider, size, failure } = worked_out;
    AnchorView { anchor, provider: *provider, size: *size, failure: failure.as_deref() }
}
