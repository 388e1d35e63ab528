//! What a Python pickle would import when it is loaded, found without loading it.
//!
//! A pickle is a program for a small stack machine. [`Pickle::scan`] follows its opcodes with stand-ins for the values: it
//! keeps short texts, as names of modules are put together from them, and forgets the rest.

#![deny(clippy::arithmetic_side_effects, reason = "lengths in a pickle are claims")]

mod imports;
mod input;
mod list;
mod names;
mod op;
mod path;
mod text;
mod values;
mod walk;

use crate::error::Error;
use crate::names::named;
use crate::read::{Data, OpaqueBlob};

/// A Python pickle: what loading it would import, which is what it can run.
///
/// ```
/// use popef::pickle::{ImportClass, Pickle};
///
/// let bytes = std::fs::read("examples/data/memo-binget.pickle")?;
/// let pickle = Pickle::scan_bytes(&bytes).expect("it is a pickle");
/// let worst = pickle.worst().expect("it imports something");
/// assert_eq!((worst.path.as_str(), worst.class), ("os.system", ImportClass::Dangerous));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pickle {
    /// The highest protocol that is stated in it; 0 if none is.
    pub protocol: u8,
    /// What it imports, each path once, by the first place. Pickles inside its texts and bytes count, also those that
    /// have no stop: Python imports before it misses it. Without a pickle's mark, up to 64 KiB are tried.
    pub imports: Vec<PickleImport>,
    /// The version that PopTorch recorded, if this is the data that it puts beside an executable.
    pub poptorch_version: Option<String>,
    /// Where and why it could not be followed to its end; nothing is known of what comes after.
    pub fault: Option<PickleFault>,
}

/// Something that a pickle imports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickleImport {
    /// Module and name, such as `collections.OrderedDict`. In round brackets what is no name: `(computed)` where the
    /// pickle puts the name together while it is loaded, `(extension-200)` for an extension code.
    pub path: String,
    /// The byte of the opcode, counted from the start of the data; for a pickle inside, of what holds it.
    pub offset: u64,
    /// What is known of it.
    pub class: ImportClass,
}

/// What an import can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ImportClass {
    /// Known to build values and nothing else.
    Ordinary,
    /// Not known here, such as a class of the model's own.
    Unknown,
    /// Known to run programs or code, to touch files or the network, or to import by name; or a way around saying
    /// which.
    Dangerous,
}

named!(ImportClass, "a class of imports": Ordinary = "ordinary", Unknown = "unknown", Dangerous = "dangerous");

/// Why a pickle could not be followed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickleFault {
    /// The byte, counted from the start of the data.
    pub offset: u64,
    /// The reason, as a phrase.
    pub reason: &'static str,
    /// This machine has too little memory. The data is not at fault, and may be no pickle at all.
    pub no_memory: bool,
}

impl Pickle {
    /// What the bytes are, if they are a pickle: if they begin with a pickle's mark, or follow its grammar to a stop
    /// or to an import. Nothing of it is run. Time and memory are in proportion to the bytes.
    pub fn scan_bytes(bytes: &[u8]) -> Option<Pickle> {
        // Bytes in memory cannot fail to be read.
        Pickle::scan(&Data::in_memory(bytes)).unwrap_or_default()
    }

    /// Scans a blob's data, as [`scan_bytes`](Self::scan_bytes) does bytes in memory. It is read in parts: a window of it
    /// is held at a time, and some eight bytes for each value that the pickle keeps.
    pub fn scan(data: &Data<'_>) -> Result<Option<Pickle>, Error> {
        walk::scan(data)
    }

    /// The imports of a class.
    pub fn imports_of(&self, class: ImportClass) -> impl Iterator<Item = &PickleImport> {
        self.imports.iter().filter(move |import| import.class == class)
    }

    /// The first of the worst imports.
    pub fn worst(&self) -> Option<&PickleImport> {
        let worst = self.imports.iter().map(|import| import.class).max()?;
        self.imports_of(worst).next()
    }
}

impl OpaqueBlob<'_> {
    /// What its data is, if it is a Python pickle, as that of PopTorch is. It is read, and nothing of it is run.
    pub fn pickle(&self) -> Result<Option<Pickle>, Error> {
        Pickle::scan(&self.data())
    }
}
