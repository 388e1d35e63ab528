use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::blob::{Blob, Content, MetadataBlob, OpaqueBlob};
use super::blobs::{Fetch, Place, Walk};
use super::data::Data;
use super::executable::ExecutableBlob;
use super::heads::Heads;
use super::index::Index;
use super::iter::{FileBlobs, TypedBlobs};
use super::source::{DiskFile, Stream, Window};
use super::tensor::{FeedBlob, TensorBlob};
use crate::error::{Error, Problem};
use crate::limits::Limits;
use crate::types::BlobType;
use crate::wire::Head;

/// An opened PopEF file: every header and info message was read and found right, no data was touched.
///
/// There are three ways in, with the same results:
///
/// - [`File::open`] reads in parts: headers and infos when it opens, data when it is asked for. Always safe; memory
///   stays small whatever the file's size. A file that somebody changes meanwhile is an error of its own kind.
/// - [`File::map`] maps the file, so that all data can be borrowed; `unsafe`, because others must not change it.
/// - [`File::from_bytes`] takes bytes that are already in memory.
///
/// ```
/// let file = popef::File::open("../testdata/interop/executable.popef")?;
/// for tensor in file.tensors() {
///     println!("{}: {} {}", tensor.name(), tensor.data_type(), tensor.shape());
/// }
/// let weights = file.tensor("input_parameter").expect("the model has one");
/// assert_eq!(*weights.elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), popef::Error>(())
/// ```
///
/// Cheap to clone: all clones share what was read.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    source: Source,
    index: Index,
    limits: Limits,
    damage: Option<Error>,
}

enum Source {
    /// In memory or mapped; the file on disk, if it is one.
    Memory {
        bytes: Bytes,
        disk: Option<DiskFile>,
    },
    Disk {
        disk: DiskFile,
        heads: Heads,
    },
    Stream {
        heads: Heads,
    },
}

type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

impl Source {
    /// The file on disk that it is, read in parts or mapped.
    fn disk(&self) -> Option<&DiskFile> {
        match self {
            Source::Memory { disk, .. } => disk.as_ref(),
            Source::Disk { disk, .. } => Some(disk),
            Source::Stream { .. } => None,
        }
    }
}

/// How to open a file: within which limits, and whether a damaged one.
///
/// ```
/// use popef::{File, OpenOptions};
///
/// let bytes = std::fs::read("../testdata/interop/executable.popef")?;
/// let cut = bytes[..bytes.len() - 1].to_vec();
/// assert!(File::from_bytes(cut.clone()).is_err());
///
/// let file = OpenOptions::new().damaged(true).bytes(cut)?;
/// assert_eq!(file.len(), 3);
/// assert_eq!(file.damage().and_then(|damage| damage.blob()), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    limits: Limits,
    damaged: bool,
}

impl OpenOptions {
    /// The usual limits; a damaged file is an error.
    pub fn new() -> Self {
        OpenOptions::default()
    }

    /// Reads within these limits.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Whether a damaged file opens too, with the blobs before the damage; [`File::damage`] tells of it.
    pub fn damaged(&mut self, accept: bool) -> &mut Self {
        self.damaged = accept;
        self
    }

    /// Opens a file and reads it in parts; see [`File::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        self.disk(DiskFile::open(path.as_ref())?)
    }

    /// Reads a file in parts that is open already.
    pub(crate) fn file(&self, file: std::fs::File, path: &Path) -> Result<File, Error> {
        self.disk(DiskFile::of(file, path)?)
    }

    fn disk(&self, disk: DiskFile) -> Result<File, Error> {
        let mut heads = Heads::default();
        let walked = self.index(&mut Window::new(&disk), |head| heads.push(head));
        // Damage that is seen in a file which changes meanwhile is no damage.
        disk.check_unchanged().map_err(|e| Error::from(e).in_file(Some(&disk.path)))?;
        self.assemble(walked, Source::Disk { disk, heads })
    }

    /// Opens a file whose bytes are in memory; see [`File::from_bytes`].
    pub fn bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        let walked = self.index_memory(bytes.as_ref());
        self.assemble(walked, Source::Memory { bytes: Box::new(bytes), disk: None })
    }

    /// Lists a file that comes from a stream, such as a pipe: headers and infos are kept, data is passed over, and
    /// asking for data is an error. Memory does not grow with the data. No buffer is needed around the stream.
    ///
    /// Damage is told as in all other ways in; what is wrong with a blob's info, once the end of the blob has come.
    pub fn stream(&self, stream: impl Read) -> Result<File, Error> {
        let mut heads = Heads::default();
        let walked = self.index(&mut Stream::new(stream), |head| heads.push(head));
        self.assemble(walked, Source::Stream { heads })
    }

    pub(super) fn mapping(
        &self,
        walked: (Index, Option<Error>),
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        disk: DiskFile,
    ) -> Result<File, Error> {
        self.assemble(walked, Source::Memory { bytes: Box::new(bytes), disk: Some(disk) })
    }

    pub(super) fn index_memory(&self, mut bytes: &[u8]) -> (Index, Option<Error>) {
        self.index(&mut bytes, |_| Ok(()))
    }

    /// Walks to the end or to the first error; `keep` is given each head's bytes.
    fn index(
        &self,
        from: &mut impl Fetch,
        mut keep: impl FnMut(&[u8]) -> Result<(), Problem>,
    ) -> (Index, Option<Error>) {
        let mut index = Index::default();
        let mut walk = Walk::default();
        while let Some(step) = walk.step(from, &self.limits, &mut keep) {
            let pushed = step.and_then(|(place, head)| Ok(index.push(place, head)?));
            if let Err(damage) = pushed {
                return (index, Some(damage));
            }
        }
        (index, None)
    }

    fn assemble(&self, (index, damage): (Index, Option<Error>), source: Source) -> Result<File, Error> {
        let damage = damage.map(|damage| damage.in_file(source.disk().map(|disk| &*disk.path)));
        match damage {
            Some(damage) if !self.damaged => Err(damage),
            // What could not be read is no damage: the rest may well be there.
            Some(failure) if !failure.is_about_the_file() => Err(failure),
            damage => Ok(File(Arc::new(Inner { source, index, limits: self.limits, damage }))),
        }
    }
}

impl File {
    /// Opens a file and reads it in parts, as they are asked for.
    pub fn open(path: impl AsRef<Path>) -> Result<File, Error> {
        OpenOptions::new().open(path)
    }

    /// Opens a file whose bytes are in memory: a `Vec<u8>`, a `&'static [u8]`, an `Arc<[u8]>`, ...
    ///
    /// For bytes that are only borrowed there is [`Blobs`](crate::Blobs).
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        OpenOptions::new().bytes(bytes)
    }

    /// Lists a file that comes from a stream; see [`OpenOptions::stream`].
    pub fn from_stream(stream: impl Read) -> Result<File, Error> {
        OpenOptions::new().stream(stream)
    }

    /// The path that it was opened by, if it was.
    pub fn path(&self) -> Option<&Path> {
        self.0.source.disk().map(|disk| &*disk.path)
    }

    /// All bytes of its blobs, and of the damage behind them where its size is known.
    pub fn size(&self) -> u64 {
        match &self.0.source {
            Source::Memory { bytes, .. } => super::blobs::len_of((**bytes).as_ref()),
            Source::Disk { disk, .. } => disk.len(),
            Source::Stream { .. } => self.end(),
        }
    }

    /// Where the last whole blob ends: the file's size, unless it is damaged.
    pub fn end(&self) -> u64 {
        let last = self.len().checked_sub(1).and_then(|last| self.0.index.get(last));
        last.map_or(0, |(place, head)| place.offset.saturating_add(head.size))
    }

    /// What is wrong behind the last blob, if it was opened with [`OpenOptions::damaged`].
    pub fn damage(&self) -> Option<&Error> {
        self.0.damage.as_ref()
    }

    /// Makes sure that the file on disk still looks as it did when it was opened.
    ///
    /// Files read in parts do so themselves each time that data is read.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        match &self.0.source {
            Source::Memory { disk: Some(disk), .. } | Source::Disk { disk, .. } => {
                disk.check_unchanged().map_err(|problem| Error::from(problem).in_file(Some(&disk.path)))
            }
            Source::Memory { disk: None, .. } | Source::Stream { .. } => Ok(()),
        }
    }

    /// How many blobs there are.
    pub fn len(&self) -> usize {
        self.0.index.len()
    }

    /// Whether there are no blobs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The blob of an index.
    pub fn blob(&self, index: usize) -> Option<Blob<'_>> {
        let (place, head) = self.place_of(index)?;
        Some(self.blob_at(place, head))
    }

    pub(super) fn place_of(&self, index: usize) -> Option<(Place, Head)> {
        self.0.index.get(index)
    }

    /// All blobs, in the file's order.
    pub fn blobs(&self) -> FileBlobs<'_> {
        FileBlobs { file: self, index: self.0.index.iter() }
    }

    /// The executables, in the file's order.
    pub fn executables(&self) -> TypedBlobs<'_, ExecutableBlob<'_>> {
        self.of_type(BlobType::PoplarExecutable, Content::into_executable)
    }

    /// The metadata blobs, in the file's order.
    pub fn metadata(&self) -> TypedBlobs<'_, MetadataBlob<'_>> {
        self.of_type(BlobType::Metadata, Content::into_metadata)
    }

    /// The tensors, in the file's order.
    pub fn tensors(&self) -> TypedBlobs<'_, TensorBlob<'_>> {
        self.of_type(BlobType::DataTensor, Content::into_tensor)
    }

    /// The feeds, in the file's order.
    pub fn feeds(&self) -> TypedBlobs<'_, FeedBlob<'_>> {
        self.of_type(BlobType::DataFeed, Content::into_feed)
    }

    /// The opaque blobs, in the file's order.
    pub fn opaques(&self) -> TypedBlobs<'_, OpaqueBlob<'_>> {
        self.of_type(BlobType::Opaque, Content::into_opaque)
    }

    /// The executable of a name; of several, the first.
    pub fn executable(&self, name: impl AsRef<[u8]>) -> Option<ExecutableBlob<'_>> {
        self.named(BlobType::PoplarExecutable, name.as_ref())?.as_executable()
    }

    /// The tensor of a name; of several, the first.
    pub fn tensor(&self, name: impl AsRef<[u8]>) -> Option<TensorBlob<'_>> {
        self.named(BlobType::DataTensor, name.as_ref())?.as_tensor()
    }

    /// The feed of a name; of several, the first.
    pub fn feed(&self, name: impl AsRef<[u8]>) -> Option<FeedBlob<'_>> {
        self.named(BlobType::DataFeed, name.as_ref())?.as_feed()
    }

    /// The opaque blob of a name; of several, the first.
    pub fn opaque(&self, name: impl AsRef<[u8]>) -> Option<OpaqueBlob<'_>> {
        self.named(BlobType::Opaque, name.as_ref())?.as_opaque()
    }

    fn of_type<'f, B>(&'f self, blob_type: BlobType, view: fn(Content<'f>) -> Option<B>) -> TypedBlobs<'f, B> {
        TypedBlobs { file: self, numbers: self.numbers_of(blob_type).iter(), view }
    }

    /// The indices of the blobs of a known type, in the file's order.
    pub(crate) fn numbers_of(&self, blob_type: BlobType) -> &[u32] {
        self.0.index.of_type(blob_type)
    }

    fn named(&self, blob_type: BlobType, name: &[u8]) -> Option<Blob<'_>> {
        let name_of = |index| self.name_bytes(index).unwrap_or_default();
        self.numbered(self.0.index.named(blob_type, name, name_of)?)
    }

    /// The blob of an index as [`numbers_of`](Self::numbers_of) gives it.
    pub(crate) fn numbered(&self, index: u32) -> Option<Blob<'_>> {
        self.blob(usize::try_from(index).ok()?)
    }

    fn name_bytes(&self, index: u32) -> Option<&[u8]> {
        let (place, head) = self.0.index.get(usize::try_from(index).ok()?)?;
        Some(head.name()?.of_head(self.head_bytes(place, head)))
    }

    pub(super) fn blob_at(&self, place: Place, head: Head) -> Blob<'_> {
        Blob::new(
            place,
            head,
            self.head_bytes(place, head),
            self.data(place, head),
            self.0.source.disk(),
            self.0.limits,
        )
    }

    fn head_bytes(&self, place: Place, head: Head) -> &[u8] {
        match &self.0.source {
            Source::Memory { bytes, .. } => place.head_in((**bytes).as_ref(), head),
            Source::Disk { heads, .. } | Source::Stream { heads } => head.of_blob(heads.get(place.index)),
        }
    }

    fn data(&self, place: Place, head: Head) -> Data<'_> {
        let offset = place.offset.saturating_add(head.len.into());
        match &self.0.source {
            Source::Memory { bytes, .. } => Data::in_memory(place.data_in((**bytes).as_ref(), head)),
            Source::Disk { disk, .. } => Data::on_disk(disk, place.index, offset, head.data_len()),
            Source::Stream { .. } => Data::gone(place.index, offset, head.data_len()),
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

impl<'f> IntoIterator for &'f File {
    type Item = Blob<'f>;
    type IntoIter = FileBlobs<'f>;

    fn into_iter(self) -> FileBlobs<'f> {
        self.blobs()
    }
}
