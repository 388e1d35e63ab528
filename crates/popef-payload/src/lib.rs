//! What frameworks put into opaque blobs.
//!
//! The format leaves the data of an opaque blob to the framework that wrote it. Three frameworks write such blobs, and
//! their sources are public: [`Framework::of_blob`] names the one that a blob belongs to. [`Payload::read`] reads the
//! data, if this crate is built with the feature for the framework. [`pickle`] finds what a Python pickle would import.
//! The data is never run.
//!
//! No file written by these frameworks is public. The facts come from the public sources of the frameworks; the
//! repository's `docs/FORMAT.md` says which are documented and which are inferred.

#[cfg(any(feature = "popart", feature = "tensorflow"))]
mod numbers;
mod payload;
pub mod pickle;
#[cfg(feature = "popart")]
pub mod popart;
#[cfg(feature = "poptorch")]
pub mod poptorch;
#[allow(dead_code, reason = "some problems are found only by the readers of some frameworks")]
mod problem;
#[cfg(feature = "tensorflow")]
pub mod tensorflow;

pub use payload::Payload;

use popef::read::OpaqueBlob;
use popef::seam::named;
use popef::types::Text;

named! {
    /// A framework that puts opaque blobs into PopEF files.
    ///
    /// ```
    /// use popef_payload::Framework;
    ///
    /// assert_eq!("tensorflow".parse(), Ok(Framework::Tensorflow));
    /// assert_eq!(Framework::Popart.to_string(), "popart");
    /// ```
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Framework("a framework") {
        /// PopART and the frameworks built on it. Every blob whose name contains `popart` belongs to it.
        Popart = "popart",
        /// PopTorch. The blob `poptorch` belongs to it.
        Poptorch = "poptorch",
        /// TensorFlow for the IPU. The blob `tensorflow` belongs to it.
        Tensorflow = "tensorflow",
    }
}

impl Framework {
    /// The name as its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Framework::Popart => "PopART",
            Framework::Poptorch => "PopTorch",
            Framework::Tensorflow => "TensorFlow",
        }
    }

    /// Returns the framework that takes the blob as its own, by the blob's name.
    ///
    /// ```
    /// use popef_payload::Framework;
    ///
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// let opaque = file.opaque("popart").expect("the file has it");
    /// assert_eq!(Framework::of_blob(&opaque), Some(Framework::Popart));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn of_blob(opaque: &OpaqueBlob<'_>) -> Option<Framework> {
        Framework::of_name(&opaque.name())
    }

    /// Returns the framework that takes opaque blobs of this name as its own. Looks at nothing but the name.
    pub fn of_name(name: &Text<'_>) -> Option<Framework> {
        match name.as_bytes() {
            b"poptorch" => Some(Framework::Poptorch),
            b"tensorflow" => Some(Framework::Tensorflow),
            name if name.windows(6).any(|part| part == b"popart") => Some(Framework::Popart),
            _ => None,
        }
    }
}

/// The frameworks whose data this crate can read, and whether this build includes the reader.
pub const FEATURES: [(&str, bool); 3] = [
    ("popart", cfg!(feature = "popart")),
    ("poptorch", cfg!(feature = "poptorch")),
    ("tensorflow", cfg!(feature = "tensorflow")),
];
