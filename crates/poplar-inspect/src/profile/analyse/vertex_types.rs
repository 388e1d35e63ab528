//! Vertex types.

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
    let measured = execution.and_then(|execution| measured(execution, count));
    let estimates = graph.compute_sets.cycle_estimates.as_ref();
    let estimated = estimates.and_then(|estimates| estimates.active_cycles_by_vertex_type.as_ref());
    let rows = (0_u32..).zip(0..count).map(|(vertex_type, nth)| {
        let code = row(|parts| &parts.code_bytes, nth);
        let measured = measured.as_ref().map(|measured| measured.get(nth).copied().unwrap_or_default());
        let estimated = estimated.map(|estimated| estimated.get(nth).copied().unwrap_or_default());
        VertexTypeRow {
            active_cycles: measured.map(|measured| measured.sum).or(estimated),
            max_vertex_cycles: measured.map(|measured| measured.most),
            code_bytes: code.sum,
            name: graph.vertex_types.names.get(nth).map(|name| &**name),
            tiles: code.tiles,
            vertex_type,
            vertex_data_bytes: row(|parts| &parts.vertex_data_bytes, nth).sum,
            size: row(|parts| &parts.total_bytes, nth).sum,
            vertices: vertices.get(nth).copied().unwrap_or_default(),
        }
    });
    selection.of(rows.collect())
}

/// Cycles of the vertices of a type.
#[derive(Clone, Copy, Default)]
struct Measured {
    sum: u64,
    most: u64,
}

/// The cycles of the vertices of each type, if they were measured.
fn measured(execution: &ExecutionProfile, types: usize) -> Option<Vec<Measured>> {
    let mut measured = vec![Measured::default(); types];
    for vertices in &execution.vertex_cycles {
        if let Some(of_type) = measured.get_mut(vertices.vertex_type as usize) {
            of_type.sum = of_type.sum.saturating_add(vertices.cycles);
            of_type.most = of_type.most.max(vertices.most);
        }
    }
    (!execution.vertex_cycles.is_empty()).then_some(measured)
}

/// The vertices of each type.
fn vertices(graph: &GraphProfile, types: usize) -> Vec<u64> {
    let mut vertices = vec![0_u64; types];
    for count in graph.compute_sets.vertices.iter().flatten() {
        if let Some(sum) = vertices.get_mut(count.vertex_type as usize) {
            *sum = sum.saturating_add(count.vertices);
        }
    }
    vertices
}
