//! The blob as a value of its type.

use super::blob::Blob;
use super::executable::ExecutableBlob;
use super::metadata::MetadataBlob;
use super::opaque::OpaqueBlob;
use super::tensor::{DataBlob, FeedBlob, TensorBlob};
use crate::wire::InfoFields;

impl<'a> Blob<'a> {
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
            InfoFields::Executable { name, uncompressed_size } => {
                Content::Executable(ExecutableBlob::new(*self, name, uncompressed_size))
            }
            InfoFields::Metadata { .. } => Content::Metadata(MetadataBlob::of(*self)),
            InfoFields::Tensor { name, shape, data_type } => {
                Content::Tensor(TensorBlob::new(*self, name, shape, data_type))
            }
            InfoFields::Feed { name, shape, data_type, num_tensors } => {
                Content::Feed(FeedBlob::new(*self, name, shape, data_type, num_tensors))
            }
            InfoFields::Opaque { name, executable } => Content::Opaque(OpaqueBlob::new(*self, name, executable)),
            InfoFields::Unknown { .. } => Content::Unknown,
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
            InfoFields::Tensor { name, shape, data_type } => Some(DataBlob::new(*self, name, shape, data_type, None)),
            InfoFields::Feed { name, shape, data_type, num_tensors } => {
                Some(DataBlob::new(*self, name, shape, data_type, Some(num_tensors)))
            }
            _ => None,
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
