//! Vertex types.

use super::runs::Runs;
use super::select::{Row, Selection};
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;
use crate::profile::matrix::Matrix;
use crate::profile::memory::Parts;

/// A vertex type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct VertexTypeRow<'g> {
    /// The cycles in which its vertices run, if each compute set is executed once. Measured ones, of the last run of each vertex, count
    /// more than estimates.
    pub active_cycles: Option<u64>,
    /// The same, if each compute set is executed as often as in the execution.
    pub active_cycles_in_run: Option<u64>,
    /// The measured cycles of its longest vertex.
    pub max_vertex_cycles: Option<u64>,
    /// The bytes of its code on all tiles. A tile has it once.
    pub code_bytes: u64,
    /// Its name.
    pub name: Option<&'g str>,
    /// The tiles that have its code.
    pub tiles: u32,
    /// Its number.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub vertex_type: u32,
    /// The bytes of the state of its vertices.
    pub vertex_data_bytes: u64,
    /// The bytes of all that belongs to it.
    pub size: u64,
    /// The number of its vertices in all compute sets.
    pub vertices: u64,
}

impl Row for VertexTypeRow<'_> {
    fn name(&self) -> Option<&str> {
        self.name
    }

    fn number(&self) -> Option<u32> {
        Some(self.vertex_type)
    }

    fn weight(&self) -> u64 {
        self.code_bytes
    }

    fn code(&self) -> Option<u64> {
        Some(self.code_bytes)
    }
}

/// The vertex types of a graph. The largest are those with the most code.
pub fn vertex_types<'g>(
    graph: &'g GraphProfile,
    execution: Option<&ExecutionProfile>,
    selection: &Selection<'_>,
) -> Vec<VertexTypeRow<'g>> {
    let parts = graph.memory.as_ref().and_then(|memory| memory.by_vertex_type.as_ref());
    let row = |pick: fn(&Parts) -> &Option<Matrix>, nth: usize| {
        let matrix = parts.and_then(|parts| pick(parts).as_ref());
        matrix.and_then(|matrix| matrix.rows.get(nth)).copied().unwrap_or_default()
    };
    let code = parts.and_then(|parts| parts.code_bytes.as_ref()).map_or(0, Matrix::len);
    let count = graph.vertex_types.names.len().max(code);
    let vertices = vertices(graph, count);
    let cycles = active_cycles(graph, execution, count);
    let rows = (0_u32..).zip(0..count).map(|(vertex_type, nth)| {
        let code = row(|parts| &parts.code_bytes, nth);
        let cycles = cycles.as_ref().and_then(|cycles| cycles.get(nth).copied());
        VertexTypeRow {
            active_cycles: cycles.map(|cycles| cycles.once),
            active_cycles_in_run: cycles.and_then(|cycles| cycles.in_run),
            max_vertex_cycles: cycles.and_then(|cycles| cycles.longest),
            code_bytes: code.sum,
            name: graph.vertex_types.names.get(nth).map(|name| &**name),
            tiles: code.tiles,
            vertex_type,
            vertex_data_bytes: row(|parts| &parts.vertex_data_bytes, nth).sum,
            size: row(|parts| &parts.total_bytes, nth).sum,
            vertices: vertices.get(nth).copied().unwrap_or_default(),
        }
    });
    selection.choose(rows)
}

/// Cycles in which the vertices of a type run.
#[derive(Clone, Copy)]
struct ActiveCycles {
    /// The cycles if each compute set is executed once.
    once: u64,
    /// The cycles if each is executed as often as in the execution, if that has steps.
    in_run: Option<u64>,
    /// The cycles of the longest vertex, if they were measured.
    longest: Option<u64>,
}

/// The cycles of the vertices of each type: the measured ones, or else the estimates.
fn active_cycles(
    graph: &GraphProfile,
    execution: Option<&ExecutionProfile>,
    types: usize,
) -> Option<Vec<ActiveCycles>> {
    let runs = Runs::of(execution);
    let measured = execution.map(|execution| &execution.vertex_cycles).filter(|cycles| !cycles.is_empty());
    let estimates = graph.compute_sets.cycle_estimates.as_ref();
    let estimated = estimates.and_then(|estimates| estimates.active_cycles_by_vertex_type.as_ref());
    let none = ActiveCycles { once: 0, in_run: runs.as_ref().map(|_| 0), longest: None };
    let mut cycles = vec![none; types];
    let mut add = |vertex_type: u32, compute_set: u32, more: u64, longest: Option<u64>| {
        if let Some(of_type) = cycles.get_mut(vertex_type as usize) {
            of_type.once = of_type.once.saturating_add(more);
            if let (Some(in_run), Some(runs)) = (&mut of_type.in_run, &runs) {
                *in_run = in_run.saturating_add(more.saturating_mul(runs.compute_set(compute_set)));
            }
            of_type.longest = of_type.longest.max(longest);
        }
    };
    match (measured, estimated) {
        (Some(measured), _) => {
            measured.iter().for_each(|it| add(it.vertex_type, it.compute_set, it.cycles, Some(it.most)));
            // A type without vertices was measured too.
            cycles.iter_mut().for_each(|of_type| of_type.longest = of_type.longest.or(Some(0)));
        }
        (None, Some(estimated)) => {
            estimated.iter().for_each(|it| add(it.vertex_type, it.compute_set, it.cycles, None));
        }
        (None, None) => return None,
    }
    Some(cycles)
}

fn vertices(graph: &GraphProfile, types: usize) -> Vec<u64> {
    let mut vertices = vec![0_u64; types];
    for count in graph.compute_sets.vertices.iter().flatten() {
        if let Some(sum) = vertices.get_mut(count.vertex_type as usize) {
            *sum = sum.saturating_add(count.vertices);
        }
    }
    vertices
}
