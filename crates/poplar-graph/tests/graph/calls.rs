//! Who calls whom: against an enumeration of all chains of calls.

use std::collections::BTreeSet;

use poplar_graph::{CallGraph, Calls, Graph, GraphId, Ir, Op, OpCounts, Order, Times};
use proptest::prelude::*;

use crate::random::programs;

/// The least number of times, and the greatest, if that is known.
type Runs = (u64, Option<u64>);

/// All chains of calls from a graph: the graph at the end of each, its depth, and how often the chain runs.
fn chains(ir: &Ir, graph: GraphId, depth: u64, runs: Runs, found: &mut Vec<(GraphId, u64, Runs)>) {
    found.push((graph, depth, runs));
    for op in &ir.graphs()[graph.index()].ops {
        let (callees, least, most) = match &op.calls {
            Calls::Once(callee) => (vec![*callee], 1, Some(1)),
            Calls::Repeat(callee, times) => (vec![*callee], times.unwrap_or(0), *times),
            Calls::OneOf(callees) if callees.len() == 1 => (callees.clone(), 1, Some(1)),
            Calls::OneOf(callees) => (callees.clone(), 0, Some(1)),
            _ => (vec![], 0, Some(0)),
        };
        for callee in callees {
            let most =
                if runs.1 == Some(0) || most == Some(0) { Some(0) } else { runs.1.zip(most).map(|(a, b)| a * b) };
            chains(ir, callee, depth + 1, (runs.0 * least, most), found);
        }
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_all_chains(ir in programs(6, 4, Order::Schedule)) {
        let calls = CallGraph::new(&ir);
        let mut found = Vec::new();
        chains(&ir, GraphId(0), 0, (1, Some(1)), &mut found);
        let reached: BTreeSet<GraphId> = found.iter().map(|chain| chain.0).collect();
        for (id, _) in ir.graph_ids() {
            let ours = found.iter().filter(|chain| chain.0 == id);
            let least = ours.clone().map(|chain| chain.2.0).sum();
            let most = ours.clone().map(|chain| chain.2.1).sum();
            prop_assert_eq!(calls.of(id).runs, Times { least, most });
            prop_assert_eq!(calls.of(id).paths, Some(ours.clone().count() as u64));
            prop_assert_eq!(calls.of(id).depth, ours.map(|chain| chain.1).max());
            prop_assert_eq!(calls.unused.contains(&id), !reached.contains(&id));
        }
        prop_assert!(calls.recursive.is_empty());
        prop_assert!(calls.tree().len() <= calls.sites.len() + 1);
    }
}

fn calling(name: &str, calls: impl IntoIterator<Item = Calls>) -> Graph {
    let mut graph = Graph::new(name);
    graph.ops = calls
        .into_iter()
        .map(|calls| {
            let mut op = Op::new("Call");
            op.calls = calls;
            op
        })
        .collect();
    graph
}

#[test]
fn recursion_is_found() {
    let once = |graph| Calls::Once(GraphId(graph));
    let graphs = vec![
        calling("main", [once(1)]),
        calling("a", [once(2), once(3)]),
        calling("b", [once(1)]),
        calling("leaf", []),
        calling("alone", [once(4)]),
    ];
    let calls = CallGraph::new(&Ir::new(graphs, Some(GraphId(0)), Order::Unknown).unwrap());
    assert_eq!(calls.recursive, [vec![GraphId(1), GraphId(2)], vec![GraphId(4)]]);
    assert_eq!(calls.unused, [GraphId(4)]);
    for endless in [1, 2, 3] {
        let called = calls.of(GraphId(endless));
        assert_eq!((called.runs, called.paths, called.depth), (Times { least: 0, most: None }, None, None));
    }
    let rows: Vec<_> = calls.tree().iter().map(|row| (row.depth, row.graph.0, row.repeated)).collect();
    assert_eq!(rows, [(0, 0, false), (1, 1, false), (2, 2, false), (3, 1, true), (2, 3, false)]);
}

#[test]
fn wide_and_deep_programs_are_counted() {
    // Each graph calls the next one twice: 2¹⁰⁰⁰⁰ chains.
    let call = |at: u32| [Calls::Once(GraphId(at + 1)), Calls::Once(GraphId(at + 1))];
    let mut graphs: Vec<_> = (0..10_000).map(|at| calling("g", call(at))).collect();
    graphs.push(calling("leaf", []));
    let ir = Ir::new(graphs, Some(GraphId(0)), Order::Schedule).unwrap();
    let calls = CallGraph::new(&ir);
    let leaf = calls.of(GraphId(10_000));
    assert_eq!((leaf.paths, leaf.depth, leaf.sites), (Some(u64::MAX), Some(10_000), 2));
    assert_eq!(calls.of(GraphId(20)).runs, Times { least: 1 << 20, most: Some(1 << 20) });
    assert_eq!(calls.tree().len(), 10_001);
    assert_eq!(OpCounts::new(&ir, &calls).ops, 20_000);
}
