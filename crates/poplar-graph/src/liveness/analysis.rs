//! Follows the code of all graphs through a program.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Ahead, Flow, LANES, Program, Step};
use super::order::{Budget, Needs, Ordered, Touch};
use super::{Border, CodeLiveness, CodeState, Finding, FindingId, GraphCode, Span, Unknown};
use crate::table::Table;
use crate::{CallGraph, Calls, GraphId, Ir, Op, OpId, Order};

/// The maximum number of findings that are kept.
const MAX_FINDINGS: usize = 10_000;
/// The maximum number of spans that are kept, of all graphs together.
const MAX_SPANS: usize = 1 << 18;
/// The maximum number of times that an op is looked at for 64 graphs, about 0.1 µs each. Further graphs are not followed.
const MAX_WORK: usize = 1 << 27;

pub(super) struct Analysis<'i> {
    program: Program<'i>,
    /// All graphs that are called or loaded.
    codes: BTreeMap<GraphId, GraphCode>,
    findings: Vec<Finding>,
    findings_left_out: u64,
    spans: usize,
    /// Graphs whose loads and calls have no order.
    unordered: BTreeSet<GraphId>,
}

/// An op, and what comes next on the paths before and after it.
struct Place<'i> {
    id: OpId,
    op: &'i Op,
    step: Step,
    before: Ahead,
    after: Ahead,
}

/// What reaches a graph from all its callers.
struct Reaching {
    /// What comes next after the graph.
    behind: Table<Ahead>,
    /// The graphs that run while the graph runs, including itself.
    running: Table<u64>,
    /// The graphs that may not have been loaded since the start.
    unloaded: Table<u64>,
}

impl<'i> Analysis<'i> {
    pub(super) fn new(ir: &'i Ir, calls: &CallGraph) -> Self {
        let program = Program::new(ir, calls);
        let mut codes = BTreeMap::new();
        let code = |graph| GraphCode {
            graph,
            state: CodeState::NeverLoaded,
            loads: 0,
            calls: 0,
            spans: Vec::new(),
            spans_left_out: 0,
        };
        for (_, _, op) in program.all_events() {
            let mut count = |graph, loads: u64, calls: u64| {
                let code = codes.entry(graph).or_insert_with(|| code(graph));
                code.loads = code.loads.saturating_add(loads);
                code.calls = code.calls.saturating_add(calls);
            };
            op.loads_executable().into_iter().for_each(|graph| count(graph, 1, 0));
            op.calls.called().for_each(|callee| count(callee.graph, 0, 1));
        }
        let (findings, unordered) = (Vec::new(), BTreeSet::new());
        Analysis { program, codes, findings, findings_left_out: 0, spans: 0, unordered }
    }

    pub(super) fn run(mut self, unknown: Option<Unknown>) -> CodeLiveness {
        let loaded: Vec<GraphId> = self.codes.values().filter(|code| code.loads > 0).map(|code| code.graph).collect();
        if unknown.is_some() {
            loaded.iter().for_each(|graph| self.set_state(*graph, CodeState::Unknown));
        } else {
            self.find_buffers();
            self.follow_all(&loaded);
        }
        self.findings.sort_by_key(|finding| (finding.within, finding.op, finding.id, finding.graph));
        CodeLiveness {
            unknown,
            graphs: self.codes.into_values().collect(),
            findings: self.findings,
            findings_left_out: self.findings_left_out,
        }
    }

    fn follow_all(&mut self, loaded: &[GraphId]) {
        let events = self.program.all_events().count().max(1);
        let affordable = MAX_WORK.checked_div(events).unwrap_or_default().max(1).saturating_mul(LANES);
        let (followed, rest) = loaded.split_at(affordable.min(loaded.len()));
        rest.iter().for_each(|graph| self.set_state(*graph, CodeState::Unknown));
        let ordered = self.ordered_graphs(loaded);
        let mut budget = Budget::new();
        for lanes in followed.chunks(LANES) {
            let flow = Flow::new(&self.program, lanes);
            self.check_order(&flow, &ordered, &mut budget);
            self.follow(&flow);
        }
        self.find_merges(&ordered);
    }

    /// Follows the code of some graphs.
    fn follow(&mut self, flow: &Flow) {
        let len = self.program.ir.graphs().len();
        let mut reaching = Reaching { behind: Table::new(len), running: Table::new(len), unloaded: Table::new(len) };
        let main = self.program.ir.main();
        main.iter().for_each(|main| reaching.unloaded.set(main.index(), !0));
        let mut at_start = 0;
        for graph in self.program.order.clone() {
            if !flow.changes_inside(graph) {
                continue;
            }
            let places = self.places(flow, graph, reaching.behind.get(graph.index()));
            self.reach_callees(flow, &mut reaching, graph, &places);
            let behind = reaching.behind.get(graph.index());
            let first = places.first().map_or(behind, |place| place.before);
            if Some(graph) == main {
                at_start = first.used;
            }
            let shown = if Some(graph) == main { !0 } else { touched_here(flow, &places) };
            // The code of a graph is live as long as the graph runs.
            let running = reaching.running.get(graph.index()) & shown;
            for lane in flow.graphs(running) {
                self.add_span(lane, Span { within: graph, from: Border::Edge, to: Border::Edge });
            }
            let shown = shown & !running;
            self.find_spans(flow, graph, &places, (first.used, behind.used), shown);
            self.find_odd(flow, &reaching, graph, &places);
        }
        for &lane in &flow.lanes {
            let state = match self.codes.get(&lane) {
                Some(code) if code.calls == 0 => CodeState::NeverCalled,
                _ if self.unordered.contains(&lane) => CodeState::OrderUndefined,
                _ if at_start & flow.bit(lane) != 0 => CodeState::CallWithoutLoad,
                _ => CodeState::Loaded,
            };
            self.set_state(lane, state);
        }
    }

    /// The ops of a graph that call or load followed graphs, in order.
    fn places(&self, flow: &Flow, graph: GraphId, behind: Ahead) -> Vec<Place<'i>> {
        let mut after = behind;
        let place = |(id, op): (OpId, &'i Op)| {
            let step = flow.op(op);
            let place = Place { id, op, step, before: step.before(after), after };
            after = place.before;
            place
        };
        let mut places: Vec<_> = self.program.events(graph).rev().map(place).collect();
        places.reverse();
        places
    }

    /// Tells the graphs that a graph calls what comes before and after these calls.
    fn reach_callees(&self, flow: &Flow, reaching: &mut Reaching, graph: GraphId, places: &[Place<'_>]) {
        let running = reaching.running.get(graph.index()) | flow.bit(graph);
        reaching.running.set(graph.index(), running);
        let mut unloaded = reaching.unloaded.get(graph.index());
        for place in places {
            for (callee, behind) in flow.behind_calls(place.op, place.after) {
                let at = callee.index();
                reaching.behind.change(at, |known| *known = known.or(behind));
                reaching.running.change(at, |known| *known |= running);
                reaching.unloaded.change(at, |known| *known |= unloaded);
            }
            unloaded &= place.step.unloaded;
        }
    }

    /// Finds where code is live in a graph.
    fn find_spans(&mut self, flow: &Flow, graph: GraphId, places: &[Place<'_>], edges: (u64, u64), shown: u64) {
        let mut open: BTreeMap<GraphId, Border> = BTreeMap::new();
        let mut left_out = Counts::default();
        open.extend(flow.graphs(edges.0 & shown).map(|lane| (lane, Border::Edge)));
        for place in places {
            let (before, after, step) = (place.before.used, place.after.used, place.step);
            // Code that is live before and after the op, but loaded in between, is not live for a moment.
            let gap = before & after & step.loads;
            let ends = before & (!after | gap);
            let begins = after & (!before | gap);
            let inside = !before & !after & step.uses;
            let changes = (ends | begins | inside) & shown;
            if self.spans >= MAX_SPANS {
                // Each span has one end. Spans that are still open here are counted at the end.
                left_out.add(ends & shown);
                left_out.add(inside & shown);
                open.retain(|lane, _| ends & flow.bit(*lane) == 0);
                open.extend(flow.graphs(begins & shown).map(|lane| (lane, Border::Inside(place.id))));
                continue;
            }
            for lane in flow.graphs(changes) {
                let bit = flow.bit(lane);
                let called = place.op.calls.iter().any(|callee| callee.graph == lane);
                let here = if called { Border::Call(place.id) } else { Border::Inside(place.id) };
                if ends & bit != 0 {
                    let from = open.remove(&lane).unwrap_or(Border::Edge);
                    self.add_span(lane, Span { within: graph, from, to: here });
                }
                if inside & bit != 0 {
                    let inside = Border::Inside(place.id);
                    self.add_span(lane, Span { within: graph, from: inside, to: inside });
                }
                if begins & bit != 0 {
                    let loads = place.op.loads_executable() == Some(lane);
                    let from = if loads { Border::Load(place.id) } else { Border::Inside(place.id) };
                    open.insert(lane, from);
                }
            }
        }
        for (lane, from) in open {
            self.add_span(lane, Span { within: graph, from, to: Border::Edge });
        }
        for (bit, lane) in (0_u32..).zip(&flow.lanes) {
            if let Some(code) = self.codes.get_mut(lane) {
                code.spans_left_out = code.spans_left_out.saturating_add(left_out.count(bit));
            }
        }
    }

    fn add_span(&mut self, lane: GraphId, span: Span) {
        let Some(code) = self.codes.get_mut(&lane) else { return };
        if self.spans < MAX_SPANS {
            self.spans = self.spans.saturating_add(1);
            code.spans.push(span);
        } else {
            code.spans_left_out = code.spans_left_out.saturating_add(1);
        }
    }

    /// Finds loads and calls of a graph that are probably mistakes.
    fn find_odd(&mut self, flow: &Flow, reaching: &Reaching, graph: GraphId, places: &[Place<'_>]) {
        let running = reaching.running.get(graph.index());
        let mut unloaded = reaching.unloaded.get(graph.index());
        for place in places {
            let load = place.op.loads_executable().map_or(0, |graph| flow.bit(graph));
            let calls = place.op.calls.called().map(|callee| flow.bit(callee.graph)).fold(0, |all, bit| all | bit);
            let dead = load & !place.after.used;
            let found = [
                (FindingId::CallWithoutLoad, calls & unloaded),
                (FindingId::LoadWhileRunning, load & running),
                (FindingId::LoadSuperseded, dead & place.after.loaded),
                (FindingId::LoadWithoutCall, dead & !place.after.loaded),
                (FindingId::LoadInSomeBranches, loaded_in_some_branches(flow, place)),
            ];
            for (id, bits) in found {
                for lane in flow.graphs(bits) {
                    self.find(Finding { id, graph: lane, within: graph, op: place.id, other: None });
                }
            }
            unloaded &= place.step.unloaded;
        }
    }

    fn find(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.findings_left_out = self.findings_left_out.saturating_add(1);
        }
    }

    fn find_buffers(&mut self) {
        for graph in self.program.order.clone() {
            let Some(body) = self.program.ir.graph(graph) else { continue };
            for (op, value) in body.op_ids() {
                if let (Some(load), None) = (value.loads, value.loads_executable()) {
                    let id = FindingId::NotExecutable;
                    self.find(Finding { id, graph: load.graph, within: graph, op, other: None });
                }
            }
        }
    }

    /// The graphs in which the order of all loads and calls of some graphs is known. The others need a closer look.
    fn ordered_graphs(&self, loaded: &[GraphId]) -> Table<bool> {
        let ir = self.program.ir;
        let mut touches = Table::new(ir.graphs().len());
        loaded.iter().for_each(|graph| touches.set(graph.index(), true));
        // From callees to callers: what a graph calls or loads touches code, and so does the graph.
        for &graph in self.program.order.iter().rev() {
            if self.program.events(graph).any(|(_, op)| touched(&touches, op)) {
                touches.set(graph.index(), true);
            }
        }
        let mut ordered = Table::new(ir.graphs().len());
        for &graph in &self.program.order {
            let chained = || {
                let ops = self.program.events(graph).filter(|(_, op)| touched(&touches, op)).map(|(id, _)| id);
                ir.graph(graph).is_some_and(|body| Needs::new(body).are_a_chain(ops))
            };
            ordered.set(graph.index(), ir.order() == Order::Schedule || chained());
        }
        ordered
    }

    /// Finds loads and calls in any order.
    fn check_order(&mut self, flow: &Flow, ordered: &Table<bool>, budget: &mut Budget) {
        for graph in self.program.order.clone() {
            let Some(body) = self.program.ir.graph(graph).filter(|_| !ordered.get(graph.index())) else { continue };
            let steps: Vec<_> = self.program.events(graph).map(|(id, op)| (id, flow.op(op))).collect();
            // Finding the needs, and looking at each step for each lane, counts too.
            let affordable = budget.take(body.ops.len().saturating_add(steps.len().saturating_mul(flow.lanes.len())));
            let needs = Needs::new(body);
            for &lane in &flow.lanes {
                let bit = flow.bit(lane);
                let result =
                    if affordable { needs.are_ordered(&touches(&steps, bit), budget) } else { Ordered::NotChecked };
                let (id, op, other) = match result {
                    Ordered::Yes => continue,
                    Ordered::No(other, op) => (FindingId::OrderUndefined, op, Some(other)),
                    Ordered::NotChecked => {
                        let first = steps.iter().find(|(_, step)| (step.uses | step.loads) & bit != 0);
                        let Some((first, _)) = first else { continue };
                        (FindingId::OrderNotChecked, *first, None)
                    }
                };
                self.unordered.insert(lane);
                self.find(Finding { id, graph: lane, within: graph, op, other });
            }
        }
    }

    /// Finds loads that Poplar can merge, and loads that it could merge if they followed each other.
    fn find_merges(&mut self, ordered: &Table<bool>) {
        for graph in self.program.order.clone() {
            if !ordered.get(graph.index()) {
                continue;
            }
            let events: Vec<_> = self.program.events(graph).collect();
            let loads = |at: usize| events.get(at).and_then(|(id, op)| Some((*id, op.loads_executable()?)));
            for at in 1..events.len() {
                let Some((op, loaded)) = loads(at) else { continue };
                let Some((other, before)) = at.checked_sub(1).and_then(loads) else { continue };
                if loaded == before {
                    continue;
                }
                let adjacent = op.index().checked_sub(1) == Some(other.index());
                let id = if adjacent { FindingId::LoadsMerged } else { FindingId::LoadsMergeable };
                self.find(Finding { id, graph: loaded, within: graph, op, other: Some(other) });
            }
        }
    }

    fn set_state(&mut self, graph: GraphId, state: CodeState) {
        if let Some(code) = self.codes.get_mut(&graph) {
            code.state = state;
        }
    }
}

/// The steps that load or call a graph.
fn touches(steps: &[(OpId, Step)], bit: u64) -> Vec<Touch> {
    let touch =
        |(op, step): &(OpId, Step)| Touch { op: *op, loads: step.loads & bit != 0, calls: step.uses & bit != 0 };
    steps.iter().map(touch).filter(|touch| touch.loads || touch.calls).collect()
}

/// How often each bit was set in the words that were added. They are 64 numbers side by side: the first word has their lowest bits.
#[derive(Default)]
struct Counts(Vec<u64>);

impl Counts {
    fn add(&mut self, bits: u64) {
        let mut carry = bits;
        for word in &mut self.0 {
            (*word, carry) = (*word ^ carry, *word & carry);
            if carry == 0 {
                return;
            }
        }
        if carry != 0 {
            self.0.push(carry);
        }
    }

    fn count(&self, bit: u32) -> u64 {
        let digit = |word: &u64| word.checked_shr(bit).unwrap_or_default() & 1;
        self.0.iter().rev().fold(0, |count, word| (count << 1) | digit(word))
    }
}

/// The followed graphs that ops themselves call or load.
fn touched_here(flow: &Flow, places: &[Place<'_>]) -> u64 {
    let of = |place: &Place<'_>| {
        let load = place.op.loads_executable().map_or(0, |graph| flow.bit(graph));
        place.op.calls.called().fold(load, |all, callee| all | flow.bit(callee.graph))
    };
    places.iter().fold(0, |all, place| all | of(place))
}

/// Whether an op calls or loads one of some graphs.
fn touched(graphs: &Table<bool>, op: &Op) -> bool {
    let loaded = op.loads_executable().into_iter();
    loaded.chain(op.calls.iter().map(|callee| callee.graph)).any(|graph| graphs.get(graph.index()))
}

/// The graphs that some branches of an op load on all paths and others do not load, and that are called after it.
fn loaded_in_some_branches(flow: &Flow, place: &Place<'_>) -> u64 {
    let Calls::OneOf(branches) = &place.op.calls else { return 0 };
    let steps = || branches.iter().map(|branch| flow.call(*branch));
    let load = steps().fold(0, |all, step| all | (step.loads & !step.unloaded));
    let pass = steps().fold(0, |all, step| all | step.passed);
    load & pass & place.after.used
}
