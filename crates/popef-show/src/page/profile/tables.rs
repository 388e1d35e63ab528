//! Tables that the script can sort.

use crate::output::escape::escape;
use crate::output::units::size;
use crate::page::html::Html;

/// What is in a cell.
pub(super) enum Cell {
    Bytes(u64),
    Count(u64),
    Share(f64),
    /// Text that is escaped already.
    Text(String),
    Name(String),
    None,
}

pub(super) fn bytes(value: Option<u64>) -> Cell {
    value.map_or(Cell::None, Cell::Bytes)
}

pub(super) fn count(value: Option<impl Into<u64>>) -> Cell {
    value.map_or(Cell::None, |value| Cell::Count(value.into()))
}

pub(super) fn share(value: f64) -> Cell {
    Cell::Share(value)
}

/// A name from the report. A long one is cut, so that the page stays small.
pub(super) fn name(name: Option<&str>) -> Cell {
    name.map_or(Cell::None, |name| Cell::Name(brief(name)))
}

/// A name as it is shown.
pub(super) fn brief(name: &str) -> String {
    const MOST: usize = 160;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", escape(name.get(..end).unwrap_or_default())),
        None => escape(name).into_owned(),
    }
}

/// Writes a table, if it has rows. `all` is how many there are.
pub(super) fn table(
    html: &mut Html<'_>,
    caption: &str,
    heads: &[&str],
    rows: impl ExactSizeIterator<Item = Vec<Cell>>,
    all: usize,
) {
    if rows.len() == 0 {
        return;
    }
    // A long one is folded, so that the page can be looked through.
    let open = if rows.len() <= 25 { " open" } else { "" };
    let few = if rows.len() < all { format!(" ({} of {all})", rows.len()) } else { format!(" ({all})") };
    html.put("<details")
        .put(open)
        .put("><summary>")
        .put(caption)
        .put(&few)
        .put("</summary><div class=\"wide\"><table class=\"sortable\">\n<thead><tr>");
    for head in heads {
        html.put("<th scope=\"col\">").put(head).put("</th>");
    }
    html.put("</tr></thead>\n<tbody>");
    for row in rows {
        html.put("\n<tr>");
        for cell in row {
            match cell {
                Cell::Bytes(value) => {
                    _ = html.put("<td class=\"n\" data-v=\"").value(value).put("\">").text(&size(value));
                }
                Cell::Count(value) => _ = html.put("<td class=\"n\">").value(value),
                Cell::Share(value) => {
                    _ = html.put(&format!("<td class=\"n\" data-v=\"{value:.6}\">{:.1} %", value * 100.0));
                }
                Cell::Text(text) => _ = html.put("<td>").text(&text),
                Cell::Name(name) => _ = html.put("<td><bdi>").text(&name).put("</bdi>"),
                Cell::None => _ = html.put("<td>"),
            }
            html.put("</td>");
        }
        html.put("</tr>");
    }
    html.put("</tbody></table></div></details>\n");
}
