//! Reading files: [`File`] and [`OpenOptions`] open them, and give their blobs, data and elements.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, reason = "sums of lengths from a file can wrap"))]

mod blob;
mod blobs;
mod buffer;
mod chunks;
mod convert;
mod data;
mod describe;
mod element;
mod elements;
mod executable;
mod fetch;
mod file;
mod handle;
mod heads;
mod index;
mod indexer;
mod input;
mod iter;
mod map;
mod names;
mod problem;
mod source;
mod tensor;
mod unpack;
mod value;
mod walk;

pub use source::{LocalFile, ReadAt};
pub(crate) use source::{is_name_of, is_not_regular, is_same_file, open_regular, uninterrupted};

pub use crate::limits::Limits;
pub use blob::{Blob, Content, MetadataBlob, OpaqueBlob};
pub use blobs::Blobs;
pub(crate) use data::InSource;
pub use data::{Data, DataReader};
#[cfg(feature = "serde")]
pub(crate) use describe::serde_impls::{FeedDataRef, OpaqueRef, TensorDataRef};
pub use element::{Element, ElementVisitor};
pub use elements::Elements;
pub use executable::{Compression, ExecutableBlob, PoplarHeader};
pub use file::{File, OpenOptions};
pub use handle::BlobHandle;
pub use indexer::Indexer;
pub use iter::{FileBlobs, TypedBlobs};
pub(crate) use names::{BlobId, Key, Names};
pub(crate) use problem::ReadProblem;
pub use tensor::{DataBlob, Extents, FeedBlob, Items, Shape, TensorBlob};
pub use unpack::Unpack;
pub use value::{Value, Values};
