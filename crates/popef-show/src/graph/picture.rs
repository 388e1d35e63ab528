//! Pictures of boxes and arrows, for any language that draws them.

use std::collections::BTreeMap;

use crate::{escape, shorten};
use poplar_graph::{Graph, GraphId, IrDump, Op, Tensor, TensorId, Times};

use super::ops::calls;
use super::report::GraphReport;
use super::words::{info, place, times_as};

/// Boxes and arrows.
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

/// A box.
pub(super) struct Node {
    /// What stands in it, escaped. It may come from a file.
    pub(super) lines: Vec<String>,
    pub(super) look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The main graph, or an op that calls a graph.
    Strong,
    Plain,
    /// A graph that is never called.
    Faint,
    /// A tensor that no op makes.
    Tensor,
}

/// An arrow from one box to another.
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// What stands at it. It may come from a file.
    pub(super) label: String,
    /// Whether the program certainly goes this way.
    pub(super) is_certain: bool,
}

/// Names are cut to this width. The reports have them in full.
const NAME: usize = 60;

/// Which graph calls which. `number` shows numbers.
pub(super) fn of_calls(report: &GraphReport<'_>, number: fn(u64) -> String) -> Picture {
    let times = |times| times_as(times, number);
    let node = |(id, graph): (GraphId, &Graph)| {
        let runs = report.calls.of(id).runs;
        let look = match id {
            id if report.dump.ir.main() == Some(id) => Look::Strong,
            _ if runs == Times::NEVER => Look::Faint,
            _ => Look::Plain,
        };
        let ops = number(u64::try_from(graph.ops.len()).unwrap_or(u64::MAX));
        let ops = format!("{ops} {}", if graph.ops.len() == 1 { "op" } else { "ops" });
        let runs = if runs == Times::NEVER { "never called".to_owned() } else { format!("runs: {}", times(runs)) };
        Node { lines: vec![shown(&graph.name), ops, runs], look }
    };
    let mut calls: BTreeMap<(GraphId, GraphId), Times> = BTreeMap::new();
    for site in &report.calls.sites {
        let sum = calls.entry((site.caller, site.callee)).or_insert(Times::NEVER);
        *sum = sum.plus(site.times);
    }
    let edge = |((from, to), sum): ((GraphId, GraphId), Times)| Edge {
        from: from.index(),
        to: to.index(),
        label: if sum == Times::ONCE { String::new() } else { format!("{} ×", times(sum)) },
        is_certain: sum.least > 0,
    };
    Picture { nodes: report.dump.ir.graph_ids().map(node).collect(), edges: calls.into_iter().map(edge).collect() }
}

/// How data goes through the ops of a graph.
pub(super) fn of_ops(dump: &IrDump, graph: &Graph) -> Picture {
    let mut nodes: Vec<Node> = graph.ops.iter().map(|op| op_node(dump, op)).collect();
    let mut makers: Vec<Option<usize>> = vec![None; graph.tensors.len()];
    for (number, op) in graph.ops.iter().enumerate() {
        for slot in &op.outputs {
            if let Some(maker @ None) = makers.get_mut(slot.tensor.index()) {
                *maker = Some(number);
            }
        }
    }
    let mut edges = Vec::new();
    for (number, op) in graph.ops.iter().enumerate() {
        for slot in &op.inputs {
            let (Some(tensor), Some(maker)) = (graph.tensor(slot.tensor), makers.get_mut(slot.tensor.index())) else {
                continue;
            };
            let from = *maker.get_or_insert_with(|| {
                nodes.push(tensor_node(tensor, slot.tensor));
                nodes.len().saturating_sub(1)
            });
            edges.push(Edge { from, to: number, label: info(tensor), is_certain: true });
        }
    }
    Picture { nodes, edges }
}

fn op_node(dump: &IrDump, op: &Op) -> Node {
    let calls = calls(dump, op);
    let look = if calls.is_empty() { Look::Plain } else { Look::Strong };
    let lines = [shown(&op.op_type), shown(&op.name), place(op), shown(&calls)];
    Node { lines: lines.into_iter().filter(|line| !line.is_empty()).collect(), look }
}

fn tensor_node(tensor: &Tensor, id: TensorId) -> Node {
    let name = if tensor.name.is_empty() { format!("tensor {}", id.0) } else { shown(&tensor.name) };
    Node { lines: vec![name], look: Look::Tensor }
}

/// A name as text: escaped, and cut in its middle if it is long.
fn shown(name: &str) -> String {
    shorten(&escape(name), NAME).into_owned()
}
