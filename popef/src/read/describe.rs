//! Descriptions of files and blobs, as plain values or serialised directly from the file's bytes.

use super::blob::Blob;
use super::content::Content;
use super::executable::ExecutableBlob;
use super::file::File;
use super::tensor::DataBlob;
use crate::error::Error;
use crate::types::{BlobInfo, DescribedExecutable, ExecutableInside, FileInfo, Info, Text};

impl File {
    /// Describes the file and its blobs as a plain value, without reading data.
    pub fn describe(&self) -> FileInfo {
        FileInfo {
            path: self.path_text().map(Text::into_owned),
            size: self.size(),
            blobs: self.blobs().map(|blob| blob.describe()).collect(),
            error: self.damage().map(Error::describe),
        }
    }

    fn path_text(&self) -> Option<Text<'_>> {
        Some(Text::from(self.path()?.as_os_str().as_encoded_bytes()))
    }
}

impl<'a> Blob<'a> {
    /// Describes the blob as a plain value, without reading its data.
    pub fn describe(&self) -> BlobInfo {
        let metadata = self.as_metadata().map(|metadata| metadata.read());
        let (info, error) = match (self.content(), metadata) {
            (Content::Metadata(_), Some(Ok(metadata))) => (Info::Metadata(Box::new(metadata)), None),
            (Content::Metadata(blob), Some(Err(error))) => {
                (Info::UnreadMetadata(blob.executable().into_owned()), Some(error))
            }
            (Content::Executable(executable), _) => (Info::Executable(executable.describe()), None),
            (Content::Tensor(tensor), _) => (Info::Tensor(tensor.info()), tensor.as_data().fault()),
            (Content::Feed(feed), _) => (Info::Feed(feed.info()), feed.as_data().fault()),
            (Content::Opaque(opaque), _) => (Info::Opaque(opaque.info()), None),
            _ => (Info::Unknown, None),
        };
        BlobInfo {
            index: self.index(),
            offset: self.offset(),
            size: self.size(),
            version: self.version().into_owned(),
            blob_type: self.blob_type(),
            data_offset: self.data_offset(),
            data_size: self.data().len(),
            info,
            error: error.as_ref().map(Error::describe),
        }
    }
}

impl ExecutableBlob<'_> {
    /// Describes the executable as a plain value, without reading its data.
    pub fn describe(&self) -> DescribedExecutable {
        DescribedExecutable {
            name: self.name().into_owned(),
            is_compressed: self.is_compressed(),
            uncompressed_size: self.uncompressed_size(),
            inside: None,
        }
    }

    /// Reads what the executable's first bytes say: the format of compression, and Poplar's header.
    pub fn inside(&self) -> Result<ExecutableInside, Error> {
        Ok(ExecutableInside { compression: self.compression()?, poplar_header: self.poplar_header()? })
    }
}

impl DataBlob<'_> {
    /// Returns what is wrong with the shape or the length of the data. An unknown data type is not a fault of the file.
    fn fault(&self) -> Option<Error> {
        self.data_type().size().and_then(|_| self.check_size().err())
    }
}

#[cfg(feature = "serde")]
pub(crate) mod serde_impls {
    use serde::ser::Error as _;
    use serde::{Serialize, Serializer};

    use super::{Blob, Content, DataBlob, ExecutableBlob, File, Text};
    use crate::read::{FeedBlob, MetadataBlob, OpaqueBlob, TensorBlob};
    use crate::types::described::BlobFields;
    use crate::types::described::serde_impls as described;
    use crate::types::object::List;
    use crate::types::tensor_info;
    use crate::wire;

    impl Serialize for File {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let path = self.path_text();
            described::file(serializer, path.as_ref(), self.size(), &List(|| self.blobs()), self.damage())
        }
    }

    impl Serialize for Blob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let content = self.content();
            let error = match content {
                Content::Metadata(metadata) => metadata.check_size().err(),
                Content::Tensor(tensor) => tensor.as_data().fault(),
                Content::Feed(feed) => feed.as_data().fault(),
                _ => None,
            };
            let fields = BlobFields {
                index: self.index(),
                offset: self.offset(),
                size: self.size(),
                version: self.version(),
                blob_type: self.blob_type(),
                data_offset: self.data_offset(),
                data_size: self.data().len(),
                info: InfoOf { content, is_sound: error.is_none() },
                error,
            };
            fields.serialize(serializer)
        }
    }

    struct InfoOf<'a> {
        content: Content<'a>,
        is_sound: bool,
    }

    impl Serialize for InfoOf<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match &self.content {
                Content::Executable(executable) => described::variant(serializer, described::EXECUTABLE, executable),
                Content::Metadata(metadata) if self.is_sound => {
                    described::variant(serializer, described::METADATA, metadata)
                }
                Content::Metadata(metadata) => {
                    let executable = metadata.executable();
                    described::variant(serializer, described::UNREAD_METADATA, &described::Unread(&executable))
                }
                Content::Tensor(tensor) => described::variant(serializer, described::TENSOR, tensor),
                Content::Feed(feed) => described::variant(serializer, described::FEED, feed),
                Content::Opaque(opaque) => described::variant(serializer, described::OPAQUE, opaque),
                Content::Unknown => described::unknown(serializer),
            }
        }
    }

    /// Serialises as a [`DescribedExecutable`](crate::types::DescribedExecutable).
    impl Serialize for ExecutableBlob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let size = (self.is_compressed(), self.uncompressed_size());
            described::executable(serializer, &self.name(), size, None)
        }
    }

    /// Serialises as [`Metadata`](crate::Metadata).
    impl Serialize for MetadataBlob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let info = self.blob().info_bytes().read().map_err(S::Error::custom)?;
            wire::serialize_metadata(&info, self.blob().limits(), serializer)
        }
    }

    /// The fields of a [`TensorDataInfo`](crate::types::TensorDataInfo).
    pub(crate) struct TensorDataRef<'a> {
        pub(crate) name: Text<'a>,
        pub(crate) tensor_info: TensorInfoOf<'a>,
    }

    /// The fields of a [`FeedDataInfo`](crate::types::FeedDataInfo).
    pub(crate) struct FeedDataRef<'a> {
        pub(crate) name: Text<'a>,
        pub(crate) tensor_info: TensorInfoOf<'a>,
        pub(crate) num_tensors: u32,
    }

    /// The fields of an [`OpaqueInfo`](crate::types::OpaqueInfo).
    pub(crate) struct OpaqueRef<'a> {
        pub(crate) name: Text<'a>,
        pub(crate) executable: Text<'a>,
    }

    /// A [`TensorInfo`](crate::TensorInfo), borrowed from the file.
    pub(crate) struct TensorInfoOf<'a>(DataBlob<'a>);

    impl Serialize for TensorInfoOf<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let shape = self.0.shape();
            tensor_info::serialize(serializer, self.0.data_type(), List(|| shape.iter()), shape.iter())
        }
    }

    /// Serialises as a [`TensorDataInfo`](crate::types::TensorDataInfo).
    impl Serialize for TensorBlob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            TensorDataRef { name: self.name(), tensor_info: TensorInfoOf(self.as_data()) }.serialize(serializer)
        }
    }

    /// Serialises as a [`FeedDataInfo`](crate::types::FeedDataInfo).
    impl Serialize for FeedBlob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (tensor_info, num_tensors) = (TensorInfoOf(self.as_data()), self.num_tensors());
            FeedDataRef { name: self.name(), tensor_info, num_tensors }.serialize(serializer)
        }
    }

    /// Serialises as an [`OpaqueInfo`](crate::types::OpaqueInfo).
    impl Serialize for OpaqueBlob<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            OpaqueRef { name: self.name(), executable: self.executable() }.serialize(serializer)
        }
    }
}
