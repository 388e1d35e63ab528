//! The calls as a picture: a column for each depth, callers on the left.

use std::io;

use super::Page;
use super::super::picture::{Look, Node, of_calls};
use super::super::report::Report;

/// Larger pictures show nothing that a table does not.
const NODES: usize = 120;

const WIDTH: usize = 230;
const HEIGHT: usize = 66;
const GAP_ACROSS: usize = 90;
const GAP_DOWN: usize = 18;

/// The place of a box: its column and its row.
#[derive(Clone, Copy, Default)]
struct Place {
    column: usize,
    row: usize,
}

impl Place {
    fn left(self) -> usize {
        10 + self.column * (WIDTH + GAP_ACROSS)
    }

    fn top(self) -> usize {
        10 + self.row * (HEIGHT + GAP_DOWN)
    }
}

pub(super) fn write(page: &mut Page<'_>, report: &Report<'_>) -> io::Result<()> {
    let picture = of_calls(report);
    if picture.nodes.is_empty() || picture.nodes.len() > NODES {
        return Ok(());
    }
    let places = places(report, picture.nodes.len());
    let columns = places.iter().map(|place| place.column).max().unwrap_or_default() + 1;
    let rows = places.iter().map(|place| place.row).max().unwrap_or_default() + 1;
    let (width, height) = (columns * (WIDTH + GAP_ACROSS), 10 + rows * (HEIGHT + GAP_DOWN));
    page.put(&format!("<div class=chart><svg width={width} height={height} role=img aria-label=\"Calls\">")).line()?;
    for edge in &picture.edges {
        let (Some(from), Some(to)) = (places.get(edge.from), places.get(edge.to)) else { continue };
        write_arrow(page, *from, *to, &edge.label, edge.is_certain)?;
    }
    for (node, place) in picture.nodes.iter().zip(&places) {
        write_box(page, node, *place)?;
    }
    page.put("</svg></div>").line()
}

/// The place of each graph: the first one of its depths in the tree. Graphs that are never called are below all others.
fn places(report: &Report<'_>, graphs: usize) -> Vec<Place> {
    let mut places: Vec<Option<Place>> = vec![None; graphs];
    let mut rows: Vec<usize> = Vec::new();
    for row in &report.tree {
        let column = usize::try_from(row.depth).unwrap_or_default();
        if let Some(place @ None) = places.get_mut(row.graph.index()) {
            rows.resize(rows.len().max(column + 1), 0);
            if let Some(used) = rows.get_mut(column) {
                *place = Some(Place { column, row: *used });
                *used += 1;
            }
        }
    }
    let below = rows.iter().copied().max().unwrap_or_default();
    let mut others = 0;
    let mut other = || {
        others += 1;
        Place { column: (others - 1) % 4, row: below + (others - 1) / 4 }
    };
    (0..graphs).map(|id| places.get(id).copied().flatten().unwrap_or_else(&mut other)).collect()
}

fn write_arrow(page: &mut Page<'_>, from: Place, to: Place, label: &str, is_certain: bool) -> io::Result<()> {
    let (x1, y1) = (from.left() + WIDTH, from.top() + HEIGHT / 2);
    let (x2, y2) = (to.left(), to.top() + HEIGHT / 2);
    let class = if is_certain { "" } else { " class=maybe" };
    let middle = (x1 + GAP_ACROSS / 2, x2.saturating_sub(GAP_ACROSS / 2));
    page.put(&format!("<path{class} d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}m-7 -4l7 4l-7 4\"/>", middle.0, middle.1));
    if !label.is_empty() {
        let x = x2.saturating_sub(12);
        page.put(&format!("<text x={x} y={} text-anchor=end>", y2.saturating_sub(7))).text(label).put("</text>");
    }
    page.line()
}

fn write_box(page: &mut Page<'_>, node: &Node, place: Place) -> io::Result<()> {
    let class = match node.look {
        Look::Strong => "strong",
        Look::Faint => "faint",
        Look::Plain | Look::Tensor => "plain",
    };
    let (x, y) = (place.left(), place.top());
    page.put(&format!("<g class={class}><rect x={x} y={y} width={WIDTH} height={HEIGHT} rx=6 />"));
    let title = node.lines.first().map_or("", String::as_str);
    page.put("<title>").text(title).put("</title>");
    for (number, line) in node.lines.iter().enumerate() {
        page.put(&format!("<text x={} y={}>", x + 10, y + 20 + 18 * number)).text(&popef_show::shorten(line, 30)).put("</text>");
    }
    page.put("</g>").line()
}
