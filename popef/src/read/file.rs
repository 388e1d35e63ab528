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
/// Bytes that are elsewhere are read through [`OpenOptions::source`], or given to an
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
    content: Held,
    index: Index,
    limits: Limits,
    damage: Option<Error>,
}

/// Where the bytes of a file are.
enum Held {
    /// In memory. A mapped file also has a source.
    Memory { bytes: Box<dyn AsRef<[u8]> + Send + Sync>, source: Option<Backing> },
    /// In a source that is read by position.
    InParts { source: Backing, heads: Heads },
    /// Nowhere: only headers and infos were kept.
    Gone { heads: Heads, size: u64 },
}

impl Held {
    /// The source of a file that is read in parts or mapped.
    fn source(&self) -> Option<&Backing> {
        match self {
            Held::Memory { source, .. } => source.as_ref(),
            Held::InParts { source, .. } => Some(source),
            Held::Gone { .. } => None,
        }
    }
}

/// Options for opening a file: the limits, whether to accept a damaged file, and how far to read ahead.
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
    /// Returns the default options: default limits, and an error for a damaged file.
    pub fn new() -> Self {
        OpenOptions::default()
    }

    /// Sets the limits.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Sets whether a damaged file opens, with the blobs before the damage. [`File::damage`] then has the error.
    pub fn damaged(&mut self, accept: bool) -> &mut Self {
        self.damaged = accept;
        self
    }

    /// Sets how many bytes are read at a time while the headers are walked: `least` if headers are far apart, and up to
    /// `most` if they are close together. These bytes are held in memory.
    ///
    /// The defaults are 4 and 32 KiB for a file on disk, and 64 and 256 KiB for other sources, where another request
    /// takes longer than more bytes.
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

    /// Opens a file and reads it in parts, as [`File::open`] does.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        self.source(LocalFile::open(path)?)
    }

    /// Reads a file in parts from an open handle, for example of a file in memory (`memfd`). The handle's position does
    /// not matter. Use [`LocalFile::of`] to give the file a name.
    pub fn file(&self, file: std::fs::File) -> Result<File, Error> {
        self.source(LocalFile::of(file, None)?)
    }

    /// Opens a file from any source that can be read by position, and reads it in parts.
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

    /// Opens a file whose bytes are in memory, as [`File::from_bytes`] does.
    pub fn bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        let listing = self.list_memory(bytes.as_ref());
        self.assemble(listing, Held::Memory { bytes: Box::new(bytes), source: None })
    }

    /// Lists a file that comes from a stream, such as a pipe. Headers and infos are kept, data is skipped, and
    /// requesting data is an error. Memory does not grow with the data. The stream needs no buffer around it.
    ///
    /// Damage gives the same errors as in the other ways to open a file. An error in a blob's info is reported after
    /// the end of the blob has arrived.
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
            // A failure to read is not damage: the rest of the file may be undamaged.
            Some(failure) if !failure.is_about_the_file() => Err(failure),
            damage => Ok(File(Arc::new(Inner { content, index, limits: self.limits, damage }))),
        }
    }
}

impl File {
    /// Opens a file and reads it in parts: headers and infos at once, and data on request.
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
    /// For borrowed bytes, use [`Blobs`](crate::read::Blobs).
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

    /// Lists a file that comes from a stream, as [`OpenOptions::stream`] does.
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

    /// Returns the path by which the file was opened, or the name that its source gives, if any.
    pub fn path(&self) -> Option<&Path> {
        self.0.content.source().and_then(Backing::name)
    }

    /// Returns the size of the file in bytes. For a damaged file from a stream, only the blobs before the damage count.
    pub fn size(&self) -> u64 {
        match &self.0.content {
            Held::Memory { bytes, .. } => len_of((**bytes).as_ref()),
            Held::InParts { source, .. } => source.size(),
            Held::Gone { size, .. } => *size,
        }
    }

    /// Returns the end of the last complete blob. This is the file's size, unless the file is damaged.
    pub fn end(&self) -> u64 {
        self.0.index.end()
    }

    /// Returns the damage after the last blob, if the file was opened with [`OpenOptions::damaged`] and is damaged.
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
        let (place, head) = self.place_of(index)?;
        Some(self.blob_at(place, head))
    }

    pub(super) fn place_of(&self, index: usize) -> Option<(Place, Head)> {
        self.0.index.get(index)
    }

    /// Iterates over all blobs, in file order.
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

    /// Iterates over the executables, in file order.
    pub fn executables(&self) -> TypedBlobs<'_, ExecutableBlob<'_>> {
        self.of_type(BlobType::PoplarExecutable, Content::into_executable)
    }

    /// Iterates over the metadata blobs, in file order.
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

    /// Iterates over the tensors, in file order.
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

    /// Iterates over the feeds, in file order.
    pub fn feeds(&self) -> TypedBlobs<'_, FeedBlob<'_>> {
        self.of_type(BlobType::DataFeed, Content::into_feed)
    }

    /// Iterates over the opaque blobs, in file order.
    pub fn opaques(&self) -> TypedBlobs<'_, OpaqueBlob<'_>> {
        self.of_type(BlobType::Opaque, Content::into_opaque)
    }

    /// Finds the first executable with a name.
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

    /// Finds the first tensor with a name.
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

    /// Finds the first feed with a name.
    pub fn feed(&self, name: impl AsRef<[u8]>) -> Option<FeedBlob<'_>> {
        self.named(BlobType::DataFeed, name.as_ref())?.as_feed()
    }

    /// Finds the first opaque blob with a name.
    pub fn opaque(&self, name: impl AsRef<[u8]>) -> Option<OpaqueBlob<'_>> {
        self.named(BlobType::Opaque, name.as_ref())?.as_opaque()
    }

    fn of_type<'f, B>(&'f self, blob_type: BlobType, view: fn(Content<'f>) -> Option<B>) -> TypedBlobs<'f, B> {
        TypedBlobs { file: self, numbers: self.numbers_of(blob_type).iter(), view }
    }

    /// The indices of the blobs of a known type, in file order.
    pub(crate) fn numbers_of(&self, blob_type: BlobType) -> &[u32] {
        self.0.index.of_type(blob_type)
    }

    fn named(&self, blob_type: BlobType, name: &[u8]) -> Option<Blob<'_>> {
        let name_of = |index| self.name_bytes(index).unwrap_or_default();
        self.numbered(self.0.index.named(blob_type, name, name_of)?)
    }

    /// The blob at an index from [`numbers_of`](Self::numbers_of).
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
