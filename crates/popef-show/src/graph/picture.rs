//! Pictures of boxes and arrows, for any language that draws them.

use std::collections::BTreeMap;
use std::io;

use poplar_graph::{Graph, GraphId, IrDump, Op, Tensor, TensorId, Times};

use super::report::GraphReport;
use super::{MOST_NAME, info, place, times, times_as};
use crate::output::table::brief;
use crate::{Code, Dot, Mermaid, Out, Shown};

/// Boxes and arrows.
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

/// A box.
pub(super) struct Node {
    /// The text in it.
    pub(super) lines: Vec<Shown<'static>>,
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
    /// The text at it.
    pub(super) label: Shown<'static>,
    /// Whether the program certainly takes this way.
    pub(super) is_certain: bool,
}

/// The width to which names are cut. The reports have them in full.
const NAME: usize = 60;

/// Which graph calls which. `number` shows numbers.
pub(super) fn of_calls(report: &GraphReport<'_>, number: fn(u64) -> Shown<'static>) -> Picture {
    let times = |times| times_as(times, number);
    let node = |(id, graph): (GraphId, &Graph)| {
        let runs = report.facts.calls.of(id).runs;
        let look = match id {
            id if report.dump.ir.main() == Some(id) => Look::Strong,
            _ if runs == Times::NEVER => Look::Faint,
            _ => Look::Plain,
        };
        let ops = number(u64::try_from(graph.ops.len()).unwrap_or(u64::MAX));
        let ops = shown!("{} {}", ops, if graph.ops.len() == 1 { "op" } else { "ops" });
        let runs = if runs == Times::NEVER { Shown::own("never called") } else { shown!("runs: {}", times(runs)) };
        Node { lines: vec![named(&graph.name), ops, runs], look }
    };
    let mut calls: BTreeMap<(GraphId, GraphId), Times> = BTreeMap::new();
    for site in &report.facts.calls.sites {
        let sum = calls.entry((site.caller, site.callee)).or_insert(Times::NEVER);
        *sum = sum.plus(site.times);
    }
    let edge = |((from, to), sum): ((GraphId, GraphId), Times)| Edge {
        from: from.index(),
        to: to.index(),
        label: if sum == Times::ONCE { Shown::default() } else { shown!("{} ×", times(sum)) },
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
    let lines = [named(&op.op_type), named(&op.name), place(op), calls.shortened(NAME).into_owned()];
    Node { lines: lines.into_iter().filter(|line| !line.is_empty()).collect(), look }
}

fn tensor_node(tensor: &Tensor, id: TensorId) -> Node {
    let name = if tensor.name.is_empty() { shown!("tensor {}", id.0) } else { named(&tensor.name) };
    Node { lines: vec![name], look: Look::Tensor }
}

/// The graphs that an op calls or loads.
pub(super) fn calls(dump: &IrDump, op: &Op) -> Shown<'static> {
    let name = |id| dump.ir.graph(id).map_or(Shown::default(), |graph| brief(&graph.name, MOST_NAME).into());
    let calls = op.calls.iter().map(|callee| match callee.times {
        Times::ONCE => shown!("calls {}", name(callee.graph)),
        Times { least: 0, most: None } => shown!("calls {} any number of times", name(callee.graph)),
        many => shown!("calls {}, {} times", name(callee.graph), times(many)),
    });
    let missing = op.attribute("callee").map(|name| shown!("calls {}, which is missing", Shown::escaped(name)));
    let loads = op.loads.map(|load| shown!("loads the code of {}", name(load.graph)));
    Shown::joined(calls.chain(missing).chain(loads), "; ")
}

/// A name as text, cut in its middle if it is long.
fn named(name: &str) -> Shown<'static> {
    Shown::escaped(name).shortened(NAME).into_owned()
}

/// Writes a picture in the language of Graphviz.
pub(super) fn write_dot(out: &mut Out, picture: &Picture) -> io::Result<()> {
    out.put("digraph {").end_line()?;
    out.put("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3fb\", color=\"#5b7db1\", fontname=\"sans-serif\"];").end_line()?;
    out.put("  edge [color=\"#55616f\", fontname=\"sans-serif\", fontsize=10];").end_line()?;
    for (number, node) in picture.nodes.iter().enumerate() {
        let (lines, look) = (Code::joined(&node.lines, "\\n"), Code::from(look(node.look)));
        out.code(code!(Dot: "  n{} [label=\"{}\"{}];", number, lines, look)).end_line()?;
    }
    for edge in &picture.edges {
        let label = (!edge.label.is_empty()).then(|| code!(Dot: "label=\"{}\"", edge.label));
        let style = (!edge.is_certain).then(|| Code::from("style=dashed"));
        let settings = label.into_iter().chain(style).reduce(|one, other| code!(Dot: "{}, {}", one, other));
        let settings = settings.map(|settings| code!(Dot: " [{}]", settings)).unwrap_or_default();
        out.code(code!(Dot: "  n{} -> n{}{};", edge.from, edge.to, settings)).end_line()?;
    }
    out.put("}").end_line()
}

fn look(look: Look) -> &'static str {
    match look {
        Look::Strong => ", fillcolor=\"#cfe0fb\", penwidth=2",
        Look::Plain => "",
        Look::Faint => ", style=\"rounded,dashed\", fontcolor=\"#55616f\"",
        Look::Tensor => ", shape=ellipse, style=filled, fillcolor=\"#f4f6f8\"",
    }
}

/// Writes a picture in the language of Mermaid, which shows it in Markdown.
pub(super) fn write_mermaid(out: &mut Out, picture: &Picture) -> io::Result<()> {
    out.put("flowchart TD").end_line()?;
    for (number, node) in picture.nodes.iter().enumerate() {
        let lines = Code::joined(&node.lines, "<br/>");
        let lines = if node.look == Look::Tensor {
            code!(Mermaid: "([\"{}\"])", lines)
        } else {
            code!(Mermaid: "[\"{}\"]", lines)
        };
        out.code(code!(Mermaid: "  n{}{}", number, lines)).put(class(node.look)).end_line()?;
    }
    for edge in &picture.edges {
        let arrow = Code::from(if edge.is_certain { "-->" } else { "-.->" });
        let label = if edge.label.is_empty() { Code::default() } else { code!(Mermaid: "|\"{}\"|", edge.label) };
        out.code(code!(Mermaid: "  n{} {}{} n{}", edge.from, arrow, label, edge.to)).end_line()?;
    }
    out.put("  classDef strong stroke-width:3px").end_line()?;
    out.put("  classDef faint stroke-dasharray:5 5").end_line()
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Strong => ":::strong",
        Look::Faint => ":::faint",
        Look::Plain | Look::Tensor => "",
    }
}
