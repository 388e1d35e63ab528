//! Programs, steps, and what steps exchange data between.

use std::fmt;

/// The bytes of code of each instruction, by name.
pub type Instructions = Box<[(Box<str>, u64)]>;

/// A program of a graph. Its kind says which of the other fields it has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Program {
    /// `type`: what kind of program it is.
    pub kind: ProgramKind,
    /// `name`. Many programs have none.
    pub name: Option<Box<str>>,
    /// `children`: the numbers of the programs in it.
    pub children: Box<[u32]>,
    /// `computeSet`: the number of the compute set that it executes.
    pub compute_set: Option<u32>,
    /// `exchange`: the number of its exchange. The kind says which list it counts in.
    pub exchange: Option<u32>,
    /// `target` of a `Call`: a number into the list of functions.
    pub target: Option<u32>,
    /// `syncType` of a `Sync`: `External` if all IPUs are synchronised, `Internal` if the tiles of each are.
    pub sync_type: Option<Box<str>>,
    /// `memoryByInstruction` of a `DoExchange`: the bytes of its code, by instruction, with their `total`.
    pub memory_by_instruction: Option<Instructions>,
    /// The byte of the file at which it ends.
    pub(super) at: u64,
}

macro_rules! kinds {
    ($(#[$attributes:meta])* $name:ident { $( $(#[$docs:meta])* $variant:ident, )+ } aliases { $( $alias:literal => $of:ident, )* }) => {
        $(#[$attributes])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$docs])* $variant, )+
            /// Another tag, kept as it is written.
            Other(Box<str>),
        }

        impl $name {
            /// Recognises a tag. Upper and lower case are the same.
            pub fn of(tag: &str) -> Self {
                $( if tag.eq_ignore_ascii_case(stringify!($variant)) { return $name::$variant; } )+
                $( if tag.eq_ignore_ascii_case($alias) { return $name::$of; } )*
                $name::Other(tag.into())
            }

            /// The tag, in its usual spelling.
            pub fn as_str(&self) -> &str {
                match self {
                    $( $name::$variant => stringify!($variant), )+
                    $name::Other(tag) => tag,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

kinds! {
    /// The kind of a program. The document of the format lists the kinds in a table that lost its content, so the list is open. These are
    /// the tags that its text or public programs name.
    ProgramKind {
        /// Runs its children one after the other.
        Sequence,
        /// Runs its child a number of times, which reports do not have.
        Repeat,
        /// Has a condition and a body.
        RepeatWhileTrue,
        /// Has a condition and a body.
        RepeatWhileFalse,
        /// Runs one of two children.
        If,
        /// Runs one of its children.
        Switch,
        /// Calls a function.
        Call,
        /// A copy. What it became is in it.
        Copy,
        /// Executes a compute set, with what it needs before and after.
        Execute,
        /// Executes a compute set on tiles.
        OnTileExecute,
        /// Copies on tiles.
        OnTileCopy,
        /// An exchange between the tiles of IPUs.
        DoExchange,
        /// An exchange between IPUs.
        GlobalExchange,
        /// An exchange with the host.
        StreamCopy,
        /// The start of an exchange with the host.
        StreamCopyBegin,
        /// The middle of an exchange with the host.
        StreamCopyMid,
        /// The end of an exchange with the host.
        StreamCopyEnd,
        /// A copy within a structure that tiles share.
        CopySharedStructure,
        /// A synchronisation.
        Sync,
        /// A synchronisation that answers.
        SyncAns,
        /// A synchronisation answer that is sent ahead.
        Sans,
        /// Says that a variable has no value any more.
        WriteUndef,
        /// Sets what the tiles agree on.
        SetLocalConsensus,
        /// Sets what the tiles agree on from a variable.
        SetLocalConsensusFromVar,
        /// Finds out what all tiles agree on.
        GetGlobalConsensus,
        /// A switch on a tile.
        OnTileSwitch,
        /// A switch on every tile.
        OnEveryTileSwitch,
    }
    aliases { "SharedStructureCopy" => CopySharedStructure, }
}

kinds! {
    /// The kind of a step. The document spells kinds in two ways, in its list and in its example, which mean the same.
    StepKind {
        /// Executes a compute set.
        OnTileExecute,
        /// Exchanges data with the host.
        StreamCopy,
        /// Copies within a structure that tiles share.
        CopySharedStructure,
        /// Waits until all tiles have come so far.
        Sync,
        /// Exchanges data between the tiles of IPUs.
        DoExchange,
        /// Exchanges data between IPUs.
        GlobalExchange,
    }
    aliases { "SharedStructureCopy" => CopySharedStructure, }
}

impl StepKind {
    /// The kind of exchange that a step of this kind does, if it does one.
    pub fn exchange(&self) -> Option<ExchangeKind> {
        match self {
            StepKind::DoExchange => Some(ExchangeKind::Internal),
            StepKind::GlobalExchange => Some(ExchangeKind::External),
            StepKind::StreamCopy => Some(ExchangeKind::Host),
            _ => None,
        }
    }
}

/// What an exchange moves data between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum ExchangeKind {
    /// The tiles of an IPU.
    Internal,
    /// IPUs.
    External,
    /// IPUs and the host.
    Host,
}

impl ExchangeKind {
    /// All kinds.
    pub const ALL: [ExchangeKind; 3] = [ExchangeKind::Internal, ExchangeKind::External, ExchangeKind::Host];

    /// The section of a graph profile that has exchanges of this kind.
    pub fn section(self) -> &'static str {
        match self {
            ExchangeKind::Internal => "exchanges",
            ExchangeKind::External => "externalExchanges",
            ExchangeKind::Host => "hostExchanges",
        }
    }
}

impl ProgramKind {
    /// The kind of step that a program of this kind is, if it is one.
    pub fn step(&self) -> Option<StepKind> {
        match self {
            ProgramKind::OnTileExecute => Some(StepKind::OnTileExecute),
            ProgramKind::StreamCopy => Some(StepKind::StreamCopy),
            ProgramKind::CopySharedStructure => Some(StepKind::CopySharedStructure),
            ProgramKind::Sync => Some(StepKind::Sync),
            ProgramKind::DoExchange => Some(StepKind::DoExchange),
            ProgramKind::GlobalExchange => Some(StepKind::GlobalExchange),
            _ => None,
        }
    }

    /// Whether a program of this kind only contains others, or calls one.
    pub fn is_container(&self) -> bool {
        use ProgramKind::{Call, If, Repeat, RepeatWhileFalse, RepeatWhileTrue, Sequence, Switch};
        matches!(self, Sequence | Repeat | RepeatWhileTrue | RepeatWhileFalse | If | Switch | Call)
    }
}
