use std::collections::BTreeMap;

use crate::table::{Edges, Table};
use crate::{Callee, GraphId, Ir, OpId, Times};

/// Who calls whom, and how often.
///
/// It takes time and memory for each call op, not for each chain of calls: chains are counted without listing them.
///
/// ```
/// use poplar_graph::{CallGraph, Calls, Graph, GraphId, Ir, Op, Order, Times};
///
/// let mut main = Graph::new("main");
/// let mut op = Op::new("Loop");
/// op.calls = Calls::Repeat(GraphId(1), Some(3));
/// main.ops = vec![op.clone(), op];
/// let graphs = vec![main, Graph::new("body"), Graph::new("forgotten")];
/// let ir = Ir::new(graphs, Some(GraphId(0)), Order::Schedule)?;
///
/// let calls = CallGraph::new(&ir);
/// assert_eq!(calls.of(GraphId(1)).runs, Times { least: 6, most: Some(6) });
/// assert_eq!(calls.of(GraphId(1)).paths, Some(2));
/// assert_eq!(calls.unused, [GraphId(2)]);
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CallGraph {
    /// Where the program begins: its main graph. If that is unknown, all graphs that no graph calls.
    pub roots: Vec<GraphId>,
    /// All calls, by caller and op.
    pub sites: Vec<CallSite>,
    /// The calls of each graph, by its id.
    pub graphs: Vec<Called>,
    /// Graphs that the program never calls.
    pub unused: Vec<GraphId>,
    /// Graphs that call themselves, in groups that call each other.
    pub recursive: Vec<Vec<GraphId>>,
}

/// An op that calls a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CallSite {
    /// The graph with the op.
    pub caller: GraphId,
    /// The op.
    pub op: OpId,
    /// The graph that it calls.
    pub callee: GraphId,
    /// How many times one run of the op calls it.
    pub times: Times,
}

/// How a graph is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Called {
    /// The number of ops that call it, also in graphs that are unused.
    pub sites: u64,
    /// How many times it runs in one run of the program.
    pub runs: Times,
    /// The number of different chains of call ops from the start to it, at most `u64::MAX`. `None` if their number has no limit.
    pub paths: Option<u64>,
    /// The number of calls in the longest chain. `None` if it has no end, or if the graph is unused.
    pub depth: Option<u64>,
}

/// A row of [`CallGraph::tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CallRow {
    /// How deep it is; a root has 0.
    pub depth: u64,
    /// The graph.
    pub graph: GraphId,
    /// The number of ops of the caller that call it; a root has 0.
    pub sites: u64,
    /// How many times one run of the caller calls it.
    pub times: Times,
    /// Whether its own calls are in an earlier row of the same graph, and not below this one.
    pub repeated: bool,
}

impl CallGraph {
    /// The calls of a program.
    #[must_use]
    pub fn new(ir: &Ir) -> Self {
        let sites = sites(ir);
        let len = ir.graphs().len();
        let edges = Edges::new(len, sites.iter().map(|site| (site.caller.index(), site.callee.index())));
        let roots = roots(ir, &sites);
        let mut counts = Counts::new(len, &roots, &sites);
        let mut recursive = Vec::new();
        for group in edges.components() {
            let calls_itself = group.len() > 1 || group.iter().any(|node| edges.from(*node).contains(node));
            if calls_itself {
                counts.make_endless(&group);
                recursive.push(sorted(group.iter().copied()));
            }
            // Callers come first, so that the counts of a caller are complete.
            group.iter().for_each(|caller| counts.count_calls(*caller, calls_itself));
        }
        recursive.sort_unstable();
        let unused = sorted((0..len).filter(|graph| !counts.reached.get(*graph)));
        CallGraph { roots, graphs: counts.graphs.into_vec(), unused, recursive, sites }
    }

    /// Returns how a graph is called.
    #[must_use]
    pub fn of(&self, graph: GraphId) -> Called {
        self.graphs.get(graph.index()).copied().unwrap_or_default()
    }

    /// The call ops of a graph.
    #[must_use]
    pub fn sites_of(&self, caller: GraphId) -> &[CallSite] {
        sites_of(&self.sites, caller)
    }

    /// The calls as a tree, callers first. Ops of a graph that call the same graph are one row. The calls of a graph are below its
    /// first row only, so there are never more rows than calls and roots.
    #[must_use]
    pub fn tree(&self) -> Vec<CallRow> {
        let mut expanded = Table::new(self.graphs.len());
        let mut rows = Vec::new();
        let root = |graph: &GraphId| CallRow { depth: 0, graph: *graph, sites: 0, times: Times::ONCE, repeated: false };
        let mut waiting: Vec<_> = self.roots.iter().rev().map(root).collect();
        while let Some(mut row) = waiting.pop() {
            let has_calls = !self.sites_of(row.graph).is_empty();
            row.repeated = has_calls && expanded.get(row.graph.index());
            rows.push(row);
            if !row.repeated {
                expanded.set(row.graph.index(), true);
                waiting.extend(self.callees(&row).into_iter().rev());
            }
        }
        rows
    }

    /// The rows below a row, in the order of their first ops.
    fn callees(&self, caller: &CallRow) -> Vec<CallRow> {
        let mut places: BTreeMap<GraphId, usize> = BTreeMap::new();
        let mut rows: Vec<CallRow> = Vec::new();
        for site in self.sites_of(caller.graph) {
            let place = *places.entry(site.callee).or_insert(rows.len());
            match rows.get_mut(place) {
                Some(row) => {
                    row.sites = row.sites.saturating_add(1);
                    row.times = row.times.plus(site.times);
                }
                None => rows.push(CallRow {
                    depth: caller.depth.saturating_add(1),
                    graph: site.callee,
                    sites: 1,
                    times: site.times,
                    repeated: false,
                }),
            }
        }
        rows
    }
}

/// Counts that pass from callers to callees.
struct Counts<'s> {
    sites: &'s [CallSite],
    graphs: Table<Called>,
    reached: Table<bool>,
}

impl<'s> Counts<'s> {
    fn new(len: usize, roots: &[GraphId], sites: &'s [CallSite]) -> Self {
        let none = Called { sites: 0, runs: Times::NEVER, paths: Some(0), depth: None };
        let mut graphs: Table<Called> = Table::new(len);
        (0..len).for_each(|graph| graphs.set(graph, none));
        for site in sites {
            graphs.change(site.callee.index(), |called| called.sites = called.sites.saturating_add(1));
        }
        let mut reached = Table::new(len);
        for root in roots {
            reached.set(root.index(), true);
            graphs.change(root.index(), |called| {
                (called.runs, called.paths, called.depth) = (Times::ONCE, Some(1), Some(0));
            });
        }
        Counts { sites, graphs, reached }
    }

    /// Nobody knows how often graphs that call each other run, if they run at all.
    fn make_endless(&mut self, group: &[usize]) {
        let reached = group.iter().any(|graph| self.reached.get(*graph));
        if !reached {
            return;
        }
        for &graph in group {
            self.reached.set(graph, true);
            self.graphs.change(graph, |called| {
                (called.runs, called.paths, called.depth) = (Times { least: 0, most: None }, None, None);
            });
        }
    }

    fn count_calls(&mut self, caller: usize, endless: bool) {
        let Some(id) = GraphId::of(caller).filter(|_| self.reached.get(caller)) else { return };
        let from = self.graphs.get(caller);
        for site in sites_of(self.sites, id) {
            let callee = site.callee.index();
            let first = !self.reached.get(callee);
            self.reached.set(callee, true);
            self.graphs.change(callee, |called| {
                called.runs = called.runs.plus(from.runs.times(site.times));
                called.paths = called.paths.zip(from.paths).map(|(ours, theirs)| ours.saturating_add(theirs));
                let deeper = from.depth.map(|depth| depth.saturating_add(1)).filter(|_| !endless);
                called.depth = if first { deeper } else { called.depth.zip(deeper).map(|(old, new)| old.max(new)) };
            });
        }
    }
}

fn sites(ir: &Ir) -> Vec<CallSite> {
    let mut sites = Vec::new();
    for (caller, graph) in ir.graph_ids() {
        for (op, value) in graph.op_ids() {
            let site = |Callee { graph: callee, times }| CallSite { caller, op, callee, times };
            sites.extend(value.calls.iter().map(site));
        }
    }
    sites
}

fn sites_of(sites: &[CallSite], caller: GraphId) -> &[CallSite] {
    let begin = sites.partition_point(|site| site.caller < caller);
    let end = sites.partition_point(|site| site.caller <= caller);
    sites.get(begin..end).unwrap_or_default()
}

fn roots(ir: &Ir, sites: &[CallSite]) -> Vec<GraphId> {
    if let Some(main) = ir.main() {
        return vec![main];
    }
    let mut called = Table::new(ir.graphs().len());
    sites.iter().filter(|site| site.caller != site.callee).for_each(|site| called.set(site.callee.index(), true));
    ir.graph_ids().map(|(id, _)| id).filter(|id| !called.get(id.index())).collect()
}

fn sorted(graphs: impl Iterator<Item = usize>) -> Vec<GraphId> {
    let mut graphs: Vec<_> = graphs.filter_map(GraphId::of).collect();
    graphs.sort_unstable();
    graphs
}
