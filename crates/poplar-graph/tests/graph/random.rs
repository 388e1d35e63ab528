//! Random programs.

use poplar_graph::{Calls, CodeLoad, CodeLocation, Graph, GraphId, Ir, Op, Order};
use proptest::prelude::*;

/// A program with this number of graphs, each of which calls and loads only later ones.
pub(crate) fn programs(graphs: u32, ops: usize, order: Order) -> impl Strategy<Value = Ir> {
    let all = (0..graphs).map(|graph| ops_of(graph, graphs, ops)).collect::<Vec<_>>();
    all.prop_map(move |bodies| {
        let graph = |(at, ops): (usize, Vec<Op>)| {
            let mut graph = Graph::new(format!("g{at}"));
            graph.ops = ops;
            graph
        };
        Ir::new(bodies.into_iter().enumerate().map(graph).collect(), Some(GraphId(0)), order).unwrap()
    })
}

fn ops_of(graph: u32, graphs: u32, most: usize) -> BoxedStrategy<Vec<Op>> {
    if graph + 1 == graphs {
        return prop::collection::vec(Just(Op::new("Add")), 0..2).boxed();
    }
    let callee = move || (graph + 1..graphs).prop_map(GraphId);
    let times = prop_oneof![2 => (0_u64..4).prop_map(Some), 1 => Just(None)];
    let calls = prop_oneof![
        3 => callee().prop_map(Calls::Once),
        1 => (callee(), times).prop_map(|(graph, times)| Calls::Repeat(graph, times)),
        1 => prop::collection::vec(callee(), 1..4).prop_map(Calls::OneOf),
    ];
    let calls = calls.prop_map(|calls| {
        let mut op = Op::new("Call");
        op.calls = calls;
        op
    });
    let loads = callee().prop_map(|graph| {
        let mut op = Op::new("RemoteCodeLoad");
        op.loads = Some(CodeLoad { graph, destination: CodeLocation::Executable });
        op
    });
    let op = prop_oneof![3 => calls, 3 => loads, 1 => Just(Op::new("Add"))];
    prop::collection::vec(op, 0..=most).boxed()
}
