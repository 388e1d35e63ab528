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
    /// In the tree beneath the control programs, in which each call has its function in it.
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
        for child in (0..).map_while(|nth| graph.resolved_child(program, nth)) {
            add(&mut times, child, so_often);
        }
    }
    times
}

/// What a trace of programs has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TraceStyle {
    /// There is none.
    #[cfg_attr(feature = "serde", serde(rename = "absent"))]
    Absent,
    /// Only programs that do something, and none that only have others in them.
    #[cfg_attr(feature = "serde", serde(rename = "leaves"))]
    Leaves,
    /// Programs that have others in them too, each time before these.
    #[cfg_attr(feature = "serde", serde(rename = "every program entered"))]
    EveryProgram,
}

/// What the trace of an execution has. The document of the format leaves both readings open.
pub fn trace_style(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> TraceStyle {
    let Some(trace) = execution.and_then(|execution| execution.program_trace.as_ref()) else {
        return TraceStyle::Absent;
    };
    let mut programs = trace.iter().filter_map(|number| graph.programs.get(*number as usize));
    // A sequence that has nothing in it is a leaf, too.
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
    /// How often it is in the trace of the execution, in all places together.
    pub runs: Option<u64>,
    /// The bytes of its code, which exchanges between tiles have.
    pub code_bytes: Option<u64>,
    /// The same by instruction.
    pub code_by_instruction: Option<BTreeMap<&'g str, u64>>,
}

/// The tree of programs with calls resolved, a program before those in it, whatever order the selection asks for. At most a million
/// are looked at, because a small report can have an endless tree.
pub fn program_tree<'g>(
    graph: &'g GraphProfile,
    execution: Option<&ExecutionProfile>,
    selection: &Selection<'_>,
) -> Vec<ProgramRow<'g>> {
    const MOST: usize = 1_000_000;
    let limit = selection.limit.unwrap_or(usize::MAX);
    let runs = runs(graph, execution);
    let mut rows = Vec::new();
    let mut open: Vec<(u32, u32)> = graph.control_programs.iter().rev().map(|program| (*program, 0)).collect();
    for _ in 0..MOST {
        let Some((number, depth)) = open.pop().filter(|_| rows.len() < limit) else { break };
        let Some(program) = graph.programs.get(number as usize) else { continue };
        let from = open.len();
        open.extend(
            (0..).map_while(|nth| graph.resolved_child(number, nth)).map(|child| (child, depth.saturating_add(1))),
        );
        open.get_mut(from..).unwrap_or_default().reverse();
        if selection.has(program.name.as_deref(), Some(number)) {
            rows.push(ProgramRow {
                program: number,
                depth,
                kind: &program.kind,
                name: program.name.as_deref(),
                runs: runs.as_ref().and_then(|runs| runs.get(number as usize).copied()),
                code_by_instruction: program
                    .memory_by_instruction
                    .as_deref()
                    .map(|instructions| by_instruction(instructions).collect()),
                code_bytes: program.memory_by_instruction.as_ref().and_then(|list| total(list)),
            });
        }
    }
    rows
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

/// What the sum is called among the instructions.
const TOTAL: &str = "total";

fn total(instructions: &[(Box<str>, u64)]) -> Option<u64> {
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
