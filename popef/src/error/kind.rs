//! The kinds of errors.

use std::io;

use crate::names::by_name;

/// One line per kind: its name, and what it means.
macro_rules! kinds {
    ($( $kind:ident = $name:literal, $meaning:literal; )+) => {
        /// The kind of an [`Error`](crate::Error): what is at fault, and so what may help.
        ///
        /// A kind is shown, parsed and serialised by its name, such as `outOfRange`.
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

            /// The name of the kind: that of the variant with a lower-case first letter.
            pub const fn as_str(self) -> &'static str {
                match self { $( ErrorKind::$kind => $name, )+ }
            }

            /// What the kind means, in a sentence or two.
            pub const fn meaning(self) -> &'static str {
                match self { $( ErrorKind::$kind => $meaning, )+ }
            }
        }
    };
}

kinds! {
    Damaged = "damaged", "The bytes do not follow the format. Another copy of the file may be undamaged.";
    Unknown = "unknown", "The file holds something of a kind that this version does not know.";
    Limit = "limit", "Reading on would cost more than a limit allows: see `Limits`.";
    OutOfMemory = "outOfMemory", "This machine has too little memory. The file is not at fault, and another machine \
        may have enough.";
    Changed = "changed", "Another program changed the file while it was open.";
    Busy = "busy", "Another program or writer is writing the file.";
    Io = "io", "The system could not read or write.";
    Stopped = "stopped", "The program itself stopped the work.";
    Exists = "exists", "The file exists, and replacing it was not allowed.";
    WrongType = "wrongType", "A tensor or a blob has another type than was requested or given.";
    OutOfRange = "outOfRange", "A position, a number or a length is out of its range.";
    Duplicate = "duplicate", "A name that must be unique is taken.";
    Unsupported = "unsupported", "This build of the library, or this kind of source or destination, cannot do this.";
    Misuse = "misuse", "The call, or the order of calls, would make an invalid file.";
    NotPopef = "notPopef", "The file is of another format. The library itself cannot tell, and calls it damaged.";
    Request = "request", "What was asked for does not fit the files, or contradicts itself.";
}

by_name!(ErrorKind, "an error kind");

impl ErrorKind {
    /// The nearest `io::ErrorKind`. `None` for a system error, which has its own.
    #[doc(hidden)]
    pub fn io_kind(self) -> Option<io::ErrorKind> {
        Some(match self {
            ErrorKind::Io => return None,
            ErrorKind::Damaged | ErrorKind::NotPopef => io::ErrorKind::InvalidData,
            // Not InvalidData: the file itself may be undamaged. Not Interrupted, after which callers try again.
            ErrorKind::Changed | ErrorKind::Stopped => io::ErrorKind::Other,
            ErrorKind::Limit => io::ErrorKind::FileTooLarge,
            ErrorKind::OutOfMemory => io::ErrorKind::OutOfMemory,
            ErrorKind::Busy => io::ErrorKind::ResourceBusy,
            ErrorKind::Exists => io::ErrorKind::AlreadyExists,
            ErrorKind::Unknown | ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            ErrorKind::WrongType
            | ErrorKind::OutOfRange
            | ErrorKind::Duplicate
            | ErrorKind::Misuse
            | ErrorKind::Request => io::ErrorKind::InvalidInput,
        })
    }
}
