//! Schedules of the code of graphs, as text and SVG.

use std::fmt::{self, Write};

use poplar_graph::{Calls, Cell, GraphId, Ir, Op, Schedule, ScheduleRow};

use crate::output::escape::escape;
use crate::output::escape::xml;
use crate::output::units::counted;

/// The most characters of a name or step that are shown.
const MAX_TEXT: usize = 100;
const ROW: usize = 18;
const COLUMN: usize = 18;
const CHARACTER: usize = 8;

/// All cells, in the order in which they are explained.
const CELLS: [Cell; 5] = [Cell::Load, Cell::Live, Cell::Call, Cell::Kept, Cell::Dead];

const fn character(cell: Cell) -> char {
    match cell {
        Cell::Dead => '·',
        Cell::Live => '│',
        Cell::Kept => '┆',
        Cell::Load => '╷',
        Cell::Call => '●',
    }
}

const fn words(cell: Cell) -> &'static str {
    match cell {
        Cell::Dead => "not needed",
        Cell::Live => "live",
        Cell::Kept => "always there, and not needed here",
        Cell::Load => "loaded",
        Cell::Call => "called",
    }
}

const fn class(cell: Cell) -> &'static str {
    match cell {
        Cell::Dead => "dead",
        Cell::Live => "live",
        Cell::Kept => "kept",
        Cell::Load => "load",
        Cell::Call => "call",
    }
}

/// A [`Schedule`] as text or as a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchedulePicture<'s> {
    schedule: &'s Schedule,
    ir: &'s Ir,
}

impl<'s> SchedulePicture<'s> {
    /// The picture of a schedule of `ir`, the program with the names.
    pub(super) fn new(schedule: &'s Schedule, ir: &'s Ir) -> Self {
        SchedulePicture { schedule, ir }
    }

    /// The schedule as text: a column for each graph, a line for each step. Names are escaped.
    pub(super) fn to_text(self) -> String {
        let mut text = String::new();
        match self.write_text(&mut text) {
            // Writing into a text cannot fail.
            Ok(()) | Err(fmt::Error) => text,
        }
    }

    fn write_text(self, out: &mut String) -> fmt::Result {
        for (at, _) in self.schedule.lanes.iter().enumerate() {
            writeln!(out, "{} = {}", letters(at), self.name(at))?;
        }
        self.write_left_out(out)?;
        let width = letters(self.schedule.lanes.len().saturating_sub(1)).len();
        writeln!(out)?;
        let heads: Vec<_> = (0..self.schedule.lanes.len()).map(|at| format!("{:<width$}", letters(at))).collect();
        writeln!(out, "{}", heads.join(" ").trim_end())?;
        for row in &self.schedule.rows {
            let cells = row.cells.iter().map(|cell| format!("{:<width$}", character(*cell)));
            let cells: Vec<_> = cells.collect();
            writeln!(out, "{} {}{}", cells.join(" "), "  ".repeat(indent(row)), escaped(&self.step(row)))?;
        }
        if self.schedule.cut {
            writeln!(out, "... and more steps")?;
        }
        writeln!(out)?;
        CELLS.iter().try_for_each(|cell| writeln!(out, "{} {}", character(*cell), words(*cell)))
    }

    fn write_left_out(self, out: &mut String) -> fmt::Result {
        match self.schedule.lanes_left_out {
            0 => Ok(()),
            count => writeln!(out, "... and {count} more"),
        }
    }

    fn name(self, at: usize) -> String {
        let graph = self.schedule.lanes.get(at).and_then(|graph| self.ir.graph(*graph));
        graph.map(|graph| escaped(&graph.name)).unwrap_or_default()
    }

    /// The picture as an element of a page that has styles for its classes: `schedule` for all of it; `live`, `load`, `call`, `kept`
    /// and `dead` for what a cell says. Its colours can then follow those of the page.
    pub(super) fn to_svg(self) -> String {
        let mut svg = String::new();
        match self.write_svg(&mut svg) {
            // Writing into a text cannot fail.
            Ok(()) | Err(fmt::Error) => svg,
        }
    }

    fn write_svg(self, out: &mut String) -> fmt::Result {
        let lanes = self.schedule.lanes.len().saturating_add(1).saturating_mul(COLUMN);
        let texts = self
            .schedule
            .rows
            .iter()
            .map(|row| indent(row).saturating_mul(2).saturating_add(shown(&self.step(row)).chars().count()));
        let names = (0..self.schedule.lanes.len()).map(|at| self.name(at).chars().count().saturating_add(5));
        let longest = texts.chain(names).max().unwrap_or_default().max(20);
        let width = lanes.saturating_add(longest.saturating_mul(CHARACTER));
        let lines = self.schedule.lanes.len().saturating_add(self.schedule.rows.len()).saturating_add(4);
        let height = lines.saturating_mul(ROW);
        let size = format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"");
        writeln!(out, "<svg class=\"schedule\" {size} role=\"img\" aria-label=\"Schedule\">")?;
        for at in 0..self.schedule.lanes.len() {
            write_line(out, 4, at, &format!("{} = {}", letters(at), self.name(at)))?;
        }
        let first = self.schedule.lanes.len().saturating_add(1);
        for at in 0..self.schedule.lanes.len() {
            write_line(out, at.saturating_mul(COLUMN).saturating_add(4), first, &letters(at))?;
        }
        for (row, line) in self.schedule.rows.iter().zip(first.saturating_add(1)..) {
            self.write_row(row, line, out)?;
        }
        if self.schedule.cut {
            write_line(
                out,
                lanes,
                first.saturating_add(1).saturating_add(self.schedule.rows.len()),
                "... and more steps",
            )?;
        }
        writeln!(out, "</svg>")
    }

    fn write_row(self, row: &ScheduleRow, line: usize, out: &mut String) -> fmt::Result {
        for (at, cell) in row.cells.iter().enumerate() {
            let (x, y) = (at.saturating_mul(COLUMN).saturating_add(4), line.saturating_mul(ROW));
            let (class, name, words) = (class(*cell), xml(&self.name(at)), words(*cell));
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"{ROW}\"><title>{name}: {words}</title></rect>"
            )?;
        }
        let lanes = self.schedule.lanes.len().saturating_add(1).saturating_mul(COLUMN);
        let indent = indent(row).saturating_mul(2).saturating_mul(CHARACTER);
        write_line(out, lanes.saturating_add(indent), line, &escaped(&self.step(row)))
    }

    /// What a step does.
    fn step(self, row: &ScheduleRow) -> String {
        let op = row.op.and_then(|op| self.ir.graph(row.graph)?.op(op));
        op.map_or_else(|| counted(row.ops, "other op", "other ops"), |op| self.op(op))
    }

    fn op(self, op: &Op) -> String {
        let name = |graph: GraphId| self.ir.graph(graph).map_or("", |graph| graph.name.as_str());
        let load = op.loads_executable().map(|graph| format!("load {}", name(graph)));
        let call = match &op.calls {
            Calls::Once(graph) => Some(format!("call {}", name(*graph))),
            Calls::Repeat(graph, Some(times)) => Some(format!("call {} {times} times", name(*graph))),
            Calls::Repeat(graph, None) => Some(format!("call {} any number of times", name(*graph))),
            Calls::OneOf(branches) => {
                let names: Vec<_> = branches.iter().take(8).map(|branch| name(*branch)).collect();
                let more = if branches.len() > names.len() { ", ..." } else { "" };
                Some(format!("call one of {}{more}", names.join(", ")))
            }
            _ => None,
        };
        load.into_iter().chain(call).collect::<Vec<_>>().join(", ")
    }
}

fn write_line(out: &mut String, x: usize, line: usize, text: &str) -> fmt::Result {
    let y = line.saturating_mul(ROW).saturating_add(13);
    writeln!(out, "<text x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{}</text>", xml(text))
}

/// How far a row is indented: not without bound.
fn indent(row: &ScheduleRow) -> usize {
    usize::try_from(row.depth).unwrap_or(usize::MAX).min(20)
}

/// A, B, ... Z, A1, B1, ...
fn letters(at: usize) -> String {
    let letter = u8::try_from(at % 26).ok().and_then(|at| b'A'.checked_add(at)).map_or('?', char::from);
    match at / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_TEXT).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// A text in which all that could mislead is written out, and not too long.
fn escaped(text: &str) -> String {
    escape(&shown(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use popef::DataType;
    use poplar_graph::{Array, Builder, Destination, Error, Inputs, Sequence};

    use super::*;

    #[test]
    fn names_are_escaped_in_text_and_picture() -> Result<(), Error> {
        let mut ir = Builder::new();
        let x = ir.variable("x", Array::full(&[], DataType::F32, 1.0)?)?;
        let g1 = ir.create_graph("expensive_id", &[x], |ir, inputs| ir.transpose(inputs[0], None))?;
        let g2 = ir.create_graph("load <g1>\u{1b}", &[], |ir, _| ir.remote_code_load(g1, Destination::Executable))?;
        ir.in_sequence(Sequence::Enforced, |ir| {
            ir.transpose(x, None)?;
            ir.call(g2, Inputs::none())?;
            ir.transpose(x, None)?;
            ir.call(g1, [x])?;
            ir.transpose(x, None)
        })?;
        let ir = ir.build()?;
        let schedule = Schedule::new(&ir, 100);
        let picture = SchedulePicture::new(&schedule, &ir);
        let expected = "\
A = expensive_id_subgraph(0)
B = load <g1>\\u{1b}_subgraph(0)

A B
· │ 1 other op
│ ● call load <g1>\\u{1b}_subgraph(0)
╷ │   load expensive_id_subgraph(0)
│ ┆ 1 other op
● ┆ call expensive_id_subgraph(0)
· ┆ 1 other op

╷ loaded
│ live
● called
┆ always there, and not needed here
· not needed
";
        assert_eq!(picture.to_text(), expected);
        let svg = picture.to_svg();
        assert!(svg.contains("load &lt;g1&gt;\\u{1b}") && !svg.contains("<g1>") && !svg.contains('\u{1b}'));
        Ok(())
    }
}
