//! How two programs differ.

use std::io;
use std::path::Path;

use popef_ops::FilePath;
use poplar_graph::{GraphDiff, IrDiff, IrDump, OpChange, OpDiff, OpTypeDiff, TensorDiff, TensorInfo};
use serde::Serialize;

use super::{many, type_and_shape};
use crate::output::json::object;
use crate::output::table::more;
use crate::{Kind, Out, ReportFormat, ReportOptions, Shown, counted, json_document, json_item, size};

/// One of both dumps.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Side {
    #[serde(flatten)]
    path: FilePath,
    graphs: usize,
    ops: usize,
    tensors: usize,
    parameters: usize,
    parameter_size: u64,
}

/// How two programs differ.
#[derive(Debug)]
pub struct GraphDiffReport<'d> {
    a: Side,
    b: Side,
    diff: &'d IrDiff,
}

impl<'d> GraphDiffReport<'d> {
    /// A report about two dumps and their difference.
    pub fn new(a: (&Path, &IrDump), b: (&Path, &IrDump), diff: &'d IrDiff) -> Self {
        GraphDiffReport { a: Side::new(a.0, a.1), b: Side::new(b.0, b.1), diff }
    }

    /// Writes it.
    pub fn write(&self, out: &mut Out, options: &ReportOptions) -> io::Result<()> {
        match options.format {
            ReportFormat::Text => self.write_text(out, options.top),
            ReportFormat::Json => {
                let (sums, graphs) = (self.sums(), &self.diff.graphs);
                json_document(out, &object! { #[serde(flatten)] sums, graphs }, options.network)
            }
            ReportFormat::Ndjson => self.write_lines(out),
        }
    }

    fn sums(&self) -> impl Serialize {
        let GraphDiffReport { a, b, diff } = self;
        object! { a, b, same: diff.is_same(), same_graphs: diff.same_graphs, ops: &diff.ops }
    }

    fn write_lines(&self, out: &mut Out) -> io::Result<()> {
        for graph in &self.diff.graphs {
            json_item(out, "graph", graph)?;
        }
        json_item(out, "report", &self.sums())
    }

    fn write_text(&self, out: &mut Out, top: usize) -> io::Result<()> {
        let diff = self.diff;
        for (sign, side) in [("---", &self.a), ("+++", &self.b)] {
            out.put(sign).put(" ").text(Kind::Group, side.path.text());
            let counts = [
                counted(side.graphs, "graph", "graphs"),
                counted(side.ops, "op", "ops"),
                counted(side.tensors, "tensor", "tensors"),
                counted(side.parameters, "parameter", "parameters"),
            ];
            out.put(shown!("  {} of {}", Shown::joined(counts, ", "), size(side.parameter_size))).end_line()?;
        }
        for ops in &diff.ops {
            write_ops(out, "", ops)?;
        }
        for graph in diff.graphs.iter().take(top) {
            write_graph(out, graph, top)?;
        }
        more(out, diff.graphs.len(), top)?;
        let same = if diff.is_same() { "The programs are the same: " } else { "" };
        let graphs = match diff.same_graphs {
            1 => Shown::own("1 graph is the same"),
            count => shown!("{} graphs are the same", count),
        };
        out.put(same).put(graphs);
        match diff.graphs.len() {
            0 => {}
            1 => _ = out.put(", 1 differs"),
            count => _ = out.put(shown!(", {} differ", count)),
        }
        out.end_line()
    }
}

fn write_graph(out: &mut Out, graph: &GraphDiff, top: usize) -> io::Result<()> {
    let sign = match (graph.ops_before, graph.ops_after) {
        (None, _) => "+",
        (_, None) => "-",
        _ => "~",
    };
    let ops = graph.ops_after.or(graph.ops_before).unwrap_or_default();
    out.put(sign).put(" graph ").put_as(Kind::Name, Shown::escaped(&graph.name));
    out.put(shown!("  {}", counted(ops, "op", "ops"))).end_line()?;
    for ops in &graph.ops {
        write_ops(out, "    ", ops)?;
    }
    if graph.changed_ops > 0 {
        let ops = counted(graph.changed_ops, "op differs", "ops differ");
        out.put(shown!("    {} in names, inputs, outputs, calls or settings", ops)).end_line()?;
    }
    for op in graph.op_diffs.iter().take(top) {
        write_op(out, op)?;
    }
    let by_number = graph.ops.iter().map(|ops| ops.before.abs_diff(ops.after));
    let all = many(by_number.fold(graph.changed_ops, u64::saturating_add));
    match all.saturating_sub(top.min(graph.op_diffs.len())) {
        0 => {}
        more => out.put(shown!("    ... and {}", counted(more, "more op", "more ops"))).end_line()?,
    }
    if graph.reordered {
        out.put("    the same ops run in another order").end_line()?;
    }
    for tensor in graph.tensors.iter().take(top) {
        write_tensor(out, tensor)?;
    }
    match graph.tensors.len().saturating_sub(top) {
        0 => Ok(()),
        more => out.put(shown!("    ... and {}", counted(more, "more tensor", "more tensors"))).end_line(),
    }
}

impl Side {
    fn new(path: &Path, dump: &IrDump) -> Self {
        let parameters = dump.parameters();
        let graphs = dump.ir.graphs();
        Side {
            path: path.into(),
            graphs: graphs.len(),
            ops: graphs.iter().map(|graph| graph.ops.len()).sum(),
            tensors: graphs.iter().map(|graph| graph.tensors.len()).sum(),
            parameters: parameters.len(),
            parameter_size: parameters.iter().filter_map(|it| it.bytes).fold(0, u64::saturating_add),
        }
    }
}

fn write_ops(out: &mut Out, indent: &'static str, ops: &OpTypeDiff) -> io::Result<()> {
    out.put(indent).put("ops of type ").put_as(Kind::Type, Shown::escaped(&ops.op_type));
    out.put(shown!(": {} -> {}", ops.before, ops.after)).end_line()
}

/// Writes an op and its differences.
fn write_op(out: &mut Out, op: &OpDiff) -> io::Result<()> {
    let sign = match (&op.before, &op.after) {
        (None, _) => "+",
        (_, None) => "-",
        _ => "~",
    };
    let Some(known) = op.before.as_ref().or(op.after.as_ref()) else { return Ok(()) };
    out.put("    ").put(sign).put(" op ").put_as(Kind::Type, Shown::escaped(&op.op_type));
    if !known.name.is_empty() {
        out.put(" ").put_as(Kind::Name, Shown::escaped(&known.name));
    }
    if let Some(output) = &known.output {
        out.put(" makes ").put(Shown::escaped(output));
    }
    out.end_line()?;
    for OpChange { field, before, after, .. } in &op.changes {
        let shown = |value: &'_ Option<String>| value.as_ref().map_or(Shown::own("nothing"), |it| it.clone().into());
        let [before, after] = [before, after].map(shown);
        out.put(shown!("        {}: {} -> {}", Shown::escaped(field), before, after)).end_line()?;
    }
    Ok(())
}

fn write_tensor(out: &mut Out, tensor: &TensorDiff) -> io::Result<()> {
    let (sign, info) = match (&tensor.before, &tensor.after) {
        (Some(before), Some(after)) => ("~", shown!("{} -> {}", info(before), info(after))),
        (None, Some(after)) => ("+", info(after)),
        (Some(before), None) => ("-", info(before)),
        (None, None) => return Ok(()),
    };
    out.put("    ")
        .put(sign)
        .put(" tensor ")
        .put_as(Kind::Name, Shown::escaped(&tensor.name))
        .put("  ")
        .put(info)
        .end_line()
}

fn info(info: &TensorInfo) -> Shown<'static> {
    type_and_shape(info.data_type, info.shape.as_deref())
}
