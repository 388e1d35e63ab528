//! The tables of pages. A script may sort them.

use crate::output::html::{Html, bdi};
use crate::output::shown::Shown;
use crate::output::table::{Cell, TableRow, percent};
use crate::output::units::thousands;

/// Writes a table with some of the fields of its rows, by their keys.
pub(super) fn table_of<R: TableRow>(html: &mut Html<'_>, caption: &'static str, keys: &[&str], rows: &[R], all: usize) {
    let mut fields = R::fields();
    fields.retain(|field| keys.contains(&field.key));
    fields.sort_by_key(|field| keys.iter().position(|key| *key == field.key));
    let columns: Vec<_> = fields.into_iter().filter_map(|field| field.column).collect();
    let heads: Vec<_> = columns.iter().map(|shown| shown.heading).collect();
    let cells = rows.iter().map(|row| columns.iter().map(|shown| cut((shown.value)(row))).collect());
    table(html, caption, &heads, cells, all);
}

/// A cell with its names cut.
fn cut(cell: Cell) -> Cell {
    match cell {
        Cell::Text(text) => Cell::Text(brief(&text)),
        Cell::Name(name) => Cell::Name(brief(&name)),
        Cell::Parts(parts) => Cell::Parts(parts.into_iter().map(|(name, bytes)| (brief(&name), bytes)).collect()),
        other => other,
    }
}

/// A name as it is shown, cut if it is long.
pub(super) fn brief(name: &Shown<'_>) -> Shown<'static> {
    const MOST: usize = 160;
    name.cut(MOST, "…")
}

/// Writes a table, if it has rows. `all` is the number of all rows.
pub(super) fn table(
    html: &mut Html<'_>,
    caption: &'static str,
    heads: &[&'static str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    all: usize,
) {
    let rows: Vec<_> = rows.into_iter().collect();
    if rows.is_empty() {
        return;
    }
    // Long tables are folded, so that the page stays easy to scan.
    html.put(if rows.len() <= OPEN { "<details open><summary>" } else { "<details><summary>" });
    html.text(caption).put(" (");
    if rows.len() < all {
        html.put(thousands(rows.len())).put(" of ");
    }
    html.put(thousands(all)).put(")</summary><div class=\"scroll\"><table class=\"sortable\">\n<thead><tr>");
    let of_numbers = |nth| rows.iter().filter_map(|row| row.get(nth)).any(is_number);
    let numbers: Vec<_> = (0..heads.len()).map(of_numbers).collect();
    for (head, &is_number) in heads.iter().zip(&numbers) {
        html.put(if is_number { "<th scope=\"col\" class=\"number\">" } else { "<th scope=\"col\">" });
        html.text(*head).put("</th>");
    }
    html.put("</tr></thead>\n<tbody>");
    for row in &rows {
        html.put("\n<tr>");
        row.iter().zip(&numbers).for_each(|(cell, &is_number)| write_cell(html, cell, is_number));
        html.put("</tr>");
    }
    html.put("</tbody></table></div></details>\n");
}

fn is_number(cell: &Cell) -> bool {
    !matches!(cell, Cell::Text(_) | Cell::Name(_) | Cell::Branch(..) | Cell::Parts(_) | Cell::None)
}

/// The maximum number of rows of a table that is not folded.
const OPEN: usize = 25;

/// Writes a cell of a column, which may be one of numbers.
fn write_cell(html: &mut Html<'_>, cell: &Cell, is_number: bool) {
    match cell {
        Cell::Bytes(value) | Cell::Count(value) => number(html, cell, Some(shown!("{}", value))),
        Cell::Share(value) | Cell::Balance(value) => number(html, cell, Some(shown!("{:.6}", value))),
        Cell::Number(_) | Cell::Amount(_) => number(html, cell, None),
        Cell::Text(_) | Cell::Parts(_) => _ = html.put("<td>").text(cell.shown()),
        Cell::Name(name) => _ = html.put("<td>").put(bdi(name)),
        Cell::Branch(depth, name) => branch(html, *depth, name),
        Cell::None => _ = html.put(if is_number { "<td class=\"number\">" } else { "<td>" }),
    }
    html.put("</td>");
}

/// A number as it is shown, and the value by which a script sorts it, if that is another.
fn number(html: &mut Html<'_>, cell: &Cell, sorted: Option<Shown<'_>>) {
    let shown = match cell {
        Cell::Count(value) => thousands(value),
        Cell::Balance(value) => percent(*value),
        _ => cell.shown(),
    };
    html.put("<td class=\"number\"");
    if let Some(sorted) = sorted.filter(|sorted| *sorted != shown) {
        html.put(markup!(" data-v=\"{}\"", sorted));
    }
    html.put(">").text(shown);
}

fn branch(html: &mut Html<'_>, depth: u64, name: &Shown<'_>) {
    /// The maximum depth of indentation.
    const LEVELS: u64 = 24;
    html.put("<td><span class=\"branch\">");
    for _ in 0..depth.min(LEVELS) {
        html.put("<span class=\"level\"></span>");
    }
    if depth > LEVELS {
        html.put(markup!("<span class=\"quiet\">{} deep:</span> ", depth));
    }
    html.put(bdi(name)).put("</span>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_on_the_right_and_have_commas() {
        let mut page = Vec::new();
        let mut html = Html::new(&mut page);
        let cells =
            vec![Cell::Number(1471), Cell::Count(1_234_567), Cell::Bytes(2048), Cell::None, Cell::name(Some("a<b"))];
        let heads = ["Tile", "Vertices", "Size", "Empty", "Name"];
        table(&mut html, "Tiles", &heads, [cells], 1472);
        html.finish().unwrap();
        let page = String::from_utf8(page).unwrap();
        for expected in [
            "<summary>Tiles (1 of 1,472)</summary>",
            "<th scope=\"col\" class=\"number\">Vertices</th>",
            "<th scope=\"col\">Name</th>",
            "<td class=\"number\">1471</td>",
            "<td class=\"number\" data-v=\"1234567\">1,234,567</td>",
            "<td class=\"number\" data-v=\"2048\">2.0 KiB</td>",
            "<td><bdi>a&lt;b</bdi></td>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
