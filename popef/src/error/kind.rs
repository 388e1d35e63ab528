//! The kinds of errors.

use std::io;

use crate::names::by_name;

/// One line a kind: its name, and what it means.
macro_rules! kinds {
    ($( $kind:ident = $name:literal, $meaning:literal; )+) => {
        /// What an [`Error`](crate::Error) comes to: whose fault it is, and so what helps.
        ///
        /// Its name is the text by which programs exchange it: it is shown, parsed and serialised as `outOfRange`.
        ///
        /// ```
        /// use popef::error::ErrorKind;
        /// use popef::File;
        ///
        /// let error = File::from_bytes("no PopEF file at all").unwrap_err();
        /// let advice = match error.kind() {
        ///     ErrorKind::Damaged => "fetch the file again",
        ///     ErrorKind::Busy | ErrorKind::Changed => "try again",
        ///     ErrorKind::OutOfMemory => "try on another machine",
        ///     _ => "give up",
        /// };
        /// assert_eq!(advice, "fetch the file again");
        /// assert_eq!("outOfMemory".parse(), Ok(ErrorKind::OutOfMemory));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind { $( #[doc = $meaning] $kind, )+ }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &'static [ErrorKind] = &[ $( ErrorKind::$kind, )+ ];

            /// Its name: the variant's, with a small first letter.
            pub const fn as_str(self) -> &'static str {
                match self { $( ErrorKind::$kind => $name, )+ }
            }

            /// What it means, in a sentence or two.
            pub const fn meaning(self) -> &'static str {
                match self { $( ErrorKind::$kind => $meaning, )+ }
            }
        }
    };
}

kinds! {
    Damaged = "damaged", "The bytes are not what the format demands. Another copy of the file may be whole.";
    Unknown = "unknown", "The file holds something of a kind that this version does not know.";
    Limit = "limit", "Reading on would cost more than a limit allows: see `Limits`.";
    OutOfMemory = "outOfMemory", "This machine has too little memory. The file is not at fault, and another machine \
        may have enough.";
    Changed = "changed", "Somebody else changed the file while it was open.";
    Busy = "busy", "Somebody else is writing the file.";
    Io = "io", "The system could not read or write.";
    Exists = "exists", "There is a file already, and it was not to be replaced.";
    WrongType = "wrongType", "Elements are of another type than the one that was asked for or given.";
    OutOfRange = "outOfRange", "A position, a number or a length is beyond what there is or may be.";
    Duplicate = "duplicate", "A name that must be unique is taken.";
    Unsupported = "unsupported", "This build of the library, or this kind of source or destination, cannot do it.";
    Misuse = "misuse", "The call, or the order of the calls, makes no valid file.";
}

by_name!(ErrorKind, "an error kind");

impl ErrorKind {
    /// The nearest kind of the standard library; none where that is the one of the system's own error.
    pub(super) fn io_kind(self) -> Option<io::ErrorKind> {
        Some(match self {
            ErrorKind::Io => return None,
            ErrorKind::Damaged => io::ErrorKind::InvalidData,
            // The file is not at fault, and may be whole.
            ErrorKind::Changed => io::ErrorKind::Other,
            ErrorKind::Limit => io::ErrorKind::FileTooLarge,
            ErrorKind::OutOfMemory => io::ErrorKind::OutOfMemory,
            ErrorKind::Busy => io::ErrorKind::ResourceBusy,
            ErrorKind::Exists => io::ErrorKind::AlreadyExists,
            ErrorKind::Unknown | ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            ErrorKind::WrongType | ErrorKind::OutOfRange | ErrorKind::Duplicate | ErrorKind::Misuse => {
                io::ErrorKind::InvalidInput
            }
        })
    }
}
