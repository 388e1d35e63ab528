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
            "profilerMode" => doc.fill(&mut profile.profiler_mode, mode),
            "computeSetCyclesByTile" => {
                doc.fill(&mut profile.compute_set_cycles_by_tile, |doc| matrix(doc, lengths, each_tile(options)))
            }
            "computeSetCycles" => doc.fill(&mut profile.compute_set_cycles, uints),
            "vertexCycles" => doc.fill(&mut self.vertex_cycles, uints),
            "vertexComputeSet" => doc.fill(&mut self.vertex_compute_set, indices),
            "vertexType" => doc.fill(&mut self.vertex_type, indices),
            "externalExchangeCycles" => {
                doc.fill(&mut profile.external_exchange_cycles, |doc| matrix(doc, lengths, Lists::TileSums))
            }
            "hostExchangeCycles" => {
                doc.fill(&mut profile.host_exchange_cycles, |doc| matrix(doc, lengths, Lists::TileSums))
            }
            "programTrace" => {
                let known = doc.fill(&mut profile.program_trace, indices);
                profile.at.trace = doc.position();
                known
            }
            "simulation" if doc.null()? => Ok(true),
            "simulation" => doc.fill(&mut profile.simulation, simulation),
            _ => Ok(false),
        }
    }

    /// Remarks missing sections.
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

fn mode(doc: &mut Doc<'_>) -> Result<Box<str>> {
    let mode = doc.text()?;
    if !MODES.contains(&&*mode) {
        doc.remark(format!("the mode {:?} is not in the document of the format", short(&mode)));
    }
    Ok(mode)
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
    doc.object(|doc, key| match key {
        "cycles" => doc.fill(&mut cycles, Doc::uint),
        "tileCycles" => doc.fill(&mut tile_cycles, activities),
        "steps" => doc.fill(&mut steps, |doc| {
            let mut list = Builder::default();
            doc.array(|doc, _| {
                last = last.max(step(doc, &mut list)?);
                Ok(())
            })?;
            Ok(list.finish())
        }),
        _ => Ok(false),
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
        doc.first(activities.insert(key.into(), cycles).is_none())
    })?;
    Ok(activities)
}

/// Reads a step, and returns its last cycle.
fn step(doc: &mut Doc<'_>, steps: &mut Builder) -> Result<Option<u64>> {
    let (mut kind, mut sync_type, mut name) = (None, None, None);
    let mut numbers = Step::new(&StepKind::Sync);
    doc.object(|doc, key| match key {
        "type" => doc.fill(&mut kind, step_kind),
        "syncType" => doc.fill(&mut sync_type, Doc::text),
        "name" => doc.fill(&mut name, Doc::text),
        _ => step_number(doc, key, &mut numbers),
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
    match key {
        "program" => doc.fill(&mut step.program, Doc::index),
        "computeSet" => doc.fill(&mut step.compute_set, Doc::index),
        "exchange" | "externalExchange" | "hostExchange" => doc.fill(&mut step.exchange, Doc::index),
        "activeTiles" => doc.fill(&mut step.active_tiles, Doc::uint),
        "cycles" => doc.fill(&mut step.cycles, Doc::uint),
        "cyclesFrom" => doc.fill(&mut step.cycles_from, Doc::uint),
        "cyclesTo" => doc.fill(&mut step.cycles_to, Doc::uint),
        "cyclesOverlapped" => doc.fill(&mut step.cycles_overlapped, Doc::uint),
        "totalData" => doc.fill(&mut step.total_data, Doc::uint),
        "tileBalance" => doc.fill(&mut step.tile_balance, balance),
        "activeTileBalance" => doc.fill(&mut step.active_tile_balance, balance),
        "dataBalance" => doc.fill(&mut step.data_balance, balance),
        "threadBalance" => doc.fill(&mut step.thread_balance, balance),
        _ => Ok(false),
    }
}

fn balance(doc: &mut Doc<'_>) -> Result<f64> {
    let balance = doc.number()?;
    // Sums of fractions may miss 1 by a little.
    if !(0.0..=1.0 + 1e-9).contains(&balance) {
        doc.remark(format!("a balance is from 0 to 1, and this is {balance}"));
    }
    Ok(balance)
}
