use super::flow::{Ahead, Flow, LANES, Program, Step};
use super::unknown;
use crate::{CallGraph, GraphId, Ir, Op, OpId};

/// The schedule of a program, step by step, with the code that is live at each step.
///
/// Steps are the ops that call graphs or load code. Below a call are the steps of the called graph, if code of the shown graphs
/// changes there. A loop is shown once. Ops whose order is not fixed are shown in the order in which they were created.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Schedule {
    /// The graphs whose code is shown, at most 64: those that are loaded come first.
    pub lanes: Vec<GraphId>,
    /// The number of graphs that are called or loaded but not shown.
    pub lanes_left_out: u64,
    /// The steps.
    pub rows: Vec<ScheduleRow>,
    /// Whether there are more steps than shown.
    pub cut: bool,
}

/// A step of a [`Schedule`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ScheduleRow {
    /// The number of calls around it.
    pub depth: u64,
    /// The graph with the op.
    pub graph: GraphId,
    /// The op that calls or loads. `None` for ops that do neither.
    pub op: Option<OpId>,
    /// The number of ops, which is 1 if there is an `op`.
    pub ops: u64,
    /// The code of each lane.
    pub cells: Vec<Cell>,
}

/// The code of a graph at a step of a [`Schedule`]. Exhaustive, because a display of schedules needs a sign for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum Cell {
    /// The code need not be there.
    Dead,
    /// The code must be there.
    Live,
    /// The code is always there, although no call needs it here.
    Kept,
    /// The step loads it.
    Load,
    /// The step calls it.
    Call,
}

/// The ops of a graph that are shown one after the other.
struct Part<'i> {
    graph: GraphId,
    depth: u64,
    /// The ops that call or load, last first, with what comes next after each.
    waiting: Vec<(OpId, &'i Op, Step, Ahead)>,
    next_op: usize,
    running: u64,
    behind: Ahead,
}

/// A graph, or the rest of one, that is still to be followed.
enum Task<'i> {
    /// A graph that is called: its depth, what comes next after it, and the lanes that run.
    Enter(GraphId, u64, Ahead, u64),
    /// The rest of a graph.
    Continue(Part<'i>),
}

struct Steps<'i> {
    program: Program<'i>,
    flow: Flow,
    /// The lanes whose code is always there.
    kept: u64,
    rows: Vec<ScheduleRow>,
}

impl Schedule {
    /// The first steps of a program, at most `most`. Empty if the order of its ops is not known.
    #[must_use]
    pub fn new(ir: &Ir, most: usize) -> Self {
        let calls = CallGraph::new(ir);
        let Some(main) = ir.main().filter(|_| unknown(ir, &calls).is_none()) else { return Schedule::default() };
        let program = Program::new(ir, &calls);
        let (lanes, lanes_left_out) = lanes(&program);
        let flow = Flow::new(&program, &lanes);
        let loaded = program.all_events().filter_map(|(_, _, op)| op.loads_executable());
        let loaded = loaded.fold(0, |all, graph| all | flow.bit(graph));
        let mut steps = Steps { program, flow, kept: !loaded, rows: Vec::new() };
        let start = steps.part(main, 0, Ahead::default(), 0);
        steps.kept |= steps.before(&start).used;
        let cut = steps.follow(start, most);
        Schedule { lanes, lanes_left_out, rows: steps.rows, cut }
    }
}

/// The graphs that are shown, and the number of the others.
fn lanes(program: &Program<'_>) -> (Vec<GraphId>, u64) {
    let sorted = |mut graphs: Vec<GraphId>| {
        graphs.sort_unstable();
        graphs.dedup();
        graphs
    };
    let loaded = sorted(program.all_events().filter_map(|(_, _, op)| op.loads_executable()).collect());
    let called = program.all_events().flat_map(|(_, _, op)| op.calls.iter().map(|callee| callee.graph));
    let called = sorted(called.filter(|graph| loaded.binary_search(graph).is_err()).collect());
    let mut lanes = loaded;
    lanes.extend(called);
    let left_out = u64::try_from(lanes.len().saturating_sub(LANES)).unwrap_or(u64::MAX);
    lanes.truncate(LANES);
    (lanes, left_out)
}

impl<'i> Steps<'i> {
    fn part(&self, graph: GraphId, depth: u64, behind: Ahead, running: u64) -> Part<'i> {
        let mut after = behind;
        let event = |(id, op): (OpId, &'i Op)| {
            let step = self.flow.op(op);
            let event = (id, op, step, after);
            after = step.before(after);
            event
        };
        let waiting: Vec<_> = self.program.events(graph).rev().map(event).collect();
        let running = running | self.flow.bit(graph);
        Part { graph, depth, waiting, next_op: 0, running, behind }
    }

    /// What comes next before the rest of a graph.
    fn before(&self, part: &Part<'_>) -> Ahead {
        part.waiting.last().map_or(part.behind, |(_, _, step, after)| step.before(*after))
    }

    /// Adds the rows of a graph and of what it calls. Returns whether there are more rows.
    fn follow(&mut self, start: Part<'i>, most: usize) -> bool {
        let mut tasks = vec![Task::Continue(start)];
        while let Some(task) = tasks.pop() {
            if self.rows.len() >= most {
                return true;
            }
            let mut part = match task {
                Task::Enter(graph, depth, behind, running) => self.part(graph, depth, behind, running),
                Task::Continue(part) => part,
            };
            let Some((id, op, step, after)) = part.waiting.pop() else {
                let ops = self.program.ir.graph(part.graph).map_or(0, |graph| graph.ops.len());
                self.add_others(&part, ops, part.behind.used);
                continue;
            };
            let before = step.before(after).used;
            self.add_others(&part, id.index(), before);
            self.add_op(&part, (id, op), before | after.used);
            part.next_op = id.index().saturating_add(1);
            let (depth, running) = (part.depth.saturating_add(1), part.running);
            tasks.push(Task::Continue(part));
            let called: Vec<_> = self.flow.behind_calls(op, after).collect();
            let called = called.into_iter().rev().filter(|(callee, _)| self.flow.changes_inside(*callee));
            tasks.extend(called.map(|(callee, behind)| Task::Enter(callee, depth, behind, running)));
        }
        false
    }

    /// Adds ops that neither call nor load, up to an op.
    fn add_others(&mut self, part: &Part<'_>, to: usize, live: u64) {
        let ops = u64::try_from(to.saturating_sub(part.next_op)).unwrap_or(u64::MAX);
        if ops == 0 {
            return;
        }
        let cells = self.cells(live | part.running, |_| None);
        self.rows.push(ScheduleRow { depth: part.depth, graph: part.graph, op: None, ops, cells });
    }

    fn add_op(&mut self, part: &Part<'_>, (id, op): (OpId, &Op), live: u64) {
        let loads = op.loads_executable();
        let cells = self.cells(live | part.running, |lane| {
            let called = op.calls.called().any(|callee| callee.graph == lane);
            if called { Some(Cell::Call) } else { (loads == Some(lane)).then_some(Cell::Load) }
        });
        let (depth, graph) = (part.depth, part.graph);
        self.rows.push(ScheduleRow { depth, graph, op: Some(id), ops: 1, cells });
    }

    fn cells(&self, live: u64, event: impl Fn(GraphId) -> Option<Cell>) -> Vec<Cell> {
        let cell = |lane: &GraphId| {
            let bit = self.flow.bit(*lane);
            event(*lane).unwrap_or(match (live & bit != 0, self.kept & bit != 0) {
                (true, _) => Cell::Live,
                (false, true) => Cell::Kept,
                (false, false) => Cell::Dead,
            })
        };
        self.flow.lanes.iter().map(cell).collect()
    }
}
