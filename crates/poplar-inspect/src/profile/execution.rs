//! The execution profile: what ran.

use std::collections::BTreeMap;

use super::lengths::Lengths;
use super::matrix::Matrix;
use super::steps::Steps;

/// The profile of an execution: the programs that ran since the profile was last reset.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecutionProfile {
    /// `profilerMode`: how it was measured. The document lists those of [`MODES`].
    pub profiler_mode: Option<Box<str>>,
    /// `computeSetCyclesByTile` of the mode `COMPUTE_SETS`: the cycles of one execution, by compute set and tile.
    pub compute_set_cycles_by_tile: Option<Matrix>,
    /// `computeSetCycles` of the mode `SINGLE_TILE_COMPUTE_SETS`: the cycles of one execution on all tiles together.
    pub compute_set_cycles: Option<Vec<u64>>,
    /// `vertexCycles` and what goes with it, of the mode `VERTICES`: the cycles of the last run of each vertex, summed up.
    pub vertex_cycles: Vec<VertexCycles>,
    /// `externalExchangeCycles` of the mode `EXTERNAL_EXCHANGES`, by exchange and tile.
    pub external_exchange_cycles: Option<Matrix>,
    /// `hostExchangeCycles` of the mode `HOST_EXCHANGES`, by exchange and tile.
    pub host_exchange_cycles: Option<Matrix>,
    /// `programTrace`: the numbers of the programs that ran.
    pub program_trace: Option<Vec<u32>>,
    /// `simulation`: the steps that these programs took.
    pub simulation: Option<Simulation>,
    /// Where parts are in the file.
    pub(super) at: Places,
}

/// Where parts of an execution profile are in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// The path of the profile: `$`, or `$.executionProfile`.
    pub(super) root: String,
    pub(super) trace: u64,
    pub(super) lengths: Lengths,
}

/// The modes of profiling that the document of the format lists.
pub const MODES: [&str; 8] = [
    "NONE",
    "CPU",
    "IPU_MODEL",
    "COMPUTE_SETS",
    "SINGLE_TILE_COMPUTE_SETS",
    "VERTICES",
    "EXTERNAL_EXCHANGES",
    "HOST_EXCHANGES",
];

/// The measured cycles of the vertices of one type in one compute set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct VertexCycles {
    /// The number of the compute set.
    pub compute_set: u32,
    /// The number of the vertex type.
    pub vertex_type: u32,
    /// The number of vertices.
    pub vertices: u64,
    /// The sum of their cycles.
    pub cycles: u64,
    /// The cycles of the longest one.
    pub most: u64,
}

/// The steps of an execution, which Poplar calculated from the graph profile and the trace.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// `cycles`: from the start to the end of all steps. Unknown if the cycles of compute sets are.
    pub cycles: Option<u64>,
    /// `tileCycles`: the cycles of each kind of activity, summed over tiles. `activeCompute` is a part of `compute`.
    pub tile_cycles: BTreeMap<Box<str>, u64>,
    /// `steps`: what was done, in order.
    pub steps: Steps,
}
