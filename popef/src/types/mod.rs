//! The vocabulary: plain values, owned and comparable, that reading gives and writing takes.

mod data_type;
mod float8;
mod infos;
mod metadata;
mod numbered;
mod problem;
pub(crate) mod tensor_info;
mod text;

pub(crate) use data_type::data_types;
pub use data_type::{DataType, NumberKind};
pub use float8::{F8143, F8152};
pub use infos::{BlobInfo, ExecutableInfo, FeedDataInfo, OpaqueInfo, TensorDataInfo};
pub use metadata::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo};
pub use numbered::{BlobType, TensorType};
pub(crate) use problem::ShapeProblem;
pub use tensor_info::TensorInfo;
pub use text::Text;
