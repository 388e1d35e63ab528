use super::problem::WriteProblem;
use crate::error::Problem;

/// How to compress an executable, with a level from 0, which only wraps, over 1, the fastest, to 9, the smallest.
///
/// What the vendor's library uses is not known; zlib is the likeliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// A zlib stream (RFC 1950) of this level.
    Zlib(u32),
    /// One gzip member (RFC 1952) of this level, without a file name.
    Gzip(u32),
}

/// zlib at level 6: what zlib itself takes for the usual one.
impl Default for Packing {
    fn default() -> Self {
        Packing::Zlib(6)
    }
}

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
