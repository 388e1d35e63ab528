//! The error type of this crate: a problem and its place.

use std::fmt;
use std::io;
use std::sync::Arc;

use popef::error::ErrorKind;
use popef::seam::{Cause, Facts as _, codes, problems};
use popef::types::{Diagnostic, Text};

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
        Advice::RaiseLimit;
    NamesTooLong = "names-too-long", Limit,
        "The archive's table of long names is longer than 16 MiB.",
        "Do not trust the file: no archive of tiles needs this.";
    TooManyTiles = "too-many-tiles", Limit,
        "The archive has more tiles than `Options::tiles`.",
        Advice::RaiseLimit;
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
/// The text is one line: the place, what is wrong, what was needed and what was found. [`describe`](Error::describe) says what to
/// do. Programs decide by the [code](Error::code).
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
///     "member \"tile0.elf\", byte 68: the archive ends inside this member, which has 9 of its 5000 bytes"
/// );
/// # Ok::<(), poplar_inspect::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<(Place, Arc<Problem>)>);

problems! {
    /// What is wrong.
    Problem of ErrorCode {
        UnknownStart { first: Vec<u8> } => ErrorCode::UnknownStart,
            "this is neither a Unix archive nor a Poplar executable: it {}", Begins(first);
        ThinArchive => ErrorCode::ThinArchive,
            "the archive is thin: it has only the names of files";
        StartCut { needed: u64, found: u64 } => ErrorCode::StartCut, needed: *needed, found: *found,
            "the header of a Poplar executable needs {needed} bytes, {found} are left";
        PartCut { needed: u64, found: u64 } => ErrorCode::PartCut, needed: *needed, found: *found,
            "the input ends inside this part, which has {found} of its {needed} packed bytes";
        PartUnknown { first: Vec<u8> } => ErrorCode::PartUnknown,
            "this part was assumed to be a Unix archive, but {}", Begins(first);
        HeaderCut { needed: u64, found: u64 } => ErrorCode::HeaderCut, needed: *needed, found: *found,
            "the header of an archive's member needs {needed} bytes, {found} are left";
        HeaderDamaged { fault: &'static str } => ErrorCode::HeaderDamaged,
            "the header of an archive's member is damaged: {fault}";
        MemberCut { needed: u64, found: u64 } => ErrorCode::MemberCut, needed: *needed, found: *found,
            "the archive ends inside this member, which has {found} of its {needed} bytes";
        NameMissing { fault: &'static str } => ErrorCode::NameMissing,
            "the name of a member is missing: {fault}";
        TileDamaged { fault: &'static str } => ErrorCode::TileDamaged,
            "the ELF file of a tile is damaged: {fault}";
        MemberTooLong { needed: u64, limit: u64 } => ErrorCode::MemberTooLong, needed: *needed, found: *limit,
            "this member has {needed} bytes, more than the limit of {limit}";
        NamesTooLong { needed: u64, limit: u64 } => ErrorCode::NamesTooLong, needed: *needed, found: *limit,
            "the table of long names has {needed} bytes, more than the limit of {limit}";
        TooManyTiles { limit: u64 } => ErrorCode::TooManyTiles, found: *limit,
            "the archive has more tiles than the limit of {limit}";
        Unreadable { source: io::Error } => ErrorCode::Unreadable, source: Some(cause(source)),
            "cannot read on: {source}";
    }
}

impl Problem {
    pub(crate) fn at(self, part: Part, offset: u64) -> Error {
        Error(Box::new((Place { part, member: None, offset }, Arc::new(self))))
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
        Problem::Unreadable { source }.at(part, offset)
    }

    pub(crate) fn in_member(mut self, name: &Text<'static>) -> Self {
        self.0.0.member.get_or_insert_with(|| name.clone());
        self
    }

    /// The stable code of the error.
    pub fn code(&self) -> ErrorCode {
        self.0.1.code()
    }

    /// The kind of the error: what is at fault, and so what may help.
    pub fn kind(&self) -> ErrorKind {
        self.popef_error().map_or(self.code().kind(), popef::Error::kind)
    }

    /// The error of popef behind this one.
    fn popef_error(&self) -> Option<&popef::Error> {
        self.0.1.source()?.downcast_ref()
    }

    /// The place of the problem.
    pub fn place(&self) -> &Place {
        &self.0.0
    }

    /// How much was needed, if that is a number.
    pub fn needed(&self) -> Option<u64> {
        self.0.1.needed()
    }

    /// How much was found, if that is a number. For a limit, how much it allows.
    pub fn found(&self) -> Option<u64> {
        self.0.1.found()
    }

    /// The error as a plain value. The offset counts from the [part](Place::part).
    pub fn describe(&self) -> Diagnostic {
        let own = self.code().info();
        let (info, advice) = self.popef_error().map_or((own, own.advice), |error| (error.info(), error.advice()));
        let mut described = Diagnostic::new(info, self.reason());
        described.offset = Some(self.place().offset);
        (described.needed, described.found) = (self.needed(), self.found());
        described.advice = advice.words().into();
        described
    }

    /// The text without the place, for callers that show it separately.
    pub fn reason(&self) -> String {
        self.0.1.to_string()
    }
}

/// The cause of a failure to read: the error of popef inside an `io::Error`, or that itself.
fn cause(error: &io::Error) -> Cause<'_> {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<popef::Error>());
    inner.map_or(error as Cause<'_>, |inner| inner)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.0, self.0.1)
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
        self.0.1.source()
    }
}

/// Serialises as a [`Diagnostic`], with the part and the member.
#[cfg(feature = "serde")]
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct WithPlace<'e> {
            #[serde(flatten)]
            error: Diagnostic,
            part: Part,
            member: &'e Option<Text<'static>>,
        }
        WithPlace { error: self.describe(), part: self.place().part, member: &self.place().member }
            .serialize(serializer)
    }
}
