use popef::seam::errors;

use super::Interval;

errors! {
    /// Why a mapping cannot be calculated.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Error {
        /// The number of tiles, of IPUs or of parts is zero.
        Zero { what: &'static str } = "zero", "the number of {what} is 0; it must be at least 1";
        /// The grain is zero.
        ZeroGrain = "zero-grain", "the grain is 0; it must be at least 1";
        /// A limit is smaller than the grain, so that nothing could be put into a part.
        LimitBelowGrain { limit: u64, grain: u64 } = "limit-below-grain",
            "the limit of {limit} elements is smaller than the grain of {grain}; raise it";
        /// A number does not fit its type.
        TooLarge { what: &'static str } = "too-large", "the {what} is too large";
        /// An interval ends before it begins.
        Backwards { begin: u64, end: u64 } = "backwards",
            "an interval begins at {begin} and ends at {end}, before that";
        /// An element is on two tiles, or twice on one.
        Overlap { interval: Interval } = "overlap", "the elements {interval} are mapped twice";
        /// A tile that the target does not have.
        NoSuchTile { tile: u32, tiles: u32 } = "no-such-tile", "there is no tile {tile} among {tiles} tiles";
        /// An IPU that the target does not have.
        NoSuchIpu { ipu: u32, ipus: u32 } = "no-such-ipu", "there is no IPU {ipu} among {ipus} IPUs";
        /// A dimension that the shape does not have.
        NoSuchDimension { dimension: usize, rank: usize } = "no-such-dimension",
            "there is no dimension {dimension} in a shape of {rank} dimensions";
        /// A variable that the graph does not have.
        NoSuchVariable { variable: usize } = "no-such-variable", "the graph has no variable {variable}";
        /// Elements that the tensor does not have.
        OutOfRange { interval: Interval, elements: u64 } = "out-of-range",
            "the elements {interval} are not among the {elements} elements of the tensor";
        /// Two things that belong together have different numbers of tiles.
        DifferentTiles { left: u32, right: u32 } = "different-tiles", "one has {left} tiles, the other {right}";
        /// The element type has no size in bytes.
        NoSize = "no-size", "the element type has no size in bytes";
    }
}
