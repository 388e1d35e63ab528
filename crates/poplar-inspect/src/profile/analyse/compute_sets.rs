//! Compute sets.

use super::cycles::{Cycles, balance};
use super::runs::Runs;
use super::select::{Row, Selection};
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;

/// A compute set.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ComputeSetRow<'g> {
    /// Its number.
    pub compute_set: u32,
    /// The cycles of the slowest tile in one execution. Measured ones count more than estimates.
    pub max_cycles: Option<u64>,
    /// The same, for all executions.
    pub max_cycles_times_runs: Option<u64>,
    /// Its name.
    pub name: Option<&'g str>,
    /// How often it is executed, if an execution says so.
    pub runs: Option<u64>,
    /// The cycles of all tiles in one execution.
    pub sum_cycles: Option<u64>,
    /// The tiles that have work.
    pub tiles: Option<u32>,
    /// The sum of cycles, divided by the most cycles and the number of tiles.
    pub tile_balance: Option<f64>,
    /// The number of its vertices.
    pub vertices: u64,
    /// The bytes of all that belongs to it. Compute sets share code, so these cannot be summed up.
    pub size: Option<u64>,
}

impl Row for ComputeSetRow<'_> {
    fn name(&self) -> Option<&str> {
        self.name
    }

    fn number(&self) -> Option<u32> {
        Some(self.compute_set)
    }

    fn weight(&self) -> u64 {
        self.max_cycles_times_runs.or(self.max_cycles).unwrap_or_default()
    }
}

/// The compute sets of a graph. The largest are those that take most cycles in the execution, or in one run each without one.
pub fn compute_sets<'g>(
    graph: &'g GraphProfile,
    execution: Option<&ExecutionProfile>,
    selection: &Selection<'_>,
) -> Vec<ComputeSetRow<'g>> {
    let cycles = Cycles::of(graph, execution);
    let runs = Runs::of(execution);
    let parts = graph.memory.as_ref().and_then(|memory| memory.by_compute_set.as_ref());
    let sizes = parts.and_then(|parts| parts.total_bytes.as_ref());
    let row = |(compute_set, nth): (u32, usize)| {
        let sums = cycles.compute_set(compute_set);
        let runs = runs.as_ref().map(|runs| runs.compute_set(compute_set));
        let vertices = graph.compute_sets.vertices.get(nth).into_iter().flatten();
        ComputeSetRow {
            compute_set,
            max_cycles: sums.map(|sums| sums.most),
            max_cycles_times_runs: sums.zip(runs).map(|(sums, runs)| sums.most.saturating_mul(runs)),
            name: graph.compute_sets.name(compute_set),
            runs,
            sum_cycles: sums.map(|sums| sums.sum),
            tiles: sums.map(|sums| sums.tiles),
            tile_balance: sums.and_then(|sums| balance(sums.sum, sums.most, u64::from(graph.target.num_tiles))),
            vertices: vertices.fold(0, |sum, count| sum.saturating_add(count.vertices)),
            size: sizes.and_then(|sizes| sizes.rows.get(nth)).map(|row| row.sum),
        }
    };
    selection.choose((0_u32..).zip(0..graph.compute_sets.len()).map(row))
}
