//! The steps of an execution.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::compute_sets::{ComputeSetRow, compute_sets};
use super::cycles::{Cycles, balance};
use super::memory::float;
use super::overlap::{CopyOverlap, copy_overlap};
use super::select::{Row, Selection, Sort, first};
use crate::profile::execution::{ExecutionProfile, Simulation};
use crate::profile::graph::GraphProfile;
use crate::profile::matrix::RowSums;
use crate::profile::program::StepKind;
use crate::profile::steps::{Step, Steps};

/// An execution as a whole.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExecutionSums<'r> {
    /// How it was measured.
    pub profiler_mode: Option<&'r str>,
    /// Whether the report has the steps.
    pub has_simulation: bool,
    /// Sums over the steps.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub simulation: Option<SimulationSums<'r>>,
}

/// The steps of an execution as a whole.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct SimulationSums<'r> {
    /// How even each step is, as far as that is known.
    pub balance: StepBalances<'r>,
    /// The tile with the most cycles of compute and exchange, by the lists by tile. `None` if they were not kept.
    pub busiest_tile: Option<BusiestTile>,
    /// Steps and their cycles, by type.
    pub by_step_type: BTreeMap<String, StepTypeSums>,
    /// The compute sets, if they were measured by tile.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub compute_sets: Option<Vec<ComputeSetRow<'r>>>,
    /// The cycles from the start to the end.
    pub cycles: Option<u64>,
    /// Whether copies with the host overlap with compute, if it is known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub copy_overlap: Option<CopyOverlap>,
    /// The least balanced step among those with at least 1 % of all cycles of steps; among equal ones, the one with most cycles.
    pub least_balanced_heavy_step: Option<HeavyStep<'r>>,
    /// The seconds from the start to the end, if the clock is known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub seconds: Option<f64>,
    /// The number of steps.
    pub step_count: u64,
    /// The cycles of all steps. Steps overlap, so this may be more than `cycles`.
    pub sum_of_step_cycles: u64,
    /// The cycles of each kind of activity on all tiles.
    pub tile_cycles: BTreeMap<&'r str, u64>,
    /// Their shares of the sum. `activeCompute` is a part of `compute`, and not in the sum.
    pub tile_cycles_share: BTreeMap<&'r str, f64>,
    /// The sum.
    pub tile_cycles_sum: u64,
    /// The steps with the most cycles, at most ten.
    pub top_steps: Vec<TopStep<'r>>,
    /// Compute steps whose cycles are not known.
    pub unknown_compute_steps: u64,
}

/// How even each step is. As there may be many steps, each value is calculated on demand.
#[derive(Clone, Copy)]
pub struct StepBalances<'r> {
    cycles: Cycles<'r>,
    tiles: u64,
    simulation: &'r Simulation,
}

impl<'r> StepBalances<'r> {
    /// The known balances, in the order of the steps.
    pub fn iter(&self) -> impl Iterator<Item = StepBalance> + use<'r> {
        let balances = *self;
        self.simulation.steps.numbered().filter_map(move |(number, step)| balances.balance(number, &step))
    }

    pub(in crate::profile) fn balance(&self, number: u32, step: &Step<'_>) -> Option<StepBalance> {
        match self.cycles.step(step).filter(|sums| sums.most > 0) {
            Some(sums) => Some(StepBalance {
                active_tile_balance: balance(sums.sum, sums.most, u64::from(sums.tiles)),
                idle_tile_cycles: Some(sums.most.saturating_mul(self.tiles).saturating_sub(sums.sum)),
                source: BalanceSource::Arrays,
                step: number,
                tile_balance: balance(sums.sum, sums.most, self.tiles)?,
            }),
            None => Some(StepBalance {
                active_tile_balance: None,
                idle_tile_cycles: None,
                source: BalanceSource::Step,
                step: number,
                tile_balance: step.tile_balance?,
            }),
        }
    }
}

impl fmt::Debug for StepBalances<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for StepBalances<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for StepBalances<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// How even a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct StepBalance {
    /// The balance of the tiles that are active.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub active_tile_balance: Option<f64>,
    /// The cycles in which tiles wait for the slowest one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub idle_tile_cycles: Option<u64>,
    /// Where this comes from.
    pub source: BalanceSource,
    /// The number of the step.
    pub step: u32,
    /// The balance of all tiles.
    pub tile_balance: f64,
}

/// Where a balance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum BalanceSource {
    /// It is calculated from lists by tile.
    Arrays,
    /// The step says so.
    Step,
}

/// The tile with the most cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BusiestTile {
    /// Its cycles.
    pub cycles: u64,
    /// The tile.
    pub tile: u32,
}

/// Steps of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StepTypeSums {
    /// Their cycles, as far as they are known. Those of `Sync` are not in steps.
    pub cycles: u64,
    /// Their number.
    pub steps: u64,
}

/// A step that takes long and is not balanced.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct HeavyStep<'r> {
    /// Its cycles.
    pub cycles: u64,
    /// Its name.
    pub name: Option<&'r str>,
    /// Its number.
    pub step: u32,
    /// Its balance.
    pub tile_balance: f64,
}

/// A step with many cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopStep<'r> {
    /// Its cycles.
    pub cycles: u64,
    /// Its name.
    pub name: Option<&'r str>,
    /// The number of its program.
    pub program: Option<u32>,
    /// Its number.
    pub step: u32,
    /// What kind of step it is.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: &'r StepKind,
}

/// An execution as a whole, with the graph that was executed.
pub fn execution<'r>(graph: &'r GraphProfile, execution: &'r ExecutionProfile) -> ExecutionSums<'r> {
    ExecutionSums {
        profiler_mode: execution.profiler_mode.as_deref(),
        has_simulation: execution.simulation.is_some(),
        simulation: execution.simulation.as_ref().map(|simulation| sums(graph, execution, simulation)),
    }
}

fn sums<'r>(
    graph: &'r GraphProfile,
    execution: &'r ExecutionProfile,
    simulation: &'r Simulation,
) -> SimulationSums<'r> {
    let cycles = Cycles::of(graph, Some(execution));
    let balance = StepBalances { cycles, tiles: u64::from(graph.target.num_tiles), simulation };
    let by_step_type = by_step_type(simulation);
    let sum_of_step_cycles = by_step_type.values().fold(0_u64, |sum, kind| sum.saturating_add(kind.cycles));
    let tile_cycles: BTreeMap<_, _> = simulation.tile_cycles.iter().map(|(key, cycles)| (&**key, *cycles)).collect();
    let summed = tile_cycles.iter().filter(|(key, _)| **key != "activeCompute");
    let tile_cycles_sum = summed.fold(0_u64, |sum, (_, cycles)| sum.saturating_add(*cycles));
    let share = |cycles: u64| if tile_cycles_sum == 0 { 0.0 } else { float(cycles) / float(tile_cycles_sum) };
    let measured = execution.compute_set_cycles_by_tile.as_ref();
    let in_order = Selection::default().sorted(Sort::Number);
    let unknown = simulation.steps.iter().filter(|step| *step.kind == StepKind::OnTileExecute && step.cycles.is_none());
    SimulationSums {
        busiest_tile: busiest_tile(cycles, simulation),
        least_balanced_heavy_step: least_balanced(&balance, sum_of_step_cycles),
        compute_sets: measured.map(|_| compute_sets(graph, Some(execution), &in_order)),
        copy_overlap: copy_overlap(simulation),
        cycles: simulation.cycles,
        seconds: simulation.cycles.and_then(|cycles| seconds(graph, cycles)),
        step_count: simulation.steps.len() as u64,
        sum_of_step_cycles,
        tile_cycles_share: tile_cycles.iter().map(|(key, cycles)| (*key, share(*cycles))).collect(),
        tile_cycles,
        tile_cycles_sum,
        top_steps: top_steps(execution),
        unknown_compute_steps: unknown.count() as u64,
        balance,
        by_step_type,
    }
}

/// How long cycles take, if the clock is known.
pub fn seconds(graph: &GraphProfile, cycles: u64) -> Option<f64> {
    graph.target.clock_frequency.filter(|clock| *clock > 0).map(|clock| float(cycles) / float(clock))
}

/// How many items are worked on in a second, if an execution works on this number of them.
pub fn items_per_second(graph: &GraphProfile, execution: &ExecutionProfile, items: u64) -> Option<f64> {
    let cycles = execution.simulation.as_ref()?.cycles.filter(|cycles| *cycles > 0)?;
    seconds(graph, cycles).map(|seconds| float(items) / seconds)
}

fn by_step_type(simulation: &Simulation) -> BTreeMap<String, StepTypeSums> {
    let mut types: BTreeMap<&StepKind, StepTypeSums> = BTreeMap::new();
    for step in &simulation.steps {
        let sums = types.entry(step.kind).or_default();
        sums.steps = sums.steps.saturating_add(1);
        sums.cycles = sums.cycles.saturating_add(step.cycles.unwrap_or_default());
    }
    types.into_iter().map(|(kind, sums)| (kind.to_string(), sums)).collect()
}

/// Looks at each compute set and exchange once, however many steps run it.
fn busiest_tile(cycles: Cycles<'_>, simulation: &Simulation) -> Option<BusiestTile> {
    let mut runs: BTreeMap<(&StepKind, u32), (Step<'_>, u64)> = BTreeMap::new();
    for step in &simulation.steps {
        let Some(of) = (if *step.kind == StepKind::OnTileExecute { step.compute_set } else { step.exchange }) else {
            continue;
        };
        let runs = runs.entry((step.kind, of)).or_insert((step, 0));
        runs.1 = runs.1.saturating_add(1);
    }
    let mut by_tile: Vec<u64> = Vec::new();
    let mut is_known = false;
    for (step, runs) in runs.into_values() {
        is_known |= cycles.each(&step, |tile, cycles| {
            if by_tile.len() <= tile {
                by_tile.resize(tile.saturating_add(1), 0);
            }
            if let Some(sum) = by_tile.get_mut(tile) {
                *sum = sum.saturating_add(cycles.saturating_mul(runs));
            }
        });
    }
    let busiest = RowSums::of(by_tile);
    is_known.then_some(BusiestTile { cycles: busiest.most, tile: busiest.most_tile })
}

fn least_balanced<'r>(balances: &StepBalances<'r>, all: u64) -> Option<HeavyStep<'r>> {
    let mut least: Option<HeavyStep<'r>> = None;
    for (number, step) in balances.simulation.steps.numbered() {
        let Some(cycles) = step.cycles.filter(|cycles| cycles.saturating_mul(100) >= all) else { continue };
        let Some(StepBalance { tile_balance, .. }) = balances.balance(number, &step) else { continue };
        let is_worse = |least: &HeavyStep<'_>| {
            tile_balance < least.tile_balance || tile_balance == least.tile_balance && cycles > least.cycles
        };
        if least.as_ref().is_none_or(is_worse) {
            least = Some(HeavyStep { cycles, name: step.name, step: number, tile_balance });
        }
    }
    least
}

fn top_steps(execution: &ExecutionProfile) -> Vec<TopStep<'_>> {
    let of_row = |StepRow { step, of: Step { kind, name, program, cycles, .. } }| {
        Some(TopStep { cycles: cycles?, name, program, step, kind })
    };
    steps(execution, &Selection::largest(10)).filter_map(of_row).collect()
}

/// A step with its number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepRow<'r> {
    /// Its number.
    pub step: u32,
    /// The step.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub of: Step<'r>,
}

/// The steps of an execution, as the report has them. There may be very many, so each row is made on demand. Sorting takes up to 24 bytes
/// for each.
pub fn steps<'r>(
    execution: &'r ExecutionProfile,
    selection: &Selection<'_>,
) -> impl Iterator<Item = StepRow<'r>> + use<'r> {
    let steps = execution.simulation.as_ref().map(|simulation| &simulation.steps);
    let wanted =
        steps.into_iter().flat_map(Steps::numbered).filter(|(number, step)| selection.has(step.name, Some(*number)));
    let numbers = match selection.sort {
        Sort::Largest => least(wanted.map(|(number, step)| (Reverse(step.cycles), number)), selection.limit),
        Sort::Number | Sort::Code => least(wanted.map(|(number, _)| ((), number)), selection.limit),
        Sort::Name => least(wanted.map(|(number, step)| (step.name, number)), selection.limit),
    };
    numbers.into_iter().filter_map(move |step| Some(StepRow { step, of: steps?.get(step as usize)? }))
}

/// The numbers with the least keys.
fn least<K: Ord>(keys: impl Iterator<Item = (K, u32)>, limit: Option<usize>) -> Vec<u32> {
    first(keys, limit, <[_]>::sort_unstable).into_iter().map(|(_, number)| number).collect()
}

/// Steps whose names begin alike, as those of a layer do.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LayerRow<'r> {
    /// The beginning of their names. Steps without a name have none.
    pub name: Option<&'r str>,
    /// The number of steps.
    pub steps: u64,
    /// Their cycles. Steps overlap, so they may take less.
    pub cycles: u64,
    /// Their share of the cycles of all steps.
    pub share: f64,
}

impl Row for LayerRow<'_> {
    fn name(&self) -> Option<&str> {
        self.name
    }

    fn number(&self) -> Option<u32> {
        None
    }

    fn weight(&self) -> u64 {
        self.cycles
    }
}

/// The steps by the first `depth` parts of their names, between which there are slashes. Steps of synchronisation are left out, because
/// they have no names and no cycles.
pub fn layers<'r>(execution: &'r ExecutionProfile, depth: usize, selection: &Selection<'_>) -> Vec<LayerRow<'r>> {
    let mut layers: BTreeMap<Option<&str>, StepTypeSums> = BTreeMap::new();
    let steps = execution.simulation.iter().flat_map(|simulation| &simulation.steps);
    let mut all = 0_u64;
    for step in steps.filter(|step| *step.kind != StepKind::Sync) {
        let cycles = step.cycles.unwrap_or_default();
        all = all.saturating_add(cycles);
        let sums = layers.entry(step.name.map(|name| prefix(name, depth))).or_default();
        sums.steps = sums.steps.saturating_add(1);
        sums.cycles = sums.cycles.saturating_add(cycles);
    }
    let share = |cycles: u64| if all == 0 { 0.0 } else { float(cycles) / float(all) };
    let row = |(name, sums): (_, StepTypeSums)| LayerRow {
        name,
        steps: sums.steps,
        cycles: sums.cycles,
        share: share(sums.cycles),
    };
    selection.choose(layers.into_iter().map(row))
}

/// The first parts of a name. A slash at the start begins the first part.
fn prefix(name: &str, parts: usize) -> &str {
    let mut slashes = name.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    match parts.checked_sub(1).and_then(|nth| slashes.nth(nth)) {
        Some(end) => name.get(..end).unwrap_or(name),
        None => name,
    }
}
