//! PopTorch's opaque blob: a Python pickle with the options, the inputs and perhaps the model.
//!
//! A pickle is a program. This module follows its opcodes and keeps the values that they make, but calls nothing. So it
//! reads plain values, and the few objects whose meaning is known: torch's tensors, members of enumerations, dates. For
//! all other objects, it gives the class and the arguments.
//!
//! SDK 2.5 and older wrote no such blob: their `.poptorch` files begin with the pickle, and PopEF comes after it.
//! [`OpenOptions::after_pickle`](popef::OpenOptions::after_pickle) opens them.
//!
//! No file that PopTorch wrote is public. The keys come from the public source of PopTorch (SDK 2.5 to 3.4). Parts of
//! it were run, with stand-ins for the compiled rest. The repository's `docs/FORMAT.md` has the details.

mod data;
mod model;
mod modes;
mod problem;
mod reader;
#[cfg(feature = "serde")]
mod serde_impls;
mod tensor;
mod time;
mod value;

pub use data::PoptorchData;
pub use model::NamedTensor;
pub use modes::{ConnectionType, OutputMode, SyncPattern};
pub use tensor::PickledTensor;
pub use value::{Input, PickledObject, Value};
