use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::marks::Marks;
use super::policy::Policy;
use crate::error::Error;
use crate::model::{Linked, Links, Model, numbers_of};
use crate::read::{Blob, BlobId, DataBlob, ExecutableBlob, File, Key, MetadataBlob, OpaqueBlob};
use crate::types::TensorType;

/// The files of one check, and what more than one rule needs of them.
pub(super) struct Set {
    pub(super) links: Links,
    /// What could not be opened because it is damaged.
    pub(super) damaged: Vec<(usize, Error)>,
    /// The numbers of the files that were given again. They are none of the files.
    pub(super) again: Range<usize>,
    pub(super) policy: Policy,
    /// How anchors use the data. Complete after the pass over all blobs.
    pub(super) uses: Uses,
    /// How many numbers feeds of many dimensions have: many anchors can have the name of one.
    pub(super) numbers: RefCell<HashMap<BlobId, Option<u64>>>,
    /// Whether all blobs of all files are known and could be read. If not, what is missing may only be out of sight.
    /// Known after the pass over all blobs.
    pub(super) complete: bool,
}

/// By which anchors tensors and feeds are named. The first blob of a name stands for all of that name.
#[derive(Default)]
pub(super) struct Uses {
    named: Marks,
    /// Named by an anchor that is no output.
    other_than_output: Marks,
}

impl Uses {
    /// Takes the anchors of a model in; none if there is no memory for that.
    pub(super) fn add(&mut self, links: &Links, model: &Model) -> Option<()> {
        for anchor in &model.metadata().anchors {
            let name = anchor.name.as_bytes();
            for first in [Key::TENSOR, Key::FEED].into_iter().filter_map(|key| links.first(key, name)) {
                self.named.mark(links.files(), first)?;
                if anchor.tensor_type != TensorType::Output {
                    self.other_than_output.mark(links.files(), first)?;
                }
            }
        }
        Some(())
    }

    /// Whether an anchor has the name of this blob, which is the first of its name.
    pub(super) fn is_named(&self, first: BlobId) -> bool {
        self.named.has(first)
    }

    /// Whether only outputs have the name of this blob, which is the first of its name.
    pub(super) fn is_only_output(&self, first: BlobId) -> bool {
        self.named.has(first) && !self.other_than_output.has(first)
    }
}

impl Set {
    pub(super) fn files(&self) -> &[File] {
        self.links.files()
    }

    pub(super) fn blobs(&self) -> impl Iterator<Item = Linked<Blob<'_>>> {
        self.each(File::blobs)
    }

    pub(super) fn executables(&self) -> impl Iterator<Item = Linked<ExecutableBlob<'_>>> {
        self.each(File::executables)
    }

    pub(super) fn metadata(&self) -> impl Iterator<Item = Linked<MetadataBlob<'_>>> {
        self.each(File::metadata)
    }

    pub(super) fn opaques(&self) -> impl Iterator<Item = Linked<OpaqueBlob<'_>>> {
        self.each(File::opaques)
    }

    fn each<'s, B, I: Iterator<Item = B>>(&'s self, blobs: impl Fn(&'s File) -> I) -> impl Iterator<Item = Linked<B>> {
        let numbered = self.files().iter().enumerate();
        numbered.flat_map(move |(file, opened)| blobs(opened).map(move |blob| Linked { file, blob }))
    }

    /// How many numbers the tensors of a feed have together, if 64 bits can count them.
    pub(super) fn numbers_of(&self, feed: &Linked<DataBlob<'_>>) -> Option<u64> {
        const MANY_DIMENSIONS: usize = 64;
        if feed.shape().len() < MANY_DIMENSIONS {
            return numbers_of(feed);
        }
        let id = id_of(&Linked { file: feed.file, blob: *feed.blob.blob() });
        let mut known = self.numbers.borrow_mut();
        if let Some(&numbers) = known.get(&id) {
            return numbers;
        }
        let numbers = numbers_of(feed);
        // Without memory it is counted each time.
        if known.try_reserve(1).is_ok() {
            known.insert(id, numbers);
        }
        numbers
    }

    pub(super) fn linked(&self, id: BlobId) -> Option<Linked<Blob<'_>>> {
        Some(Linked { file: usize::try_from(id.file).ok()?, blob: self.links.blob(id)? })
    }

    /// The first blob that a key finds by the name of this one, if that is another.
    pub(super) fn earlier(&self, key: Key, blob: &Linked<Blob<'_>>) -> Option<Linked<Blob<'_>>> {
        let first = self.links.first(key, blob.named_by(key)?)?;
        self.linked(first).filter(|_| first != id_of(blob))
    }
}

/// There are fewer files, and fewer blobs in each, than 32 bits can number.
pub(super) fn id_of(blob: &Linked<Blob<'_>>) -> BlobId {
    let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    BlobId { file: short(blob.file), blob: short(blob.index()) }
}
