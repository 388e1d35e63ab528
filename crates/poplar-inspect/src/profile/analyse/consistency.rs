//! Whether the steps of an execution follow from its graph and its trace.
//!
//! The document of the format says that the simulation is calculated from these alone, but not how synchronisation works. Here, each tile
//! has its own clock, and only synchronisation waits: all its tiles leave at the latest arrival plus delay. An internal one synchronises
//! the tiles of each IPU, any other those of all IPUs.

use std::collections::BTreeMap;
use std::fmt;

use super::cycles::{Cycles, balance};
use super::memory::float;
use crate::profile::execution::{ExecutionProfile, Simulation};
use crate::profile::graph::{GraphProfile, Target};
use crate::profile::matrix::RowSums;
use crate::profile::program::{ExchangeKind, StepKind};
use crate::profile::steps::Step;

/// The steps of an execution, compared with what follows from graph and trace.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Consistency {
    /// The number of values that were compared.
    pub compared: u64,
    /// The values that differ, at most [`Consistency::MOST`].
    pub differences: Vec<Difference>,
    /// The number of further values that differ.
    pub more_differences: u64,
    /// The first step whose cycles on each tile are unknown. From there on, the clocks of tiles are unknown too, so the times of later
    /// steps and the sums over all steps are not compared.
    pub clocks_unknown_from: Option<u32>,
    /// The values that depend on how tiles wait for each other, which is not documented.
    pub of_clocks: Compared,
}

/// How many values were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Compared {
    /// The number of values.
    pub values: u64,
    /// The number of values that differ.
    pub different: u64,
}

/// A value that does not follow from graph and trace.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Difference {
    /// The step, or `None` for a value of the whole execution.
    pub step: Option<u32>,
    /// The key of the value.
    pub key: &'static str,
    /// The value in the report. For the key `type`, the number of steps: from this step on, they are not those of the trace.
    pub stated: Number,
    /// The value that follows from graph and trace. For the key `type`, the number of steps that are those of the
    /// trace.
    pub recomputed: Number,
}

/// An integer, or a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Number {
    /// An integer.
    Integer(u64),
    /// A fraction.
    Fraction(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(value) => value.fmt(f),
            Number::Fraction(value) => value.fmt(f),
        }
    }
}

impl Consistency {
    /// The maximum number of differences that are kept.
    pub const MOST: usize = 100;

    fn differ(&mut self, difference: Difference) {
        if self.differences.len() < Self::MOST {
            self.differences.push(difference);
        } else {
            self.more_differences = self.more_differences.saturating_add(1);
        }
    }

    /// Compares integers, if both are known.
    fn integer(&mut self, step: Option<u32>, key: &'static str, stated: Option<u64>, recomputed: Option<u64>) {
        let Some((stated, recomputed)) = stated.zip(recomputed) else { return };
        self.compared = self.compared.saturating_add(1);
        if stated != recomputed {
            let (stated, recomputed) = (Number::Integer(stated), Number::Integer(recomputed));
            self.differ(Difference { step, key, stated, recomputed });
        }
    }

    /// Compares fractions, if both are known.
    fn fraction(&mut self, step: Option<u32>, key: &'static str, stated: Option<f64>, recomputed: Option<f64>) {
        let Some((stated, recomputed)) = stated.zip(recomputed) else { return };
        self.compared = self.compared.saturating_add(1);
        if (stated - recomputed).abs() > 1e-9 {
            let (stated, recomputed) = (Number::Fraction(stated), Number::Fraction(recomputed));
            self.differ(Difference { step, key, stated, recomputed });
        }
    }

    /// Compares integers that depend on the clocks of tiles.
    fn clock_integer(&mut self, step: Option<u32>, key: &'static str, stated: Option<u64>, recomputed: u64) {
        self.integer(step, key, stated, Some(recomputed));
        if let Some(stated) = stated {
            let Compared { values, different } = &mut self.of_clocks;
            *values = values.saturating_add(1);
            *different = different.saturating_add(u64::from(stated != recomputed));
        }
    }

    /// All values.
    pub fn all(&self) -> Compared {
        let listed = self.differences.len() as u64;
        Compared { values: self.compared, different: listed.saturating_add(self.more_differences) }
    }

    /// The values that do not depend on how tiles wait for each other.
    pub fn without_clocks(&self) -> Compared {
        let (all, of_clocks) = (self.all(), self.of_clocks);
        Compared {
            values: all.values.saturating_sub(of_clocks.values),
            different: all.different.saturating_sub(of_clocks.different),
        }
    }

    /// Whether nothing differs.
    pub fn is_consistent(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Compares the steps of an execution with what follows from graph and trace. `None` if there are no steps.
///
/// The report must have been read with [`ReadOptions::each_tile`](crate::profile::ReadOptions::each_tile): otherwise clocks are unknown from
/// the first step that takes any time. They also are if there is too much to do: more than 2³² times a step on a tile.
pub fn consistency(graph: &GraphProfile, execution: &ExecutionProfile) -> Option<Consistency> {
    let simulation = execution.simulation.as_ref()?;
    let mut consistency = Consistency::default();
    compare_trace(graph, execution, simulation, &mut consistency);
    let cycles = Cycles::of(graph, Some(execution));
    let data = ExchangeKind::ALL.map(|kind| data_sums(graph, kind));
    let mut clocks = Clocks::new(graph, simulation);
    for (number, step) in simulation.steps.numbered() {
        let step = &step;
        let sums = cycles.step(step);
        compare_step(graph, execution, step, number, sums, &data, &mut consistency);
        clocks.step(graph, &cycles, step, number, &mut consistency);
    }
    consistency.clocks_unknown_from = clocks.unknown_from;
    compare_totals(graph, execution, simulation, &clocks, &mut consistency);
    Some(consistency)
}

/// The steps are the programs of the trace that do something.
fn compare_trace(
    graph: &GraphProfile,
    execution: &ExecutionProfile,
    simulation: &Simulation,
    consistency: &mut Consistency,
) {
    let Some(trace) = &execution.program_trace else { return };
    let programs = trace.iter().filter_map(|number| Some((*number, graph.programs.get(*number as usize)?)));
    let traced = programs.filter_map(|(number, program)| Some((number, program, program.kind.step()?)));
    // After the first step of another kind, nothing fits any more.
    let alike = traced.clone().zip(&simulation.steps).take_while(|((_, _, kind), step)| kind == step.kind);
    for (nth, ((number, program, _), step)) in (0_u32..).zip(alike.clone()) {
        let index = |index: Option<u32>| index.map(u64::from);
        consistency.integer(Some(nth), "program", index(step.program), Some(u64::from(number)));
        consistency.integer(Some(nth), "computeSet", index(step.compute_set), index(program.compute_set));
        consistency.integer(Some(nth), "exchange", index(step.exchange), index(program.exchange));
    }
    let (alike, traced) = (alike.count(), traced.count());
    consistency.integer(None, "steps", Some(simulation.steps.len() as u64), Some(traced as u64));
    if alike < traced.min(simulation.steps.len()) {
        let (stated, recomputed) = (Number::Integer(simulation.steps.len() as u64), Number::Integer(alike as u64));
        consistency.differ(Difference { step: u32::try_from(alike).ok(), key: "type", stated, recomputed });
    }
}

/// The bytes that an exchange moves.
#[derive(Clone, Copy)]
struct DataSums {
    /// Bytes received.
    received: u64,
    /// Bytes received or sent, by tile, if they were kept.
    both: Option<RowSums>,
    sent: u64,
}

fn data_sums(graph: &GraphProfile, kind: ExchangeKind) -> Vec<DataSums> {
    let exchanges = graph.exchanges_of(kind);
    let (Some(received), Some(sent)) = (&exchanges.bytes_received_by_tile, &exchanges.bytes_sent_by_tile) else {
        return Vec::new();
    };
    let mut by_tile: BTreeMap<usize, u64> = BTreeMap::new();
    let of_exchange = |(nth, (received_sums, sent_sums)): (usize, (&RowSums, &RowSums))| {
        by_tile.clear();
        for matrix in [received, sent] {
            matrix.each(nth, |tile, bytes| {
                let sum = by_tile.entry(tile).or_default();
                *sum = sum.saturating_add(bytes);
            });
        }
        let both = (received.has_values() && sent.has_values()).then(|| RowSums::of(by_tile.values().copied()));
        DataSums { received: received_sums.sum, both, sent: sent_sums.sum }
    };
    received.rows.iter().zip(&sent.rows).enumerate().map(of_exchange).collect()
}

/// Compares the values of a step that do not depend on the steps before it.
fn compare_step(
    graph: &GraphProfile,
    execution: &ExecutionProfile,
    step: &Step<'_>,
    number: u32,
    sums: Option<RowSums>,
    data: &[Vec<DataSums>; 3],
    consistency: &mut Consistency,
) {
    let (number, tiles) = (Some(number), u64::from(graph.target.num_tiles));
    let active = sums.map(|sums| u64::from(sums.tiles));
    let of_all = sums.and_then(|sums| balance(sums.sum, sums.most, tiles));
    let of_active = sums.and_then(|sums| balance(sums.sum, sums.most, u64::from(sums.tiles)));
    consistency.integer(number, "cycles", step.cycles, sums.map(|sums| sums.most));
    consistency.integer(number, "activeTiles", step.active_tiles, active);
    consistency.fraction(number, "tileBalance", step.tile_balance, of_all);
    consistency.fraction(number, "activeTileBalance", step.active_tile_balance, of_active);
    if *step.kind == StepKind::OnTileExecute {
        let threads = active_cycles(graph, execution, step).zip(sums).filter(|(_, sums)| sums.sum > 0);
        let threads = threads.map(|(active, sums)| float(active) / float(sums.sum));
        consistency.fraction(number, "threadBalance", step.thread_balance, threads);
    }
    if let Some(kind) = step.kind.exchange() {
        let [internal, external, host] = data;
        let of_kind = match kind {
            ExchangeKind::Internal => internal,
            ExchangeKind::External => external,
            ExchangeKind::Host => host,
        };
        let moved = step.exchange.and_then(|exchange| of_kind.get(exchange as usize)).copied();
        // The other end of an exchange with the host is not a tile.
        let total = moved.map(|moved| {
            if kind == ExchangeKind::Host { moved.received.saturating_add(moved.sent) } else { moved.received }
        });
        let even = moved.and_then(|moved| moved.both).and_then(|both| balance(both.sum, both.most, tiles));
        consistency.integer(number, "totalData", step.total_data, total);
        consistency.fraction(number, "dataBalance", step.data_balance, even);
    }
}

/// The cycles in which a vertex is run, which are only estimated, and so only if nothing is measured.
fn active_cycles(graph: &GraphProfile, execution: &ExecutionProfile, step: &Step<'_>) -> Option<u64> {
    if execution.compute_set_cycles_by_tile.is_some() || execution.compute_set_cycles.is_some() {
        return None;
    }
    let estimates = graph.compute_sets.cycle_estimates.as_ref()?.active_cycles_by_tile.as_ref()?;
    estimates.rows.get(step.compute_set? as usize).map(|row| row.sum)
}

/// A clock for each tile.
struct Clocks {
    clocks: Vec<u64>,
    /// The end of the last step before.
    latest_end: u64,
    /// The cycles in which tiles wait.
    sync: u64,
    unknown_from: Option<u32>,
}

impl Clocks {
    fn new(graph: &GraphProfile, simulation: &Simulation) -> Self {
        const MOST: u64 = 1 << 32;
        let tiles = u64::from(graph.target.num_tiles);
        let work = tiles.saturating_mul(simulation.steps.len() as u64);
        let is_known = graph.has_tiles() && work <= MOST;
        let clocks = if is_known { vec![0; graph.target.num_tiles as usize] } else { Vec::new() };
        Clocks { clocks, latest_end: 0, sync: 0, unknown_from: if is_known { None } else { Some(0) } }
    }

    fn step(
        &mut self,
        graph: &GraphProfile,
        cycles: &Cycles<'_>,
        step: &Step<'_>,
        number: u32,
        consistency: &mut Consistency,
    ) {
        if self.unknown_from.is_some() {
            return;
        }
        if *step.kind == StepKind::Sync {
            self.wait(&graph.target, step);
            return;
        }
        let (mut from, mut end) = (None::<u64>, 0);
        let is_known = cycles.each(step, |tile, cycles| {
            if let Some(clock) = self.clocks.get_mut(tile).filter(|_| cycles > 0) {
                from = Some(from.map_or(*clock, |from| from.min(*clock)));
                *clock = clock.saturating_add(cycles);
                end = end.max(*clock);
            }
        });
        if !is_known {
            self.unknown_from = Some(number);
            return;
        }
        let Some(from) = from else { return };
        let number = Some(number);
        consistency.clock_integer(number, "cyclesFrom", step.cycles_from, from);
        consistency.clock_integer(number, "cyclesTo", step.cycles_to, end.saturating_sub(1));
        let overlapped = end.min(self.latest_end).saturating_sub(from);
        consistency.clock_integer(number, "cyclesOverlapped", step.cycles_overlapped, overlapped);
        self.latest_end = self.latest_end.max(end);
    }

    fn wait(&mut self, target: &Target, step: &Step<'_>) {
        let tiles_per_ipu =
            target.tiles_per_ipu.and_then(|tiles| usize::try_from(tiles).ok()).unwrap_or(self.clocks.len()).max(1);
        let is_internal = step.sync_type.is_some_and(|sync| sync.eq_ignore_ascii_case("internal"));
        let together = if is_internal { tiles_per_ipu } else { self.clocks.len().max(1) };
        let least = target.min_sync_delay.unwrap_or_default();
        let delay = |tile: usize| {
            let more = tile.checked_rem(tiles_per_ipu).and_then(|tile| target.relative_sync_delay_by_tile.get(tile));
            least.saturating_add(more.copied().unwrap_or_default())
        };
        for tiles in self.clocks.chunks_mut(together) {
            let arrivals = tiles.iter().enumerate().map(|(tile, clock)| clock.saturating_add(delay(tile)));
            let leave = arrivals.max().unwrap_or_default();
            for clock in tiles {
                self.sync = self.sync.saturating_add(leave.saturating_sub(*clock));
                *clock = leave;
            }
        }
    }
}

/// Compares the values of the whole execution.
fn compare_totals(
    graph: &GraphProfile,
    execution: &ExecutionProfile,
    simulation: &Simulation,
    clocks: &Clocks,
    consistency: &mut Consistency,
) {
    if clocks.unknown_from.is_none() {
        let end = clocks.clocks.iter().copied().max().unwrap_or_default();
        consistency.clock_integer(None, "cycles", simulation.cycles, end);
        consistency.clock_integer(None, "tileCycles.sync", simulation.tile_cycles.get("sync").copied(), clocks.sync);
    }
    let cycles = Cycles::of(graph, Some(execution));
    let kinds = [
        ("tileCycles.compute", "compute", StepKind::OnTileExecute),
        ("tileCycles.doExchange", "doExchange", StepKind::DoExchange),
        ("tileCycles.globalExchange", "globalExchange", StepKind::GlobalExchange),
        ("tileCycles.streamCopy", "streamCopy", StepKind::StreamCopy),
    ];
    for (path, key, kind) in kinds {
        let steps = simulation.steps.iter().filter(|step| *step.kind == kind);
        let sum = steps
            .map(|step| cycles.step(&step).map(|sums| sums.sum))
            .try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)));
        consistency.integer(None, path, simulation.tile_cycles.get(key).copied(), sum);
    }
    let computing = simulation.steps.iter().filter(|step| *step.kind == StepKind::OnTileExecute);
    let active = computing
        .map(|step| active_cycles(graph, execution, &step))
        .try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)));
    consistency.integer(None, "tileCycles.activeCompute", simulation.tile_cycles.get("activeCompute").copied(), active);
}
