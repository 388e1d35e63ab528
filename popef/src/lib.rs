//! Read PopEF files.

#![deny(unsafe_code, reason = "only read/map.rs, which maps files, needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod limits;
mod read;
mod types;
mod wire;

pub use error::{Error, ErrorKind};
pub use limits::Limits;
pub use read::{
    Blob, Blobs, Compression, Content, Data, DataReader, Element, Elements, ExecutableBlob, FeedBlob, File, Items,
    MetadataBlob, OpaqueBlob, OpenOptions, PoplarHeader, Shape, TensorBlob, Unpack, Value, Values,
};
pub use types::{
    Anchor, BlobType, DataType, EngineOption, ExecutableInfo, F8143, F8152, FeedDataInfo, Metadata, OpaqueInfo,
    ProgramFlow, ProgramInfo, TensorDataInfo, TensorInfo, TensorType, Text,
};
