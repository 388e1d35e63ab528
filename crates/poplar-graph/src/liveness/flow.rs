//! How ops and graphs load and call the code of 64 graphs. Each graph has a bit in each word.

use crate::table::Table;
use crate::{CallGraph, Callee, Calls, GraphId, Ir, Op, OpId};

/// The number of graphs whose code is followed at once.
pub(super) const LANES: usize = 64;

/// The parts of a program that matter for liveness.
pub(super) struct Program<'i> {
    pub(super) ir: &'i Ir,
    /// The graphs that the program runs, callers first.
    pub(super) order: Vec<GraphId>,
    /// For each graph that runs, the ops that call graphs or load code.
    events: Vec<Vec<OpId>>,
}

impl<'i> Program<'i> {
    pub(super) fn new(ir: &'i Ir, calls: &CallGraph) -> Self {
        let edges = calls.sites.iter().map(|site| (site.caller.index(), site.callee.index()));
        let groups = crate::table::Edges::new(ir.graphs().len(), edges).components();
        let runs = |graph: &GraphId| calls.of(*graph).runs.most != Some(0);
        let order: Vec<_> = groups.into_iter().flatten().filter_map(GraphId::of).filter(runs).collect();
        let mut events = vec![Vec::new(); ir.graphs().len()];
        for &graph in &order {
            if let (Some(events), Some(value)) = (events.get_mut(graph.index()), ir.graph(graph)) {
                let matters = |op: &Op| op.calls != Calls::None || op.loads_executable().is_some();
                events.extend(value.op_ids().filter(|(_, op)| matters(op)).map(|(id, _)| id));
            }
        }
        Program { ir, order, events }
    }

    /// The ops of a graph that call graphs or load code.
    pub(super) fn events(&self, graph: GraphId) -> impl DoubleEndedIterator<Item = (OpId, &'i Op)> {
        let body = self.ir.graph(graph);
        let events = self.events.get(graph.index()).map_or(&[][..], Vec::as_slice);
        events.iter().filter_map(move |id| Some((*id, body?.op(*id)?)))
    }

    /// All ops that call graphs or load code, with their graphs.
    pub(super) fn all_events(&self) -> impl Iterator<Item = (GraphId, OpId, &'i Op)> {
        self.order.iter().flat_map(|graph| self.events(*graph).map(|(id, op)| (*graph, id, op)))
    }
}

/// How a part of a program loads and calls each followed graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// On some path, the first thing is a call.
    pub(super) used: u64,
    /// On some path, the first thing is a load.
    pub(super) loaded: u64,
    /// On some path, there is neither.
    pub(super) passed: u64,
    /// On some path, there is no load.
    pub(super) unloaded: u64,
    /// There is a call.
    pub(super) uses: u64,
    /// There is a load.
    pub(super) loads: u64,
}

/// What comes next on some path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    /// A call: the code must be there.
    pub(super) used: u64,
    /// A load.
    pub(super) loaded: u64,
}

impl Ahead {
    pub(super) fn or(self, other: Ahead) -> Self {
        Ahead { used: self.used | other.used, loaded: self.loaded | other.loaded }
    }
}

impl Default for Step {
    fn default() -> Self {
        Step::NOTHING
    }
}

impl Step {
    pub(super) const NOTHING: Step = Step { used: 0, loaded: 0, passed: !0, unloaded: !0, uses: 0, loads: 0 };
    const NO_PATH: Step = Step { used: 0, loaded: 0, passed: 0, unloaded: 0, uses: 0, loads: 0 };

    fn load(bit: u64) -> Self {
        Step { loaded: bit, passed: !bit, unloaded: !bit, loads: bit, ..Step::NOTHING }
    }

    fn call(bit: u64) -> Self {
        Step { used: bit, passed: !bit, uses: bit, ..Step::NOTHING }
    }

    fn then(self, next: Step) -> Self {
        Step {
            used: self.used | (self.passed & next.used),
            loaded: self.loaded | (self.passed & next.loaded),
            passed: self.passed & next.passed,
            unloaded: self.unloaded & next.unloaded,
            uses: self.uses | next.uses,
            loads: self.loads | next.loads,
        }
    }

    fn or(self, other: Step) -> Self {
        Step {
            used: self.used | other.used,
            loaded: self.loaded | other.loaded,
            passed: self.passed | other.passed,
            unloaded: self.unloaded | other.unloaded,
            uses: self.uses | other.uses,
            loads: self.loads | other.loads,
        }
    }

    /// What comes next before this part, if `after` comes next after it.
    pub(super) fn before(self, after: Ahead) -> Ahead {
        Ahead { used: self.used | (self.passed & after.used), loaded: self.loaded | (self.passed & after.loaded) }
    }
}

/// The followed graphs, and what each graph that runs does to them.
pub(super) struct Flow {
    pub(super) lanes: Vec<GraphId>,
    bits: Table<u64>,
    bodies: Table<Step>,
}

impl Flow {
    /// Follows the code of at most [`LANES`] graphs.
    pub(super) fn new(program: &Program<'_>, lanes: &[GraphId]) -> Self {
        let len = program.ir.graphs().len();
        let mut flow = Flow { lanes: lanes.to_vec(), bits: Table::new(len), bodies: Table::new(len) };
        for (at, lane) in (0_u32..).zip(lanes) {
            flow.bits.set(lane.index(), 1_u64.checked_shl(at).unwrap_or_default());
        }
        for &graph in program.order.iter().rev() {
            let body = program.events(graph).fold(Step::NOTHING, |body, (_, op)| body.then(flow.op(op)));
            flow.bodies.set(graph.index(), body);
        }
        flow
    }

    /// The bit of a graph; 0 if it is not followed.
    pub(super) fn bit(&self, graph: GraphId) -> u64 {
        self.bits.get(graph.index())
    }

    /// The graphs of some bits.
    pub(super) fn graphs(&self, mut bits: u64) -> impl Iterator<Item = GraphId> {
        std::iter::from_fn(move || {
            let at = usize::try_from(bits.trailing_zeros()).ok()?;
            // Clears the lowest bit.
            bits &= bits.wrapping_sub(1);
            self.lanes.get(at).copied()
        })
    }

    /// Whether a graph, or what it calls, calls or loads a followed graph.
    pub(super) fn changes_inside(&self, graph: GraphId) -> bool {
        let body = self.bodies.get(graph.index());
        (body.uses | body.loads) != 0
    }

    /// The step of one call of a graph.
    pub(super) fn call(&self, graph: GraphId) -> Step {
        Step::call(self.bit(graph)).then(self.bodies.get(graph.index()))
    }

    /// The step of an op.
    pub(super) fn op(&self, op: &Op) -> Step {
        let load = op.loads_executable().map_or(Step::NOTHING, |graph| Step::load(self.bit(graph)));
        load.then(self.calls(&op.calls))
    }

    fn calls(&self, calls: &Calls) -> Step {
        match calls {
            Calls::OneOf(branches) if !branches.is_empty() => {
                branches.iter().fold(Step::NO_PATH, |all, branch| all.or(self.call(*branch)))
            }
            Calls::None | Calls::OneOf(_) => Step::NOTHING,
            Calls::Once(_) | Calls::Repeat(..) => calls.iter().fold(Step::NOTHING, |_, Callee { graph, times }| {
                match (times.least, times.most) {
                    (_, Some(0)) => Step::NOTHING,
                    (0, _) => self.call(graph).or(Step::NOTHING),
                    // Further calls do the same as one call.
                    _ => self.call(graph),
                }
            }),
        }
    }

    /// What comes next after each call of a graph by an op, if `after` comes next after the op. Graphs that are never called are left out.
    pub(super) fn behind_calls(&self, op: &Op, after: Ahead) -> impl Iterator<Item = (GraphId, Ahead)> {
        op.calls.called().map(move |Callee { graph, times }| {
            let again = times.most.is_none_or(|most| most > 1);
            // After each call but the last, the next one comes.
            let behind = if again { after.or(self.call(graph).before(after)) } else { after };
            (graph, behind)
        })
    }
}
