//! When memory is needed.

use std::collections::HashMap;

use crate::profile::graph::GraphProfile;
use crate::profile::matrix::RowSums;
use crate::profile::memory::{LiveNode, Liveness};

use super::memory::TileBytes;

/// What is always live, and the peak of the rest.
///
/// `bytes` of a node in the tree are those on all tiles that are live during the whole of its program, so that a child has at
/// least as many as its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct LivenessSums {
    /// The total memory, as Graphcore's own benchmarks calculated it: what is always live, plus the maximum of the rest on each tile, each
    /// tile at its own moment.
    pub always_live_plus_max_not_always_live: u64,
    /// What is always live on all tiles.
    pub always_live_sum: u64,
    /// The tile with the most live bytes, and their number.
    pub max_live_tile: Option<TileBytes>,
    /// The maximum of the rest on each tile, summed up.
    pub max_not_always_live_sum: u64,
    /// The maximum of the rest at one moment.
    pub peak_not_always_live_bytes: u64,
    /// The first program with that maximum, and the programs around it.
    pub peak_path: Option<PeakPath>,
    /// The same path, continued down as long as a child has as many bytes.
    pub peak_path_deepest: Option<PeakSteps>,
    /// All that is live at the peak, including what is always live.
    pub peak_total_bytes: u64,
}

/// The path to a program in the tree of liveness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PeakSteps {
    /// The number of the tree, and then of each child.
    pub child_numbers: Vec<u32>,
    /// The programs. They end before the path does if the tree does not match that of the programs.
    pub programs: Vec<u32>,
}

/// The path to a program, with the name and type of each program on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PeakPath {
    /// The path.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub steps: PeakSteps,
    /// The names of the programs.
    pub names: Vec<Option<String>>,
    /// Their types.
    pub types: Vec<String>,
}

/// The liveness of memory. `None` if the report does not have it.
pub fn liveness(graph: &GraphProfile) -> Option<LivenessSums> {
    let liveness = graph.memory.as_ref()?.liveness.as_ref()?;
    let sum = |bytes: &[u64]| RowSums::of(bytes.iter().copied()).sum;
    let always_live_sum = sum(&liveness.always_live_by_tile);
    let max_not_always_live_sum = sum(&liveness.max_not_always_live_by_tile);
    let peak = peak(liveness);
    let bytes = peak.map_or(0, |(_, node)| node.bytes);
    let path = |number: usize| steps(graph, &child_numbers(liveness, number));
    let peak_path = peak.map(|(number, _)| described(graph, path(number)));
    Some(LivenessSums {
        always_live_plus_max_not_always_live: always_live_sum.saturating_add(max_not_always_live_sum),
        always_live_sum,
        max_live_tile: max_live_tile(liveness),
        max_not_always_live_sum,
        peak_not_always_live_bytes: bytes,
        peak_path,
        peak_path_deepest: peak.map(|(number, _)| path(deepest(liveness, number))),
        peak_total_bytes: always_live_sum.saturating_add(bytes),
    })
}

fn max_live_tile(liveness: &Liveness) -> Option<TileBytes> {
    let (always, others) = (&liveness.always_live_by_tile, &liveness.max_not_always_live_by_tile);
    let tiles = always.len().max(others.len());
    let at = |list: &[u64], tile: usize| list.get(tile).copied().unwrap_or_default();
    let live = RowSums::of((0..tiles).map(|tile| at(always, tile).saturating_add(at(others, tile))));
    (tiles > 0).then_some(TileBytes { bytes: live.most, tile: live.most_tile })
}

/// The first node with the most bytes, with its number.
fn peak(liveness: &Liveness) -> Option<(usize, LiveNode)> {
    let nodes = liveness.by_program.iter().copied().enumerate();
    nodes.reduce(|most, node| if node.1.bytes > most.1.bytes { node } else { most })
}

/// The last node on the way down from `peak` as long as a child has as many bytes. A node comes right before its first child, and before
/// all others.
fn deepest(liveness: &Liveness, peak: usize) -> usize {
    let nodes = &liveness.by_program;
    let bytes = nodes.get(peak).map(|node| node.bytes);
    let mut deepest = peak;
    for (number, node) in nodes.iter().enumerate().skip(peak.saturating_add(1)) {
        match node.parent {
            Some(parent) if parent as usize == deepest && Some(node.bytes) == bytes => deepest = number,
            // This one and all that follow are not beneath the peak.
            Some(parent) if (parent as usize) < peak => break,
            None => break,
            Some(_) => {}
        }
    }
    deepest
}

/// The number of the child at each level, from the tree down to a node.
fn child_numbers(liveness: &Liveness, node: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut next = liveness.by_program.get(node);
    while let Some(node) = next {
        numbers.push(node.child);
        next = node.parent.and_then(|parent| liveness.by_program.get(parent as usize));
    }
    numbers.reverse();
    numbers
}

/// The programs on a path. There is a tree for each control program, its nodes are in the order of children, and the child of
/// a call is the function.
fn steps(graph: &GraphProfile, child_numbers: &[u32]) -> PeakSteps {
    let mut programs = Vec::new();
    for (depth, child) in child_numbers.iter().enumerate() {
        let next = match programs.last() {
            None if depth == 0 => graph.control_programs.get(*child as usize).copied(),
            None => None,
            Some(program) => graph.resolved_child(*program, *child),
        };
        let Some(program) = next else { break };
        programs.push(program);
    }
    PeakSteps { child_numbers: child_numbers.to_vec(), programs }
}

fn described(graph: &GraphProfile, steps: PeakSteps) -> PeakPath {
    let programs = steps.programs.iter().filter_map(|program| graph.programs.get(*program as usize));
    let names = programs.clone().map(|program| program.name.as_ref().map(ToString::to_string)).collect();
    let types = programs.map(|program| program.kind.to_string()).collect();
    PeakPath { steps, names, types }
}

/// The bytes that are live during programs, and not always. A program that is in several places of the tree counts with its largest value.
pub(super) fn live_by_program(graph: &GraphProfile) -> HashMap<u32, u64> {
    let mut most: HashMap<u32, u64> = HashMap::new();
    for (program, bytes) in programs_of_nodes(graph).into_iter().filter_map(|(program, bytes)| Some((program?, bytes)))
    {
        let most = most.entry(program).or_default();
        *most = bytes.max(*most);
    }
    most
}

/// The programs of all nodes in the tree of liveness, in its order, with their bytes. A node that is not one of the programs has none.
fn programs_of_nodes(graph: &GraphProfile) -> Vec<(Option<u32>, u64)> {
    let Some(liveness) = graph.memory.as_ref().and_then(|memory| memory.liveness.as_ref()) else { return Vec::new() };
    let mut programs: Vec<(Option<u32>, u64)> = Vec::with_capacity(liveness.by_program.len());
    for node in &liveness.by_program {
        let program = match node.parent {
            None => graph.control_programs.get(node.child as usize).copied(),
            Some(parent) => {
                let parent = programs.get(parent as usize).and_then(|(program, _)| *program);
                parent.and_then(|parent| graph.resolved_child(parent, node.child))
            }
        };
        programs.push((program, node.bytes));
    }
    programs
}
