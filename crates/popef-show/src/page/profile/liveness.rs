//! Live memory over time, as a picture.

use std::convert::Infallible;

use poplar_inspect::profile::{ExecutionProfile, GraphProfile, TimelineEvent, liveness, timeline};

use crate::output::html::{Html, bdi};
use crate::output::shown::Shown;
use crate::output::units::size;
use crate::page::tables::brief;

/// The number of columns of the picture. Each shows the maximum in its range.
const COLUMNS: usize = 500;

pub(super) fn write(html: &mut Html<'_>, graph: &GraphProfile, execution: Option<&ExecutionProfile>) {
    let Some(sums) = liveness(graph) else { return };
    let (points, over) = points(graph, execution);
    let columns = columns(&points);
    let always = sums.always_live_sum;
    let top = always.saturating_add(columns.iter().copied().max().unwrap_or_default()).max(1);
    let most = size(sums.peak_not_always_live_bytes);
    html.put("<section id=\"liveness\"><h2>Live memory</h2>\n<p>").put(size(always));
    html.put(markup!(" are always live on all tiles together, and up to {} more at one moment", most));
    if let Some(path) = &sums.peak_path
        && let (Some(kind), Some(program)) = (path.types.last(), path.steps.programs.last())
    {
        html.put(markup!(": in program {}, {}", program, Shown::escaped(&**kind)));
        if let Some(name) = path.names.iter().rev().flatten().next() {
            html.put(", in ").put(bdi(brief(&Shown::escaped(&**name))));
        }
    }
    html.put(".</p>\n");
    if !columns.is_empty() {
        html.put(markup!("<svg class=\"curve\" viewBox=\"0 0 {} 120\" ", COLUMNS));
        html.put("preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Live bytes\"><path class=\"rest\" d=\"M0 120");
        let height = |bytes: u64| 120.0 - float(bytes) / float(top) * 118.0;
        let width = float(COLUMNS as u64) / float(columns.len() as u64);
        for (nth, bytes) in (0_u64..).zip(&columns) {
            let (x, y) = (float(nth) * width, height(always.saturating_add(*bytes)));
            html.put(markup!("L{:.1} {:.1}H{:.1}", x, y, x + width));
        }
        let always = markup!("M0 120V{:.1}H{}V120Z", height(always), COLUMNS);
        html.put(markup!("V120Z\"/><path class=\"always\" d=\"{}\"/></svg>\n<p class=\"quiet\">", always));
        html.put(markup!("From 0 to {}, over {}. The lower part is always live.</p>\n", size(top), over));
    }
    html.put("</section>\n");
}

/// The bytes in order, and the words for that order.
fn points(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> (Vec<u64>, &'static str) {
    let mut points = Vec::new();
    if let Some(execution) = execution {
        let mut now = 0;
        let each = |event: TimelineEvent<'_>| {
            match event {
                TimelineEvent::Live { bytes, .. } => now = bytes,
                TimelineEvent::Slice(_) => points.push(now),
                _ => {}
            }
            Ok::<(), Infallible>(())
        };
        let Ok(_) = timeline(graph, execution, 0..u32::MAX, each);
        if now > 0 {
            return (points, "the steps of the execution, in their order");
        }
    }
    let tree = graph.memory.as_ref().and_then(|memory| memory.liveness.as_ref());
    let nodes = tree.map(|tree| tree.by_program.iter().map(|node| node.bytes).collect());
    (nodes.unwrap_or_default(), "the programs, in the order of the report")
}

fn columns(points: &[u64]) -> Vec<u64> {
    let each = points.len().div_ceil(COLUMNS).max(1);
    points.chunks(each).map(|part| part.iter().copied().max().unwrap_or_default()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a picture needs no more")]
fn float(value: u64) -> f64 {
    value as f64
}
