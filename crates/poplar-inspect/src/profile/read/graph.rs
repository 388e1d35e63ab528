//! The graph profile.

use std::collections::BTreeMap;

use super::ReadOptions;
use super::lists::{Lists, indices, matrix, not_zero, texts, uints};
use super::memory::MemoryReader;
use super::programs::programs;
use crate::profile::check;
use crate::profile::document::{Doc, Result};
use crate::profile::graph::{
    ComputeSets, CycleEstimates, Exchanges, GraphCounts, GraphProfile, Places, Target, TypeCycles, VertexCount,
    VertexTypes,
};
use crate::profile::lengths::Lengths;
use crate::profile::problem::{Error, ErrorKind};
use crate::profile::program::Program;

/// A graph profile that is being read.
#[derive(Default)]
pub(super) struct GraphReader {
    target: Option<Target>,
    optimization_info: Option<BTreeMap<Box<str>, f64>>,
    graph: Option<GraphCounts>,
    vertex_types: Option<VertexTypes>,
    compute_sets: Option<ComputeSets>,
    exchanges: Option<Exchanges>,
    external_exchanges: Option<Exchanges>,
    host_exchanges: Option<Exchanges>,
    programs: Option<Vec<Program>>,
    control_programs: Option<Vec<u32>>,
    function_programs: Option<Vec<u32>>,
    memory: Option<MemoryReader>,
    at: Places,
}

impl GraphReader {
    pub(super) const KEYS: [&str; 12] = [
        "target",
        "optimizationInfo",
        "graph",
        "vertexTypes",
        "computeSets",
        "exchanges",
        "externalExchanges",
        "hostExchanges",
        "programs",
        "controlPrograms",
        "functionPrograms",
        "memory",
    ];

    pub(super) fn new(root: &str) -> Self {
        GraphReader { at: Places { root: root.to_owned(), ..Places::default() }, ..GraphReader::default() }
    }

    /// Reads a section.
    pub(super) fn member(&mut self, doc: &mut Doc<'_>, key: &str, options: &ReadOptions) -> Result<bool> {
        let lengths = &mut self.at.lengths;
        match key {
            "target" => {
                let target = target(doc, &mut self.at.num_tiles)?;
                doc.once(&mut self.target, target)?;
            }
            "optimizationInfo" => {
                let info = optimization_info(doc)?;
                doc.once(&mut self.optimization_info, info)?;
            }
            "graph" => {
                let graph = graph_counts(doc)?;
                doc.once(&mut self.graph, graph)?;
            }
            "vertexTypes" => {
                let vertex_types = vertex_types(doc)?;
                doc.once(&mut self.vertex_types, vertex_types)?;
            }
            "computeSets" => {
                let compute_sets = compute_sets(doc, lengths, options)?;
                doc.once(&mut self.compute_sets, compute_sets)?;
            }
            "exchanges" => {
                let exchanges = exchanges(doc, lengths, options, "cyclesByTile")?;
                doc.once(&mut self.exchanges, exchanges)?;
            }
            "externalExchanges" => {
                let exchanges = exchanges(doc, lengths, options, "estimatedCyclesByTile")?;
                doc.once(&mut self.external_exchanges, exchanges)?;
            }
            "hostExchanges" => {
                let exchanges = exchanges(doc, lengths, options, "estimatedCyclesByTile")?;
                doc.once(&mut self.host_exchanges, exchanges)?;
            }
            "programs" => {
                let programs = programs(doc)?;
                doc.once(&mut self.programs, programs)?;
            }
            "controlPrograms" => {
                let programs = indices(doc)?;
                self.at.controls = doc.position();
                doc.once(&mut self.control_programs, programs)?;
            }
            "functionPrograms" => {
                let programs = indices(doc)?;
                self.at.functions = doc.position();
                doc.once(&mut self.function_programs, programs)?;
            }
            "memory" => {
                let memory = MemoryReader::read(doc, lengths)?;
                doc.once(&mut self.memory, memory)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks what can only be checked when all is known.
    pub(super) fn finish(mut self, doc: &mut Doc<'_>) -> Result<GraphProfile> {
        self.note_missing(doc);
        let root = self.at.root.clone();
        let Some(target) = self.target else {
            let (path, message) = (format!("{root}.target"), "the section is missing".to_owned());
            return Err(Box::new(Error { kind: ErrorKind::WrongForm, path, byte: None, message }));
        };
        let num_tiles = format!("{root}.target.numTiles");
        self.at.lengths.check(target.num_tiles, &num_tiles, Some(self.at.num_tiles))?;
        let graph = GraphProfile {
            target,
            optimization_info: self.optimization_info.unwrap_or_default(),
            graph: self.graph,
            vertex_types: self.vertex_types.unwrap_or_default(),
            compute_sets: self.compute_sets.unwrap_or_default(),
            exchanges: self.exchanges.unwrap_or_default(),
            external_exchanges: self.external_exchanges.unwrap_or_default(),
            host_exchanges: self.host_exchanges.unwrap_or_default(),
            programs: self.programs.unwrap_or_default(),
            control_programs: self.control_programs.unwrap_or_default(),
            function_programs: self.function_programs.unwrap_or_default(),
            memory: self.memory.map(|memory| memory.finish(doc, &root)),
            at: self.at,
        };
        check::graph(&graph, &mut doc.remarks)?;
        Ok(graph)
    }

    fn note_missing(&mut self, doc: &mut Doc<'_>) {
        let sections = [
            self.target.is_some(),
            self.optimization_info.is_some(),
            self.graph.is_some(),
            self.vertex_types.is_some(),
            self.compute_sets.is_some(),
            self.exchanges.is_some(),
            self.external_exchanges.is_some(),
            self.host_exchanges.is_some(),
            self.programs.is_some(),
            self.control_programs.is_some(),
            self.function_programs.is_some(),
            self.memory.is_some(),
        ];
        let missing = Self::KEYS.into_iter().zip(sections).filter(|(_, is_there)| !is_there);
        self.at.missing = missing.map(|(key, _)| key).collect();
        for key in &self.at.missing {
            doc.remarks.add(&format!("{}.{key}", self.at.root), None, "the section is missing");
        }
    }
}

fn target(doc: &mut Doc<'_>, num_tiles_at: &mut u64) -> Result<Target> {
    let mut target = Target::default();
    let (mut num_tiles, mut delays) = (None, None);
    doc.object(|doc, key| {
        match key {
            "type" => {
                let kind = doc.text()?;
                doc.once(&mut target.kind, kind)?;
            }
            "numTiles" => {
                let count = doc.index()?;
                *num_tiles_at = doc.position();
                doc.once(&mut num_tiles, count)?;
            }
            "relativeSyncDelayByTile" => {
                let list = uints(doc)?;
                doc.once(&mut delays, list)?;
            }
            _ => {
                let slot = match key {
                    "bytesPerIPU" => &mut target.bytes_per_ipu,
                    "bytesPerTile" => &mut target.bytes_per_tile,
                    "clockFrequency" => &mut target.clock_frequency,
                    "numIPUs" => &mut target.num_ipus,
                    "tilesPerIPU" => &mut target.tiles_per_ipu,
                    "totalMemory" => &mut target.total_memory,
                    "minSyncDelay" => &mut target.min_sync_delay,
                    _ => return Ok(false),
                };
                let value = doc.uint()?;
                doc.once(slot, value)?;
            }
        }
        Ok(true)
    })?;
    target.num_tiles = num_tiles.ok_or_else(|| doc.fail(ErrorKind::WrongForm, "the key \"numTiles\" is missing"))?;
    target.relative_sync_delay_by_tile = delays.unwrap_or_default();
    if target.bytes_per_tile == Some(0) {
        doc.remark("bytesPerTile is 0, so that it is not known what a tile has");
        target.bytes_per_tile = None;
    }
    Ok(target)
}

fn optimization_info(doc: &mut Doc<'_>) -> Result<BTreeMap<Box<str>, f64>> {
    let mut info = BTreeMap::new();
    doc.object(|doc, key| {
        let value = doc.number()?;
        let mut slot = info.insert(key.into(), value);
        // The same value twice harms nobody.
        slot = slot.filter(|before| *before != value);
        doc.once(&mut slot, value)?;
        Ok(true)
    })?;
    Ok(info)
}

fn graph_counts(doc: &mut Doc<'_>) -> Result<GraphCounts> {
    let mut counts = GraphCounts::default();
    doc.object(|doc, key| {
        let slot = match key {
            "numComputeSets" => &mut counts.num_compute_sets,
            "numEdges" => &mut counts.num_edges,
            "numVars" => &mut counts.num_vars,
            "numVertices" => &mut counts.num_vertices,
            _ => return Ok(false),
        };
        let value = doc.uint()?;
        doc.once(slot, value)?;
        Ok(true)
    })?;
    Ok(counts)
}

fn vertex_types(doc: &mut Doc<'_>) -> Result<VertexTypes> {
    let (mut names, mut sizes) = (None, None);
    doc.object(|doc, key| {
        match key {
            "names" => {
                let list = texts(doc)?;
                doc.once(&mut names, list)?;
            }
            "sizes" => {
                let list = uints(doc)?;
                doc.once(&mut sizes, list)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(VertexTypes { names: names.unwrap_or_default(), sizes: sizes.unwrap_or_default() })
}

fn compute_sets(doc: &mut Doc<'_>, lengths: &mut Lengths, options: &ReadOptions) -> Result<ComputeSets> {
    let (mut names, mut counts, mut types) = (None, None, None);
    let mut cycle_estimates = None;
    doc.object(|doc, key| {
        match key {
            "names" => {
                let list = texts(doc)?;
                doc.once(&mut names, list)?;
            }
            "vertexCounts" => {
                let lists = lists_of(doc, uints)?;
                doc.once(&mut counts, lists)?;
            }
            "vertexTypes" => {
                let lists = lists_of(doc, indices)?;
                doc.once(&mut types, lists)?;
            }
            "cycleEstimates" => {
                if !doc.null()? {
                    let estimates = estimates(doc, lengths, options)?;
                    doc.once(&mut cycle_estimates, estimates)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let (counts, types) = (counts.unwrap_or_default(), types.unwrap_or_default());
    if counts.len() != types.len() || counts.iter().zip(&types).any(|(counts, types)| counts.len() != types.len()) {
        doc.remark("vertexCounts and vertexTypes do not have the same lengths");
    }
    let count = |(vertices, vertex_type): (u64, u32)| VertexCount { vertex_type, vertices };
    let row = |(counts, types): (Vec<u64>, Vec<u32>)| counts.into_iter().zip(types).map(count).collect();
    let vertices = counts.into_iter().zip(types).map(row).collect();
    Ok(ComputeSets { names: names.unwrap_or_default(), vertices, cycle_estimates })
}

fn lists_of<T>(doc: &mut Doc<'_>, mut list: impl FnMut(&mut Doc<'_>) -> Result<Vec<T>>) -> Result<Vec<Vec<T>>> {
    let mut lists = Vec::new();
    doc.array(|doc, _| {
        lists.push(list(doc)?);
        Ok(())
    })?;
    Ok(lists)
}

fn estimates(doc: &mut Doc<'_>, lengths: &mut Lengths, options: &ReadOptions) -> Result<CycleEstimates> {
    let mut estimates = CycleEstimates::default();
    doc.object(|doc, key| {
        let (slot, lists) = match key {
            "activeCyclesByTile" => (&mut estimates.active_cycles_by_tile, Lists::TileSums),
            "activeCyclesByVertexType" => {
                let mut list = Vec::new();
                not_zero(doc, |compute_set, vertex_type, cycles| {
                    list.push(TypeCycles { compute_set, vertex_type, cycles });
                })?;
                return doc.once(&mut estimates.active_cycles_by_vertex_type, list).map(|()| true);
            }
            "cyclesByTile" => (&mut estimates.cycles_by_tile, each_tile(options)),
            _ => return Ok(false),
        };
        let matrix = matrix(doc, lengths, lists)?;
        doc.once(slot, matrix)?;
        Ok(true)
    })?;
    Ok(estimates)
}

fn exchanges(doc: &mut Doc<'_>, lengths: &mut Lengths, options: &ReadOptions, cycles_key: &str) -> Result<Exchanges> {
    let mut exchanges = Exchanges::default();
    doc.object(|doc, key| {
        let (slot, lists) = match key {
            "bytesReceivedByTile" => (&mut exchanges.bytes_received_by_tile, each_tile(options)),
            "bytesSentByTile" => (&mut exchanges.bytes_sent_by_tile, each_tile(options)),
            "codeBytesByTile" => (&mut exchanges.code_bytes_by_tile, Lists::TileSums),
            key if key == cycles_key => (&mut exchanges.cycles_by_tile, each_tile(options)),
            _ => return Ok(false),
        };
        let matrix = matrix(doc, lengths, lists)?;
        doc.once(slot, matrix)?;
        Ok(true)
    })?;
    Ok(exchanges)
}

pub(super) fn each_tile(options: &ReadOptions) -> Lists {
    if options.each_tile { Lists::EachTile { most: options.most_bytes.unwrap_or(u64::MAX) } } else { Lists::TileSums }
}
