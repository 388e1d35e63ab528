//! Liveness against an enumeration of all paths through random programs, and of all orders of ops.

use std::collections::{BTreeMap, BTreeSet};

use poplar_graph::{
    Border, Callee, Calls, CodeLiveness, CodeLoad, CodeLocation, CodeState, FindingId, Graph, GraphId, Ir, Op, OpId,
    Order,
};
use proptest::prelude::*;

use crate::random::programs;

/// What happens on a path, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    /// The point before an op, or after the last one.
    Before(usize, usize),
    /// The op loads a graph.
    Load(usize, usize, usize),
    /// The op begins to call a graph.
    Use(usize, usize, usize),
    /// The graph ends.
    End(usize),
}

type Path = Vec<Item>;

/// The maximum number of paths of a program.
const MOST: usize = 3000;

/// All paths through a graph. Nothing if there are too many.
fn paths(ir: &Ir, graph: usize) -> Option<Vec<Path>> {
    let ops = &ir.graphs()[graph].ops;
    let mut all: Vec<Path> = vec![vec![]];
    for (at, op) in ops.iter().enumerate() {
        let mut choices: Vec<Path> = vec![];
        let call = |callee: &GraphId| {
            let begin = Item::Use(callee.index(), graph, at);
            let inner = paths(ir, callee.index())?;
            Some(inner.into_iter().map(|path| [vec![begin], path, vec![Item::End(callee.index())]].concat()).collect())
        };
        match &op.calls {
            Calls::Once(callee) => choices = call(callee)?,
            Calls::Repeat(callee, times) => {
                let once: Vec<Path> = call(callee)?;
                for times in times.map_or(0..=2, |times| times..=times) {
                    choices.extend((0..times).try_fold(vec![vec![]], |all, _| product(&all, &once))?);
                }
            }
            Calls::OneOf(callees) => {
                for callee in callees {
                    choices.extend::<Vec<Path>>(call(callee)?);
                }
            }
            _ => choices.push(op.loads.map(|load| Item::Load(load.graph.index(), graph, at)).into_iter().collect()),
        }
        let choices: Vec<Path> =
            choices.into_iter().map(|path| [vec![Item::Before(graph, at)], path].concat()).collect();
        all = product(&all, &choices)?;
    }
    all.iter_mut().for_each(|path| path.push(Item::Before(graph, ops.len())));
    Some(all)
}

fn product(left: &[Path], right: &[Path]) -> Option<Vec<Path>> {
    (left.len() * right.len() <= MOST)
        .then(|| left.iter().flat_map(|a| right.iter().map(|b| [&a[..], &b[..]].concat())).collect())
}

/// Whether the code of a graph is live before each item of a path, and after the last one.
fn live(path: &Path, graph: usize) -> Vec<bool> {
    let mut live = vec![false; path.len() + 1];
    for at in 0..path.len() {
        let next = path[at..].iter().find(|item| matches!(item, Item::Use(g, ..) | Item::Load(g, ..) if *g == graph));
        live[at] = matches!(next, Some(Item::Use(..)));
    }
    let mut running = 0;
    for (at, item) in path.iter().enumerate() {
        live[at] |= running > 0;
        match item {
            Item::Use(g, ..) if *g == graph => running += 1,
            Item::End(g) if *g == graph => running -= 1,
            _ => {}
        }
    }
    live
}

#[derive(Default, Debug, PartialEq)]
struct Expected {
    /// Points before ops, and ops, at which the code is live on some path.
    before: BTreeSet<(usize, usize)>,
    during: BTreeSet<(usize, usize)>,
}

fn expected(all: &[Path], graph: usize) -> Expected {
    let mut expected = Expected::default();
    for path in all {
        let live = live(path, graph);
        // Where the op of each graph that runs has begun. No graph runs inside of itself.
        let mut begun: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (at, item) in path.iter().enumerate() {
            let Item::Before(body, op) = *item else { continue };
            if live[at] {
                expected.before.insert((body, op));
            }
            let last = begun.insert(body, (op, at)).filter(|(last, _)| *last < op);
            if let Some((last, _)) = last.filter(|(_, from)| live[*from..=at].contains(&true)) {
                expected.during.insert((body, last));
            }
        }
    }
    expected
}

/// The same, from the library's spans.
fn told(ir: &Ir, liveness: &CodeLiveness, graph: usize) -> Expected {
    let mut told = Expected::default();
    for span in &liveness.code(GraphId(graph as u32)).unwrap().spans {
        let body = span.within.index();
        let ops = ir.graphs()[body].ops.len();
        let (from, first) = match span.from {
            Border::Edge => (0, 0),
            Border::Load(op) | Border::Call(op) | Border::Inside(op) => (op.index() + 1, op.index()),
        };
        let (to, last) = match span.to {
            Border::Edge => (ops + 1, ops),
            Border::Load(op) | Border::Call(op) | Border::Inside(op) => (op.index() + 1, op.index() + 1),
        };
        told.before.extend((from..to).map(|op| (body, op)));
        told.during.extend((first..last).map(|op| (body, op)));
    }
    told
}

/// The loads and calls of a graph that some path has, each with what the library should find.
fn expected_findings(all: &[Path], graph: usize) -> BTreeSet<(FindingId, usize, usize)> {
    let mut found = BTreeSet::new();
    let mut loads: BTreeMap<(usize, usize), BTreeSet<Option<bool>>> = BTreeMap::new();
    for path in all {
        let mut running = 0;
        let mut loaded = false;
        for (at, item) in path.iter().enumerate() {
            match *item {
                Item::Use(g, body, op) if g == graph => {
                    running += 1;
                    if !loaded {
                        found.insert((FindingId::CallWithoutLoad, body, op));
                    }
                }
                Item::Load(g, body, op) if g == graph => {
                    loaded = true;
                    if running > 0 {
                        found.insert((FindingId::LoadWhileRunning, body, op));
                    }
                    let mut rest = path[at + 1..].iter();
                    let next = rest.find_map(|item| match item {
                        Item::Use(g, ..) if *g == graph => Some(true),
                        Item::Load(g, ..) if *g == graph => Some(false),
                        _ => None,
                    });
                    loads.entry((body, op)).or_default().insert(next);
                }
                Item::End(g) if g == graph => running -= 1,
                _ => {}
            }
        }
    }
    for ((body, op), next) in loads {
        if next.contains(&Some(false)) && !next.contains(&Some(true)) {
            found.insert((FindingId::LoadSuperseded, body, op));
        } else if next == BTreeSet::from([None]) {
            found.insert((FindingId::LoadWithoutCall, body, op));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn liveness_is_that_of_all_paths(ir in programs(5, 4, Order::Schedule)) {
        let all = paths(&ir, 0);
        prop_assume!(all.is_some());
        let all = all.unwrap();
        let liveness = CodeLiveness::new(&ir);
        for code in liveness.graphs.iter().filter(|code| code.loads > 0) {
            let graph = code.graph.index();
            let expected = expected(&all, graph);
            let told = told(&ir, &liveness, graph);
            // Spans are in the main graph, and where the code is itself called, at least once, or loaded.
            let touches = |body: usize| body == 0 || ir.graphs()[body].ops.iter().any(|op| {
                let is_called = |callee: Callee| callee.graph == code.graph && callee.times.most != Some(0);
                op.loads.is_some_and(|load| load.graph == code.graph) || op.calls.iter().any(is_called)
            });
            let shown = |points: BTreeSet<(usize, usize)>| points.into_iter().filter(|point| touches(point.0)).collect::<BTreeSet<_>>();
            prop_assert_eq!(told.before, shown(expected.before), "before ops, graph {}", graph);
            prop_assert_eq!(told.during, shown(expected.during), "during ops, graph {}", graph);

            let judged = [FindingId::CallWithoutLoad, FindingId::LoadWhileRunning, FindingId::LoadSuperseded, FindingId::LoadWithoutCall];
            let found: BTreeSet<_> = liveness.findings.iter()
                .filter(|finding| finding.graph == code.graph && judged.contains(&finding.id))
                .map(|finding| (finding.id, finding.within.index(), finding.op.index()))
                .collect();
            let expected = expected_findings(&all, graph);
            let uncovered = expected.iter().any(|finding| finding.0 == FindingId::CallWithoutLoad);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(code.state == CodeState::CallWithoutLoad, uncovered);
        }
    }
}

/// All orders of ops in which each comes after those that it needs.
fn orders(after: &[Vec<usize>], done: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if done.len() == after.len() {
        found.push(done.clone());
    }
    for op in 0..after.len() {
        if !done.contains(&op) && after[op].iter().all(|need| done.contains(need)) {
            done.push(op);
            orders(after, done, found);
            done.pop();
        }
    }
}

proptest! {
    #[test]
    fn undefined_order_is_that_of_all_orders(
        steps in prop::collection::vec((any::<bool>(), 1_u32..3, prop::collection::vec(any::<bool>(), 7)), 1..7)
    ) {
        let after: Vec<Vec<usize>> = steps.iter().enumerate().map(|(at, (_, _, needs))| (0..at).filter(|op| needs[*op]).collect()).collect();
        let mut main = Graph::new("main");
        for ((loads, graph, _), after) in steps.iter().zip(&after) {
            let mut op = Op::new("Step");
            if *loads {
                op.loads = Some(CodeLoad { graph: GraphId(*graph), destination: CodeLocation::Executable });
            } else {
                op.calls = Calls::Once(GraphId(*graph));
            }
            op.after = after.iter().map(|op| OpId(*op as u32)).collect();
            main.ops.push(op);
        }
        let ir = Ir::new(vec![main, Graph::new("a"), Graph::new("b")], Some(GraphId(0)), Order::Creation).unwrap();
        let mut found = vec![];
        orders(&after, &mut vec![], &mut found);
        let liveness = CodeLiveness::new(&ir);
        for code in liveness.graphs.iter().filter(|code| code.loads > 0 && code.calls > 0) {
            let of = |op: usize| steps[op].1 == code.graph.0;
            let pairs = || (0..steps.len()).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|(a, b)| of(*a) && of(*b) && steps[*a].0 != steps[*b].0);
            let place = |order: &[usize], op| order.iter().position(|it| *it == op);
            let undefined = pairs().any(|(a, b)| {
                let before: BTreeSet<bool> = found.iter().map(|order| place(order, a) < place(order, b)).collect();
                before.len() == 2
            });
            prop_assert_eq!(code.state == CodeState::OrderUndefined, undefined);
        }
    }
}
