//! Reading files: [`File`] and [`OpenOptions`] open them, and give their blobs, data and elements.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, reason = "sums of lengths from a file can wrap"))]

mod arena;
mod at;
mod blob;
mod blobs;
mod brief;
mod buffer;
mod chunks;
mod content;
mod contents;
mod convert;
mod data;
mod describe;
mod element;
mod elements;
mod executable;
mod fetch;
mod file;
mod handle;
mod index;
mod indexer;
mod input;
mod iter;
mod listing;
mod map;
mod metadata;
mod names;
mod opaque;
mod open;
mod options;
mod past_damage;
mod pickle_end;
mod problem;
mod reader;
mod shape;
mod source;
mod tensor;
mod unpack;
mod value;
mod values;
mod visit;
mod walk;

pub use source::{FileId, LocalFile, ReadAt};
pub(crate) use source::{is_name_of, is_not_regular, is_same_file, open_regular, uninterrupted};

pub use crate::limits::Limits;
pub use crate::types::{Compression, PoplarHeader};
pub use blob::Blob;
pub use blobs::Blobs;
pub use content::Content;
pub use data::Data;
pub(crate) use data::InSource;
#[cfg(feature = "serde")]
pub(crate) use describe::serde_impls::{FeedDataRef, OpaqueRef, TensorDataRef};
pub use element::{Element, ElementVisitor};
pub use elements::Elements;
pub use executable::ExecutableBlob;
pub use file::File;
pub use handle::BlobHandle;
pub use indexer::Indexer;
pub use iter::{FileBlobs, TypedBlobs};
pub use metadata::MetadataBlob;
#[doc(hidden)]
pub use names::{BlobId, Key, Names};
pub use opaque::OpaqueBlob;
pub use options::OpenOptions;
#[doc(hidden)]
pub use pickle_end::PickleArgument;
pub use pickle_end::end_of_pickles;
#[doc(hidden)]
pub use pickle_end::is_pickle;
pub(crate) use problem::ReadProblem;
pub use reader::DataReader;
pub use shape::{Extents, Shape};
pub use tensor::{DataBlob, FeedBlob, Items, TensorBlob};
pub use unpack::Unpack;
pub use value::Value;
pub use values::Values;
