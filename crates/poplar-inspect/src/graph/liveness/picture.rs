//! Schedules as text, SVG and HTML.

use std::fmt::{self, Write};

use popef::types::escape;

use super::super::Ir;
use super::{Cell, Schedule, ScheduleRow};

/// The most characters of a name or step that are shown.
const MAX_TEXT: usize = 100;
const ROW: usize = 18;
const COLUMN: usize = 18;
const CHARACTER: usize = 8;

impl Cell {
    const fn character(self) -> char {
        match self {
            Cell::Dead => '·',
            Cell::Live => '│',
            Cell::Kept => '┆',
            Cell::Load => '╷',
            Cell::Call => '●',
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Cell::Dead => "not needed",
            Cell::Live => "live",
            Cell::Kept => "always there, and not needed here",
            Cell::Load => "loaded",
            Cell::Call => "called",
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Cell::Dead => "dead",
            Cell::Live => "live",
            Cell::Kept => "kept",
            Cell::Load => "load",
            Cell::Call => "call",
        }
    }

    const ALL: [Cell; 5] = [Cell::Load, Cell::Live, Cell::Call, Cell::Kept, Cell::Dead];
}

impl Schedule {
    /// The schedule as text: a column for each graph, a line for each step. Names are [escaped](popef::types::escape).
    ///
    /// ```
    /// # use popef::DataType;
    /// # use poplar_inspect::graph::{Array, Builder, Destination, Schedule, Sequence};
    /// # let mut ir = Builder::new();
    /// # let x = ir.variable("x", Array::full(&[], DataType::F32, 1.0)?)?;
    /// # let g = ir.create_graph("g", &[x], |ir, inputs| ir.transpose(inputs[0], None))?;
    /// ir.in_sequence(Sequence::Enforced, |ir| {
    ///     ir.transpose(x, None)?;
    ///     ir.remote_code_load(g, Destination::Executable)?;
    ///     ir.call(g, [x])?;
    ///     ir.transpose(x, None)
    /// })?;
    /// let ir = ir.build()?;
    /// let text = Schedule::new(&ir, 100).to_text(&ir);
    /// assert!(text.starts_with("\
    /// A = g_subgraph(0)
    ///
    /// A
    /// · 1 other op
    /// ╷ load g_subgraph(0)
    /// ● call g_subgraph(0)
    /// · 1 other op
    /// "));
    /// # Ok::<(), poplar_inspect::graph::Error>(())
    /// ```
    #[must_use]
    pub fn to_text(&self, ir: &Ir) -> String {
        let mut text = String::new();
        match self.write_text(ir, &mut text) {
            // Writing into a text cannot fail.
            Ok(()) | Err(fmt::Error) => text,
        }
    }

    fn write_text(&self, ir: &Ir, out: &mut String) -> fmt::Result {
        for (at, _) in self.lanes.iter().enumerate() {
            writeln!(out, "{} = {}", letters(at), self.name(ir, at))?;
        }
        self.write_left_out(out)?;
        let width = letters(self.lanes.len().saturating_sub(1)).len();
        writeln!(out)?;
        let heads: Vec<_> = (0..self.lanes.len()).map(|at| format!("{:<width$}", letters(at))).collect();
        writeln!(out, "{}", heads.join(" ").trim_end())?;
        for row in &self.rows {
            let cells = row.cells.iter().map(|cell| format!("{:<width$}", cell.character()));
            let cells: Vec<_> = cells.collect();
            writeln!(out, "{} {}{}", cells.join(" "), "  ".repeat(indent(row)), escaped(&row.text))?;
        }
        if self.cut {
            writeln!(out, "... and more steps")?;
        }
        writeln!(out)?;
        Cell::ALL.iter().try_for_each(|cell| writeln!(out, "{} {}", cell.character(), cell.words()))
    }

    fn write_left_out(&self, out: &mut String) -> fmt::Result {
        match self.lanes_left_out {
            0 => Ok(()),
            count => writeln!(out, "... and {count} more"),
        }
    }

    fn name(&self, ir: &Ir, at: usize) -> String {
        let graph = self.lanes.get(at).and_then(|graph| ir.graph(*graph));
        graph.map(|graph| escaped(&graph.name)).unwrap_or_default()
    }

    /// The schedule as an SVG picture, which needs no scripts and no other files.
    #[must_use]
    pub fn to_svg(&self, ir: &Ir) -> String {
        let mut svg = String::new();
        match self.write_svg(ir, &mut svg, Style::Own) {
            // Writing into a text cannot fail.
            Ok(()) | Err(fmt::Error) => svg,
        }
    }

    /// The picture as an element of a page that has styles for its classes: `schedule` for all of it; `live`, `load`, `call`, `kept`
    /// and `dead` for what a cell says. Its colours can then follow those of the page.
    #[must_use]
    pub fn to_inline_svg(&self, ir: &Ir) -> String {
        let mut svg = String::new();
        match self.write_svg(ir, &mut svg, Style::OfPage) {
            // Writing into a text cannot fail.
            Ok(()) | Err(fmt::Error) => svg,
        }
    }

    fn write_svg(&self, ir: &Ir, out: &mut String, style: Style) -> fmt::Result {
        let lanes = self.lanes.len().saturating_add(1).saturating_mul(COLUMN);
        let texts =
            self.rows.iter().map(|row| indent(row).saturating_mul(2).saturating_add(shown(&row.text).chars().count()));
        let names = (0..self.lanes.len()).map(|at| self.name(ir, at).chars().count().saturating_add(5));
        let longest = texts.chain(names).max().unwrap_or_default().max(20);
        let width = lanes.saturating_add(longest.saturating_mul(CHARACTER));
        let lines = self.lanes.len().saturating_add(self.rows.len()).saturating_add(4);
        let height = lines.saturating_mul(ROW);
        style.write_head(out, width, height)?;
        for at in 0..self.lanes.len() {
            write_line(out, 4, at, &format!("{} = {}", letters(at), self.name(ir, at)))?;
        }
        let first = self.lanes.len().saturating_add(1);
        for at in 0..self.lanes.len() {
            write_line(out, at.saturating_mul(COLUMN).saturating_add(4), first, &letters(at))?;
        }
        for (row, line) in self.rows.iter().zip(first.saturating_add(1)..) {
            self.write_row(ir, row, line, out)?;
        }
        if self.cut {
            write_line(out, lanes, first.saturating_add(1).saturating_add(self.rows.len()), "... and more steps")?;
        }
        writeln!(out, "</svg>")
    }

    fn write_row(&self, ir: &Ir, row: &ScheduleRow, line: usize, out: &mut String) -> fmt::Result {
        for (at, cell) in row.cells.iter().enumerate() {
            let (x, y) = (at.saturating_mul(COLUMN).saturating_add(4), line.saturating_mul(ROW));
            let (class, name, words) = (cell.class(), xml(&self.name(ir, at)), cell.words());
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"{ROW}\"><title>{name}: {words}</title></rect>"
            )?;
        }
        let lanes = self.lanes.len().saturating_add(1).saturating_mul(COLUMN);
        let indent = indent(row).saturating_mul(2).saturating_mul(CHARACTER);
        write_line(out, lanes.saturating_add(indent), line, &escaped(&row.text))
    }

    /// The schedule as an HTML page with the SVG picture and what its colours mean. The page has no scripts, and its policy allows
    /// none.
    #[must_use]
    pub fn to_html(&self, ir: &Ir) -> String {
        let colours = [Cell::Load, Cell::Live, Cell::Call, Cell::Kept, Cell::Dead].map(|cell| {
            let (class, words) = (cell.class(), cell.words());
            format!("<li><svg width=\"12\" height=\"12\"><rect class=\"{class}\" width=\"12\" height=\"12\"/></svg> {words}</li>\n")
        });
        let left_out = match self.lanes_left_out {
            0 => String::new(),
            count => format!("<p>{count} more graphs are not shown.</p>\n"),
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>Code of graphs</title>\n</head>\n<body>\n<h1>When the code of graphs is live</h1>\n\
             <p>Each row is a step of the program, each column the code of a graph.</p>\n<ul>\n{}</ul>\n{left_out}{}</body>\n</html>\n",
            colours.concat(),
            self.to_svg(ir)
        )
    }
}

/// Who says what the picture looks like.
#[derive(Clone, Copy)]
enum Style {
    Own,
    OfPage,
}

impl Style {
    fn write_head(self, out: &mut String, width: usize, height: usize) -> fmt::Result {
        let size = format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"");
        match self {
            Style::OfPage => writeln!(out, "<svg class=\"schedule\" {size} role=\"img\" aria-label=\"Schedule\">"),
            Style::Own => writeln!(
                out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} font-family=\"monospace\" font-size=\"13\">\n\
                 <style>text{{fill:#222}}.live{{fill:#4c78a8}}.load{{fill:#54a24b}}.call{{fill:#e45756}}.kept{{fill:#b8c7d9}}.dead{{fill:#eee}}</style>\n\
                 <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
            ),
        }
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

fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no such characters.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}
