use std::fmt;
use std::fs::Permissions;
use std::path::Path;
use std::sync::Arc;

use super::blob::{Blob, Texts};
use super::data::Data;
use super::index::{self, Index, Indexed, TextsIn};
use super::source::{Backing, FileId};
use crate::error::Error;
use crate::len::{as_usize, len_of};
use crate::limits::Limits;
use crate::types::BlobType;

/// An opened PopEF file. Opening reads and checks every header and info message, and touches no data.
///
/// There are three usual ways to open a file, with the same results:
///
/// - [`File::open`] reads in parts: headers and infos at once, and data on request. It is always safe, and takes little
///   memory for files of any size. If another program changes the file meanwhile, reading fails with
///   [`ErrorKind::Changed`](crate::error::ErrorKind::Changed).
/// - [`File::map`] maps the file, so that all data can be borrowed. It is `unsafe`, because others must not change the
///   file.
/// - [`File::from_bytes`] takes bytes that are already in memory.
///
/// Bytes that are elsewhere are read through [`OpenOptions::source`](crate::OpenOptions::source), or given to an
/// [`Indexer`](crate::read::Indexer).
///
/// ```
/// let file = popef::File::open("examples/data/executable.popef")?;
/// for tensor in file.tensors() {
///     println!("{}: {} {}", tensor.name(), tensor.data_type(), tensor.shape());
/// }
/// let weights = file.tensor("input_parameter").expect("the model has one");
/// assert_eq!(*weights.elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), popef::Error>(())
/// ```
///
/// A `File` is cheap to clone: all clones share what was read.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    content: Arc<Held>,
    index: Index,
    start: u64,
    limits: Limits,
    damage: Option<Error>,
}

/// Where the bytes of a file are.
pub(super) enum Held {
    /// In memory. A mapped file also has a source.
    Memory { bytes: Box<dyn AsRef<[u8]> + Send + Sync>, source: Option<Backing> },
    /// In a source that is read by position.
    InParts { source: Backing },
    /// Nowhere: only what headers and infos say was kept.
    Gone { size: u64 },
}

impl Held {
    /// All bytes, if they are anywhere.
    pub(super) fn all(&self) -> Option<Data<'_>> {
        match self {
            Held::Memory { bytes, .. } => Some(Data::in_memory((**bytes).as_ref())),
            Held::InParts { source } => Some(Data::in_source(source, 0, 0, source.size())),
            Held::Gone { .. } => None,
        }
    }

    /// The source of a file that is read in parts or mapped.
    pub(super) fn source(&self) -> Option<&Backing> {
        match self {
            Held::Memory { source, .. } => source.as_ref(),
            Held::InParts { source } => Some(source),
            Held::Gone { .. } => None,
        }
    }
}

impl File {
    pub(super) fn new(content: Arc<Held>, index: Index, start: u64, limits: Limits, damage: Option<Error>) -> Self {
        File(Arc::new(Inner { content, index, start, limits, damage }))
    }

    /// Returns the path by which the file was opened, or the name that its source gives, if any.
    pub fn path(&self) -> Option<&Path> {
        self.0.content.source().and_then(Backing::name)
    }

    /// Returns the identity of the file on disk. `None` if its bytes are elsewhere, or if the system cannot tell it.
    pub fn id(&self) -> Option<FileId> {
        self.0.content.source()?.local_file()?.id()
    }

    /// Returns the permissions of the file on disk. `None` if its bytes are elsewhere, or if the system cannot tell them.
    ///
    /// ```
    /// let path = "examples/data/executable.popef";
    /// let permissions = popef::File::open(path)?.permissions();
    /// assert_eq!(permissions, Some(std::fs::metadata(path)?.permissions()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn permissions(&self) -> Option<Permissions> {
        let file = self.0.content.source()?.local_file()?.handle();
        file.metadata().ok().map(|metadata| metadata.permissions())
    }

    /// Returns the size of the file in bytes. For a damaged file from a stream, only the blobs before the damage count.
    pub fn size(&self) -> u64 {
        match &*self.0.content {
            Held::Memory { bytes, .. } => len_of((**bytes).as_ref()),
            Held::InParts { source } => source.size(),
            Held::Gone { size } => *size,
        }
    }

    /// Returns the bytes before the first blob. Most files have none: see
    /// [`OpenOptions::after_pickle`](crate::OpenOptions::after_pickle).
    pub fn prefix(&self) -> Data<'_> {
        let len = self.0.start.min(self.size());
        match &*self.0.content {
            Held::Memory { bytes, .. } => Data::in_memory((**bytes).as_ref().get(..as_usize(len)).unwrap_or_default()),
            Held::InParts { source } => Data::in_source(source, 0, 0, len),
            Held::Gone { .. } => Data::gone(0, 0, len),
        }
    }

    /// Returns the end of the last complete blob. This is the file's size, unless the file is damaged.
    pub fn end(&self) -> u64 {
        self.0.index.end()
    }

    /// Returns the damage after the last blob, if the file was opened with [`OpenOptions::damaged`](crate::OpenOptions::damaged) and is damaged.
    pub fn damage(&self) -> Option<&Error> {
        self.0.damage.as_ref()
    }

    /// Fails if the file was changed since it was opened, as far as its source can tell.
    ///
    /// A file that is read in parts checks this each time that data is read.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let Some(source) = self.0.content.source() else { return Ok(()) };
        source.check_unchanged().map_err(|problem| Error::from(problem).in_file(source.name()))
    }

    /// Returns the number of blobs.
    pub fn len(&self) -> usize {
        self.0.index.len()
    }

    /// Returns whether there are no blobs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the blob at an index.
    pub fn blob(&self, index: usize) -> Option<Blob<'_>> {
        Some(self.blob_at(self.indexed(index)?))
    }

    pub(super) fn content(&self) -> &Arc<Held> {
        &self.0.content
    }

    /// Where the first blob begins.
    pub(super) fn start(&self) -> u64 {
        self.0.start
    }

    pub(super) fn limits(&self) -> Limits {
        self.0.limits
    }

    pub(super) fn places(&self) -> index::Iter<'_> {
        self.0.index.iter()
    }

    pub(super) fn indexed(&self, index: usize) -> Option<Indexed> {
        self.0.index.get(index)
    }

    /// The indices of the blobs of a known type, in file order.
    pub(crate) fn numbers_of(&self, blob_type: BlobType) -> &[u32] {
        self.0.index.of_type(blob_type)
    }

    /// Finds the first blob with a type and a name.
    pub(super) fn named(&self, blob_type: BlobType, name: &[u8]) -> Option<Blob<'_>> {
        let name_of = |index| self.name_bytes(index).unwrap_or_default();
        self.numbered(self.0.index.named(blob_type, name, name_of)?)
    }

    /// The blob at an index from [`numbers_of`](Self::numbers_of).
    pub(crate) fn numbered(&self, index: u32) -> Option<Blob<'_>> {
        self.blob(usize::try_from(index).ok()?)
    }

    fn name_bytes(&self, index: u32) -> Option<&[u8]> {
        let indexed = self.0.index.get(usize::try_from(index).ok()?)?;
        Some(indexed.head.name()?.of_head(self.texts(indexed, self.whole(indexed)).bytes()))
    }

    pub(super) fn blob_at(&self, indexed: Indexed) -> Blob<'_> {
        let Indexed { place, head, .. } = indexed;
        let whole = self.whole(indexed);
        Blob::new(place, head, self.texts(indexed, whole), whole, self.0.content.source(), self.0.limits)
    }

    fn texts<'f>(&'f self, Indexed { head, texts, .. }: Indexed, whole: Data<'f>) -> Texts<'f> {
        match texts {
            TextsIn::Alone(slot) => Texts::Copies(self.0.index.texts(slot)),
            TextsIn::Copy(slot) => Texts::Messages(head.of_blob(self.0.index.texts(slot))),
            TextsIn::File => Texts::Messages(head.of_blob(whole.as_slice().unwrap_or_default())),
        }
    }

    /// All bytes of a blob.
    fn whole(&self, Indexed { place, head, .. }: Indexed) -> Data<'_> {
        match &*self.0.content {
            Held::Memory { bytes, .. } => Data::in_memory(place.blob_in((**bytes).as_ref(), head)),
            Held::InParts { source } => Data::in_source(source, place.index, place.offset, head.size),
            Held::Gone { .. } => Data::gone(place.index, place.offset, head.size),
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path())
            .field("size", &self.size())
            .field("blobs", &self.len())
            .field("damage", &self.0.damage)
            .finish_non_exhaustive()
    }
}
