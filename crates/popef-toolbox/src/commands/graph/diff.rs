//! `popef graph diff`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_ops::{Code, Error, FilePath};
use popef_show::{Kind, Out, counted, escape, size};
use popef_show::words::{more, shape};
use poplar_graph::{GraphDiff, IrDiff, IrDump, OpChange, OpDiff, OpTypeDiff, TensorDiff, TensorInfo};
use serde::Serialize;

use super::{Form, form, read};
use crate::common::end::{NO, unwritten};
use crate::common::format::{json_document, json_line};
use crate::common::json_file::unread;
use crate::common::tool::Tool;
use crate::common::values::path;
use crate::common::words::wrong;

/// Compare two IR dumps of PopART
///
/// Graphs and tensors are paired by name, ops by all that is known of them. The order of graphs does not count, and that of ops only
/// with --scheduled. A damaged dump is not compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef graph diff before.json after.json
  popef graph diff before.json after.json --format json | jq '.ops'")]
pub(super) struct Args {
    /// The first dump; `-` is standard input
    #[arg(value_name = "A", value_parser = path())]
    a: PathBuf,
    /// The second dump; `-` is standard input
    #[arg(value_name = "B", value_parser = path())]
    b: PathBuf,
    /// The ops of both are in the order in which they run: the order counts
    #[arg(long, help_heading = "Comparison")]
    scheduled: bool,
    /// Show at most N graphs, and of each at most N ops and N tensors
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    top: usize,
    /// Format: text; json, one document; ndjson, lines of JSON
    // The same as that of `popef graph`, which clap also takes for this one: with other words, and without pictures.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = form([Form::Text, Form::Json, Form::Ndjson]),
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Form,
}

/// One of both dumps.
#[derive(Serialize)]
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums<'d> {
    a: &'d Side,
    b: &'d Side,
    same: bool,
    same_graphs: u64,
    ops: &'d [OpTypeDiff],
}

#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    sums: Sums<'d>,
    graphs: &'d [GraphDiff],
}

impl Args {
    pub(super) fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if [&self.a, &self.b].iter().all(|path| path.as_os_str() == "-") {
            return Err(wrong("standard input (-) can be read only once"));
        }
        let (before, after) = (self.whole(&self.a)?, self.whole(&self.b)?);
        let diff = IrDiff::new(&before.ir, &after.ir);
        let (a, b) = (Side::new(&self.a, &before), Side::new(&self.b, &after));
        let sums = Sums { a: &a, b: &b, same: diff.is_same(), same_graphs: diff.same_graphs, ops: &diff.ops };
        let mut out = tool.out();
        match self.format {
            Form::Text => self.write(&mut out, &sums, &diff),
            Form::Json => json_document(&mut out, &Document { sums, graphs: &diff.graphs }),
            Form::Ndjson => write_lines(&mut out, &sums, &diff),
            Form::Dot | Form::Mermaid | Form::Html => {
                return Err(wrong("popef graph diff has the formats text, json and ndjson"));
            }
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(if diff.is_same() { ExitCode::SUCCESS } else { ExitCode::from(NO) })
    }

    /// Reads a dump, which must not be damaged: nobody knows what its rest has.
    fn whole(&self, path: &Path) -> Result<IrDump, Error> {
        let dump = read(path, self.scheduled)?;
        match &dump.damage {
            Some(damage) => Err(unread(damage, Code::BadGraphFile, path)),
            None => Ok(dump),
        }
    }

    fn write(&self, out: &mut Out, sums: &Sums<'_>, diff: &IrDiff) -> io::Result<()> {
        for (sign, side) in [("---", sums.a), ("+++", sums.b)] {
            out.put(sign).put(" ").text(Kind::Group, side.path.text());
            let counts = [
                counted(side.graphs, "graph", "graphs"),
                counted(side.ops, "op", "ops"),
                counted(side.tensors, "tensor", "tensors"),
                counted(side.parameters, "parameter", "parameters"),
            ];
            out.put(&format!("  {} of {}", counts.join(", "), size(side.parameter_size))).end_line()?;
        }
        for ops in &diff.ops {
            write_ops(out, "", ops)?;
        }
        for graph in diff.graphs.iter().take(self.top) {
            self.write_graph(out, graph)?;
        }
        more(out, diff.graphs.len(), self.top)?;
        let same = if sums.same { "The programs are the same: " } else { "" };
        let graphs = match sums.same_graphs {
            1 => "1 graph is the same".to_owned(),
            count => format!("{count} graphs are the same"),
        };
        out.put(same).put(&graphs);
        match diff.graphs.len() {
            0 => {}
            1 => _ = out.put(", 1 differs"),
            count => _ = out.put(&format!(", {count} differ")),
        }
        out.end_line()
    }

    fn write_graph(&self, out: &mut Out, graph: &GraphDiff) -> io::Result<()> {
        let sign = match (graph.ops_before, graph.ops_after) {
            (None, _) => "+",
            (_, None) => "-",
            _ => "~",
        };
        let ops = graph.ops_after.or(graph.ops_before).unwrap_or_default();
        out.put(sign).put(" graph ").put_as(Kind::Name, &escape(&graph.name));
        out.put(&format!("  {}", counted(ops, "op", "ops"))).end_line()?;
        for ops in &graph.ops {
            write_ops(out, "    ", ops)?;
        }
        if graph.changed_ops > 0 {
            let ops = counted(graph.changed_ops, "op differs", "ops differ");
            out.put(&format!("    {ops} in names, inputs, outputs, calls or settings")).end_line()?;
        }
        for op in graph.op_diffs.iter().take(self.top) {
            write_op(out, op)?;
        }
        let by_number = graph.ops.iter().map(|ops| ops.before.abs_diff(ops.after));
        let all = super::words::many(by_number.fold(graph.changed_ops, u64::saturating_add));
        match all.saturating_sub(self.top.min(graph.op_diffs.len())) {
            0 => {}
            more => out.put(&format!("    ... and {}", counted(more, "more op", "more ops"))).end_line()?,
        }
        if graph.reordered {
            out.put("    the same ops run in another order").end_line()?;
        }
        for tensor in graph.tensors.iter().take(self.top) {
            write_tensor(out, tensor)?;
        }
        match graph.tensors.len().saturating_sub(self.top) {
            0 => Ok(()),
            more => out.put(&format!("    ... and {}", counted(more, "more tensor", "more tensors"))).end_line(),
        }
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

fn write_lines(out: &mut Out, sums: &Sums<'_>, diff: &IrDiff) -> io::Result<()> {
    for graph in &diff.graphs {
        json_line(out, "graph", graph)?;
    }
    json_line(out, "report", sums)
}

fn write_ops(out: &mut Out, indent: &str, ops: &OpTypeDiff) -> io::Result<()> {
    out.put(indent).put("ops of type ").put_as(Kind::Type, &escape(&ops.op_type));
    out.put(&format!(": {} -> {}", ops.before, ops.after)).end_line()
}

/// An op, and what of it differs.
fn write_op(out: &mut Out, op: &OpDiff) -> io::Result<()> {
    let sign = match (&op.before, &op.after) {
        (None, _) => "+",
        (_, None) => "-",
        _ => "~",
    };
    let Some(known) = op.before.as_ref().or(op.after.as_ref()) else { return Ok(()) };
    out.put("    ").put(sign).put(" op ").put_as(Kind::Type, &escape(&op.op_type));
    if !known.name.is_empty() {
        out.put(" ").put_as(Kind::Name, &escape(&known.name));
    }
    if let Some(output) = &known.output {
        out.put(" makes ").put(&escape(output));
    }
    out.end_line()?;
    for OpChange { field, before, after, .. } in &op.changes {
        let [before, after] = [before, after].map(|value| value.as_deref().map_or_else(|| "nothing".into(), escape));
        out.put(&format!("        {}: {before} -> {after}", escape(field))).end_line()?;
    }
    Ok(())
}

fn write_tensor(out: &mut Out, tensor: &TensorDiff) -> io::Result<()> {
    let (sign, info) = match (&tensor.before, &tensor.after) {
        (Some(before), Some(after)) => ("~", format!("{} -> {}", info(before), info(after))),
        (None, Some(after)) => ("+", info(after)),
        (Some(before), None) => ("-", info(before)),
        (None, None) => return Ok(()),
    };
    out.put("    ").put(sign).put(" tensor ").put_as(Kind::Name, &escape(&tensor.name)).put("  ").put(&info).end_line()
}

fn info(info: &TensorInfo) -> String {
    let data_type = info.data_type.map_or_else(|| "?".to_owned(), |data_type| data_type.to_string());
    match &info.shape {
        Some(sizes) => format!("{data_type} {}", shape(sizes)),
        None => data_type,
    }
}
