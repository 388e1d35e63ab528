//! The ops of one graph as text.

use std::io;

use super::picture::{self, calls};
use crate::output::table::Table;
use crate::{Kind, Out, Shown, counted};
use poplar_graph::{Graph, IrDump, Order, Slot};

use super::GraphFormat;
use super::place;

/// The ops of one graph.
#[derive(Clone, Copy, Debug)]
pub struct OpsReport<'d> {
    /// The program.
    pub dump: &'d IrDump,
    /// The graph, which belongs to the program.
    pub graph: &'d Graph,
}

impl OpsReport<'_> {
    /// Whether ops can be written in a format.
    pub fn has(format: GraphFormat) -> bool {
        matches!(format, GraphFormat::Text | GraphFormat::Dot | GraphFormat::Mermaid)
    }

    /// Writes them: a picture of how data goes through the ops, or text.
    pub fn write(self, out: &mut Out, format: GraphFormat) -> io::Result<()> {
        match format {
            GraphFormat::Dot => picture::write_dot(out, &picture::of_ops(self.dump, self.graph)),
            GraphFormat::Mermaid => picture::write_mermaid(out, &picture::of_ops(self.dump, self.graph)),
            _ => write(out, self.dump, self.graph),
        }
    }
}

/// Writes all ops, in the order of the file.
fn write(out: &mut Out, dump: &IrDump, graph: &Graph) -> io::Result<()> {
    out.put_as(Kind::Group, Shown::escaped(&graph.name));
    let order =
        if dump.ir.order() == Order::Schedule { "in the order in which they run" } else { "in the order of the file" };
    out.put(shown!("  {} {}", counted(graph.ops.len(), "op", "ops"), order)).end_line()?;
    out.end_line()?;
    Table::of(graph.op_ids())
        .number("Op", |(id, _)| id.0)
        .column("Type", Kind::Type, |(_, op)| &op.op_type)
        .column("Name", Kind::Name, |(_, op)| &op.name)
        .column("Inputs", Kind::Plain, |(_, op)| tensors(graph, &op.inputs))
        .column("Outputs", Kind::Plain, |(_, op)| tensors(graph, &op.outputs))
        .column("Where", Kind::Plain, |(_, op)| place(op))
        .column("", Kind::Plain, |(_, op)| calls(dump, op))
        .write(out)
}

fn tensors(graph: &Graph, slots: &[Slot]) -> Shown<'static> {
    let name = |slot: &Slot| graph.tensor(slot.tensor).map(|tensor| Shown::escaped(&tensor.name));
    Shown::joined(slots.iter().filter_map(name), ", ")
}
