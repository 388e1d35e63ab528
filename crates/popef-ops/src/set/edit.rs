//! What a blob gets.

use popef::Metadata;
use popef::types::{ElementSources, OpaqueInfo, TensorDataInfo, Text};

use super::compare::FieldChange;

/// A new name or info, and what that changes in words.
#[derive(Default)]
pub(super) struct Edit {
    pub(super) name: Option<Text<'static>>,
    pub(super) info: Option<NewInfo>,
    pub(super) changes: Vec<FieldChange>,
}

pub(super) enum NewInfo {
    Metadata(Box<Metadata>, ElementSources),
    Opaque(OpaqueInfo),
}

/// New data of a blob. There may be one for each blob of a file, so it has only numbers.
pub(super) struct NewData {
    /// The blob's number.
    pub(super) blob: usize,
    /// Which one of the weights it is.
    pub(super) weights: usize,
}

/// A tensor that comes behind all other blobs.
pub(super) struct Added {
    pub(super) info: TensorDataInfo,
    /// Which one of the weights its data is.
    pub(super) weights: usize,
}
