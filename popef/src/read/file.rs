use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::blob::{Blob, Content, MetadataBlob, OpaqueBlob};
use super::data::Data;
use super::executable::ExecutableBlob;
use super::heads::Heads;
use super::index::Index;
use super::indexer::{Indexer, Listing};
use super::iter::{FileBlobs, TypedBlobs};
use super::source::{Backing, LocalFile, ReadAhead, ReadAt, Stream};
use super::tensor::{FeedBlob, TensorBlob};
use super::walk::Place;
use crate::error::Error;
use crate::len::len_of;
use crate::limits::Limits;
use crate::types::BlobType;
use crate::wire::Head;

/// An opened PopEF file: every header and info message was read and found right, no data was touched.
///
/// There are three usual ways in, with the same results:
///
/// - [`File::open`] reads in parts: headers and infos when it opens, data when it is asked for. Always safe; memory
///   stays small whatever the file's size. A file that somebody changes meanwhile is an error of its own kind.
/// - [`File::map`] maps the file, so that all data can be borrowed; `unsafe`, because others must not change it.
/// - [`File::from_bytes`] takes bytes that are already in memory.
///
/// Bytes that lie elsewhere are read through [`OpenOptions::source`], or indexed by an
/// [`Indexer`](crate::read::Indexer) that is given them.
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
/// Cheap to clone: all clones share what was read.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    content: Held,
    index: Index,
    limits: Limits,
    damage: Option<Error>,
}

/// Where the bytes of a file are.
enum Held {
    /// In memory; the file itself, if it is mapped.
    Memory { bytes: Box<dyn AsRef<[u8]> + Send + Sync>, source: Option<Backing> },
    /// Where they can be read by position.
    InParts { source: Backing, heads: Heads },
    /// Gone, but for the headers and infos.
    Gone { heads: Heads, size: u64 },
}

impl Held {
    /// What it is read from, in parts or by mapping it.
    fn source(&self) -> Option<&Backing> {
        match self {
            Held::Memory { source, .. } => source.as_ref(),
            Held::InParts { source, .. } => Some(source),
            Held::Gone { .. } => None,
        }
    }
}

/// How to open a file: within which limits, whether a damaged one, and how far to read ahead.
///
/// ```
/// use popef::{File, OpenOptions};
///
/// let bytes = std::fs::read("examples/data/executable.popef")?;
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
    pub(super) limits: Limits,
    damaged: bool,
    pub(super) read_ahead: Option<ReadAhead>,
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

    /// How many bytes are read at a time while the headers are walked: `least` where blobs lie far apart, up to `most`
    /// where they lie dense. As many are held in memory.
    ///
    /// Without it, these are 4 and 32 KiB for a file on disk. For other sources they are 64 and 256 KiB, because one
    /// request more takes longer there than some bytes more.
    ///
    /// ```
    /// # struct Bucket(Vec<u8>, std::sync::atomic::AtomicUsize);
    /// # impl popef::read::ReadAt for &'static Bucket {
    /// #     fn size(&self) -> u64 { self.0.len() as u64 }
    /// #     fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
    /// #         self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    /// #         buf.copy_from_slice(&self.0[offset as usize..][..buf.len()]);
    /// #         Ok(())
    /// #     }
    /// # }
    /// # let bytes = std::fs::read("examples/data/executable.popef")?;
    /// # let bucket: &'static Bucket = Box::leak(Box::new(Bucket(bytes, 0.into())));
    /// let file = popef::OpenOptions::new().read_ahead(1 << 20, 1 << 20).source(bucket)?;
    /// # assert_eq!(bucket.1.load(std::sync::atomic::Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_ahead(&mut self, least: u64, most: u64) -> &mut Self {
        self.read_ahead = Some(ReadAhead { least, most: most.max(least) });
        self
    }

    /// Opens a file and reads it in parts; see [`File::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        self.source(LocalFile::open(path)?)
    }

    /// Opens a file that is open already, such as one in memory (`memfd`), and reads it in parts. The position in it
    /// does not matter. [`LocalFile::of`] gives it a name.
    pub fn file(&self, file: std::fs::File) -> Result<File, Error> {
        self.source(LocalFile::of(file, None)?)
    }

    /// Opens a file whose bytes can be read by position, wherever they lie, and reads it in parts.
    pub fn source(&self, source: impl ReadAt + 'static) -> Result<File, Error> {
        let usual = if source.local_file().is_some() { ReadAhead::LOCAL } else { ReadAhead::REMOTE };
        let source = Backing::of(source);
        let mut indexer = Indexer::new(*self, source.size(), self.read_ahead.unwrap_or(usual));
        while let Some(range) = indexer.wants() {
            let gap = indexer.gap();
            let count = gap.len();
            match source.fill(gap, range.start) {
                Ok(()) => indexer.came(count),
                Err(problem) => indexer.fail(problem),
            }
        }
        indexer.finish_in(source)
    }

    /// Opens a file whose bytes are in memory; see [`File::from_bytes`].
    pub fn bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        let listing = self.list_memory(bytes.as_ref());
        self.assemble(listing, Held::Memory { bytes: Box::new(bytes), source: None })
    }

    /// Lists a file that comes from a stream, such as a pipe: headers and infos are kept, data is passed over, and
    /// asking for data is an error. Memory does not grow with the data. No buffer is needed around the stream.
    ///
    /// Damage is told as in all other ways in; what is wrong with a blob's info, once the end of the blob has come.
    pub fn stream(&self, stream: impl Read) -> Result<File, Error> {
        let mut heads = Heads::default();
        let mut listing = Listing::default();
        listing.walk_on(&mut Stream::new(stream), &self.limits, |head| heads.push(head));
        let size = listing.index.end();
        self.assemble(listing, Held::Gone { heads, size })
    }

    pub(super) fn mapping(
        &self,
        listing: Listing,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        file: LocalFile,
    ) -> Result<File, Error> {
        self.assemble(listing, Held::Memory { bytes: Box::new(bytes), source: Some(Backing::of(file)) })
    }

    pub(super) fn list_memory(&self, mut bytes: &[u8]) -> Listing {
        let mut listing = Listing::default();
        listing.walk_on(&mut bytes, &self.limits, |_| Ok(()));
        listing
    }

    pub(super) fn in_parts(&self, listing: Listing, heads: Heads, source: Backing) -> Result<File, Error> {
        self.assemble(listing, Held::InParts { source, heads })
    }

    pub(super) fn listed(&self, listing: Listing, heads: Heads, size: u64) -> Result<File, Error> {
        self.assemble(listing, Held::Gone { heads, size })
    }

    fn assemble(&self, Listing { index, damage, .. }: Listing, content: Held) -> Result<File, Error> {
        let damage = damage.map(|damage| damage.in_file(content.source().and_then(Backing::name)));
        match damage {
            Some(damage) if !self.damaged => Err(damage),
            // What could not be read is no damage: the rest may well be there.
            Some(failure) if !failure.is_about_the_file() => Err(failure),
            damage => Ok(File(Arc::new(Inner { content, index, limits: self.limits, damage }))),
        }
    }
}

impl File {
    /// Opens a file and reads it in parts, as they are asked for.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// assert_eq!((file.len(), file.size()), (4, 66858));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<File, Error> {
        OpenOptions::new().open(path)
    }

    /// Opens a file whose bytes are in memory: a `Vec<u8>`, a `&'static [u8]`, an `Arc<[u8]>`, ...
    ///
    /// For bytes that are only borrowed there is [`Blobs`](crate::read::Blobs).
    ///
    /// ```
    /// let bytes = std::fs::read("examples/data/executable.popef")?;
    /// let file = popef::File::from_bytes(bytes)?;
    /// assert_eq!(file.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        OpenOptions::new().bytes(bytes)
    }

    /// Lists a file that comes from a stream; see [`OpenOptions::stream`].
    ///
    /// ```
    /// let stream = std::fs::File::open("examples/data/executable.popef")?;
    /// let file = popef::File::from_stream(stream)?;
    /// assert_eq!(file.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_stream(stream: impl Read) -> Result<File, Error> {
        OpenOptions::new().stream(stream)
    }

    /// The path that it was opened by, or what its source calls itself, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.0.content.source().and_then(Backing::name)
    }

    /// All bytes of its blobs, and of the damage behind them where its size is known.
    pub fn size(&self) -> u64 {
        match &self.0.content {
            Held::Memory { bytes, .. } => len_of((**bytes).as_ref()),
            Held::InParts { source, .. } => source.size(),
            Held::Gone { size, .. } => *size,
        }
    }

    /// Where the last whole blob ends: the file's size, unless it is damaged.
    pub fn end(&self) -> u64 {
        self.0.index.end()
    }

    /// What is wrong behind the last blob, if it was opened with [`OpenOptions::damaged`].
    pub fn damage(&self) -> Option<&Error> {
        self.0.damage.as_ref()
    }

    /// Makes sure that the file still looks as it did when it was opened, if it was read from somewhere.
    ///
    /// Files read in parts do so themselves each time that data is read.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let Some(source) = self.0.content.source() else { return Ok(()) };
        source.check_unchanged().map_err(|problem| Error::from(problem).in_file(source.name()))
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
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let types: Vec<_> = file.blobs().map(|blob| blob.blob_type().to_string()).collect();
    /// assert_eq!(types, ["opaque", "metadata", "poplarExecutable", "dataTensor"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn blobs(&self) -> FileBlobs<'_> {
        FileBlobs { file: self, index: self.0.index.iter() }
    }

    /// The executables, in the file's order.
    pub fn executables(&self) -> TypedBlobs<'_, ExecutableBlob<'_>> {
        self.of_type(BlobType::PoplarExecutable, Content::into_executable)
    }

    /// The metadata blobs, in the file's order.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// for metadata in file.metadata() {
    ///     println!("how to run {}", metadata.executable());
    /// }
    /// assert_eq!(file.metadata().len(), 1);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn metadata(&self) -> TypedBlobs<'_, MetadataBlob<'_>> {
        self.of_type(BlobType::Metadata, Content::into_metadata)
    }

    /// The tensors, in the file's order.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/all-types.popef")?;
    /// let bytes: u64 = file.tensors().map(|tensor| tensor.data().len()).sum();
    /// assert_eq!((file.tensors().len(), bytes), (17, 280));
    /// # Ok::<(), popef::Error>(())
    /// ```
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
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/compressed-zlib.popef")?;
    /// let executable = file.executable("z").expect("the file has it");
    /// assert_eq!((executable.data().len(), executable.uncompressed_size()), (52, 15008));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn executable(&self, name: impl AsRef<[u8]>) -> Option<ExecutableBlob<'_>> {
        self.named(BlobType::PoplarExecutable, name.as_ref())?.as_executable()
    }

    /// The tensor of a name; of several, the first.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has this weight");
    /// assert_eq!(weights.shape(), [2]);
    /// assert!(file.tensor("another name").is_none());
    /// # Ok::<(), popef::Error>(())
    /// ```
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
            self.0.content.source(),
            self.0.limits,
        )
    }

    fn head_bytes(&self, place: Place, head: Head) -> &[u8] {
        match &self.0.content {
            Held::Memory { bytes, .. } => place.head_in((**bytes).as_ref(), head),
            Held::InParts { heads, .. } | Held::Gone { heads, .. } => head.of_blob(heads.get(place.index)),
        }
    }

    fn data(&self, place: Place, head: Head) -> Data<'_> {
        let offset = place.offset.saturating_add(head.len.into());
        match &self.0.content {
            Held::Memory { bytes, .. } => Data::in_memory(place.data_in((**bytes).as_ref(), head)),
            Held::InParts { source, .. } => Data::in_source(source, place.index, offset, head.data_len()),
            Held::Gone { .. } => Data::gone(place.index, offset, head.data_len()),
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
