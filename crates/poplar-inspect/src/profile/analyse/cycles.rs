//! How long compute sets and exchanges take, from the lists by tile.

use super::memory::float;
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;
use crate::profile::matrix::{Matrix, RowSums};
use crate::profile::program::{ExchangeKind, StepKind};
use crate::profile::steps::Step;

/// Where the cycles of compute sets come from. Measured ones count more than estimates.
#[derive(Clone, Copy)]
pub(super) enum ComputeCycles<'r> {
    /// By tile, measured or estimated.
    ByTile(&'r Matrix),
    /// Measured for all tiles together: every tile counts as busy for all of these cycles.
    Together(&'r [u64]),
}

impl<'r> ComputeCycles<'r> {
    pub(super) fn of(graph: &'r GraphProfile, execution: Option<&'r ExecutionProfile>) -> Option<Self> {
        if let Some(measured) = execution.and_then(|execution| execution.compute_set_cycles_by_tile.as_ref()) {
            return Some(ComputeCycles::ByTile(measured));
        }
        if let Some(measured) = execution.and_then(|execution| execution.compute_set_cycles.as_ref()) {
            return Some(ComputeCycles::Together(measured));
        }
        let estimates = graph.compute_sets.cycle_estimates.as_ref()?;
        estimates.cycles_by_tile.as_ref().map(ComputeCycles::ByTile)
    }

    fn sums(self, graph: &GraphProfile, compute_set: u32) -> Option<RowSums> {
        match self {
            ComputeCycles::ByTile(matrix) => matrix.rows.get(compute_set as usize).copied(),
            ComputeCycles::Together(cycles) => {
                let cycles = *cycles.get(compute_set as usize)?;
                let tiles = graph.target.num_tiles;
                let sum = cycles.saturating_mul(u64::from(tiles));
                Some(RowSums { sum, most: cycles, most_tile: 0, tiles: if cycles > 0 { tiles } else { 0 } })
            }
        }
    }
}

/// The cycles of steps.
#[derive(Clone, Copy)]
pub(super) struct Cycles<'r> {
    graph: &'r GraphProfile,
    compute: Option<ComputeCycles<'r>>,
}

impl<'r> Cycles<'r> {
    pub(super) fn of(graph: &'r GraphProfile, execution: Option<&'r ExecutionProfile>) -> Self {
        Cycles { graph, compute: ComputeCycles::of(graph, execution) }
    }

    /// The sums of the cycles of a compute set.
    pub(super) fn compute_set(&self, compute_set: u32) -> Option<RowSums> {
        self.compute?.sums(self.graph, compute_set)
    }

    /// The sums of the cycles of an exchange.
    pub(super) fn exchange(&self, kind: ExchangeKind, exchange: u32) -> Option<RowSums> {
        self.exchange_cycles(kind)?.rows.get(exchange as usize).copied()
    }

    fn exchange_cycles(&self, kind: ExchangeKind) -> Option<&'r Matrix> {
        self.graph.exchanges_of(kind).cycles_by_tile.as_ref()
    }

    /// The sums of the cycles of a step, if there are lists of them.
    pub(super) fn step(&self, step: &Step<'_>) -> Option<RowSums> {
        match (step.kind, step.kind.exchange()) {
            (StepKind::OnTileExecute, _) => self.compute_set(step.compute_set?),
            (_, Some(kind)) => self.exchange(kind, step.exchange?),
            _ => None,
        }
    }

    /// Calls `each` with the tiles of a step and their cycles, if they are known for each tile. Returns whether they are known.
    pub(super) fn each(&self, step: &Step<'_>, each: impl FnMut(usize, u64)) -> bool {
        match (step.kind, step.kind.exchange()) {
            (StepKind::OnTileExecute, _) => self.each_of_compute_set(step.compute_set, each),
            (_, Some(kind)) => each_of(self.exchange_cycles(kind), step.exchange, each),
            _ => false,
        }
    }

    fn each_of_compute_set(&self, compute_set: Option<u32>, mut each: impl FnMut(usize, u64)) -> bool {
        match self.compute {
            Some(ComputeCycles::ByTile(matrix)) => each_of(Some(matrix), compute_set, each),
            Some(ComputeCycles::Together(cycles)) if self.graph.has_tiles() => {
                let Some(cycles) = compute_set.and_then(|set| cycles.get(set as usize)) else { return false };
                (0..self.graph.target.num_tiles as usize).for_each(|tile| each(tile, *cycles));
                true
            }
            _ => false,
        }
    }
}

fn each_of(matrix: Option<&Matrix>, row: Option<u32>, each: impl FnMut(usize, u64)) -> bool {
    let Some((matrix, row)) = matrix.zip(row).filter(|(matrix, _)| matrix.has_values()) else { return false };
    matrix.each(row as usize, each);
    matrix.len() > row as usize
}

/// How even something is: the sum, divided by the largest part and the number of parts. 1 is the most even. `None` if all parts are 0.
pub(super) fn balance(sum: u64, most: u64, parts: u64) -> Option<f64> {
    let most = most.saturating_mul(parts);
    (most > 0).then(|| float(sum) / float(most))
}
