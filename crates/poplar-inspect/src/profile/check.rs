//! Whether the parts of a report fit each other. If they do not, no analysis is right.

use super::document::Result;
use super::execution::ExecutionProfile;
use super::graph::GraphProfile;
use super::order::order;
use super::problem::{Error, ErrorKind, Remarks};
use super::program::{ExchangeKind, Program, ProgramKind};

fn contradiction<T>(path: String, byte: u64, message: String) -> Result<T> {
    Err(Box::new(Error { kind: ErrorKind::Contradiction, path, byte: Some(byte), message }))
}

/// The bound of an index. It is unknown if the section that the index counts in is missing.
struct Bound {
    what: &'static str,
    count: Option<usize>,
}

impl Bound {
    fn hold(&self, index: Option<u32>, path: impl FnOnce() -> String, byte: u64) -> Result<()> {
        match (index, self.count) {
            (Some(index), Some(count)) if index as usize >= count => {
                contradiction(path(), byte, format!("{index} is too large: there are {count} {}", self.what))
            }
            _ => Ok(()),
        }
    }
}

impl GraphProfile {
    fn bound(&self, what: &'static str, section: &str, count: usize) -> Bound {
        Bound { what, count: Some(count).filter(|_| !self.at.missing.contains(&section)) }
    }

    fn programs_bound(&self) -> Bound {
        self.bound("programs", "programs", self.programs.len())
    }

    fn compute_sets_bound(&self) -> Bound {
        self.bound("compute sets", "computeSets", self.compute_sets.len())
    }

    fn exchanges_bound(&self, kind: ExchangeKind) -> Bound {
        let what = match kind {
            ExchangeKind::Internal => "exchanges between tiles",
            ExchangeKind::External => "exchanges between IPUs",
            ExchangeKind::Host => "exchanges with the host",
        };
        self.bound(what, kind.section(), self.exchanges_of(kind).len())
    }
}

/// Checks the numbers in a graph profile, and that no program contains itself.
pub(super) fn graph(graph: &GraphProfile, remarks: &mut Remarks) -> Result<()> {
    let root = &graph.at.root;
    products(graph, remarks);
    lengths(graph, remarks);
    let lists = [
        ("controlPrograms", &graph.control_programs, graph.at.controls),
        ("functionPrograms", &graph.function_programs, graph.at.functions),
    ];
    let bound = graph.programs_bound();
    for (key, list, byte) in lists {
        for (nth, program) in list.iter().enumerate() {
            bound.hold(Some(*program), || format!("{root}.{key}[{nth}]"), byte)?;
        }
    }
    for (number, program) in graph.programs.iter().enumerate() {
        references(graph, number, program)?;
    }
    if let Err(cycle) = order(graph) {
        let at = graph.programs.get(cycle.program as usize).map_or(0, |program| program.at);
        let place = cycle.child.map_or("target".to_owned(), |child| format!("children[{child}]"));
        let path = format!("{root}.programs[{}].{place}", cycle.program);
        return contradiction(path, at, "the program contains or calls itself".to_owned());
    }
    Ok(())
}

fn references(graph: &GraphProfile, number: usize, program: &Program) -> Result<()> {
    let path = |key: &str| format!("{}.programs[{number}].{key}", graph.at.root);
    let programs = graph.programs_bound();
    for (nth, child) in program.children.iter().enumerate() {
        programs.hold(Some(*child), || path(&format!("children[{nth}]")), program.at)?;
    }
    graph.compute_sets_bound().hold(program.compute_set, || path("computeSet"), program.at)?;
    if let Some(kind) = program.kind.step().and_then(|step| step.exchange()) {
        graph.exchanges_bound(kind).hold(program.exchange, || path("exchange"), program.at)?;
    }
    if program.kind == ProgramKind::Call {
        let functions = graph.bound("functions", "functionPrograms", graph.function_programs.len());
        functions.hold(program.target, || path("target"), program.at)?;
    }
    Ok(())
}

/// The target says some things twice.
fn products(graph: &GraphProfile, remarks: &mut Remarks) {
    let (target, root) = (&graph.target, &graph.at.root);
    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
    let tiles = target.num_ipus.zip(target.tiles_per_ipu).map(|(ipus, tiles)| product(ipus, tiles));
    if let Some(tiles) = tiles.filter(|tiles| *tiles != u128::from(target.num_tiles)) {
        let message = format!("there are {} tiles, and numIPUs * tilesPerIPU is {tiles}", target.num_tiles);
        remarks.add(&format!("{root}.target.numTiles"), Some(graph.at.num_tiles), message);
    }
    let memory = target.bytes_per_tile.map(|bytes| product(bytes, u64::from(target.num_tiles)));
    if let Some((memory, total)) = memory.zip(target.total_memory)
        && memory != u128::from(total)
        && tiles.is_none_or(|tiles| tiles == u128::from(target.num_tiles))
    {
        let message = format!("the memory is {total}, and bytesPerTile * numTiles is {memory}");
        remarks.add(&format!("{root}.target.totalMemory"), None, message);
    }
    let delays = target.relative_sync_delay_by_tile.len() as u64;
    if delays > 0 && target.tiles_per_ipu.is_some_and(|tiles| tiles != delays) {
        let message = format!("the list has a length of {delays}, and an IPU has another number of tiles");
        remarks.add(&format!("{root}.target.relativeSyncDelayByTile"), None, message);
    }
}

/// Lists by compute set or vertex type have one length.
fn lengths(graph: &GraphProfile, remarks: &mut Remarks) {
    let (root, sets) = (&graph.at.root, &graph.compute_sets);
    let estimates = sets.cycle_estimates.as_ref();
    let cycles = estimates.and_then(|estimates| estimates.cycles_by_tile.as_ref());
    let memory = graph.memory.as_ref();
    let by_set = memory.and_then(|memory| memory.by_compute_set.as_ref()?.code_bytes.as_ref());
    let by_type = memory.and_then(|memory| memory.by_vertex_type.as_ref()?.code_bytes.as_ref());
    let lists = [
        ("computeSets.vertexCounts", Some(sets.vertices.len()), sets.names.len()),
        ("computeSets.cycleEstimates.cyclesByTile", cycles.map(super::Matrix::len), sets.names.len()),
        ("memory.byComputeSet.codeBytes", by_set.map(super::Matrix::len), sets.names.len()),
        ("vertexTypes.sizes", Some(graph.vertex_types.sizes.len()), graph.vertex_types.names.len()),
        ("memory.byVertexType.codeBytes", by_type.map(super::Matrix::len), graph.vertex_types.names.len()),
    ];
    for (path, len, names) in lists {
        if let Some(len) = len.filter(|len| *len > 0 && *len != names && names > 0) {
            remarks.add(
                &format!("{root}.{path}"),
                None,
                format!("the list has a length of {len}, and there are {names} names"),
            );
        }
    }
}

/// Checks that an execution refers to what its graph has.
pub(super) fn execution(graph: &GraphProfile, execution: &ExecutionProfile) -> Result<()> {
    let root = &execution.at.root;
    execution.at.lengths.check(
        graph.target.num_tiles,
        &format!("{}.target.numTiles", graph.at.root),
        Some(graph.at.num_tiles),
    )?;
    let programs = graph.programs_bound();
    for (nth, program) in execution.program_trace.iter().flatten().enumerate() {
        programs.hold(Some(*program), || format!("{root}.programTrace[{nth}]"), execution.at.trace)?;
    }
    let steps = execution.simulation.iter().flat_map(|simulation| &simulation.steps);
    for (nth, step) in steps.enumerate() {
        let path = |key: &str| format!("{root}.simulation.steps[{nth}].{key}");
        programs.hold(step.program, || path("program"), step.at)?;
        graph.compute_sets_bound().hold(step.compute_set, || path("computeSet"), step.at)?;
        if let Some(kind) = step.kind.exchange() {
            let key = kind.section().trim_end_matches('s');
            graph.exchanges_bound(kind).hold(step.exchange, || path(key), step.at)?;
        }
    }
    Ok(())
}
