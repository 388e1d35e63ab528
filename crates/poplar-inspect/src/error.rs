//! The error type of this crate: a problem and its place.

use std::fmt;
use std::io;
use std::sync::Arc;

use popef::error::ErrorKind;
use popef::seam::codes;
use popef::types::Text;

codes! {
    /// A stable code that tells programs which error this is. The text of an [`Error`] may change between versions; its
    /// code does not.
    ///
    /// ```
    /// use poplar_inspect::ErrorCode;
    ///
    /// for code in ErrorCode::ALL {
    ///     println!("{code} ({}): {}", code.kind(), code.info().meaning);
    /// }
    /// assert_eq!(ErrorCode::MemberCut.as_str(), "member-cut");
    /// ```
    pub enum ErrorCode ("an error code of executables");

    UnknownStart = "unknown-start", Unknown,
        "The bytes begin neither like a Unix archive nor like a Poplar executable.",
        "Make sure that this is Poplar's `archive.a`, or the data of an executable. A later Poplar may write another format.";
    ThinArchive = "thin-archive", Unknown,
        "The archive is thin: it has only the names of its members, and their bytes are in other files.",
        "Make an ordinary archive of those files: `ar rc new.a FILE...`.";
    StartCut = "start-cut", Damaged,
        "The bytes end inside the header of a Poplar executable.",
        "Copy or export the file again.";
    PartCut = "part-cut", Damaged,
        "The bytes end before a part of a Poplar executable does: its header gives the part more bytes.",
        "Copy or export the file again.";
    PartUnknown = "part-unknown", Unknown,
        "The archive part of a Poplar executable is not a Unix archive, which it was assumed to be.",
        "Nothing. If you can, report it to this project: no public sample of such a file exists.";
    HeaderCut = "member-header-cut", Damaged,
        "The archive ends inside the header of a member.",
        "Copy the archive again, or make it again.";
    HeaderDamaged = "member-header-damaged", Damaged,
        "The header of an archive's member is damaged.",
        "Copy the archive again, or make it again.";
    MemberCut = "member-cut", Damaged,
        "The archive ends before a member does: its header gives the member more bytes than the archive has left.",
        "Copy the archive again, or make it again.";
    NameMissing = "name-missing", Damaged,
        "A member's name is not where its header says.",
        "Copy the archive again, or make it again.";
    TileDamaged = "tile-damaged", Damaged,
        "A table in the ELF file of a tile is damaged.",
        "Copy the archive again, or make it again.";
    MemberTooLong = "member-too-long", Limit,
        "The ELF file of a tile is longer than `Options::member_bytes`.",
        "Raise the limit if you trust the file.";
    NamesTooLong = "names-too-long", Limit,
        "The archive's table of long names is longer than 16 MiB.",
        "Do not trust the file: no archive of tiles needs this.";
    TooManyTiles = "too-many-tiles", Limit,
        "The archive has more tiles than `Options::tiles`.",
        "Raise the limit if you trust the file.";
    Unreadable = "unreadable", Io,
        "The bytes cannot be read or unpacked. The error's source says why.",
        "Look at the cause that the error states, and remove it.";
}

/// The part of the input that an offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Part {
    /// The input itself: an archive, or the header of a Poplar executable.
    Input,
    /// The unpacked archive in a Poplar executable.
    Archive,
    /// The unpacked metadata in a Poplar executable.
    Metadata,
}

/// The place of a problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Place {
    /// What the offset counts from.
    pub part: Part,
    /// The name of the archive's member, if the problem is inside one. Cut after 64 bytes.
    pub member: Option<Text<'static>>,
    /// The byte offset in the part.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Input => {}
            Part::Archive => f.write_str("archive, ")?,
            Part::Metadata => f.write_str("metadata, ")?,
        }
        if let Some(member) = &self.member {
            write!(f, "member {member:?}, ")?;
        }
        write!(f, "byte {}", self.offset)
    }
}

/// What went wrong, and where.
///
/// The text is one line: the place, what is wrong, what was needed and what was found, and what to do. Programs decide by
/// the [code](Error::code).
///
/// ```
/// use poplar_inspect::{ErrorCode, executable};
///
/// let bytes = b"!<arch>\ntile0.elf/      0           0     0     644     5000      `\nonly this";
/// let summary = executable::read(&bytes[..], &executable::Options::default())?;
/// let damage = summary.damage.expect("the archive is cut");
/// assert_eq!(damage.code(), ErrorCode::MemberCut);
/// assert_eq!((damage.place().offset, damage.needed(), damage.found()), (68, Some(5000), Some(9)));
/// assert_eq!(
///     damage.to_string(),
///     "member \"tile0.elf\", byte 68: the archive ends inside this member, which has 9 of its 5000 bytes; \
///      copy or make the file again"
/// );
/// # Ok::<(), poplar_inspect::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<(Place, Problem)>);

/// What is wrong.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    UnknownStart { first: Vec<u8> },
    ThinArchive,
    StartCut { needed: u64, found: u64 },
    PartCut { needed: u64, found: u64 },
    PartUnknown { first: Vec<u8> },
    HeaderCut { needed: u64, found: u64 },
    HeaderDamaged { fault: &'static str },
    MemberCut { needed: u64, found: u64 },
    NameMissing { fault: &'static str },
    TileDamaged { fault: &'static str },
    MemberTooLong { needed: u64, limit: u64 },
    NamesTooLong { needed: u64, limit: u64 },
    TooManyTiles { limit: u64 },
    Unreadable { source: Arc<io::Error> },
}

impl Problem {
    pub(crate) fn at(self, part: Part, offset: u64) -> Error {
        Error(Box::new((Place { part, member: None, offset }, self)))
    }

    /// Returns the code, what was needed and what was found.
    fn facts(&self) -> (ErrorCode, Option<u64>, Option<u64>) {
        let simply = |code| (code, None, None);
        match *self {
            Problem::UnknownStart { .. } => simply(ErrorCode::UnknownStart),
            Problem::ThinArchive => simply(ErrorCode::ThinArchive),
            Problem::StartCut { needed, found } => (ErrorCode::StartCut, Some(needed), Some(found)),
            Problem::PartCut { needed, found } => (ErrorCode::PartCut, Some(needed), Some(found)),
            Problem::PartUnknown { .. } => simply(ErrorCode::PartUnknown),
            Problem::HeaderCut { needed, found } => (ErrorCode::HeaderCut, Some(needed), Some(found)),
            Problem::HeaderDamaged { .. } => simply(ErrorCode::HeaderDamaged),
            Problem::MemberCut { needed, found } => (ErrorCode::MemberCut, Some(needed), Some(found)),
            Problem::NameMissing { .. } => simply(ErrorCode::NameMissing),
            Problem::TileDamaged { .. } => simply(ErrorCode::TileDamaged),
            Problem::MemberTooLong { needed, limit } => (ErrorCode::MemberTooLong, Some(needed), Some(limit)),
            Problem::NamesTooLong { needed, limit } => (ErrorCode::NamesTooLong, Some(needed), Some(limit)),
            Problem::TooManyTiles { limit } => (ErrorCode::TooManyTiles, None, Some(limit)),
            Problem::Unreadable { .. } => simply(ErrorCode::Unreadable),
        }
    }
}

impl Problem {
    /// What to do, as the end of an error's text.
    fn advice(&self) -> &'static str {
        match self {
            Problem::UnknownStart { .. } | Problem::NamesTooLong { .. } | Problem::Unreadable { .. } => "",
            Problem::ThinArchive => "; make an ordinary one of those files with `ar rc`",
            Problem::StartCut { .. } | Problem::PartCut { .. } => "; copy or export the file again",
            Problem::PartUnknown { .. } => "; report it if you can, as no sample is public",
            Problem::MemberTooLong { .. } | Problem::TooManyTiles { .. } => "; raise the limit if the file is trusted",
            Problem::HeaderCut { .. }
            | Problem::HeaderDamaged { .. }
            | Problem::MemberCut { .. }
            | Problem::NameMissing { .. }
            | Problem::TileDamaged { .. } => "; copy or make the file again",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnknownStart { first } => {
                write!(f, "this is neither a Unix archive nor a Poplar executable: it {}", Begins(first))
            }
            Problem::ThinArchive => f.write_str("the archive is thin: it has only the names of files"),
            Problem::StartCut { needed, found } => {
                write!(f, "the header of a Poplar executable needs {needed} bytes, {found} are left")
            }
            Problem::PartCut { needed, found } => {
                write!(f, "the input ends inside this part, which has {found} of its {needed} packed bytes")
            }
            Problem::PartUnknown { first } => {
                write!(f, "this part was assumed to be a Unix archive, but {}", Begins(first))
            }
            Problem::HeaderCut { needed, found } => {
                write!(f, "the header of an archive's member needs {needed} bytes, {found} are left")
            }
            Problem::HeaderDamaged { fault } => {
                write!(f, "the header of an archive's member is damaged: {fault}")
            }
            Problem::MemberCut { needed, found } => {
                write!(f, "the archive ends inside this member, which has {found} of its {needed} bytes")
            }
            Problem::NameMissing { fault } => write!(f, "the name of a member is missing: {fault}"),
            Problem::TileDamaged { fault } => write!(f, "the ELF file of a tile is damaged: {fault}"),
            Problem::MemberTooLong { needed, limit } => {
                write!(f, "this member has {needed} bytes, more than the limit of {limit}")
            }
            Problem::NamesTooLong { needed, limit } => {
                write!(f, "the table of long names has {needed} bytes, more than the limit of {limit}")
            }
            Problem::TooManyTiles { limit } => write!(f, "the archive has more tiles than the limit of {limit}"),
            Problem::Unreadable { source } => write!(f, "cannot read on: {source}"),
        }
    }
}

/// Says how unknown input begins.
struct Begins<'a>(&'a [u8]);

impl fmt::Display for Begins<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("is empty");
        }
        f.write_str("begins with 0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Error {
    /// A failure of the reader, or of popef, which may be inside an `io::Error`.
    pub(crate) fn unreadable(source: io::Error, part: Part, offset: u64) -> Self {
        Problem::Unreadable { source: Arc::new(source) }.at(part, offset)
    }

    pub(crate) fn in_member(mut self, name: &Text<'static>) -> Self {
        self.0.0.member.get_or_insert_with(|| name.clone());
        self
    }

    /// The stable code of the error.
    pub fn code(&self) -> ErrorCode {
        self.0.1.facts().0
    }

    /// The kind of the error: what is at fault, and so what may help.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.1 {
            Problem::Unreadable { source } => match popef_error_in(source) {
                Some(error) => error.kind(),
                None => ErrorKind::Io,
            },
            other => other.facts().0.kind(),
        }
    }

    /// The place of the problem.
    pub fn place(&self) -> &Place {
        &self.0.0
    }

    /// How much was needed, if that is a number.
    pub fn needed(&self) -> Option<u64> {
        self.0.1.facts().1
    }

    /// How much was found, if that is a number. For a limit, how much it allows.
    pub fn found(&self) -> Option<u64> {
        self.0.1.facts().2
    }

    /// The text without the place, for callers that show it separately.
    pub fn reason(&self) -> String {
        format!("{}{}", self.0.1, self.0.1.advice())
    }

    /// What is wrong, without the place and without advice.
    pub fn fault(&self) -> String {
        self.0.1.to_string()
    }
}

/// The error of popef inside an `io::Error`.
fn popef_error_in(error: &io::Error) -> Option<&popef::Error> {
    error.get_ref()?.downcast_ref()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.0.0, self.0.1, self.0.1.advice())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("code", &self.code())
            .field("kind", &self.kind())
            .field("place", &self.0.0)
            .field("problem", &self.0.1)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.1 {
            Problem::Unreadable { source } => match popef_error_in(source) {
                Some(error) => Some(error),
                None => Some(&**source),
            },
            _ => None,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut object = serializer.serialize_struct("Error", 8)?;
        object.serialize_field("code", self.code().as_str())?;
        object.serialize_field("kind", self.kind().as_str())?;
        object.serialize_field("part", &self.place().part)?;
        object.serialize_field("member", &self.place().member)?;
        object.serialize_field("offset", &self.place().offset)?;
        object.serialize_field("needed", &self.needed())?;
        object.serialize_field("found", &self.found())?;
        object.serialize_field("reason", &self.reason())?;
        object.end()
    }
}
