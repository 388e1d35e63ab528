use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};

use super::frameworks::Frameworks;
use super::marks::Marks;
use super::policy::Policy;
use super::tiles::Tiles;
use popef::error::Error;
use popef::model::{Linked, Model};
use popef::read::{Blob, DataBlob, ExecutableBlob, File, MetadataBlob, OpaqueBlob};
use popef::seam::{BlobId, Key};
use popef::seam::{Links, numbers_of};
use popef::types::{TensorType, Text};
use popef_payload::Framework;

/// The files of one check, and what several rules need.
pub(super) struct Set {
    pub(super) links: Links,
    /// The files that could not be opened because they are damaged.
    pub(super) damaged: Vec<(usize, Error)>,
    /// Files that were given again, which are not in `links`, by the number of the first.
    pub(super) again: BTreeMap<usize, Vec<File>>,
    pub(super) policy: Policy,
    /// How anchors use the data. Known after the pass over all blobs.
    pub(super) uses: Uses,
    /// The tiles of executables. Complete after the pass over all blobs.
    pub(super) tiles: Tiles,
    /// A cache for feeds with many dimensions of how many numbers they have, because many anchors can refer to one feed.
    pub(super) numbers: RefCell<HashMap<BlobId, Option<u64>>>,
    /// Which executables have opaque blobs of frameworks, once a rule has asked. `None` without enough memory.
    pub(super) frameworks: OnceCell<Option<Frameworks>>,
    /// Whether all blobs of all files are known and could be read. If not, something that is not found may still exist.
    /// Final after the pass over all blobs.
    pub(super) complete: bool,
}

/// Which tensors and feeds have anchors. The first blob with a name represents all with that name.
#[derive(Default)]
pub(super) struct Uses {
    named: Marks,
    /// The data with an anchor that is not an output.
    other_than_output: Marks,
}

impl Uses {
    /// Adds the anchors of a model. `None` if there is not enough memory.
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

    /// Returns whether an anchor has the name of this blob, which is the first with its name.
    pub(super) fn is_named(&self, first: BlobId) -> bool {
        self.named.has(first)
    }

    /// Returns whether only outputs have the name of this blob, which is the first with its name.
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

    /// Whether any file has data of PopTorch's, in an opaque blob or before the first blob.
    pub(super) fn has_poptorch(&self) -> bool {
        self.opaques().any(|opaque| Framework::of_blob(&opaque) == Some(Framework::Poptorch))
            || self.files().iter().any(|file| !file.prefix().is_empty())
    }

    fn each<'s, B, I: Iterator<Item = B>>(&'s self, blobs: impl Fn(&'s File) -> I) -> impl Iterator<Item = Linked<B>> {
        let numbered = self.files().iter().enumerate();
        numbered.flat_map(move |(file, opened)| blobs(opened).map(move |blob| Linked::new(file, blob)))
    }

    /// Returns how many numbers the tensors of a feed have together. `None` if 64 bits cannot count them.
    pub(super) fn numbers_of(&self, feed: &Linked<DataBlob<'_>>) -> Option<u64> {
        const MANY_DIMENSIONS: usize = 64;
        if feed.shape().len() < MANY_DIMENSIONS {
            return numbers_of(feed);
        }
        let id = id_of(&Linked::new(feed.file, *feed.blob.blob()));
        let mut known = self.numbers.borrow_mut();
        if let Some(&numbers) = known.get(&id) {
            return numbers;
        }
        let numbers = numbers_of(feed);
        // If there is not enough memory for the cache, the numbers are counted each time.
        if known.try_reserve(1).is_ok() {
            known.insert(id, numbers);
        }
        numbers
    }

    /// Returns whether an executable has an opaque blob of a framework. `None` if there is not enough memory to tell.
    pub(super) fn has_opaque(&self, framework: Framework, executable: &Text<'_>) -> Option<bool> {
        let found = self.frameworks.get_or_init(|| Frameworks::of(self.opaques().map(|opaque| opaque.blob)));
        found.as_ref().map(|found| found.has(framework, executable))
    }

    /// Returns the first opaque blob of a framework for the model's executable. `None` for all but the first metadata of an
    /// executable, so that each blob is read for one metadata only.
    pub(super) fn payload_of(&self, model: &Model, framework: Framework) -> Option<Linked<OpaqueBlob<'_>>> {
        let Linked { file, blob, .. } = model.metadata_blob();
        let executable = model.metadata().executable.as_bytes();
        let own = BlobId::of(file, blob.blob().index());
        if self.links.first(Key::METADATA_OF, executable) != Some(own) {
            return None;
        }
        let blobs = self.links.all(Key::OPAQUE_OF, executable).filter_map(|id| self.linked(id));
        let mut opaques = blobs.filter_map(|linked| Some(Linked::new(linked.file, linked.blob.as_opaque()?)));
        opaques.find(|opaque| Framework::of_blob(&opaque.blob) == Some(framework))
    }

    pub(super) fn linked(&self, id: BlobId) -> Option<Linked<Blob<'_>>> {
        Some(Linked::new(usize::try_from(id.file).ok()?, self.links.blob(id)?))
    }

    /// Returns the first blob with the key and name of this one, if that is another blob.
    pub(super) fn earlier(&self, key: Key, blob: &Linked<Blob<'_>>) -> Option<Linked<Blob<'_>>> {
        let first = self.links.first(key, blob.named_by(key)?)?;
        self.linked(first).filter(|_| first != id_of(blob))
    }
}

/// Returns the id of a blob.
pub(super) fn id_of(blob: &Linked<Blob<'_>>) -> BlobId {
    BlobId::of(blob.file, blob.index())
}
