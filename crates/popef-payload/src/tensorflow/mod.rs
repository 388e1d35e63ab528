//! What TensorFlow for the IPU puts into its opaque blob: what it needs to load the executable again.
//!
//! The blob is one protobuf message. It says which TensorFlow and which Poplar wrote the file, which target the
//! executable is for, and which feeds, inputs, outputs and remote parameters it has.
//!
//! ```
//! let file = popef::File::open("examples/data/opaque.popef")?;
//! let opaque = file.opaque("tensorflow").expect("the file has it");
//! let executable = popef_payload::tensorflow::Executable::read(&opaque)?;
//! let message = executable.message();
//! println!("TensorFlow {}, Poplar {}", message.tf_git_version(), message.poplar_package_hash());
//! if let Some(config) = message.embedded_runtime_config() {
//!     println!("for {} {} {}", config.num_ipus(), config.target_type(), config.target_arch());
//!     for input in config.signature().iter().flat_map(|signature| signature.streamed_inputs()) {
//!         println!("input {} is streamed through {}", input.name(), input.handle());
//!     }
//! }
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! The schema follows from TensorFlow's public sources (SDK 2.4 to 3.4), and the tests read messages that the official
//! protobuf library made by it. No file that TensorFlow itself wrote is public.
//!
//! Reading checks the whole message once. Then each view borrows from its bytes, so a message takes no more memory than
//! its length. Fields of later versions are counted and left out. TensorFlow's own loader in Python refuses messages of
//! 128 MiB and more; they are read here.

mod kinds;
mod messages;
mod raw;
mod schema;
#[cfg(feature = "serde")]
mod serialize;
mod wire;

use std::borrow::Cow;
use std::fmt;

pub use kinds::{FeedMode, Format, PrimitiveType, TfType};
pub use messages::{
    ExecutableMessage, Feed, FeedConfig, HostEmbedding, Input, Layout, OptionFlag, Output, Rearrangement,
    RemoteParameter, RuntimeConfig, Shape, Signature, Slice, Tile, Transfer,
};

use super::Framework;
use super::problem::OpaqueProblem;
use popef::error::Error;
use popef::read::OpaqueBlob;
use popef::seam::Problem;
use popef::seam::{as_u64, len_of};
use raw::Raw;
use schema::Seen;
use wire::{Fault, NESTING, What};

/// The problem that a fault is, and the byte of the data at which it is.
fn problem_of(fault: Fault, bytes: &[u8]) -> (Problem, u64) {
    let framework = Framework::Tensorflow;
    let at = as_u64(fault.address.saturating_sub(bytes.as_ptr().addr()));
    let problem = match fault.what {
        What::Cut(missing) => {
            let found = len_of(bytes);
            OpaqueProblem::Cut { framework, needed: found.saturating_add(missing), found }
        }
        What::Malformed(what) => OpaqueProblem::NotProtobuf { framework, what },
        What::TooDeep => OpaqueProblem::TooDeep { framework, limit: NESTING.into() },
    };
    (problem.into(), at)
}

/// TensorFlow's message: its bytes, which were found to be valid.
#[derive(Clone, PartialEq, Eq)]
pub struct Executable<'a> {
    bytes: Cow<'a, [u8]>,
    seen: Seen,
}

popef::seam::named! {
    /// What field 7 of [`RuntimeConfig`] means, which depends on the version of TensorFlow.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Flag7("a meaning of field 7") {
        /// The executable can stall: TensorFlow 1.15, 2.4 and 2.5.
        ExecutableCanStall = "executable_can_stall",
        /// Parameters of the entry computation are in remote memory: TensorFlow 2.6.
        RemoteMemoryEntryParams = "remote_memory_entry_params",
    }
}

impl<'a> Executable<'a> {
    /// Reads the data as TensorFlow's message, whatever the blob's name is. The data is borrowed if it is in memory.
    ///
    /// Any protobuf message can look like this one, because protobuf skips what it does not know:
    /// [`is_plausible`](Self::is_plausible) says whether it probably is one.
    pub fn read(opaque: &OpaqueBlob<'a>) -> Result<Executable<'a>, Error> {
        let bytes = opaque.data().read()?;
        let checked = schema::check(ExecutableMessage::MESSAGE, &bytes);
        match checked {
            Ok(seen) => Ok(Executable { bytes, seen }),
            Err(fault) => {
                let (problem, at) = problem_of(fault, &bytes);
                Err(opaque.blob().error(problem, opaque.blob().data_offset().saturating_add(at)))
            }
        }
    }

    /// Returns the message's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fields of the message.
    pub fn message(&self) -> ExecutableMessage<'_> {
        ExecutableMessage(Raw::of(&self.bytes))
    }

    /// Returns the version of TensorFlow, if the message states it: `(2, 6)`.
    pub fn tf_version(&self) -> Option<(u32, u32)> {
        let message = self.message();
        Some((message.tf_major_version(), message.tf_minor_version())).filter(|version| *version != (0, 0))
    }

    /// Returns what [`RuntimeConfig::flag7`] means. `None` for an unknown version of TensorFlow.
    pub fn flag7_meaning(&self) -> Option<Flag7> {
        match self.tf_version()? {
            (1, 15) | (2, 4 | 5) => Some(Flag7::ExecutableCanStall),
            (2, 6) => Some(Flag7::RemoteMemoryEntryParams),
            _ => None,
        }
    }

    /// Returns whether the executable can wait for data that does not come. `None` if the message does not say so, or
    /// comes from an unknown version of TensorFlow.
    pub fn can_stall(&self) -> Option<bool> {
        let config = self.message().embedded_runtime_config()?;
        Some(match self.flag7_meaning()? {
            Flag7::ExecutableCanStall => config.flag7(),
            Flag7::RemoteMemoryEntryParams => config.executable_can_stall(),
        })
    }

    /// Returns whether parameters of the entry computation are in remote memory. `None` if the message does not say so.
    pub fn has_remote_entry_parameters(&self) -> Option<bool> {
        let config = self.message().embedded_runtime_config()?;
        (self.flag7_meaning()? == Flag7::RemoteMemoryEntryParams).then(|| config.flag7())
    }

    /// Returns the numbers of the message's own fields that the known versions of TensorFlow do not have, in order.
    /// Keeps only the first 64 different ones.
    pub fn unknown_fields(&self) -> &[u32] {
        &self.seen.numbers
    }

    /// Returns how many unknown fields are inside the messages of the message.
    pub fn unknown_fields_inside(&self) -> u64 {
        self.seen.unknown_inside
    }

    /// Returns whether the bytes are probably TensorFlow's message. They are always a protobuf message. If most of its
    /// fields are unknown, it is probably another one.
    ///
    /// An empty message is valid, and all its fields have their default values.
    pub fn is_plausible(&self) -> bool {
        self.seen.known >= self.seen.unknown
    }
}

impl fmt::Debug for Executable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message();
        f.debug_struct("Executable")
            .field("bytes", &self.bytes.len())
            .field("tf_git_version", &message.tf_git_version())
            .field("poplar_package_hash", &message.poplar_package_hash())
            .finish_non_exhaustive()
    }
}
