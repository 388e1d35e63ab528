//! The `info` of a blob: what the library says, and what only the tool works out.

use popef::Content;
use popef::types::ExecutableInside;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::fields::{List, text};
use super::members::{members, members_without};
use crate::args::Select;
use crate::report::{AnchorView, Failure, FileReport, MetadataView, TensorView, Values, inside};

/// What is said of a blob beyond what its content says itself, worked out before anything is written: what goes
/// wrong on the way stands behind the info.
pub(super) enum Info<'a, 'f> {
    Executable(Option<Result<ExecutableInside, Failure>>),
    Metadata(Box<MetadataView<'f>>, &'a FileReport<'f>),
    Tensor(Box<TensorView<'f>>, Option<Values<'f>>),
    Other,
}

impl<'a, 'f> Info<'a, 'f> {
    pub(super) fn of(content: &Content<'f>, report: &'a FileReport<'f>) -> Self {
        match content {
            Content::Executable(executable) => Info::Executable(inside(executable, report.options)),
            Content::Metadata(metadata) => Info::Metadata(Box::new(MetadataView::of(*metadata)), report),
            Content::Tensor(tensor) => Info::tensor(TensorView::of_tensor(tensor), report),
            Content::Feed(feed) => Info::tensor(TensorView::of_feed(feed), report),
            _ => Info::Other,
        }
    }

    fn tensor(mut view: TensorView<'f>, report: &FileReport<'f>) -> Self {
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

fn shown_anchors<'v>(view: &'v MetadataView<'_>, report: &FileReport<'_>) -> Option<Vec<AnchorView<'v>>> {
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
        match self.content {
            Content::Executable(executable) => members(&mut map, executable)?,
            Content::Tensor(tensor) => members(&mut map, tensor)?,
            Content::Feed(feed) => members(&mut map, feed)?,
            Content::Opaque(opaque) => members(&mut map, opaque)?,
            _ => {}
        }
        match self.info {
            Info::Executable(Some(Ok(inside))) => members(&mut map, inside)?,
            Info::Metadata(view, report) => metadata(&mut map, view, report)?,
            Info::Tensor(_, Some(values)) => map.serialize_entry("values", values)?,
            _ => {}
        }
        map.end()
    }
}

fn metadata<M: SerializeMap>(map: &mut M, view: &MetadataView<'_>, report: &FileReport<'_>) -> Result<(), M::Error> {
    match &view.value {
        Ok(metadata) if report.options.select.metadata => members_without(map, &["anchors"], metadata)?,
        _ => text(map, "executable", &view.blob.executable())?,
    }
    match shown_anchors(view, report) {
        Some(anchors) if view.value.is_ok() => map.serialize_entry("anchors", &List(|| anchors.iter().map(Anchor))),
        _ => Ok(()),
    }
}

struct Anchor<'a, 'm>(&'a AnchorView<'m>);

impl Serialize for Anchor<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AnchorView { anchor, by_user, failure, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        members(&mut map, anchor)?;
        map.serialize_entry("providedBy", if *by_user { "user" } else { "popef" })?;
        if let Some(failure) = failure {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
