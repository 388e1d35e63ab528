//! Schedules of the code of graphs, as text and SVG.

use std::io;

use poplar_graph::{Calls, Cell, GraphId, Ir, Op, Schedule, ScheduleRow};

use crate::output::html::{Html, view};
use crate::{Out, Show, Shown, counted};

/// The maximum number of characters of a name or step.
const MAX_TEXT: usize = 100;
const ROW: usize = 18;
const COLUMN: usize = 18;
const CHARACTER: usize = 8;

/// All cells, in the order in which they are explained.
const CELLS: [Cell; 5] = [Cell::Load, Cell::Live, Cell::Call, Cell::Kept, Cell::Dead];

/// How a cell is shown: its character, its words, and its class in a picture.
const fn look(cell: Cell) -> (&'static str, &'static str, &'static str) {
    match cell {
        Cell::Dead => ("·", "not needed", "dead"),
        Cell::Live => ("│", "live", "live"),
        Cell::Kept => ("┆", "always there, and not needed here", "kept"),
        Cell::Load => ("╷", "loaded", "load"),
        Cell::Call => ("●", "called", "call"),
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

    /// Writes the schedule as text: a column for each graph, a line for each step.
    pub(super) fn write_text(self, out: &mut Out) -> io::Result<()> {
        let lanes = self.schedule.lanes.len();
        for at in 0..lanes {
            out.put(shown!("  {} = {}", letters(at), short(&self.name(at)))).end_line()?;
        }
        if self.schedule.lanes_left_out > 0 {
            out.put(shown!("  ... and {} more", self.schedule.lanes_left_out)).end_line()?;
        }
        out.end_line()?;
        let width = letters(lanes.saturating_sub(1)).len();
        let mut gap = 2;
        for letters in (0..lanes).map(letters) {
            out.spaces(gap).put(&letters);
            gap = width.saturating_sub(letters.len()).saturating_add(1);
        }
        out.end_line()?;
        for row in &self.schedule.rows {
            out.spaces(2);
            for cell in &row.cells {
                out.put(look(*cell).0).spaces(width);
            }
            out.spaces(indent(row).saturating_mul(2)).put(self.step(row)).end_line()?;
        }
        if self.schedule.cut {
            out.put("  ... and more steps").end_line()?;
        }
        out.end_line()?;
        CELLS
            .into_iter()
            .map(look)
            .try_for_each(|(character, words, _)| out.put("  ").put(character).put(" ").put(words).end_line())
    }

    fn name(self, at: usize) -> Shown<'s> {
        self.schedule.lanes.get(at).map(|graph| self.name_of(*graph)).unwrap_or_default()
    }

    fn name_of(self, graph: GraphId) -> Shown<'s> {
        self.ir.graph(graph).map(|graph| Shown::escaped(&graph.name)).unwrap_or_default()
    }

    /// Draws the schedule. The page has styles for the classes: `schedule` for all of it, and those of cells.
    pub(super) fn draw(self, html: &mut Html<'_>) {
        let (count, rows) = (self.schedule.lanes.len(), &self.schedule.rows);
        let lanes = count.saturating_add(1).saturating_mul(COLUMN);
        let width = |row| indent(row).saturating_mul(2).saturating_add(self.step(row).chars().count());
        let names = (0..count).map(|at| short(&self.name(at)).chars().count().saturating_add(5));
        let longest = rows.iter().map(width).chain(names).max().unwrap_or_default().max(20);
        let width = lanes.saturating_add(longest.saturating_mul(CHARACTER));
        let height = count.saturating_add(rows.len()).saturating_add(4).saturating_mul(ROW);
        html.put(markup!("<svg class=\"schedule\" {} role=\"img\" aria-label=\"Schedule\">\n", view(width, height)));
        for at in 0..count {
            draw_line(html, 4, at, shown!("{} = {}", letters(at), short(&self.name(at))));
        }
        let first = count.saturating_add(1);
        for at in 0..count {
            draw_line(html, at.saturating_mul(COLUMN).saturating_add(4), first, letters(at));
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
            let rect = markup!("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"{}\">", class, x, y, ROW);
            let title = markup!("<title>{}: {}</title>", short(&self.name(at)), words);
            html.put(markup!("{}{}</rect>\n", rect, title));
        }
        let indent = indent(row).saturating_mul(2).saturating_mul(CHARACTER);
        draw_line(html, lanes.saturating_add(indent), line, self.step(row));
    }

    /// The words for what a step does, cut if they are long.
    fn step(self, row: &ScheduleRow) -> Shown<'static> {
        let op = row.op.and_then(|op| self.ir.graph(row.graph)?.op(op));
        op.map_or_else(|| counted(row.ops, "other op", "other ops"), |op| short(&self.op(op)))
    }

    fn op(self, op: &Op) -> Shown<'static> {
        let name = |graph: &GraphId| self.name_of(*graph);
        let load = op.loads_executable().map(|graph| shown!("load {}", name(&graph)));
        let call = match &op.calls {
            Calls::Once(graph) => Some(shown!("call {}", name(graph))),
            Calls::Repeat(graph, Some(times)) => Some(shown!("call {} {} times", name(graph), times)),
            Calls::Repeat(graph, None) => Some(shown!("call {} any number of times", name(graph))),
            Calls::OneOf(branches) => {
                const MOST: usize = 8;
                let names = Shown::joined(branches.iter().take(MOST).map(name), ", ");
                Some(shown!("call one of {}{}", names, if branches.len() > MOST { ", ..." } else { "" }))
            }
            _ => None,
        };
        Shown::joined(load.into_iter().chain(call), ", ")
    }
}

fn draw_line(html: &mut Html<'_>, x: usize, line: usize, text: impl Show) {
    let y = line.saturating_mul(ROW).saturating_add(13);
    html.put(markup!("<text x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>\n", x, y, text));
}

/// How far a row is indented, within a limit.
fn indent(row: &ScheduleRow) -> usize {
    usize::try_from(row.depth).unwrap_or(usize::MAX).min(20)
}

/// A, B, ... Z, A1, B1, ...
fn letters(at: usize) -> Shown<'static> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let letter = LETTERS.get(at % 26..=at % 26).unwrap_or("?");
    match at / 26 {
        0 => Shown::own(letter),
        round => shown!("{}{}", letter, round),
    }
}

/// A text that is cut if it is long.
fn short(text: &Shown<'_>) -> Shown<'static> {
    text.cut(MAX_TEXT, "...")
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
