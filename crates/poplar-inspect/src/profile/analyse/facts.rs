//! All that is known of a report as a whole.

use std::collections::BTreeMap;

use super::exchanges::{ExchangeTotals, exchange_totals};
use super::liveness::{LivenessSums, liveness};
use super::memory::{MemorySums, memory};
use super::programs::{ProgramCounts, TraceStyle, exchange_code, program_counts, trace_style};
use super::select::Selection;
use super::steps::{ExecutionSums, execution};
use super::vertex_types::{VertexTypeRow, vertex_types};
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::{GraphCounts, GraphProfile, Target};

/// All that is known of a report as a whole.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Facts<'r> {
    /// What is exchanged.
    pub exchanges: ExchangeTotals,
    /// What was executed, if the report says so.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub execution: Option<ExecutionSums<'r>>,
    /// Numbers of things in the graph.
    pub graph: Option<GraphCounts>,
    /// The memory of tiles.
    pub memory: Option<MemoryFacts<'r>>,
    /// The bytes of code of exchanges between tiles, by instruction, if the report has them.
    pub exchange_code: BTreeMap<&'r str, u64>,
    /// Numbers of programs.
    pub programs: ProgramCounts,
    /// The hardware.
    pub target: &'r Target,
    /// What the trace of programs has.
    pub trace_style: TraceStyle,
}

/// The memory of tiles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct MemoryFacts<'r> {
    /// Sums over all tiles.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub sums: MemorySums,
    /// When it is needed.
    pub liveness: Option<LivenessSums>,
    /// The vertex types with the most code, at most ten.
    pub top_vertex_types_by_code: Vec<VertexTypeRow<'r>>,
}

/// The maximum number of tiles, and of vertex types, among the facts.
const TOP: usize = 10;

/// All that is known of a report as a whole.
pub fn facts<'r>(graph: &'r GraphProfile, executed: Option<&'r ExecutionProfile>) -> Facts<'r> {
    let memory = memory(graph, TOP).map(|sums| MemoryFacts {
        sums,
        liveness: liveness(graph),
        top_vertex_types_by_code: vertex_types(graph, executed, &Selection::largest(TOP)),
    });
    Facts {
        exchanges: exchange_totals(graph, executed),
        execution: executed.map(|executed| execution(graph, executed)),
        graph: graph.graph,
        memory,
        exchange_code: exchange_code(graph),
        programs: program_counts(graph, executed),
        target: &graph.target,
        trace_style: trace_style(graph, executed),
    }
}
