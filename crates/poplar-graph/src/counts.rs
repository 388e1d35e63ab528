use std::collections::BTreeMap;

use crate::{CallGraph, GraphId, Ir, Op, TensorId, TensorKind, Times};

/// How many ops there are of each type, and on each IPU.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OpCounts {
    /// The number of ops in all graphs.
    pub ops: u64,
    /// The ops by type, the most frequent type first.
    pub by_type: Vec<TypeCount>,
    /// The ops by IPU. Those without one come first.
    pub by_ipu: Vec<NumberCount>,
    /// The ops by pipeline stage.
    pub by_stage: Vec<NumberCount>,
    /// The ops by execution phase.
    pub by_phase: Vec<NumberCount>,
}

/// The ops of a type.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TypeCount {
    /// The type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub op_type: String,
    /// The number of its ops.
    pub ops: u64,
    /// How many times all of them together run in one run of the program.
    pub runs: Times,
}

/// The ops of an IPU, a stage or a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct NumberCount {
    /// The number of the IPU, stage or phase. `None` for ops without one.
    pub number: Option<i64>,
    /// The number of ops.
    pub ops: u64,
}

impl OpCounts {
    /// Counts the ops of all graphs.
    #[must_use]
    pub fn new(ir: &Ir, calls: &CallGraph) -> Self {
        let mut types: BTreeMap<&str, (u64, Times)> = BTreeMap::new();
        for (id, graph) in ir.graph_ids() {
            let runs = calls.of(id).runs;
            for op in &graph.ops {
                let (ops, total) = types.entry(&op.op_type).or_insert((0, Times::NEVER));
                *ops = ops.saturating_add(1);
                *total = total.plus(runs);
            }
        }
        let count = |(op_type, (ops, runs)): (&str, _)| TypeCount { op_type: op_type.to_owned(), ops, runs };
        let mut by_type: Vec<_> = types.into_iter().map(count).collect();
        by_type.sort_by_key(|count| std::cmp::Reverse(count.ops));
        OpCounts {
            ops: by_type.iter().map(|count| count.ops).fold(0, u64::saturating_add),
            by_type,
            by_ipu: by_number(ir, |op| op.ipu),
            by_stage: by_number(ir, |op| op.stage),
            by_phase: by_number(ir, |op| op.phase),
        }
    }
}

fn by_number(ir: &Ir, number: impl Fn(&Op) -> Option<i64>) -> Vec<NumberCount> {
    let mut counts: BTreeMap<Option<i64>, u64> = BTreeMap::new();
    for op in ir.graphs().iter().flat_map(|graph| &graph.ops) {
        let ops = counts.entry(number(op)).or_default();
        *ops = ops.saturating_add(1);
    }
    counts.into_iter().map(|(number, ops)| NumberCount { number, ops }).collect()
}

/// The variables of a program, largest first.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Parameters {
    /// The variables. Those of unknown size come last.
    pub variables: Vec<Parameter>,
    /// The bytes of all variables whose size is known.
    pub bytes: u64,
    /// The number of variables of unknown size.
    pub unknown: u64,
}

/// A variable of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Parameter {
    /// The graph that has it.
    pub graph: GraphId,
    /// The tensor.
    pub tensor: TensorId,
    /// Its bytes, if its shape and type are known.
    pub bytes: Option<u64>,
}

impl Parameters {
    /// The variables of all graphs.
    #[must_use]
    pub fn new(ir: &Ir) -> Self {
        let mut variables = Vec::new();
        for (graph, value) in ir.graph_ids() {
            let all = value.tensors.iter().enumerate();
            variables.extend(all.filter(|(_, tensor)| tensor.kind == TensorKind::Variable).filter_map(
                |(at, tensor)| Some(Parameter { graph, tensor: TensorId::of(at)?, bytes: tensor.bytes() }),
            ));
        }
        variables.sort_by_key(|variable| std::cmp::Reverse(variable.bytes));
        let known = || variables.iter().filter_map(|variable| variable.bytes);
        let bytes = known().fold(0, u64::saturating_add);
        let unknown = variables.iter().filter(|variable| variable.bytes.is_none()).fold(0_u64, |count, _| count + 1);
        Parameters { bytes, unknown, variables }
    }
}
