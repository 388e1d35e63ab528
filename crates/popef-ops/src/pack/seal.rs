//! Detects whether the inputs change while they are visited.

use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};

use popef::types::{BlobType, Text};

use super::part::Part;

/// A hash of everything that was visited. It shows a change.
#[derive(Clone, Debug)]
pub(super) struct Seal {
    random: RandomState,
    hasher: DefaultHasher,
}

impl Default for Seal {
    fn default() -> Self {
        let random = RandomState::new();
        Seal { hasher: random.build_hasher(), random }
    }
}

impl Seal {
    /// Makes an empty seal, which equals this one after the same additions.
    pub(super) fn same(&self) -> Seal {
        Seal { random: self.random.clone(), hasher: self.random.build_hasher() }
    }

    /// Adds a blob, with its files in their current state.
    pub(super) fn add_part(&mut self, part: &Part, head: &[u8]) {
        head.hash(&mut self.hasher);
        for bytes in &part.data {
            bytes.len().hash(&mut self.hasher);
            let Some(place) = bytes.place() else { continue };
            place.path().hash(&mut self.hasher);
            place.source().modified().hash(&mut self.hasher);
            (place.offset(), place.len(), place.source().len()).hash(&mut self.hasher);
        }
    }

    /// Adds a blob as it is in the new file. Compression changes the head of an executable.
    pub(super) fn add_blob(&mut self, blob_type: BlobType, name: &Text<'_>, version: &Text<'_>, head: &[u8]) {
        (blob_type.number(), name.as_bytes(), version.as_bytes()).hash(&mut self.hasher);
        if blob_type != BlobType::PoplarExecutable {
            head.hash(&mut self.hasher);
        }
    }

    pub(super) fn add_number(&mut self, number: u64) {
        self.hasher.write_u64(number);
    }
}

impl PartialEq for Seal {
    fn eq(&self, other: &Self) -> bool {
        self.hasher.finish() == other.hasher.finish()
    }
}
