//! An index of blobs by name: sorted hashes, 16 bytes per name.

use std::hash::{BuildHasher, Hash, RandomState};

use crate::error::{Problem, with_room_for};
use crate::types::BlobType;

/// A blob of one of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId {
    /// The number of the file.
    pub file: u32,
    /// The number of the blob in the file.
    pub blob: u32,
}

impl BlobId {
    /// The id of a blob by its place among the blobs of a file. Files and blobs have numbers of 32 bits.
    pub fn of(file: usize, blob: usize) -> Self {
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        BlobId { file: short(file), blob: short(blob) }
    }
}

/// The kind of name by which blobs are found. Names with different keys never match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// The name of a blob of this type.
    Name(BlobType),
    /// The name of the executable that a blob of this type is for.
    Executable(BlobType),
}

impl Key {
    /// Executables by name.
    pub const EXECUTABLE: Key = Key::Name(BlobType::PoplarExecutable);
    /// Tensors by name.
    pub const TENSOR: Key = Key::Name(BlobType::DataTensor);
    /// Feeds by name.
    pub const FEED: Key = Key::Name(BlobType::DataFeed);
    /// Opaque blobs by name.
    pub const OPAQUE: Key = Key::Name(BlobType::Opaque);
    /// Metadata by executable.
    pub const METADATA_OF: Key = Key::Executable(BlobType::Metadata);
    /// Opaque blobs by executable.
    pub const OPAQUE_OF: Key = Key::Executable(BlobType::Opaque);

    /// The keys that look up by name.
    pub const OF_NAMES: [Key; 4] = [Key::EXECUTABLE, Key::TENSOR, Key::FEED, Key::OPAQUE];
    /// All.
    pub const ALL: [Key; 6] = [Key::EXECUTABLE, Key::TENSOR, Key::FEED, Key::OPAQUE, Key::METADATA_OF, Key::OPAQUE_OF];

    /// The type of the blobs that the key finds.
    pub fn blob_type(self) -> BlobType {
        let (Key::Name(blob_type) | Key::Executable(blob_type)) = self;
        blob_type
    }
}

/// The hashes of names.
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "an index shows nothing")]
pub struct Names {
    hasher: RandomState,
    /// Sorted, so entries of one name are adjacent, in the order of files and blobs.
    entries: Vec<(u64, BlobId)>,
}

impl Names {
    /// Makes an empty index with room for `count` names.
    pub fn with_capacity(count: usize) -> Result<Self, Problem> {
        // Room for exactly these, because a list that grows is in memory twice for a moment.
        Ok(Names { hasher: RandomState::new(), entries: with_room_for(count)? })
    }

    /// Adds a name, or several names that together find a blob. There must be room.
    pub fn push(&mut self, name: impl Hash, id: BlobId) {
        self.entries.push((self.hasher.hash_one(name), id));
    }

    /// Sorts the index. Call it after the last `push` and before the first lookup.
    pub fn sort(&mut self) {
        self.entries.sort_unstable();
    }

    /// The blobs whose name has the same hash, in the order of files and blobs. The name itself may differ, which is
    /// rare.
    pub fn candidates(&self, name: impl Hash) -> impl Iterator<Item = BlobId> {
        self.candidates_from(name, BlobId { file: 0, blob: 0 })
    }

    /// The candidates that are not before the blob `from`.
    pub fn candidates_from(&self, name: impl Hash, from: BlobId) -> impl Iterator<Item = BlobId> {
        let hash = self.hasher.hash_one(name);
        let start = self.entries.partition_point(|&entry| entry < (hash, from));
        let rest = self.entries.get(start..).unwrap_or_default();
        rest.iter().take_while(move |&&(other, _)| other == hash).map(|&(_, id)| id)
    }
}
