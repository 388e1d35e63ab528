//! The values that are compared.

use std::collections::BTreeMap;

use super::DiffUnit::{Bytes, Count, Cycles, Hertz, Word};
use super::{DiffSubject, DiffUnit, DiffValue};
use crate::profile::analyse::compute_sets::compute_sets;
use crate::profile::analyse::exchanges::exchanges;
use crate::profile::analyse::liveness::liveness;
use crate::profile::analyse::memory::memory;
use crate::profile::analyse::select::{Selection, Sort};
use crate::profile::analyse::vertex_types::vertex_types;
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;
use crate::profile::read::Report;

/// What a value is, and what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<'r> {
    pub(super) name: Option<&'r str>,
    pub(super) kind: Option<&'r str>,
    pub(super) measure: Measure,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Measure {
    /// Differences are given in this order.
    pub(super) nth: u8,
    pub(super) name: &'static str,
    pub(super) unit: DiffUnit,
}

/// The values of one subject in one profile. `None` stands for what the report does not know.
pub(super) struct Values<'r>(BTreeMap<Key<'r>, Option<DiffValue<'r>>>);

impl<'r> Values<'r> {
    /// `None` if the report does not have the section. `executed` allows measured cycles of compute sets.
    pub(super) fn of(report: &'r Report, subject: DiffSubject, executed: bool) -> Option<Self> {
        let graph = report.graph.as_ref();
        let execution = report.execution.as_ref();
        let mut values = Values(BTreeMap::new());
        match subject {
            DiffSubject::Target => values.target(graph?),
            DiffSubject::Graph => values.counts(graph?)?,
            DiffSubject::Memory => values.memory(graph?)?,
            DiffSubject::Category => values.categories(graph?)?,
            // `bytes_by_tile` has these, which would be very many values.
            DiffSubject::Tile => return None,
            DiffSubject::VertexType => values.vertex_types(graph?)?,
            DiffSubject::Exchange => values.exchanges(graph?, execution.filter(|_| executed))?,
            DiffSubject::Program => values.programs(graph?)?,
            DiffSubject::ComputeSet => values.compute_sets(graph?, execution.filter(|_| executed)),
            DiffSubject::Execution => values.execution(execution?),
            DiffSubject::Step => values.steps(execution?)?,
        }
        Some(values)
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// `None` if there are no values: the report does not have the section.
    fn are_any(&self) -> Option<()> {
        (!self.0.is_empty()).then_some(())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key<'r>> {
        self.0.keys()
    }

    /// The value. The inner `None` says that the report does not have it.
    pub(super) fn get(&self, key: &Key<'r>) -> Option<Option<DiffValue<'r>>> {
        self.0.get(key).copied()
    }

    /// Sets the values of the thing with the given name.
    fn set<const N: usize>(
        &mut self,
        name: Option<&'r str>,
        kind: Option<&'r str>,
        values: [(&'static str, DiffUnit, Option<u64>); N],
    ) {
        for (nth, (name_of_value, unit, value)) in (0..).zip(values) {
            let measure = Measure { nth, name: name_of_value, unit };
            self.0.insert(Key { name, kind, measure }, value.map(DiffValue::Number));
        }
    }

    fn word(&mut self, measure: &'static str, word: Option<&'r str>) {
        let measure = Measure { nth: u8::MAX, name: measure, unit: Word };
        self.0.insert(Key { name: None, kind: None, measure }, word.map(DiffValue::Word));
    }

    fn target(&mut self, graph: &'r GraphProfile) {
        let target = &graph.target;
        self.word("type", target.kind.as_deref());
        let values = [
            ("numTiles", Count, Some(u64::from(target.num_tiles))),
            ("numIPUs", Count, target.num_ipus),
            ("bytesPerTile", Bytes, target.bytes_per_tile),
            ("clockFrequency", Hertz, target.clock_frequency),
        ];
        self.set(None, None, values);
    }

    fn counts(&mut self, graph: &'r GraphProfile) -> Option<()> {
        let counts = graph.graph?;
        let values = [
            ("numComputeSets", Count, counts.num_compute_sets),
            ("numEdges", Count, counts.num_edges),
            ("numVars", Count, counts.num_vars),
            ("numVertices", Count, counts.num_vertices),
        ];
        self.set(None, None, values);
        Some(())
    }

    fn memory(&mut self, graph: &'r GraphProfile) -> Option<()> {
        let sums = memory(graph, 0)?;
        let live = liveness(graph);
        let by_tile = sums.with_gaps.is_some() || sums.without_gaps.is_some();
        let values = [
            ("fullestTile", Bytes, sums.with_gaps.as_ref().map(|tiles| tiles.max)),
            ("allTiles", Bytes, sums.with_gaps.as_ref().map(|tiles| tiles.sum)),
            ("fullestTileData", Bytes, sums.without_gaps.as_ref().map(|tiles| tiles.max)),
            ("allTilesData", Bytes, sums.without_gaps.as_ref().map(|tiles| tiles.sum)),
            ("overflowed", Bytes, by_tile.then_some(sums.over_memory.overflowed_bytes)),
            ("alwaysLive", Bytes, live.as_ref().map(|live| live.always_live_sum)),
            ("peakNotAlwaysLive", Bytes, live.as_ref().map(|live| live.peak_not_always_live_bytes)),
        ];
        self.set(None, None, values);
        Some(())
    }

    fn categories(&mut self, graph: &'r GraphProfile) -> Option<()> {
        for category in &graph.memory.as_ref()?.by_category {
            let tiles = category.total.iter();
            let (sum, most) =
                tiles.fold((0_u64, 0), |(sum, most), bytes| (sum.saturating_add(*bytes), most.max(*bytes)));
            self.set(Some(&category.name), None, [("size", Bytes, Some(sum)), ("most", Bytes, Some(most))]);
        }
        self.are_any()
    }

    fn vertex_types(&mut self, graph: &'r GraphProfile) -> Option<()> {
        let all = Selection::default().sorted(Sort::Number);
        let has_sizes = graph.memory.as_ref().is_some_and(|memory| memory.by_vertex_type.is_some());
        let mut by_name = BTreeMap::<_, Sums<4>>::new();
        for row in vertex_types(graph, None, &all) {
            let bytes = [row.size, row.code_bytes, row.vertex_data_bytes];
            let [size, code, data] = bytes.map(|bytes| has_sizes.then_some(bytes));
            by_name.entry(row.name).or_default().add([size, code, data, Some(row.vertices)]);
        }
        for (name, Sums { count, sums: [size, code, data, vertices] }) in by_name {
            let values = [
                ("size", Bytes, size),
                ("code", Bytes, code),
                ("vertexData", Bytes, data),
                ("vertices", Count, vertices),
                ("count", Count, Some(count)),
            ];
            self.set(name, None, values);
        }
        self.are_any()
    }

    fn exchanges(&mut self, graph: &'r GraphProfile, execution: Option<&ExecutionProfile>) -> Option<()> {
        let all = Selection::default().sorted(Sort::Number);
        let mut by_kind = BTreeMap::<_, Sums<4>>::new();
        for row in exchanges(graph, execution, &all) {
            let of_kind = graph.exchanges_of(row.exchange_kind);
            let received = of_kind.bytes_received_by_tile.as_ref().map(|_| row.received);
            let sent = of_kind.bytes_sent_by_tile.as_ref().map(|_| row.sent);
            let sums = by_kind.entry(row.exchange_kind.section()).or_default();
            sums.add([row.max_cycles, received, sent, row.code_bytes]);
        }
        for (kind, Sums { count, sums: [cycles, received, sent, code] }) in by_kind {
            let values = [
                ("cycles", Cycles, cycles),
                ("received", Bytes, received),
                ("sent", Bytes, sent),
                ("code", Bytes, code),
                ("count", Count, Some(count)),
            ];
            self.set(Some(kind), None, values);
        }
        self.are_any()
    }

    fn programs(&mut self, graph: &'r GraphProfile) -> Option<()> {
        let mut by_type = BTreeMap::<_, u64>::new();
        for program in &graph.programs {
            let count = by_type.entry(program.kind.as_str()).or_default();
            *count = count.saturating_add(1);
        }
        for (kind, count) in by_type {
            self.set(None, Some(kind), [("count", Count, Some(count))]);
        }
        self.are_any()
    }

    fn compute_sets(&mut self, graph: &'r GraphProfile, execution: Option<&ExecutionProfile>) {
        let all = Selection::default().sorted(Sort::Number);
        let mut by_name = BTreeMap::<_, Sums<2>>::new();
        for row in compute_sets(graph, execution, &all) {
            by_name.entry(row.name).or_default().add([row.max_cycles, row.size]);
        }
        for (name, Sums { count, sums: [cycles, size] }) in by_name {
            self.set(name, None, [("cycles", Cycles, cycles), ("size", Bytes, size), ("count", Count, Some(count))]);
        }
    }

    fn execution(&mut self, execution: &'r ExecutionProfile) {
        self.word("profilerMode", execution.profiler_mode.as_deref());
        let simulation = execution.simulation.as_ref();
        let steps = simulation.map(|simulation| simulation.steps.len() as u64);
        self.set(
            None,
            None,
            [("cycles", Cycles, simulation.and_then(|simulation| simulation.cycles)), ("steps", Count, steps)],
        );
        for (activity, cycles) in simulation.iter().flat_map(|simulation| &simulation.tile_cycles) {
            self.set(Some(activity), None, [("tileCycles", Cycles, Some(*cycles))]);
        }
    }

    fn steps(&mut self, execution: &'r ExecutionProfile) -> Option<()> {
        let mut by_name = BTreeMap::<_, Sums<2>>::new();
        for step in &execution.simulation.as_ref()?.steps {
            let sums = by_name.entry((step.name, step.kind.as_str())).or_default();
            // A synchronisation has no cycles of its own.
            let sync = step.sync_type.is_some().then_some(0);
            sums.add([step.cycles.or(sync), step.total_data]);
        }
        for ((name, kind), Sums { count, sums: [cycles, data] }) in by_name {
            self.set(
                name,
                Some(kind),
                [("cycles", Cycles, cycles), ("data", Bytes, data), ("count", Count, Some(count))],
            );
        }
        Some(())
    }
}

/// What each tile needs: with the gaps between its data, and without. A list is empty if the report does not have it.
pub(super) fn bytes_by_tile(report: &Report) -> [(&'static str, &[u64]); 2] {
    let memory = report.graph.as_ref().and_then(|graph| graph.memory.as_ref());
    let tiles = memory.and_then(|memory| memory.by_tile.as_ref());
    [
        ("size", tiles.map_or(&[], |tiles| &tiles.total_including_gaps)),
        ("dataSize", tiles.map_or(&[], |tiles| &tiles.total)),
    ]
}

/// Sums over all things of one name. A sum is unknown as soon as one value is.
struct Sums<const N: usize> {
    count: u64,
    sums: [Option<u64>; N],
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Sums { count: 0, sums: [Some(0); N] }
    }
}

impl<const N: usize> Sums<N> {
    fn add(&mut self, values: [Option<u64>; N]) {
        self.count = self.count.saturating_add(1);
        for (sum, value) in self.sums.iter_mut().zip(values) {
            *sum = sum.zip(value).map(|(sum, value)| sum.saturating_add(value));
        }
    }
}
