//! Finds what a Python pickle would import when it is loaded, without loading it.
//!
//! A pickle is a program for a small stack machine. [`Pickle::scan`] follows its opcodes with stand-ins for the values. It
//! keeps short texts, because the names of modules come from them, and drops all other values.

#![deny(clippy::arithmetic_side_effects, reason = "lengths in a pickle are claims")]

mod archive;
mod calls;
mod dtype;
mod forms;
mod halt;
mod imports;
mod input;
mod keep;
mod list;
mod machine;
mod names;
mod nested;
mod op;
mod path;
mod scan;
mod state;
mod text;
#[cfg(feature = "poptorch")]
pub(crate) mod tree;
mod types;
mod values;
mod version;
mod walk;

use std::sync::Arc;

use popef::error::Error;
use popef::read::Data;
use popef::seam::named;

/// What loading a Python pickle would import, and so what it can run.
///
/// ```
/// use popef_payload::pickle::{ImportClass, Pickle};
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
    /// The highest protocol that it states; 0 if it states none.
    pub protocol: u8,
    /// What it imports: each path once, in the order of first use. This includes pickles inside its texts and bytes, also
    /// those without a stop, because Python imports before it notices that the stop is missing. Texts and bytes that do not
    /// begin like a pickle are tried up to 64 KiB.
    pub imports: Vec<PickleImport>,
    /// The version of PopTorch that wrote the pickle, if it is PopTorch's blob.
    pub poptorch_version: Option<String>,
    /// The kind of archive that the data is, if it is one. Then the rest is about the pickles in it.
    pub archive: Option<ArchiveKind>,
    /// The number of members of archives, or of bytes and texts in pickles, that are pickles. Includes the pickle
    /// itself, unless it is an archive.
    pub pickles: u64,
    /// Members of archives that may be pickles and were not read; at most the first 100.
    pub unseen: Vec<UnseenMember>,
    /// The number of members of archives that were passed over because neither their first bytes nor their names are those
    /// of a pickle, and they are longer than 64 KiB. The numbers of tensors are such members.
    pub passed_over: u64,
    /// Where and why the scan stopped before the end, or cannot tell where Python continues to read. What follows is
    /// unknown.
    pub fault: Option<PickleFault>,
}

named! {
    /// A kind of archive that has pickles in it.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum ArchiveKind("a kind of archive") {
        /// As `torch.save` writes it since version 1.6.
        Zip = "zip",
        /// As `torch.save` wrote it before version 0.2.
        Tar = "tar",
    }
}

/// A member of an archive that was not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnseenMember {
    /// Its path, as in [`PickleImport::member`].
    pub member: Arc<str>,
    /// The byte where it begins, counted from the start of the data.
    pub offset: u64,
    /// The reason, as a phrase.
    pub why: &'static str,
}

/// Something that a pickle imports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickleImport {
    /// The module and the name, such as `collections.OrderedDict`. In parentheses if there is no name: `(computed)` if the
    /// pickle computes the name while it is loaded, `(extension-200)` for an extension code. `(change of model.Net)` if the
    /// pickle changes the class itself, and so all of its objects; `(change of an attribute of Python's own)` if it may set
    /// one such as `__class__`; `(change of a result of model.make)` if it changes what a call returned that other objects
    /// may share.
    /// `(call of a value)` if it calls what it does not import; `(call of torch.nn.ReLU)` if it calls a class or a
    /// function in a way that is not known to only build values, or puts items into an object of the class; `(loop over
    /// itertools.count)` if it reads values of which there may be no end.
    pub path: String,
    /// The byte of the opcode, counted from the start of the data. For a pickle inside another one, the byte of the opcode
    /// that contains it.
    pub offset: u64,
    /// The archive member that has it, such as `archive/data.pkl`; for an archive in an archive, the path of both with
    /// ` > ` between them.
    pub member: Option<Arc<str>>,
    /// What is known about it.
    pub class: ImportClass,
}

impl PickleImport {
    /// What a [dangerous](ImportClass::Dangerous) import can do, as far as its name says: a clause that begins with
    /// "which".
    pub fn danger(&self) -> &'static str {
        names::danger(&self.path)
    }
}

named! {
    /// What an import can do.
    #[derive(PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum ImportClass("a class of imports") {
        /// Known to build values and nothing else.
        Ordinary = "ordinary",
        /// Not known to be ordinary or dangerous, such as a class of the model's own code.
        Unknown = "unknown",
        /// Known to run programs or code, to use files or the network, or to import by name; or a way to hide what is
        /// imported. Everything in Python's own library, torch, NumPy, pandas and TensorFlow that is not ordinary is
        /// dangerous, because no list of what can be misused is complete.
        Dangerous = "dangerous",
    }
}

/// Why a pickle could not be followed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PickleFault {
    /// The byte, counted from the start of the data.
    pub offset: u64,
    /// The member of an archive that it is in, as in [`PickleImport::member`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub member: Option<Arc<str>>,
    /// The reason, as a phrase.
    pub reason: &'static str,
    /// Whether the reason is too little memory. Then nothing is wrong with the data, which may not even be a pickle.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub no_memory: bool,
}

impl Pickle {
    /// Scans bytes without running them. Returns `None` if they are not a pickle: if they do not begin like one, do not
    /// follow its grammar to a stop or to an import, and are not an archive with members that are pickles or may be.
    /// Takes time and memory in proportion to the bytes.
    pub fn scan_bytes(bytes: &[u8]) -> Option<Pickle> {
        // Bytes in memory cannot fail to be read.
        Pickle::scan(&Data::in_memory(bytes)).unwrap_or_default()
    }

    /// Scans the data of a blob like [`scan_bytes`](Self::scan_bytes). Reads it in parts: memory holds one window of
    /// it, and about eight bytes for each value that the pickle keeps.
    pub fn scan(data: &Data<'_>) -> Result<Option<Pickle>, Error> {
        Ok(scan::scan(data, &mut keep::Nothing)?.map(|scanned| scanned.pickle))
    }

    /// Whether loading it only builds values: the scan followed all of it, and each import is ordinary, or is known to
    /// the caller.
    pub fn is_safe(&self, is_known: impl Fn(&PickleImport) -> bool) -> bool {
        let is_harmless = |import: &PickleImport| match import.class {
            ImportClass::Ordinary => true,
            ImportClass::Unknown => is_known(import),
            ImportClass::Dangerous => false,
        };
        self.fault.is_none() && self.unseen.is_empty() && self.imports.iter().all(is_harmless)
    }

    /// Iterates over the imports of a class.
    pub fn imports_of(&self, class: ImportClass) -> impl Iterator<Item = &PickleImport> {
        self.imports.iter().filter(move |import| import.class == class)
    }

    /// Returns the first import of the worst class that occurs.
    pub fn worst(&self) -> Option<&PickleImport> {
        let worst = self.imports.iter().map(|import| import.class).max()?;
        self.imports_of(worst).next()
    }
}
