//! Schedules of the code of graphs, as text and SVG.

use std::io;

use poplar_graph::{Calls, Cell, GraphId, Ir, Op, Schedule, ScheduleRow};

use crate::output::escape::escape;
use crate::output::out::Out;
use crate::output::units::counted;
use crate::page::html::Html;

/// The maximum number of characters of a name or step.
const MAX_TEXT: usize = 100;
const ROW: usize = 18;
const COLUMN: usize = 18;
const CHARACTER: usize = 8;

/// All cells, in the order in which they are explained.
const CELLS: [Cell; 5] = [Cell::Load, Cell::Live, Cell::Call, Cell::Kept, Cell::Dead];

/// How a cell is shown: its character, its words, and its class in a picture.
const fn look(cell: Cell) -> (char, &'static str, &'static str) {
    match cell {
        Cell::Dead => ('·', "not needed", "dead"),
        Cell::Live => ('│', "live", "live"),
        Cell::Kept => ('┆', "always there, and not needed here", "kept"),
        Cell::Load => ('╷', "loaded", "load"),
        Cell::Call => ('●', "called", "call"),
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

    /// Writes the schedule as text: a column for each graph, a line for each step. Names are escaped.
    pub(super) fn write_text(self, out: &mut Out) -> io::Result<()> {
        let lanes = self.schedule.lanes.len();
        let mut line = |text: &str| out.put(if text.is_empty() { "" } else { "  " }).put(text).end_line();
        (0..lanes).try_for_each(|at| line(&format!("{} = {}", letters(at), self.name(at))))?;
        if self.schedule.lanes_left_out > 0 {
            line(&format!("... and {} more", self.schedule.lanes_left_out))?;
        }
        let width = letters(lanes.saturating_sub(1)).len();
        line("")?;
        let heads: Vec<_> = (0..lanes).map(|at| format!("{:<width$}", letters(at))).collect();
        line(heads.join(" ").trim_end())?;
        for row in &self.schedule.rows {
            let cells: Vec<_> = row.cells.iter().map(|cell| format!("{:<width$}", look(*cell).0)).collect();
            line(&format!("{} {}{}", cells.join(" "), "  ".repeat(indent(row)), escaped(&self.step(row))))?;
        }
        if self.schedule.cut {
            line("... and more steps")?;
        }
        line("")?;
        CELLS.into_iter().map(look).try_for_each(|(character, words, _)| line(&format!("{character} {words}")))
    }

    fn name(self, at: usize) -> String {
        let graph = self.schedule.lanes.get(at).and_then(|graph| self.ir.graph(*graph));
        graph.map(|graph| escaped(&graph.name)).unwrap_or_default()
    }

    /// Draws the schedule. The page has styles for the classes: `schedule` for all of it, and those of cells.
    pub(super) fn draw(self, html: &mut Html<'_>) {
        let (count, rows) = (self.schedule.lanes.len(), &self.schedule.rows);
        let lanes = count.saturating_add(1).saturating_mul(COLUMN);
        let width = |row| indent(row).saturating_mul(2).saturating_add(shown(&self.step(row)).chars().count());
        let names = (0..count).map(|at| self.name(at).chars().count().saturating_add(5));
        let longest = rows.iter().map(width).chain(names).max().unwrap_or_default().max(20);
        let width = lanes.saturating_add(longest.saturating_mul(CHARACTER));
        let height = count.saturating_add(rows.len()).saturating_add(4).saturating_mul(ROW);
        let size = format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"");
        html.put(&format!("<svg class=\"schedule\" {size} role=\"img\" aria-label=\"Schedule\">\n"));
        for at in 0..count {
            draw_line(html, 4, at, &format!("{} = {}", letters(at), self.name(at)));
        }
        let first = count.saturating_add(1);
        for at in 0..count {
            draw_line(html, at.saturating_mul(COLUMN).saturating_add(4), first, &letters(at));
        }
        for (row, line) in rows.iter().zip(first.saturating_add(1)..) {
            self.draw_row(html, row, line, lanes);
        }
        if self.schedule.cut {
            draw_line(html, lanes, first.saturating_add(1).saturating_add(rows.len()), "... and more steps");
        }
        html.put("</svg>\n");
    }

    fn draw_row(self, html: &mut Html<'_>, row: &ScheduleRow, line: usize, lanes: usize) {
        let y = line.saturating_mul(ROW);
        for (at, cell) in row.cells.iter().enumerate() {
            let (x, (_, words, class)) = (at.saturating_mul(COLUMN).saturating_add(4), look(*cell));
            html.put(&format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"{ROW}\"><title>"));
            html.text(&self.name(at)).put(": ").put(words).put("</title></rect>\n");
        }
        let indent = indent(row).saturating_mul(2).saturating_mul(CHARACTER);
        draw_line(html, lanes.saturating_add(indent), line, &escaped(&self.step(row)));
    }

    /// The words for what a step does.
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

fn draw_line(html: &mut Html<'_>, x: usize, line: usize, text: &str) {
    let y = line.saturating_mul(ROW).saturating_add(13);
    html.put(&format!("<text x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">")).text(text).put("</text>\n");
}

/// How far a row is indented, within a limit.
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

/// A text without misleading characters, cut if it is long.
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
        let expected = "  A = expensive_id_subgraph(0)
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
        let mut text = Out::in_memory(false);
        picture.write_text(&mut text).unwrap();
        assert_eq!(String::from_utf8(text.into_bytes()).unwrap(), expected);
        let mut svg = Vec::new();
        let mut html = Html::new(&mut svg);
        picture.draw(&mut html);
        html.finish().unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("load &lt;g1&gt;\\u{1b}") && !svg.contains("<g1>") && !svg.contains('\u{1b}'));
        Ok(())
    }
}
