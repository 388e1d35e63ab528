//! The graph profile: what the compiler made.

use std::collections::BTreeMap;

use super::lengths::Lengths;
use super::matrix::Matrix;
use super::memory::Memory;
use super::program::{ExchangeKind, Program};

/// The profile of a graph, which Poplar can write as soon as the graph is compiled. A section that the file does not have is
/// `None`, or empty.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GraphProfile {
    /// `target`: the hardware.
    pub target: Target,
    /// `optimizationInfo`: internal metrics of the compiler.
    pub optimization_info: BTreeMap<Box<str>, f64>,
    /// `graph`: how many things of each kind the graph has.
    pub graph: Option<GraphCounts>,
    /// `vertexTypes`: the vertex types that the graph uses.
    pub vertex_types: VertexTypes,
    /// `computeSets`: names, vertices, and estimated cycles.
    pub compute_sets: ComputeSets,
    /// `exchanges`: exchanges between tiles of an IPU. Their cycles are exact, because they are scheduled by the compiler.
    pub exchanges: Exchanges,
    /// `externalExchanges`: exchanges between IPUs. Their cycles are estimates.
    pub external_exchanges: Exchanges,
    /// `hostExchanges`: exchanges with the host. Their cycles are estimates.
    pub host_exchanges: Exchanges,
    /// `programs`: all programs, which refer to each other by their numbers here.
    pub programs: Vec<Program>,
    /// `controlPrograms`: the numbers of the programs that the user has provided, mostly only program 0.
    pub control_programs: Vec<u32>,
    /// `functionPrograms`: the numbers of programs that are called. A call has a number into this list.
    pub function_programs: Vec<u32>,
    /// `memory`: the memory of tiles.
    pub memory: Option<Memory>,
    /// The places of the parts that are checked later.
    pub(super) at: Places,
}

/// Where parts of a graph profile are in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// The path of the profile: `$`, or `$.graphProfile`.
    pub(super) root: String,
    pub(super) functions: u64,
    pub(super) controls: u64,
    pub(super) num_tiles: u64,
    pub(super) lengths: Lengths,
    /// The sections that the file does not have.
    pub(super) missing: Vec<&'static str>,
}

/// The hardware that a graph was compiled for.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Target {
    /// `CPU`, `IPU` or `IPU_MODEL`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: Option<Box<str>>,
    /// The bytes of memory of an IPU.
    #[cfg_attr(feature = "serde", serde(rename = "bytesPerIPU"))]
    pub bytes_per_ipu: Option<u64>,
    /// The bytes of memory of a tile.
    pub bytes_per_tile: Option<u64>,
    /// The clock of the tiles in Hertz.
    pub clock_frequency: Option<u64>,
    /// The number of IPUs.
    #[cfg_attr(feature = "serde", serde(rename = "numIPUs"))]
    pub num_ipus: Option<u64>,
    /// The number of tiles of an IPU.
    #[cfg_attr(feature = "serde", serde(rename = "tilesPerIPU"))]
    pub tiles_per_ipu: Option<u64>,
    /// The number of all tiles: `num_ipus` times `tiles_per_ipu`.
    pub num_tiles: u32,
    /// The bytes of memory of all tiles.
    pub total_memory: Option<u64>,
    /// The cycles that a synchronisation takes on the nearest tile.
    pub min_sync_delay: Option<u64>,
    /// The further cycles that it takes on each tile of an IPU. They are the same on every IPU.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub relative_sync_delay_by_tile: Vec<u64>,
}

/// How many things of each kind a graph has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct GraphCounts {
    /// Compute sets.
    pub num_compute_sets: Option<u64>,
    /// Edges between variables and vertices.
    pub num_edges: Option<u64>,
    /// Variables.
    pub num_vars: Option<u64>,
    /// Vertices.
    pub num_vertices: Option<u64>,
}

/// The vertex types that a graph uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VertexTypes {
    /// Their names, such as `poplar_rt::LongMemcpy`.
    pub names: Vec<Box<str>>,
    /// The bytes of the state of a vertex of each type, which are the members of its class.
    pub sizes: Vec<u64>,
}

/// The compute sets of a graph, also those that the compiler added.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ComputeSets {
    /// Their names, which need not be unique.
    pub names: Vec<Box<str>>,
    /// The numbers of vertices of each type in each compute set.
    pub vertices: Vec<Vec<VertexCount>>,
    /// Estimates of cycles, which targets of type `IPU_MODEL` have.
    pub cycle_estimates: Option<CycleEstimates>,
}

impl ComputeSets {
    /// The number of compute sets.
    pub fn len(&self) -> usize {
        self.names.len().max(self.vertices.len())
    }

    /// Whether there are no compute sets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a compute set.
    pub fn name(&self, compute_set: u32) -> Option<&str> {
        self.names.get(compute_set as usize).map(|name| &**name)
    }
}

/// The number of vertices of a type in a compute set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct VertexCount {
    /// The number of the type in [`VertexTypes`].
    pub vertex_type: u32,
    /// The number of vertices.
    pub vertices: u64,
}

/// The estimated cycles in which the vertices of one type are run in one compute set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct TypeCycles {
    /// The number of the compute set.
    pub compute_set: u32,
    /// The number of the type in [`VertexTypes`].
    pub vertex_type: u32,
    /// The cycles.
    pub cycles: u64,
}

/// Estimated cycles of compute sets.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CycleEstimates {
    /// The cycles in which a vertex was run, by compute set and tile. If only one of the six threads of a tile runs, that is one cycle
    /// of six.
    pub active_cycles_by_tile: Option<Matrix>,
    /// The cycles in which a vertex was run, by compute set and vertex type, as far as they are not 0.
    pub active_cycles_by_vertex_type: Option<Vec<TypeCycles>>,
    /// The cycles that each tile takes, by compute set and tile.
    pub cycles_by_tile: Option<Matrix>,
}

/// Exchanges of one kind. All lists are by exchange and tile.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Exchanges {
    /// The bytes that each tile receives.
    pub bytes_received_by_tile: Option<Matrix>,
    /// The bytes that each tile sends.
    pub bytes_sent_by_tile: Option<Matrix>,
    /// The cycles of each tile: `cyclesByTile` of exchanges between tiles, `estimatedCyclesByTile` of others.
    pub cycles_by_tile: Option<Matrix>,
    /// The bytes of code on each tile. The document of the format does not have it, but some reports do.
    pub code_bytes_by_tile: Option<Matrix>,
}

impl Exchanges {
    /// The number of exchanges.
    pub fn len(&self) -> usize {
        let lists =
            [&self.bytes_received_by_tile, &self.bytes_sent_by_tile, &self.cycles_by_tile, &self.code_bytes_by_tile];
        lists.into_iter().flatten().map(Matrix::len).max().unwrap_or_default()
    }

    /// Whether there are no exchanges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl GraphProfile {
    /// Whether the report has a list by tile, so that the number of tiles is more than a claim.
    pub(super) fn has_tiles(&self) -> bool {
        self.at.lengths.has_lists()
    }

    /// The exchanges that programs of a kind use.
    pub fn exchanges_of(&self, kind: ExchangeKind) -> &Exchanges {
        match kind {
            ExchangeKind::Internal => &self.exchanges,
            ExchangeKind::External => &self.external_exchanges,
            ExchangeKind::Host => &self.host_exchanges,
        }
    }
}
