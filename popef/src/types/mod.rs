//! Plain values, owned and comparable, that reading gives and writing takes.
//!
//! [`Metadata`] says how to run a model; its [`Anchor`]s are the model's inputs and outputs. [`TensorInfo`] is a shape
//! and a [`DataType`]. Every name in a file is a [`Text`]. [`FileInfo`] and [`BlobInfo`] describe whole files and
//! blobs.

mod compression;
mod data_type;
pub(crate) mod described;
mod diagnostic;
mod element_sources;
mod escape;
mod float8;
mod infos;
mod metadata;
mod numbered;
#[cfg(feature = "serde")]
pub(crate) mod object;
mod poplar;
mod problem;
mod redact;
pub(crate) mod tensor_info;
mod text;

pub use compression::Compression;
pub(crate) use data_type::data_types;
pub use data_type::{DataType, NumberKind};
pub use described::{BlobInfo, DescribedExecutable, ExecutableInside, FileInfo, Info};
pub use diagnostic::Diagnostic;
pub use element_sources::ElementSources;
pub use escape::{escape, is_hidden};
/// The crate `half`, whose `f16` is the element type of F16 tensors.
pub use half;

pub use float8::{F8143, F8152};
pub use infos::{ExecutableInfo, FeedDataInfo, InfoRef, OpaqueInfo, TensorDataInfo};
pub use metadata::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo};
pub use numbered::{BlobType, TensorType};
pub use poplar::PoplarHeader;
pub(crate) use problem::ShapeProblem;
pub use redact::{redact, redact_word};
pub use tensor_info::TensorInfo;
pub use text::Text;
