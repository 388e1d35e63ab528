//! The graph profile.

use std::collections::{BTreeMap, BTreeSet};

use super::ReadOptions;
use super::lists::{Lists, indices, matrix, not_zero, texts, uints};
use super::memory::{memory, remark_sums};
use super::programs::programs;
use crate::profile::check;
use crate::profile::document::{Doc, Result};
use crate::profile::graph::{
    ComputeSets, CycleEstimates, Exchanges, GraphCounts, GraphProfile, Target, TypeCycles, VertexCount, VertexTypes,
};
use crate::profile::lengths::Lengths;
use crate::profile::problem::{Error, ErrorKind};

/// A graph profile that is being read.
#[derive(Default)]
pub(super) struct GraphReader {
    profile: GraphProfile,
    target: Option<Target>,
    /// The sections that were read.
    seen: BTreeSet<String>,
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
        let mut reader = GraphReader::default();
        root.clone_into(&mut reader.profile.at.root);
        reader
    }

    /// Reads a section.
    pub(super) fn member(&mut self, doc: &mut Doc<'_>, key: &str, options: &ReadOptions) -> Result<bool> {
        let profile = &mut self.profile;
        let at = &mut profile.at;
        let lengths = &mut at.lengths;
        match key {
            "target" => self.target = Some(target(doc, &mut at.num_tiles)?),
            "optimizationInfo" => profile.optimization_info = optimization_info(doc)?,
            "graph" => profile.graph = Some(graph_counts(doc)?),
            "vertexTypes" => profile.vertex_types = vertex_types(doc)?,
            "computeSets" => profile.compute_sets = compute_sets(doc, lengths, options)?,
            "exchanges" => profile.exchanges = exchanges(doc, lengths, options, "cyclesByTile")?,
            "externalExchanges" => {
                profile.external_exchanges = exchanges(doc, lengths, options, "estimatedCyclesByTile")?;
            }
            "hostExchanges" => profile.host_exchanges = exchanges(doc, lengths, options, "estimatedCyclesByTile")?,
            "programs" => profile.programs = programs(doc)?,
            "controlPrograms" => {
                profile.control_programs = indices(doc)?;
                at.controls = doc.position();
            }
            "functionPrograms" => {
                profile.function_programs = indices(doc)?;
                at.functions = doc.position();
            }
            "memory" => profile.memory = Some(memory(doc, lengths)?),
            _ => return Ok(false),
        }
        doc.first(self.seen.insert(key.to_owned()))
    }

    /// Does the checks that need the whole profile.
    pub(super) fn finish(self, doc: &mut Doc<'_>) -> Result<GraphProfile> {
        let GraphReader { mut profile, target, seen } = self;
        let root = profile.at.root.clone();
        profile.at.missing = Self::KEYS.into_iter().filter(|key| !seen.contains(*key)).collect();
        for key in &profile.at.missing {
            doc.remarks.add(&format!("{root}.{key}"), None, "the section is missing");
        }
        let Some(target) = target else {
            let (path, message) = (format!("{root}.target"), "the section is missing".to_owned());
            return Err(Box::new(Error { kind: ErrorKind::WrongForm, path, byte: None, message }));
        };
        let num_tiles = format!("{root}.target.numTiles");
        profile.at.lengths.check(target.num_tiles, &num_tiles, Some(profile.at.num_tiles))?;
        profile.target = target;
        profile.memory.iter().for_each(|memory| remark_sums(memory, doc, &root));
        check::graph(&profile, &mut doc.remarks)?;
        Ok(profile)
    }
}

fn target(doc: &mut Doc<'_>, num_tiles_at: &mut u64) -> Result<Target> {
    let mut target = Target::default();
    let (mut num_tiles, mut delays) = (None, None);
    doc.object(|doc, key| {
        let slot = match key {
            "type" => return doc.fill(&mut target.kind, Doc::text),
            "numTiles" => {
                let known = doc.fill(&mut num_tiles, Doc::index);
                *num_tiles_at = doc.position();
                return known;
            }
            "relativeSyncDelayByTile" => return doc.fill(&mut delays, uints),
            "bytesPerIPU" => &mut target.bytes_per_ipu,
            "bytesPerTile" => &mut target.bytes_per_tile,
            "clockFrequency" => &mut target.clock_frequency,
            "numIPUs" => &mut target.num_ipus,
            "tilesPerIPU" => &mut target.tiles_per_ipu,
            "totalMemory" => &mut target.total_memory,
            "minSyncDelay" => &mut target.min_sync_delay,
            _ => return Ok(false),
        };
        doc.fill(slot, Doc::uint)
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
        // The same value twice does no harm.
        doc.first(info.insert(key.into(), value).is_none_or(|before| before == value))
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
        doc.fill(slot, Doc::uint)
    })?;
    Ok(counts)
}

fn vertex_types(doc: &mut Doc<'_>) -> Result<VertexTypes> {
    let (mut names, mut sizes) = (None, None);
    doc.object(|doc, key| match key {
        "names" => doc.fill(&mut names, texts),
        "sizes" => doc.fill(&mut sizes, uints),
        _ => Ok(false),
    })?;
    Ok(VertexTypes { names: names.unwrap_or_default(), sizes: sizes.unwrap_or_default() })
}

fn compute_sets(doc: &mut Doc<'_>, lengths: &mut Lengths, options: &ReadOptions) -> Result<ComputeSets> {
    let (mut names, mut counts, mut types) = (None, None, None);
    let mut cycle_estimates = None;
    doc.object(|doc, key| match key {
        "names" => doc.fill(&mut names, texts),
        "vertexCounts" => doc.fill(&mut counts, |doc| doc.list(uints)),
        "vertexTypes" => doc.fill(&mut types, |doc| doc.list(indices)),
        "cycleEstimates" if doc.null()? => Ok(true),
        "cycleEstimates" => doc.fill(&mut cycle_estimates, |doc| estimates(doc, lengths, options)),
        _ => Ok(false),
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

fn estimates(doc: &mut Doc<'_>, lengths: &mut Lengths, options: &ReadOptions) -> Result<CycleEstimates> {
    let mut estimates = CycleEstimates::default();
    doc.object(|doc, key| {
        let (slot, lists) = match key {
            "activeCyclesByTile" => (&mut estimates.active_cycles_by_tile, Lists::TileSums),
            "activeCyclesByVertexType" => {
                return doc.fill(&mut estimates.active_cycles_by_vertex_type, |doc| {
                    let mut list = Vec::new();
                    not_zero(doc, |compute_set, vertex_type, cycles| {
                        list.push(TypeCycles { compute_set, vertex_type, cycles });
                    })?;
                    Ok(list)
                });
            }
            "cyclesByTile" => (&mut estimates.cycles_by_tile, each_tile(options)),
            _ => return Ok(false),
        };
        doc.fill(slot, |doc| matrix(doc, lengths, lists))
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
        doc.fill(slot, |doc| matrix(doc, lengths, lists))
    })?;
    Ok(exchanges)
}

pub(super) fn each_tile(options: &ReadOptions) -> Lists {
    if options.each_tile { Lists::EachTile { most: options.most_bytes.unwrap_or(u64::MAX) } } else { Lists::TileSums }
}
