//! The calls as a picture: a column for each depth, callers on the left.

use crate::output::html::{Html, view};
use crate::{Code, Shown};

use super::super::grouped;
use super::super::picture::{Look, Node, Picture, of_calls};
use super::super::report::GraphReport;

/// The maximum number of graphs in a picture. Larger ones show no more than a table.
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

/// The picture of the calls. `None` if the program is too large for it.
pub(super) fn of(report: &GraphReport<'_>) -> Option<Picture> {
    Some(of_calls(report, grouped)).filter(|picture| (1..=NODES).contains(&picture.nodes.len()))
}

/// Draws the picture as SVG.
pub(super) fn draw(html: &mut Html<'_>, report: &GraphReport<'_>, picture: &Picture) {
    let places = places(report, picture.nodes.len());
    let columns = places.iter().map(|place| place.column).max().unwrap_or_default() + 1;
    let rows = places.iter().map(|place| place.row).max().unwrap_or_default() + 1;
    let (width, height) = (10 + columns * (WIDTH + GAP_ACROSS) - GAP_ACROSS + 10, 10 + rows * (HEIGHT + GAP_DOWN));
    html.put(markup!("<svg {} role=\"img\" aria-label=\"Calls\">\n", view(width, height)));
    for edge in &picture.edges {
        if let (Some(from), Some(to)) = (places.get(edge.from), places.get(edge.to)) {
            arrow(html, *from, *to, &edge.label, edge.is_certain);
        }
    }
    picture.nodes.iter().zip(&places).for_each(|(node, place)| node_box(html, node, *place));
    html.put("</svg>");
}

/// The place of each graph: the first one of its depths in the tree. Graphs that are never called are below all others.
fn places(report: &GraphReport<'_>, graphs: usize) -> Vec<Place> {
    let mut places: Vec<Option<Place>> = vec![None; graphs];
    let mut rows: Vec<usize> = Vec::new();
    for row in &report.facts.tree {
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

fn arrow(html: &mut Html<'_>, from: Place, to: Place, label: &Shown<'_>, is_certain: bool) {
    let (x1, y1) = (from.left() + WIDTH, from.top() + HEIGHT / 2);
    let (x2, y2) = (to.left(), to.top() + HEIGHT / 2);
    let class = Code::from(if is_certain { "" } else { " class=\"maybe\"" });
    let (middle1, middle2) = (x1 + GAP_ACROSS / 2, x2.saturating_sub(GAP_ACROSS / 2));
    html.put(markup!(
        "<path{} d=\"M{} {}C{} {} {} {} {} {}m-7 -4l7 4l-7 4\"/>\n",
        class,
        x1,
        y1,
        middle1,
        y1,
        middle2,
        y2,
        x2,
        y2
    ));
    if !label.is_empty() {
        let (x, y) = (x2.saturating_sub(12), y2.saturating_sub(7));
        html.put(markup!("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", x, y, label));
    }
}

fn node_box(html: &mut Html<'_>, node: &Node, place: Place) {
    let class = match node.look {
        Look::Strong => "strong",
        Look::Faint => "faint",
        Look::Plain | Look::Tensor => "plain",
    };
    let (x, y) = (place.left(), place.top());
    html.put(markup!(
        "<g class=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
        class,
        x,
        y,
        WIDTH,
        HEIGHT
    ));
    html.put(markup!("<title>{}</title>", node.lines.first().cloned().unwrap_or_default()));
    for (number, line) in node.lines.iter().enumerate() {
        let (x, y) = (x + 10, y + 20 + 18 * number);
        html.put(markup!("<text x=\"{}\" y=\"{}\">{}</text>", x, y, line.shortened(30)));
    }
    html.put("</g>\n");
}
