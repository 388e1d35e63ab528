//! The execution profile.

use std::collections::BTreeMap;

use super::ReadOptions;
use super::graph::each_tile;
use super::lists::{Lists, indices, matrix, uints};
use crate::profile::document::{Doc, Result};
use crate::profile::execution::{ExecutionProfile, MODES, Places, Simulation, VertexCycles};
use crate::profile::problem::{ErrorKind, short};
use crate::profile::program::StepKind;
use crate::profile::steps::{Builder, Step};

/// An execution profile that is being read.
#[derive(Default)]
pub(super) struct ExecutionReader {
    profile: ExecutionProfile,
    vertex_cycles: Option<Vec<u64>>,
    vertex_compute_set: Option<Vec<u32>>,
    vertex_type: Option<Vec<u32>>,
}

impl ExecutionReader {
    pub(super) const KEYS: [&str; 10] = [
        "profilerMode",
        "computeSetCyclesByTile",
        "computeSetCycles",
        "vertexCycles",
        "vertexComputeSet",
        "vertexType",
        "externalExchangeCycles",
        "hostExchangeCycles",
        "programTrace",
        "simulation",
    ];

    pub(super) fn new(root: &str) -> Self {
        let at = Places { root: root.to_owned(), ..Places::default() };
        ExecutionReader {
            profile: ExecutionProfile { at, ..ExecutionProfile::default() },
            ..ExecutionReader::default()
        }
    }

    /// Reads a section.
    pub(super) fn member(&mut self, doc: &mut Doc<'_>, key: &str, options: &ReadOptions) -> Result<bool> {
        let profile = &mut self.profile;
        let lengths = &mut profile.at.lengths;
        match key {
            "profilerMode" => {
                let mode = doc.text()?;
                if !MODES.contains(&&*mode) {
                    doc.remark(format!("the mode {:?} is not in the document of the format", short(&mode)));
                }
                doc.once(&mut profile.profiler_mode, mode)?;
            }
            "computeSetCyclesByTile" => {
                let cycles = matrix(doc, lengths, each_tile(options))?;
                doc.once(&mut profile.compute_set_cycles_by_tile, cycles)?;
            }
            "computeSetCycles" => {
                let cycles = uints(doc)?;
                doc.once(&mut profile.compute_set_cycles, cycles)?;
            }
            "vertexCycles" => {
                let cycles = uints(doc)?;
                doc.once(&mut self.vertex_cycles, cycles)?;
            }
            "vertexComputeSet" => {
                let sets = indices(doc)?;
                doc.once(&mut self.vertex_compute_set, sets)?;
            }
            "vertexType" => {
                let types = indices(doc)?;
                doc.once(&mut self.vertex_type, types)?;
            }
            "externalExchangeCycles" => {
                let cycles = matrix(doc, lengths, Lists::TileSums)?;
                doc.once(&mut profile.external_exchange_cycles, cycles)?;
            }
            "hostExchangeCycles" => {
                let cycles = matrix(doc, lengths, Lists::TileSums)?;
                doc.once(&mut profile.host_exchange_cycles, cycles)?;
            }
            "programTrace" => {
                let trace = indices(doc)?;
                profile.at.trace = doc.position();
                doc.once(&mut profile.program_trace, trace)?;
            }
            "simulation" => {
                if !doc.null()? {
                    let simulation = simulation(doc)?;
                    doc.once(&mut profile.simulation, simulation)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Remarks what is missing.
    pub(super) fn finish(mut self, doc: &mut Doc<'_>) -> ExecutionProfile {
        let root = self.profile.at.root.clone();
        let has_none = matches!(self.profile.profiler_mode.as_deref(), Some("NONE" | "CPU"));
        let sections = [
            ("profilerMode", self.profile.profiler_mode.is_some()),
            ("programTrace", has_none || self.profile.program_trace.is_some()),
            ("simulation", has_none || self.profile.simulation.is_some()),
        ];
        for (key, _) in sections.iter().filter(|section| !section.1) {
            doc.remarks.add(&format!("{root}.{key}"), None, "the section is missing");
        }
        let lists = (self.vertex_cycles.take(), self.vertex_compute_set.take(), self.vertex_type.take());
        if let (Some(cycles), Some(sets), Some(types)) = lists {
            if cycles.len() != sets.len() || cycles.len() != types.len() {
                doc.remarks.add(
                    &format!("{root}.vertexCycles"),
                    None,
                    "the lists of vertices do not have the same length",
                );
            }
            self.profile.vertex_cycles = vertex_cycles(&cycles, &sets, &types);
        }
        self.profile
    }
}

fn vertex_cycles(cycles: &[u64], sets: &[u32], types: &[u32]) -> Vec<VertexCycles> {
    let mut sums = BTreeMap::new();
    for ((cycles, compute_set), vertex_type) in cycles.iter().zip(sets).zip(types) {
        let new =
            VertexCycles { compute_set: *compute_set, vertex_type: *vertex_type, vertices: 0, cycles: 0, most: 0 };
        let sum = sums.entry((*compute_set, *vertex_type)).or_insert(new);
        sum.vertices = sum.vertices.saturating_add(1);
        sum.cycles = sum.cycles.saturating_add(*cycles);
        sum.most = sum.most.max(*cycles);
    }
    sums.into_values().collect()
}

fn simulation(doc: &mut Doc<'_>) -> Result<Simulation> {
    let (mut cycles, mut tile_cycles, mut steps, mut last) = (None, None, None, None);
    doc.object(|doc, key| {
        match key {
            "cycles" => {
                let read = doc.uint()?;
                doc.once(&mut cycles, read)?;
            }
            "tileCycles" => {
                let read = activities(doc)?;
                doc.once(&mut tile_cycles, read)?;
            }
            "steps" => {
                let mut list = Builder::default();
                doc.array(|doc, _| {
                    last = last.max(step(doc, &mut list)?);
                    Ok(())
                })?;
                doc.once(&mut steps, list.finish())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    // Whether the last cycle counts is not certain, so one more is not odd.
    if let Some((last, cycles)) = last.zip(cycles).filter(|(last, cycles)| last > cycles) {
        doc.remark(format!("a step lasts until cycle {last}, and the execution has {cycles} cycles"));
    }
    Ok(Simulation { cycles, tile_cycles: tile_cycles.unwrap_or_default(), steps: steps.unwrap_or_default() })
}

fn activities(doc: &mut Doc<'_>) -> Result<BTreeMap<Box<str>, u64>> {
    let mut activities = BTreeMap::new();
    doc.object(|doc, key| {
        let cycles = doc.uint()?;
        let mut before = activities.insert(key.into(), cycles);
        doc.once(&mut before, cycles)?;
        Ok(true)
    })?;
    Ok(activities)
}

/// Reads a step, and returns its last cycle.
fn step(doc: &mut Doc<'_>, steps: &mut Builder) -> Result<Option<u64>> {
    let (mut kind, mut sync_type, mut name) = (None, None, None);
    let mut numbers = Step::new(&StepKind::Sync);
    doc.object(|doc, key| {
        match key {
            "type" => {
                let read = step_kind(doc)?;
                doc.once(&mut kind, read)?;
            }
            "syncType" => {
                let read = doc.text()?;
                doc.once(&mut sync_type, read)?;
            }
            "name" => {
                let read = doc.text()?;
                doc.once(&mut name, read)?;
            }
            _ => return step_number(doc, key, &mut numbers),
        }
        Ok(true)
    })?;
    let kind = kind.ok_or_else(|| doc.fail(ErrorKind::WrongForm, "the key \"type\" is missing"))?;
    if numbers.cycles_from.zip(numbers.cycles_to).is_some_and(|(from, to)| to < from) {
        doc.remark("cyclesTo is before cyclesFrom");
    }
    let (sync_type, name, at) = (sync_type.as_deref(), name.as_deref(), doc.position());
    steps.push(Step { kind: &kind, sync_type, name, at, ..numbers });
    Ok(numbers.cycles_to)
}

fn step_kind(doc: &mut Doc<'_>) -> Result<StepKind> {
    let kind = StepKind::of(&doc.text()?);
    if let StepKind::Other(tag) = &kind {
        doc.remark(format!("no step is known to be of type {:?}", short(tag)));
    }
    Ok(kind)
}

/// Reads a member of a step that is a number.
fn step_number(doc: &mut Doc<'_>, key: &str, step: &mut Step<'_>) -> Result<bool> {
    let index = match key {
        "program" => Some(&mut step.program),
        "computeSet" => Some(&mut step.compute_set),
        "exchange" | "externalExchange" | "hostExchange" => Some(&mut step.exchange),
        _ => None,
    };
    if let Some(slot) = index {
        let read = doc.index()?;
        return doc.once(slot, read).map(|()| true);
    }
    let count = match key {
        "activeTiles" => Some(&mut step.active_tiles),
        "cycles" => Some(&mut step.cycles),
        "cyclesFrom" => Some(&mut step.cycles_from),
        "cyclesTo" => Some(&mut step.cycles_to),
        "cyclesOverlapped" => Some(&mut step.cycles_overlapped),
        "totalData" => Some(&mut step.total_data),
        _ => None,
    };
    if let Some(slot) = count {
        let read = doc.uint()?;
        return doc.once(slot, read).map(|()| true);
    }
    let slot = match key {
        "tileBalance" => &mut step.tile_balance,
        "activeTileBalance" => &mut step.active_tile_balance,
        "dataBalance" => &mut step.data_balance,
        "threadBalance" => &mut step.thread_balance,
        _ => return Ok(false),
    };
    let read = doc.number()?;
    // Sums of fractions may miss 1 by a little.
    if !(0.0..=1.0 + 1e-9).contains(&read) {
        doc.remark(format!("a balance is from 0 to 1, and this is {read}"));
    }
    doc.once(slot, read).map(|()| true)
}
