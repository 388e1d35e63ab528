use popef::seam::errors;

use super::Interval;

errors! {
    /// Why a mapping cannot be calculated.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Error {
        Zero { what: &'static str } = "zero", "the number of {what} is 0; it must be at least 1";
        ZeroGrain = "zero-grain", "the grain is 0; it must be at least 1";
        LimitBelowGrain { limit: u64, grain: u64 } = "limit-below-grain",
            "the limit of {limit} elements is smaller than the grain of {grain}; raise it";
        TooLarge { what: &'static str } = "too-large", "the {what} is too large";
        Backwards { begin: u64, end: u64 } = "backwards",
            "an interval begins at {begin} and ends at {end}, before that";
        Overlap { interval: Interval } = "overlap", "the elements {interval} are mapped twice";
        NoSuchTile { tile: u32, tiles: u32 } = "no-such-tile", "there is no tile {tile} among {tiles} tiles";
        NoSuchIpu { ipu: u32, ipus: u32 } = "no-such-ipu", "there is no IPU {ipu} among {ipus} IPUs";
        NoSuchDimension { dimension: usize, rank: usize } = "no-such-dimension",
            "there is no dimension {dimension} in a shape of {rank} dimensions";
        NoSuchVariable { variable: usize } = "no-such-variable", "the graph has no variable {variable}";
        OutOfRange { interval: Interval, elements: u64 } = "out-of-range",
            "the elements {interval} are not among the {elements} elements of the tensor";
        DifferentTiles { left: u32, right: u32 } = "different-tiles", "one has {left} tiles, the other {right}";
        NoSize = "no-size", "the element type has no size in bytes";
    }
}
