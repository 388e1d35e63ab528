use std::fmt;
use std::io;
use std::path::Path;

use super::data::{Data, InSource};
use super::executable::ExecutableBlob;
use super::names::Key;
use super::source::Backing;
use super::tensor::{DataBlob, FeedBlob, TensorBlob};
use super::walk::Place;
use crate::error::{Error, Problem};
use crate::limits::Limits;
use crate::types::{BlobType, Metadata, OpaqueInfo, Text};
use crate::wire::{self, Head, Info, Span};

/// One blob of a file: its header, its info and the place of its data. A `Blob` is cheap to copy, and getting one reads
/// no data.
#[derive(Clone, Copy)]
pub struct Blob<'a> {
    place: Place,
    pub(super) head: Head,
    /// The header and info messages.
    bytes: &'a [u8],
    data: Data<'a>,
    /// The source of the file. A mapped file has one too.
    source: Option<&'a Backing>,
    limits: Limits,
}

impl<'a> Blob<'a> {
    pub(super) fn new(
        place: Place,
        head: Head,
        bytes: &'a [u8],
        data: Data<'a>,
        source: Option<&'a Backing>,
        limits: Limits,
    ) -> Self {
        Blob { place, head, bytes, data, source, limits }
    }

    /// Returns the blob's number in the file, counted from 0.
    pub fn index(&self) -> usize {
        self.place.index
    }

    /// Returns the offset of the blob in the file.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Returns the size of the blob in bytes: header, info and data.
    pub fn size(&self) -> u64 {
        self.head.size
    }

    /// Returns the version of the format that the blob was written for. Empty in most files.
    pub fn version(&self) -> Text<'a> {
        self.text(self.head.version)
    }

    /// Returns the type of the blob.
    pub fn blob_type(&self) -> BlobType {
        self.head.blob_type()
    }

    /// Returns the blob's name. Executables, tensors, feeds and opaque blobs have one.
    pub fn name(&self) -> Option<Text<'a>> {
        self.head.name().map(|name| self.text(name))
    }

    /// Returns the name by which a key finds the blob, if it does.
    pub(crate) fn named_by(&self, key: Key) -> Option<&'a [u8]> {
        if key.blob_type() != self.blob_type() {
            return None;
        }
        match (key, self.head.info) {
            (Key::Name(_), _) => self.head.name().map(|name| self.span(name)),
            (Key::Executable(_), Info::Metadata { executable, .. } | Info::Opaque { executable, .. }) => {
                Some(self.span(executable))
            }
            (Key::Executable(_), _) => None,
        }
    }

    /// Returns the bytes of the header message, as they are in the file.
    pub fn header_bytes(&self) -> &'a [u8] {
        self.split_head().0
    }

    /// Returns the bytes of the info message, as they are in the file. Empty for an unknown blob type.
    pub fn info_bytes(&self) -> &'a [u8] {
        self.split_head().1
    }

    /// Returns the offset of the data in the file.
    pub fn data_offset(&self) -> u64 {
        self.offset().saturating_add(self.head.len.into())
    }

    /// Returns the data: everything after header and info. For an unknown blob type, everything after the header.
    pub fn data(&self) -> Data<'a> {
        self.data
    }

    /// Returns the place of the data in the file's source. A mapped file has a source too.
    pub(crate) fn in_source(&self) -> Option<InSource<'a>> {
        Some(InSource::new(self.source?, self.index(), self.data_offset()))
    }

    /// Returns whether the files of both blobs are read from the same source.
    pub(crate) fn is_in_source_of(&self, other: &Blob<'_>) -> bool {
        matches!((self.source, other.source), (Some(own), Some(other)) if std::ptr::eq(own, other))
    }

    /// Returns the blob as its type.
    ///
    /// ```
    /// use popef::Content;
    ///
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// for blob in &file {
    ///     match blob.content() {
    ///         Content::Tensor(tensor) => println!("{} {}", tensor.name(), tensor.shape()),
    ///         Content::Executable(executable) => println!("{}", executable.name()),
    ///         _ => println!("{}", blob.blob_type()),
    ///     }
    /// }
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn content(&self) -> Content<'a> {
        match self.head.info {
            Info::Executable { name, uncompressed_size } => {
                Content::Executable(ExecutableBlob::new(*self, name, uncompressed_size))
            }
            Info::Metadata { .. } => Content::Metadata(MetadataBlob::of(*self)),
            Info::Tensor { name, shape, data_type } => Content::Tensor(TensorBlob::new(*self, name, shape, data_type)),
            Info::Feed { name, shape, data_type, num_tensors } => {
                Content::Feed(FeedBlob::new(*self, name, shape, data_type, num_tensors))
            }
            Info::Opaque { name, executable } => Content::Opaque(OpaqueBlob { blob: *self, name, executable }),
            Info::Unknown { .. } => Content::Unknown,
        }
    }

    /// Returns the blob as an executable, if it is one.
    pub fn as_executable(&self) -> Option<ExecutableBlob<'a>> {
        self.content().into_executable()
    }

    /// Returns the blob as metadata, if it is metadata.
    pub fn as_metadata(&self) -> Option<MetadataBlob<'a>> {
        self.content().into_metadata()
    }

    /// Returns the blob as a tensor, if it is one.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let shapes: Vec<_> = file.blobs().filter_map(|blob| blob.as_tensor()).map(|tensor| tensor.shape()).collect();
    /// assert_eq!(shapes, [[2]]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn as_tensor(&self) -> Option<TensorBlob<'a>> {
        self.content().into_tensor()
    }

    /// Returns the blob as a feed, if it is one.
    pub fn as_feed(&self) -> Option<FeedBlob<'a>> {
        self.content().into_feed()
    }

    /// Returns the blob as an opaque blob, if it is one.
    pub fn as_opaque(&self) -> Option<OpaqueBlob<'a>> {
        self.content().into_opaque()
    }

    /// Returns the blob as one with tensor data, if it is a tensor or a feed.
    pub fn as_data(&self) -> Option<DataBlob<'a>> {
        match self.head.info {
            Info::Tensor { name, shape, data_type } => Some(DataBlob::new(*self, name, shape, data_type, None)),
            Info::Feed { name, shape, data_type, num_tensors } => {
                Some(DataBlob::new(*self, name, shape, data_type, Some(num_tensors)))
            }
            _ => None,
        }
    }

    fn split_head(&self) -> (&'a [u8], &'a [u8]) {
        let header_len = usize::try_from(self.head.header_len).unwrap_or(usize::MAX);
        self.bytes.split_at_checked(header_len).unwrap_or_default()
    }

    pub(super) fn span(&self, span: Span) -> &'a [u8] {
        span.of_head(self.bytes)
    }

    pub(super) fn text(&self, span: Span) -> Text<'a> {
        Text::from(self.span(span))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The place of a byte of the file, for errors about this blob.
    pub(super) fn at(&self, offset: u64) -> At<'a> {
        At { place: Some((self.index(), offset)), path: self.source.and_then(Backing::name) }
    }

    /// Makes an error of a problem with this blob, at a byte of the file.
    pub(super) fn error(&self, problem: impl Into<Problem>, offset: u64) -> Error {
        self.at(offset).error(problem)
    }

    /// The offset of the info message in the file.
    pub(super) fn info_offset(&self) -> u64 {
        self.offset().saturating_add(self.head.header_len.into())
    }
}

impl fmt::Debug for Blob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("index", &self.index())
            .field("offset", &self.offset())
            .field("size", &self.size())
            .field("version", &self.version())
            .field("blob_type", &self.blob_type())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// The place of an error: the file, the blob and the byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    /// The blob and the byte of the file. `None` if the bytes are not from a file.
    place: Option<(usize, u64)>,
    path: Option<&'a Path>,
}

impl At<'_> {
    /// The place of bytes that are not from a file.
    pub(super) fn nowhere() -> At<'static> {
        At { place: None, path: None }
    }

    pub(super) fn error(self, problem: impl Into<Problem>) -> Error {
        let problem = problem.into();
        let error = match self.place {
            Some((blob, offset)) => problem.at(blob, offset),
            None => problem.into(),
        };
        error.in_file(self.path)
    }

    /// Moves the place forwards by `bytes`.
    pub(super) fn further(self, bytes: u64) -> Self {
        At { place: self.place.map(|(blob, offset)| (blob, offset.saturating_add(bytes))), ..self }
    }

    /// Removes the file from the place.
    pub(super) fn without_file(self) -> At<'static> {
        At { place: self.place, path: None }
    }

    /// Unwraps an error of this library from the `io::Error` of a reader, or makes one of the `io::Error` itself.
    pub(super) fn unwrap_io(self, error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => self.error(Problem::io("read the data", source)),
        }
    }
}

/// A blob by its type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A Poplar executable.
    Executable(ExecutableBlob<'a>),
    /// Everything that is needed to run an executable.
    Metadata(MetadataBlob<'a>),
    /// The data of one tensor.
    Tensor(TensorBlob<'a>),
    /// The data of several tensors of one shape.
    Feed(FeedBlob<'a>),
    /// Bytes that only the framework that wrote them can read.
    Opaque(OpaqueBlob<'a>),
    /// A blob type that this version of the format does not name. [`Blob::blob_type`] has its number.
    Unknown,
}

impl<'a> Content<'a> {
    /// Returns the blob, if it is an executable.
    pub fn into_executable(self) -> Option<ExecutableBlob<'a>> {
        if let Content::Executable(executable) = self { Some(executable) } else { None }
    }

    /// Returns the blob, if it is metadata.
    pub fn into_metadata(self) -> Option<MetadataBlob<'a>> {
        if let Content::Metadata(metadata) = self { Some(metadata) } else { None }
    }

    /// Returns the blob, if it is a tensor.
    pub fn into_tensor(self) -> Option<TensorBlob<'a>> {
        if let Content::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// Returns the blob, if it is a feed.
    pub fn into_feed(self) -> Option<FeedBlob<'a>> {
        if let Content::Feed(feed) = self { Some(feed) } else { None }
    }

    /// Returns the blob, if it is an opaque blob.
    pub fn into_opaque(self) -> Option<OpaqueBlob<'a>> {
        if let Content::Opaque(opaque) = self { Some(opaque) } else { None }
    }
}

/// A blob that says how to load and run an executable.
#[derive(Clone, Copy, Debug)]
pub struct MetadataBlob<'a> {
    blob: Blob<'a>,
    executable: Span,
    /// The memory that its value takes.
    value_bytes: u64,
}

impl<'a> MetadataBlob<'a> {
    /// Wraps a blob that is known to be metadata.
    pub(crate) fn of(blob: Blob<'a>) -> Self {
        let (executable, value_bytes) = match blob.head.info {
            Info::Metadata { executable, value_bytes } => (executable, value_bytes),
            _ => Default::default(),
        };
        MetadataBlob { blob, executable, value_bytes }
    }

    /// The blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns the name of the executable that the metadata describes.
    pub fn executable(&self) -> Text<'a> {
        self.blob.text(self.executable)
    }

    /// Reads the whole metadata as an owned value.
    ///
    /// Fails if the message claims more values than its length allows, or if there is no memory. Everything else was
    /// checked when the file was opened.
    ///
    /// ```
    /// use popef::types::TensorType;
    ///
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let metadata = file.metadata().next().expect("the file has one").read()?;
    /// let inputs = metadata.anchors.iter().filter(|anchor| anchor.tensor_type == TensorType::Input);
    /// let handles: Vec<_> = inputs.map(|anchor| anchor.handle.to_string()).collect();
    /// assert_eq!(handles, ["h2d_user_input", "h2d_input_parameter"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn read(&self) -> Result<Metadata, Error> {
        self.check_size()?;
        wire::read_metadata(self.blob.info_bytes(), self.blob.limits()).map_err(|problem| self.error(problem))
    }

    /// Fails where the message claims more values than its length can account for.
    pub(super) fn check_size(&self) -> Result<(), Error> {
        wire::check_value_bytes(self.blob.info_bytes(), self.value_bytes).map_err(|problem| self.error(problem))
    }

    fn error(&self, problem: impl Into<Problem>) -> Error {
        self.blob.error(problem, self.blob.info_offset())
    }
}

/// A blob that only the framework that wrote it can read.
#[derive(Clone, Copy, Debug)]
pub struct OpaqueBlob<'a> {
    blob: Blob<'a>,
    name: Span,
    executable: Span,
}

impl<'a> OpaqueBlob<'a> {
    /// The blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns the blob's name, usually that of the framework that wrote it.
    pub fn name(&self) -> Text<'a> {
        self.blob.text(self.name)
    }

    /// Returns the name of the executable that the blob belongs to.
    pub fn executable(&self) -> Text<'a> {
        self.blob.text(self.executable)
    }

    /// Returns the name and the executable as an owned value.
    pub fn info(&self) -> OpaqueInfo {
        OpaqueInfo { name: self.name().into_owned(), executable: self.executable().into_owned() }
    }

    /// Returns the framework's bytes.
    pub fn data(&self) -> Data<'a> {
        self.blob.data()
    }
}
