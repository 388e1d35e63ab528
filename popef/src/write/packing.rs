use std::fmt;
use std::str::FromStr;

use super::problem::WriteProblem;
use crate::error::Problem;
use crate::names::{UnknownName, serde_as_text};

/// How to compress an executable, with a level from 0, which only wraps, over 1, the fastest, to 9, the smallest.
///
/// What the vendor's library uses is not known; zlib is the likeliest. As text it is `zlib:6`; without a level, it is read
/// as that of level 6.
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
    /// A zlib stream (RFC 1950) of this level.
    Zlib(u32),
    /// One gzip member (RFC 1952) of this level, without a file name.
    Gzip(u32),
}

/// What zlib itself takes for the usual level.
const USUAL_LEVEL: u32 = 6;

/// zlib at level 6.
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
    pub(super) fn level(self) -> u32 {
        let (Packing::Zlib(level) | Packing::Gzip(level)) = self;
        level
    }

    pub(super) fn check(self) -> Result<(), Problem> {
        let level = self.level();
        if level <= 9 { Ok(()) } else { Err(WriteProblem::NoSuchLevel { level }.into()) }
    }
}
