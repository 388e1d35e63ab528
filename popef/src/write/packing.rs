use std::fmt;
use std::str::FromStr;

use super::problem::WriteProblem;
use crate::error::Problem;
use crate::names::{UnknownName, serde_as_text};
use crate::read::Compression;

/// The format and level for compressing an executable. Level 0 does not compress, 1 is the fastest, and 9 gives the
/// smallest result.
///
/// It is unknown which format the vendor's library uses; zlib is the most likely. The text form is `zlib:6`. When
/// parsing, a missing level means 6.
///
/// ```
/// use popef::write::Packing;
///
/// assert_eq!("gzip:9".parse(), Ok(Packing::Gzip(9)));
/// assert_eq!("zlib".parse(), Ok(Packing::default()));
/// assert_eq!(Packing::Zlib(1).to_string(), "zlib:1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// A zlib stream (RFC 1950), with this level.
    Zlib(u32),
    /// One gzip member (RFC 1952) without a file name, with this level.
    Gzip(u32),
}

/// The default level of zlib itself.
const USUAL_LEVEL: u32 = 6;

/// zlib with level 6.
impl Default for Packing {
    fn default() -> Self {
        Packing::Zlib(USUAL_LEVEL)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packing::Zlib(level) => write!(f, "zlib:{level}"),
            Packing::Gzip(level) => write!(f, "gzip:{level}"),
        }
    }
}

impl FromStr for Packing {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let known = ["zlib:0 to zlib:9", "gzip:0 to gzip:9"];
        let unknown = || UnknownName::new(text, "a way to compress", known.into_iter());
        let (name, level) = match text.split_once(':') {
            Some((name, level)) => (name, level.parse().map_err(|_| unknown())?),
            None => (text, USUAL_LEVEL),
        };
        let packing = match name {
            "zlib" => Packing::Zlib(level),
            "gzip" => Packing::Gzip(level),
            _ => return Err(unknown()),
        };
        packing.check().map(|()| packing).map_err(|_| unknown())
    }
}

serde_as_text!(Packing);

impl Packing {
    /// The format without the level.
    pub fn format(self) -> Compression {
        match self {
            Packing::Zlib(_) => Compression::Zlib,
            Packing::Gzip(_) => Compression::Gzip,
        }
    }

    pub(super) fn level(self) -> u32 {
        let (Packing::Zlib(level) | Packing::Gzip(level)) = self;
        level
    }

    pub(super) fn check(self) -> Result<(), Problem> {
        let level = self.level();
        if level <= 9 { Ok(()) } else { Err(WriteProblem::NoSuchLevel { level }.into()) }
    }
}
