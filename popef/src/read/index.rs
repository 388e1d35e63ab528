//! What an opened file knows of its blobs: where each is, which are of a type, which has a name.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::OnceLock;

use super::blobs::Place;
use super::chunks::Chunks;
use crate::error::Problem;
use crate::types::BlobType;
use crate::wire::{Head, Info, Span};

/// The blobs of a file in its order, and by type.
#[derive(Default)]
pub(super) struct Index {
    blobs: Chunks<Entry>,
    /// Where the last blob ends.
    end: u64,
    by_type: [Vec<u32>; BlobType::ALL.len()],
    names: OnceLock<Names>,
}

/// Where a blob begins, and its head without the size: that is told by where the next one begins. The smallest blobs
/// have 24 bytes, and what is kept of each must not be out of proportion to that.
struct Entry {
    offset: u64,
    header_len: u32,
    len: u32,
    version: Span,
    info: Info,
}

impl Index {
    pub(super) fn push(&mut self, place: Place, head: Head) -> Result<(), Problem> {
        let index = u32::try_from(place.index).map_err(|_| Problem::TooManyBlobs)?;
        let Head { size, header_len, len, version, info } = head;
        self.blobs.push(Entry { offset: place.offset, header_len, len, version, info });
        self.end = place.offset.saturating_add(size);
        if let Some(list) = self.by_type.get_mut(usize::from(head.blob_type().number())) {
            list.push(index);
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.blobs.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<(Place, Head)> {
        let &Entry { offset, header_len, len, version, info } = self.blobs.get(index)?;
        let end = index.checked_add(1).and_then(|next| self.blobs.get(next)).map_or(self.end, |next| next.offset);
        let size = end.saturating_sub(offset);
        Some((Place { index, offset }, Head { size, header_len, len, version, info }))
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { index: self, range: 0..self.len() }
    }

    /// The indices of the blobs of a known type, in the file's order.
    pub(super) fn of_type(&self, blob_type: BlobType) -> &[u32] {
        self.by_type.get(usize::from(blob_type.number())).map_or(&[], Vec::as_slice)
    }

    /// The first blob of a type and name. `name_of` gives the name of the blob of an index.
    pub(super) fn named<'a>(&self, blob_type: BlobType, name: &[u8], name_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        let names = self.names.get_or_init(|| Names::of(self, &name_of));
        names.find(blob_type, name, |index| self.type_of(index) == Some(blob_type) && name_of(index) == name)
    }

    fn type_of(&self, index: u32) -> Option<BlobType> {
        Some(self.get(usize::try_from(index).ok()?)?.1.blob_type())
    }
}

/// The blobs of a file in its order.
pub(super) struct Iter<'i> {
    index: &'i Index,
    range: Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = (Place, Head);

    fn next(&mut self) -> Option<Self::Item> {
        self.index.get(self.range.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.index.get(self.range.next_back()?)
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Names by their hashes, made when the first name is looked up: most programs look up none, or many.
struct Names {
    hasher: RandomState,
    /// Sorted, so that of equal names the first in the file comes first.
    by_hash: Vec<(u64, u32)>,
}

impl Names {
    fn of<'a>(index: &Index, name_of: impl Fn(u32) -> &'a [u8]) -> Self {
        let hasher = RandomState::new();
        let hash = |number: u32, blob_type: BlobType| (hasher.hash_one((blob_type, name_of(number))), number);
        let named = [BlobType::PoplarExecutable, BlobType::DataTensor, BlobType::DataFeed, BlobType::Opaque];
        let count = named.iter().fold(0usize, |sum, &of| sum.saturating_add(index.of_type(of).len()));
        // Just as many: a list that grows would be held twice meanwhile.
        let mut by_hash = Vec::with_capacity(count);
        for blob_type in named {
            by_hash.extend(index.of_type(blob_type).iter().map(|&number| hash(number, blob_type)));
        }
        by_hash.sort_unstable();
        Names { hasher, by_hash }
    }

    fn find(&self, blob_type: BlobType, name: &[u8], is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = self.hasher.hash_one((blob_type, name));
        let start = self.by_hash.partition_point(|&(other, _)| other < hash);
        let same = self.by_hash.get(start..)?.iter().take_while(|&&(other, _)| other == hash);
        same.map(|&(_, index)| index).find(|&index| is_it(index))
    }
}
