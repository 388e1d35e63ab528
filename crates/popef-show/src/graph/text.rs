//! The report as text.

use std::io;

use crate::output::table::{Table, fact, heading, more};
use crate::{Kind, Out, Shown, counted, size};
use poplar_graph::{CallRow, NumberCount};

use super::GraphSections;
use super::code;
use super::report::GraphReport;
use super::{info, number, times};

/// The maximum number of rows of calls. Nobody reads more.
const CALLS: usize = 1000;

/// The maximum depth of indentation of calls.
const LEVELS: usize = 24;

pub(super) fn write(out: &mut Out, report: &GraphReport<'_>, sections: GraphSections, top: usize) -> io::Result<()> {
    out.text(Kind::Group, report.path.text());
    let counts = [
        counted(report.dump.ir.graphs().len(), "graph", "graphs"),
        counted(report.facts.ops.ops, "op", "ops"),
        counted(report.facts.tensors(), "tensor", "tensors"),
    ];
    out.put(shown!("  {}", Shown::joined(counts, ", "))).end_line()?;
    if sections.has(|sections| sections.calls) {
        write_calls(out, report)?;
        write_unused(out, report, top)?;
    }
    if sections.has(|sections| sections.ops) {
        write_ops(out, report, top)?;
    }
    if sections.has(|sections| sections.parameters) {
        write_parameters(out, report, top)?;
    }
    if sections.has(|sections| sections.code) {
        code::write(out, report, top)?;
    }
    write_notes(out, report)
}

fn write_calls(out: &mut Out, report: &GraphReport<'_>) -> io::Result<()> {
    heading(out, "Calls")?;
    if let Some(words) = report.without_branches() {
        out.put("  ").put(words).end_line()?;
    }
    let shown = report.facts.tree.get(..CALLS).unwrap_or(&report.facts.tree);
    Table::of(shown.iter().zip(branches(shown)))
        .number("Runs", |(row, _)| times(report.facts.calls.of(row.graph).runs))
        .number("Per caller", |(row, _)| if row.depth == 0 { Shown::default() } else { times(row.times) })
        .number("Ops", |(row, _)| report.graph(row.graph).map_or(0, |graph| graph.ops.len()))
        .column("Graph", Kind::Name, |(row, branch)| shown!("{}{}", branch, report.name(row.graph)))
        .column("", Kind::Plain, |(row, _)| remark(report, row))
        .write(out)?;
    more(out, report.facts.tree.len(), shown.len())
}

/// A remark about what a row of calls does not show.
pub(super) fn remark(report: &GraphReport<'_>, row: &CallRow) -> &'static str {
    match (row.repeated, report.facts.is_recursive(row.graph)) {
        (true, true) => "calls itself: see above",
        (true, false) => "calls the same as above",
        (false, true) => "calls itself",
        (false, false) => "",
    }
}

/// The lines of a tree before each row.
fn branches(rows: &[CallRow]) -> Vec<Shown<'static>> {
    // For each depth, whether a row of this depth follows before a less deep one.
    let mut follows: Vec<bool> = Vec::new();
    let mut branches = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        let depth = usize::try_from(row.depth).unwrap_or(usize::MAX);
        let has = |level: usize| follows.get(level).copied().unwrap_or_default();
        branches.push(match depth {
            0 => Shown::default(),
            1..=LEVELS => {
                let outer = Shown::joined((1..depth).map(|level| if has(level) { "│  " } else { "   " }), "");
                shown!("{}{}", outer, if has(depth) { "├─ " } else { "└─ " })
            }
            _ => shown!("{:72}... {} deep: ", "", depth),
        });
        // Deeper ones are irrelevant.
        follows.resize(depth.min(LEVELS).saturating_add(1), false);
        if let Some(last) = follows.get_mut(depth) {
            *last = true;
        }
    }
    branches.reverse();
    branches
}

fn write_unused(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    let unused = &report.facts.calls.unused;
    if unused.is_empty() {
        return Ok(());
    }
    heading(out, "Never called, as far as the dump says")?;
    for id in unused.iter().take(top) {
        out.put("  ").put_as(Kind::Name, report.name(*id)).end_line()?;
    }
    more(out, unused.len(), top)
}

fn write_ops(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    heading(out, "Ops")?;
    Table::of(&report.facts.ops.by_type)
        .number("Ops", |count| count.ops)
        .number("Runs", |count| times(count.runs))
        .column("Type", Kind::Type, |count| &count.op_type)
        .write_first(out, top)?;
    let places = places(report);
    if !places.is_empty() {
        out.end_line()?;
    }
    places.iter().try_for_each(|(what, counts)| fact(out, what, numbers(counts, top, number)))
}

/// The kinds of places that some op has.
pub(super) fn places<'r>(report: &'r GraphReport<'_>) -> Vec<(&'static str, &'r [NumberCount])> {
    let kinds = [
        ("by IPU", &report.facts.ops.by_ipu),
        ("by stage", &report.facts.ops.by_stage),
        ("by phase", &report.facts.ops.by_phase),
    ];
    let has_any = |counts: &[NumberCount]| counts.iter().any(|count| count.number.is_some());
    kinds.into_iter().map(|(what, counts)| (what, counts.as_slice())).filter(|(_, counts)| has_any(counts)).collect()
}

/// The ops of each place: `0: 15, 1: 16, none: 4`. `shown` shows numbers of ops.
pub(super) fn numbers(counts: &[NumberCount], top: usize, shown: fn(u64) -> Shown<'static>) -> Shown<'static> {
    let text = |count: &NumberCount| match count.number {
        Some(number) => shown!("{}: {}", number, shown(count.ops)),
        None => shown!("none: {}", shown(count.ops)),
    };
    let mut texts: Vec<_> = counts.iter().take(top).map(text).collect();
    if counts.len() > top {
        texts.push(shown!("and {} more", counts.len() - top));
    }
    Shown::joined(texts, ", ")
}

fn write_parameters(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    heading(out, "Parameters: what the main graph uses and no op makes")?;
    let count = counted(report.facts.parameters.len(), "tensor", "tensors");
    out.put(shown!("  {}, {}", count, size(report.facts.parameter_size()))).end_line()?;
    if report.facts.parameters.is_empty() {
        return Ok(());
    }
    let parameters =
        report.facts.parameters.iter().filter_map(|parameter| Some((parameter, report.facts.tensor(parameter)?)));
    Table::of(parameters)
        .number("Size", |(parameter, _)| parameter.bytes.map_or_else(|| Shown::own("?"), size))
        .column("Type", Kind::Type, |(_, tensor)| info(tensor))
        .column("Name", Kind::Name, |(_, tensor)| &tensor.name)
        .column("", Kind::Plain, |(parameter, _)| if parameter.updated { "updated" } else { "" })
        .write_first(out, top)
}

fn write_notes(out: &mut Out, report: &GraphReport<'_>) -> io::Result<()> {
    if report.dump.notes.is_empty() {
        return Ok(());
    }
    heading(out, "Noted")?;
    for note in &report.dump.notes {
        let text = shown!("  {} {}", note.count, note.kind.words(note.count));
        out.put_as(Kind::Warning, text).end_line()?;
        out.put("    first: ").put_as(Kind::Name, Shown::escaped(&note.first));
        out.put(shown!(", byte {}", note.offset)).end_line()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::branches;
    use poplar_graph::{CallGraph, Calls, Graph, GraphId, Ir, Op, Order};

    /// Graphs that call others by their numbers.
    fn calls(graphs: &[&[u32]]) -> CallGraph {
        let graph = |callees: &&[u32]| {
            let mut graph = Graph::new("");
            graph.ops = callees
                .iter()
                .map(|callee| {
                    let mut op = Op::new("Call");
                    op.calls = Calls::Once(GraphId(*callee));
                    op
                })
                .collect();
            graph
        };
        CallGraph::new(&Ir::new(graphs.iter().map(graph).collect(), Some(GraphId(0)), Order::Unknown).unwrap())
    }

    #[test]
    fn a_tree_has_lines() {
        let tree = calls(&[&[1, 4, 5], &[2, 3], &[], &[6], &[], &[6], &[]]).tree();
        let lines = ["", "├─ ", "│  ├─ ", "│  └─ ", "│     └─ ", "├─ ", "└─ ", "   └─ "];
        assert_eq!(branches(&tree).iter().map(|branch| &**branch).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn a_deep_tree_is_not_indented_further() {
        let graphs: Vec<[u32; 1]> = (1..=5000).map(|callee| [callee]).collect();
        let mut graphs: Vec<&[u32]> = graphs.iter().map(<[u32; 1]>::as_slice).collect();
        graphs.push(&[]);
        let branches = branches(&calls(&graphs).tree());
        assert_eq!(branches.len(), 5001);
        assert!(branches[24].ends_with("└─ ") && branches[25].ends_with("... 25 deep: "));
        assert!(branches.iter().all(|branch| branch.len() < 100));
    }
}
