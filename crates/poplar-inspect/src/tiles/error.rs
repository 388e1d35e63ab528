use std::fmt;

use super::Interval;

/// Why a mapping cannot be calculated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The number of tiles, of IPUs or of parts is zero.
    Zero {
        /// What is zero: `tiles`, `IPUs`, `parts`.
        what: &'static str,
    },
    /// The grain is zero.
    ZeroGrain,
    /// A limit is smaller than the grain, so that nothing could be put into a part.
    LimitBelowGrain {
        /// The limit.
        limit: u64,
        /// The grain.
        grain: u64,
    },
    /// A number does not fit its type.
    TooLarge {
        /// What does not fit: `number of elements`.
        what: &'static str,
    },
    /// An interval ends before it begins.
    Backwards {
        /// Its begin.
        begin: u64,
        /// Its end.
        end: u64,
    },
    /// An element is on two tiles, or twice on one.
    Overlap {
        /// Elements that are mapped twice.
        interval: Interval,
    },
    /// A tile that the target does not have.
    NoSuchTile {
        /// The tile.
        tile: u32,
        /// The number of tiles of the target.
        tiles: u32,
    },
    /// An IPU that the target does not have.
    NoSuchIpu {
        /// The IPU.
        ipu: u32,
        /// The number of IPUs of the target.
        ipus: u32,
    },
    /// A dimension that the shape does not have.
    NoSuchDimension {
        /// The dimension.
        dimension: usize,
        /// The number of dimensions of the shape.
        rank: usize,
    },
    /// A variable that the graph does not have.
    NoSuchVariable {
        /// The number of the variable.
        variable: usize,
    },
    /// Elements that the tensor does not have.
    OutOfRange {
        /// The elements.
        interval: Interval,
        /// The number of elements of the tensor.
        elements: u64,
    },
    /// Two things that belong together have different numbers of tiles.
    DifferentTiles {
        /// The number of tiles of the one.
        left: u32,
        /// The number of tiles of the other.
        right: u32,
    },
    /// The element type has no size in bytes.
    NoSize,
}

impl Error {
    /// The name of the problem, which never changes.
    pub const fn code(&self) -> &'static str {
        match self {
            Error::Zero { .. } => "zero",
            Error::ZeroGrain => "zero-grain",
            Error::LimitBelowGrain { .. } => "limit-below-grain",
            Error::TooLarge { .. } => "too-large",
            Error::Backwards { .. } => "backwards",
            Error::Overlap { .. } => "overlap",
            Error::NoSuchTile { .. } => "no-such-tile",
            Error::NoSuchIpu { .. } => "no-such-ipu",
            Error::NoSuchDimension { .. } => "no-such-dimension",
            Error::NoSuchVariable { .. } => "no-such-variable",
            Error::OutOfRange { .. } => "out-of-range",
            Error::DifferentTiles { .. } => "different-tiles",
            Error::NoSize => "no-size",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Zero { what } => write!(f, "the number of {what} is 0; it must be at least 1"),
            Error::ZeroGrain => f.write_str("the grain is 0; it must be at least 1"),
            Error::LimitBelowGrain { limit, grain } => {
                write!(f, "the limit of {limit} elements is smaller than the grain of {grain}; raise it")
            }
            Error::TooLarge { what } => write!(f, "the {what} is too large"),
            Error::Backwards { begin, end } => {
                write!(f, "an interval begins at {begin} and ends at {end}, before that")
            }
            Error::Overlap { interval } => write!(f, "the elements {interval} are mapped twice"),
            Error::NoSuchTile { tile, tiles } => write!(f, "there is no tile {tile} among {tiles} tiles"),
            Error::NoSuchIpu { ipu, ipus } => write!(f, "there is no IPU {ipu} among {ipus} IPUs"),
            Error::NoSuchDimension { dimension, rank } => {
                write!(f, "there is no dimension {dimension} in a shape of {rank} dimensions")
            }
            Error::NoSuchVariable { variable } => write!(f, "the graph has no variable {variable}"),
            Error::OutOfRange { interval, elements } => {
                write!(f, "the elements {interval} are not among the {elements} elements of the tensor")
            }
            Error::DifferentTiles { left, right } => write!(f, "one has {left} tiles, the other {right}"),
            Error::NoSize => f.write_str("the element type has no size in bytes"),
        }
    }
}

impl std::error::Error for Error {}
