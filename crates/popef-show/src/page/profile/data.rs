//! The data for the script: the bytes of each tile, and the steps.

use std::collections::HashMap;

use poplar_inspect::profile::{Activity, ExecutionProfile, GraphProfile, Selection, categories, steps};
use serde::Serialize;

use crate::output::html::Html;
use crate::output::shown::Shown;
use crate::page::tables::brief;

/// The maximum number of values by tile on the page, besides the sums.
const TILE_VALUES: usize = 60_000;
/// The maximum number of categories to choose from.
const CATEGORIES: usize = 50;
/// The maximum number of steps on the page, which are the longest ones.
const STEPS: usize = 20_000;
/// The maximum number of bytes of their names.
const NAME_BYTES: usize = 400_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'d> {
    tiles_per_ipu: u64,
    bytes_per_tile: Option<u64>,
    metrics: Vec<(Shown<'static>, &'d [u64])>,
    kinds: Vec<&'static str>,
    names: Vec<Shown<'static>>,
    /// Five numbers for each step, in the order of time: its number, kind, name, first cycle, and cycles until its end.
    steps: Vec<u64>,
    all_steps: usize,
    clock: Option<u64>,
}

pub(super) fn write(html: &mut Html<'_>, graph: &GraphProfile, execution: Option<&ExecutionProfile>) {
    let tiles = u64::from(graph.target.num_tiles).max(1);
    let (names, steps, all_steps) = execution.map(timed).unwrap_or_default();
    let data = Data {
        tiles_per_ipu: graph.target.tiles_per_ipu.filter(|tiles| *tiles > 0).unwrap_or(tiles),
        bytes_per_tile: graph.target.bytes_per_tile,
        metrics: metrics(graph),
        kinds: Activity::ALL.iter().map(|activity| activity.as_str()).collect(),
        names,
        steps,
        all_steps,
        clock: graph.target.clock_frequency.filter(|clock| *clock > 0),
    };
    html.put("<script type=\"application/json\" id=\"data\">").json(&data).put("</script>\n");
}

/// The values by tile that can be shown. The first one always is.
fn metrics(graph: &GraphProfile) -> Vec<(Shown<'static>, &[u64])> {
    let Some(memory) = &graph.memory else { return Vec::new() };
    let mut metrics: Vec<(Shown<'static>, &[u64])> = Vec::new();
    if let Some(by_tile) = &memory.by_tile {
        metrics.push((Shown::own("all, with gaps"), &by_tile.total_including_gaps));
        metrics.push((Shown::own("all data"), &by_tile.total));
    }
    if let Some(liveness) = &memory.liveness {
        metrics.push((Shown::own("always live"), &liveness.always_live_by_tile));
        metrics.push((Shown::own("most of the rest"), &liveness.max_not_always_live_by_tile));
    }
    for row in categories(graph, &Selection::largest(CATEGORIES)) {
        if let Some(category) = memory.by_category.iter().find(|category| *category.name == *row.category) {
            metrics.push((brief(&row.category.into()), &category.total));
        }
    }
    metrics.retain(|(_, bytes)| !bytes.is_empty());
    let mut values = 0_usize;
    let mut nth = 0_usize;
    metrics.retain(|(_, bytes)| {
        nth = nth.saturating_add(1);
        values = values.saturating_add(bytes.len());
        nth == 1 || values <= TILE_VALUES
    });
    metrics
}

fn timed(execution: &ExecutionProfile) -> (Vec<Shown<'static>>, Vec<u64>, usize) {
    let longest = steps(execution, &Selection::largest(STEPS));
    let mut longest: Vec<_> = longest
        .filter_map(|row| {
            Some((row.of.cycles_from?, row.step, row.of.cycles_to?, Activity::of(row.of.kind), row.of.name))
        })
        .collect();
    longest.sort_unstable();
    let mut names: Vec<Shown<'static>> = vec![Shown::default()];
    let mut known: HashMap<&str, u64> = HashMap::new();
    let (mut numbers, mut room) = (Vec::with_capacity(longest.len().saturating_mul(5)), NAME_BYTES);
    for (from, step, to, activity, name) in longest {
        let kind = Activity::ALL.iter().position(|it| *it == activity).unwrap_or_default() as u64;
        let name = name.unwrap_or_default();
        let name = match known.get(name) {
            Some(name) => *name,
            None if name.is_empty() || name.len() > room => 0,
            None => {
                room = room.saturating_sub(name.len());
                let next = names.len() as u64;
                names.push(brief(&name.into()));
                known.insert(name, next);
                next
            }
        };
        numbers.extend([u64::from(step), kind, name, from, to.saturating_add(1).saturating_sub(from)]);
    }
    (names, numbers, execution.simulation.as_ref().map_or(0, |simulation| simulation.steps.len()))
}
