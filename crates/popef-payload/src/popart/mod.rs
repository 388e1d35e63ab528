//! What PopART puts into its opaque blob: what it remembers of the graph that it compiled.
//!
//! The blob is one Cap'n Proto message. It says whether the model trains, which tensors the model has, their types and
//! shapes, and where each one lives. PopTorch, PopXL and Paddle compile through PopART, so their files have this blob
//! too.
//!
//! ```
//! let file = popef::File::open("examples/data/opaque.popef")?;
//! let opaque = file.opaque("popart").expect("the file has it");
//! let executable = popef_payload::popart::Executable::read(&opaque)?;
//! println!("{}, written by SDK {}", executable.execution_mode, executable.layout.map_or("?", |layout| layout.sdk()));
//! for tensor in &executable.tensors {
//!     println!("{} {} {} {:?}", tensor.kind, tensor.id, tensor.type_name, tensor.shape);
//! }
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! The schema follows from PopART's public sources (SDK 2.5 to 3.4), and the tests read messages that the official
//! Cap'n Proto library made by it. No file that PopART itself wrote is public.

mod executable;
mod kinds;
#[allow(
    dead_code,
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::restriction,
    clippy::semicolon_if_nothing_returned,
    reason = "generated from schema/popart.capnp"
)]
mod popart_capnp;
mod read;
#[cfg(feature = "serde")]
mod serialize;

pub use executable::{
    AnchorReturnType, CustomProgram, DataFlow, Executable, HeldData, Rearrangement, RearrangementId, RemoteBuffer,
    Tensor, VariableSettings,
};
pub use kinds::{AnchorReturnKind, CommGroupKind, DataType, ExecutionMode, Layout, RetrievalMode, TensorKind};

use popef::error::Error;
use popef::read::OpaqueBlob;

impl Executable {
    /// Reads the data as PopART's message, whatever the blob's name is.
    ///
    /// Reads all data of the blob into memory, unless it is there already. The value takes at most eight times the
    /// memory of the message's bytes, plus 64 KiB. Tensor data inside the message is not copied.
    pub fn read(opaque: &OpaqueBlob<'_>) -> Result<Executable, Error> {
        let (bytes, blob) = (opaque.data().read()?, opaque.blob());
        read::executable(&bytes, blob.limits()).map_err(|problem| blob.error(problem, blob.data_offset()))
    }
}
