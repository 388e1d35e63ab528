//! What a blob gets.

use popef::Metadata;
use popef::types::{ElementSources, OpaqueInfo, TensorDataInfo, Text};

use super::compare::FieldChange;

/// A new name or info, with the changes in words.
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
    /// The blob's number. It fits for all files.
    blob: u32,
    /// The index of the new weights. The last number stands for the old data without its surplus bytes.
    weights: u32,
}

impl NewData {
    pub(super) fn of(blob: usize, weights: usize) -> Self {
        let [blob, weights] = [blob, weights].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        NewData { blob, weights }
    }

    pub(super) fn blob(&self) -> usize {
        usize::try_from(self.blob).unwrap_or(usize::MAX)
    }

    /// The old data without its surplus bytes.
    pub(super) fn without_surplus(blob: usize) -> Self {
        NewData::of(blob, usize::MAX)
    }

    /// The index of the new weights, if the data is new.
    pub(super) fn weights(&self) -> Option<usize> {
        (self.weights != u32::MAX).then(|| usize::try_from(self.weights).unwrap_or(usize::MAX))
    }
}

/// A tensor that is added after all other blobs.
pub(super) struct Added {
    pub(super) info: TensorDataInfo,
    /// The index of its data among the new weights.
    pub(super) weights: usize,
}
