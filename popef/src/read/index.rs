//! What an opened file knows of its blobs: where each is, which are of a type, which has a name.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::blobs::Place;
use crate::error::Problem;
use crate::types::BlobType;
use crate::wire::Head;

/// The blobs of a file in its order, and by type.
#[derive(Default)]
pub(super) struct Index {
    blobs: Vec<(u64, Head)>,
    by_type: [Vec<u32>; BlobType::ALL.len()],
    names: OnceLock<Names>,
}

impl Index {
    pub(super) fn push(&mut self, place: Place, head: Head) -> Result<(), Problem> {
        let index = u32::try_from(place.index).map_err(|_| Problem::TooManyBlobs)?;
        self.blobs.push((place.offset, head));
        if let Some(list) = self.by_type.get_mut(usize::from(head.blob_type().number())) {
            list.push(index);
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.blobs.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<(Place, Head)> {
        let &(offset, head) = self.blobs.get(index)?;
        Some((Place { index, offset }, head))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (Place, Head)> + ExactSizeIterator {
        let numbered = self.blobs.iter().enumerate();
        numbered.map(|(index, &(offset, head))| (Place { index, offset }, head))
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
        Some(self.blobs.get(usize::try_from(index).ok()?)?.1.blob_type())
    }
}

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
        let mut by_hash: Vec<(u64, u32)> = named
            .into_iter()
            .flat_map(|blob_type| index.of_type(blob_type).iter().map(move |&number| (number, blob_type)))
            .map(|(number, blob_type)| hash(number, blob_type))
            .collect();
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
