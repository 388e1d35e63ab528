//! Programs.

use std::collections::BTreeMap;

use super::select::Selection;
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;
use crate::profile::order::order;
use crate::profile::program::{Program, ProgramKind};

/// How many programs there are of each type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ProgramCounts {
    /// In the list of all programs.
    pub in_array: BTreeMap<String, u64>,
    /// In the trace of the execution, if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub in_trace: Option<BTreeMap<String, u64>>,
    /// In the tree beneath the control programs, in which each call contains its function.
    pub in_tree_calls_resolved: BTreeMap<String, u64>,
    /// Programs with a name.
    pub named: u64,
}

fn count<'p>(programs: impl Iterator<Item = (&'p Program, u64)>) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<&ProgramKind, u64> = BTreeMap::new();
    for (program, times) in programs.filter(|(_, times)| *times > 0) {
        let count = counts.entry(&program.kind).or_default();
        *count = count.saturating_add(times);
    }
    let mut named = BTreeMap::new();
    for (kind, times) in counts {
        named.insert(kind.to_string(), times);
    }
    named
}

/// How many programs there are.
pub fn program_counts(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> ProgramCounts {
    let trace = execution.and_then(|execution| execution.program_trace.as_ref());
    let traced = |number: &u32| graph.programs.get(*number as usize).map(|program| (program, 1));
    ProgramCounts {
        in_array: count(graph.programs.iter().map(|program| (program, 1))),
        in_trace: trace.map(|trace| count(trace.iter().filter_map(traced))),
        in_tree_calls_resolved: count(graph.programs.iter().zip(times(graph))),
        named: graph.programs.iter().filter(|program| program.name.is_some()).count() as u64,
    }
}

/// How often each program is in the tree with calls resolved. The tree may be far larger than the list, so it is not walked.
fn times(graph: &GraphProfile) -> Vec<u64> {
    let mut times = vec![0_u64; graph.programs.len()];
    let add = |times: &mut Vec<u64>, program: u32, more: u64| {
        if let Some(times) = times.get_mut(program as usize) {
            *times = times.saturating_add(more);
        }
    };
    graph.control_programs.iter().for_each(|program| add(&mut times, *program, 1));
    // The reader has refused programs that contain themselves.
    for program in order(graph).unwrap_or_default() {
        let so_often = times.get(program as usize).copied().unwrap_or_default();
        for child in graph.resolved_children(program) {
            add(&mut times, child, so_often);
        }
    }
    times
}

/// What a trace of programs has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TraceStyle {
    /// The profile has no trace.
    #[cfg_attr(feature = "serde", serde(rename = "absent"))]
    Absent,
    /// Only programs that do something, without those that only contain others.
    #[cfg_attr(feature = "serde", serde(rename = "leaves"))]
    Leaves,
    /// Programs that contain others too, each before its contents.
    #[cfg_attr(feature = "serde", serde(rename = "every program entered"))]
    EveryProgram,
}

/// What the trace of an execution has. The document of the format leaves both readings open.
pub fn trace_style(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> TraceStyle {
    let Some(trace) = execution.and_then(|execution| execution.program_trace.as_ref()) else {
        return TraceStyle::Absent;
    };
    let mut programs = trace.iter().filter_map(|number| graph.programs.get(*number as usize));
    // An empty sequence is a leaf, too.
    if programs
        .any(|program| program.kind == ProgramKind::Call || !program.children.is_empty() && program.kind.is_container())
    {
        TraceStyle::EveryProgram
    } else {
        TraceStyle::Leaves
    }
}

/// A program in the tree with calls resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ProgramRow<'g> {
    /// Its number.
    pub program: u32,
    /// The number of programs that it is in.
    pub depth: u32,
    /// Its type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: &'g ProgramKind,
    /// Its name.
    pub name: Option<&'g str>,
    /// The compute set that it executes.
    pub compute_set: Option<u32>,
    /// The exchange that it does, among those of its kind.
    pub exchange: Option<u32>,
    /// How often it is in the trace of the execution, in all places together.
    pub runs: Option<u64>,
    /// The bytes of its code, which exchanges between tiles have.
    pub code_bytes: Option<u64>,
    /// The same by instruction.
    pub code_by_instruction: Option<BTreeMap<&'g str, u64>>,
}

/// The tree of programs with calls resolved, a program before those in it, whatever order the selection asks for. Subtrees in which nothing
/// is wanted are passed over as a whole. A small report can have a tree without end, so each row is made when it is asked for.
pub fn program_tree<'g>(
    graph: &'g GraphProfile,
    execution: Option<&ExecutionProfile>,
    selection: &Selection<'_>,
) -> impl Iterator<Item = ProgramRow<'g>> + use<'g> {
    let runs = runs(graph, execution);
    let wanted = wanted(graph, selection);
    let has_wanted = move |program: u32| wanted.get(program as usize).copied().unwrap_or_default();
    let roots = graph.control_programs.iter().rev().map(|program| (*program, 0));
    let mut open: Vec<(u32, u32)> = roots.filter(|(program, _)| has_wanted(*program) != Wanted::Nothing).collect();
    let rows = std::iter::from_fn(move || {
        loop {
            let (number, depth) = open.pop()?;
            let Some(program) = graph.programs.get(number as usize) else { continue };
            let from = open.len();
            let children = graph.resolved_children(number).filter(|child| has_wanted(*child) != Wanted::Nothing);
            open.extend(children.map(|child| (child, depth.saturating_add(1))));
            open.get_mut(from..).unwrap_or_default().reverse();
            if has_wanted(number) == Wanted::Itself {
                let runs = runs.as_ref().and_then(|runs| runs.get(number as usize).copied());
                return Some(ProgramRow::of(number, program, depth, runs));
            }
        }
    });
    rows.take(selection.limit.unwrap_or(usize::MAX))
}

/// Which part of a program and its contents is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Wanted {
    #[default]
    Nothing,
    /// Only some programs inside it.
    Within,
    Itself,
}

/// What is wanted of each program, by its number.
fn wanted(graph: &GraphProfile, selection: &Selection<'_>) -> Vec<Wanted> {
    let mut wanted = vec![Wanted::Nothing; graph.programs.len()];
    // Each program comes after those in it. The reader has refused programs that contain themselves.
    for number in order(graph).unwrap_or_default().into_iter().rev() {
        let name = graph.programs.get(number as usize).and_then(|program| program.name.as_deref());
        let has_wanted = |child: u32| wanted.get(child as usize).is_some_and(|it| *it != Wanted::Nothing);
        let found = match () {
            () if selection.has(name, Some(number)) => Wanted::Itself,
            () if graph.resolved_children(number).any(has_wanted) => Wanted::Within,
            () => Wanted::Nothing,
        };
        if let Some(place) = wanted.get_mut(number as usize) {
            *place = found;
        }
    }
    wanted
}

impl<'g> ProgramRow<'g> {
    fn of(number: u32, program: &'g Program, depth: u32, runs: Option<u64>) -> Self {
        ProgramRow {
            program: number,
            depth,
            kind: &program.kind,
            name: program.name.as_deref(),
            compute_set: program.compute_set,
            exchange: program.exchange,
            runs,
            code_bytes: code_bytes(program),
            code_by_instruction: program.memory_by_instruction.as_deref().map(|code| by_instruction(code).collect()),
        }
    }
}

fn runs(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> Option<Vec<u64>> {
    let trace = execution?.program_trace.as_ref()?;
    let mut runs = vec![0_u64; graph.programs.len()];
    for program in trace {
        if let Some(runs) = runs.get_mut(*program as usize) {
            *runs = runs.saturating_add(1);
        }
    }
    Some(runs)
}

/// The name of the sum among the instructions.
const TOTAL: &str = "total";

/// The bytes of the code of a program, which exchanges between tiles have.
pub(super) fn code_bytes(program: &Program) -> Option<u64> {
    let instructions = program.memory_by_instruction.as_deref()?;
    instructions.iter().find(|(name, _)| &**name == TOTAL).map(|(_, bytes)| *bytes)
}

fn by_instruction(instructions: &[(Box<str>, u64)]) -> impl Iterator<Item = (&str, u64)> {
    instructions.iter().filter(|(name, _)| &**name != TOTAL).map(|(name, bytes)| (&**name, *bytes))
}

/// The code of exchanges between tiles by instruction, over all programs.
pub fn exchange_code(graph: &GraphProfile) -> BTreeMap<&str, u64> {
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    let instructions = graph.programs.iter().filter_map(|program| program.memory_by_instruction.as_deref());
    for (name, more) in instructions.flat_map(by_instruction) {
        let sum = bytes.entry(name).or_default();
        *sum = sum.saturating_add(more);
    }
    bytes
}
