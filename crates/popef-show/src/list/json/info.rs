//! The `info` of a blob: what the library says, and what is worked out here.

use popef::read::ExecutableBlob;
use popef::types::ExecutableInside;
use popef::{Blob, Content};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::failure::Failure;
use crate::json::members::{members, members_without};
use crate::json::text::{List, text};
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};
use crate::report::options::Options;
use crate::report::payload::PayloadView;
use crate::report::tensor::TensorView;
use crate::report::tiles::TilesView;
use crate::report::values::Values;

/// What there is to say of a blob beyond what its content says itself. It is worked out before anything is written, because
/// failures are written after it.
pub(super) enum Info<'a, 'f> {
    Executable(Option<Result<ExecutableInside, Failure>>, Option<TilesView>),
    Metadata(&'a MetadataView<'f>, &'a Options),
    Tensor(Box<TensorView<'f>>, Option<Values<'f>>),
    Opaque(Option<PayloadView<'f>>),
    Other,
}

impl<'a, 'f> Info<'a, 'f> {
    pub(super) fn of(blob: &Blob<'f>, content: &Content<'f>, report: &'a FileReport<'f>) -> Self {
        match content {
            Content::Executable(executable) => Info::executable(executable, report),
            Content::Tensor(tensor) => Info::tensor(TensorView::of_tensor(tensor), report),
            Content::Feed(feed) => Info::tensor(TensorView::of_feed(feed), report),
            Content::Opaque(opaque) => Info::Opaque(report.payload(opaque)),
            _ => report.metadata_of(blob).map_or(Info::Other, |view| Info::Metadata(view, report.options)),
        }
    }

    /// If not even the first bytes can be read, there is no use in reading all.
    fn executable(executable: &ExecutableBlob<'_>, report: &FileReport<'_>) -> Self {
        let inside = report.inside(executable);
        let tiles = if matches!(inside, Some(Err(_))) { None } else { report.tiles(executable) };
        Info::Executable(inside, tiles)
    }

    fn tensor(mut view: TensorView<'f>, report: &FileReport<'f>) -> Self {
        let values = view.values(report.options);
        Info::Tensor(Box::new(view), values)
    }

    /// What is wrong with the blob as a whole.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match self {
            Info::Executable(inside, tiles) => {
                let of_tiles = || tiles.as_ref()?.failure.as_ref();
                inside.as_ref().and_then(|inside| inside.as_ref().err()).or_else(of_tiles)
            }
            Info::Metadata(view, _) => view.value.as_ref().err(),
            Info::Tensor(view, _) => view.failure.as_ref(),
            Info::Opaque(payload) => payload.as_ref()?.failure(),
            Info::Other => None,
        }
    }

    /// What an opaque blob holds.
    pub(super) fn payload(&self) -> Option<&PayloadView<'f>> {
        match self {
            Info::Opaque(payload) => payload.as_ref(),
            _ => None,
        }
    }

    /// What went wrong while the info was written.
    pub(super) fn late_failure(&self) -> Option<&Failure> {
        match self {
            Info::Tensor(_, Some(values)) => values.late_failure(),
            _ => None,
        }
    }

    /// What is wrong with the blob as a whole, and with its anchors if they are shown.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Failure> {
        let (of_metadata, of_other) = match self {
            Info::Metadata(view, _) => (Some(view.failures()), None),
            _ => (None, self.failure()),
        };
        of_metadata.into_iter().flatten().chain(of_other)
    }

    pub(super) fn with<'i>(&'i self, content: &'i Content<'f>) -> WithContent<'i, 'a, 'f> {
        WithContent { info: self, content }
    }
}

pub(super) struct WithContent<'i, 'a, 'f> {
    info: &'i Info<'a, 'f>,
    content: &'i Content<'f>,
}

impl Serialize for WithContent<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.content {
            Content::Executable(executable) => members(&mut map, executable)?,
            Content::Tensor(tensor) => members(&mut map, tensor)?,
            Content::Feed(feed) => members(&mut map, feed)?,
            Content::Opaque(opaque) => members(&mut map, opaque)?,
            _ => {}
        }
        match self.info {
            Info::Executable(inside, of_tiles) => {
                inside.iter().flatten().try_for_each(|inside| members(&mut map, inside))?;
                of_tiles.iter().try_for_each(|view| tiles(&mut map, view))?;
            }
            Info::Metadata(view, options) => metadata(&mut map, view, options)?,
            Info::Tensor(_, Some(values)) => map.serialize_entry("values", values)?,
            _ => {}
        }
        map.end()
    }
}

fn tiles<M: SerializeMap>(map: &mut M, view: &TilesView) -> Result<(), M::Error> {
    map.serialize_entry("tiles", &view.tiles)?;
    map.serialize_entry("tilesNotRead", &view.not_read)
}

fn metadata<M: SerializeMap>(map: &mut M, view: &MetadataView<'_>, options: &Options) -> Result<(), M::Error> {
    match &view.value {
        Ok(metadata) if options.selected().metadata => members_without(map, &["anchors"], metadata)?,
        _ => text(map, "executable", &view.blob.executable())?,
    }
    match options.shows_anchors() && view.value.is_ok() {
        true => map.serialize_entry("anchors", &List(|| view.anchors().map(Anchor))),
        false => Ok(()),
    }
}

fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::User => "user",
        Provider::Popef => "popef",
        Provider::Unknown => "unknown",
    }
}

struct Anchor<'m>(AnchorView<'m>);

impl Serialize for Anchor<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AnchorView { anchor, provider, failure, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        members(&mut map, anchor)?;
        map.serialize_entry("providedBy", provider_name(provider))?;
        if let Some(failure) = failure {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
