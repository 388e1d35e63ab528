//! Section 9.7 of PopXL's user guide: when code is live. Each example has the liveness that the text states.

use popef::DataType::{Bool, F32};
use poplar_graph::{
    Array, Border, Builder, Calls, CodeLiveness, CodeLoad, CodeLocation, CodeState, Destination, Error, FindingId,
    Graph, GraphId, Inputs, Interpreter, Ir, Op, Order, Schedule, Sequence, Span, TensorRef, Unknown,
};

type Result = std::result::Result<(), Error>;

const MAIN: GraphId = Builder::MAIN;

/// A builder with a variable, and the guide's graph `expensive_id`.
fn expensive_id() -> (Builder, TensorRef, GraphId) {
    let mut ir = Builder::new();
    let x = ir.variable("x", Array::full(&[], F32, 1.0).unwrap()).unwrap();
    let g = ir.create_graph("expensive_id", &[x], |ir, inputs| {
        let once = ir.transpose(inputs[0], None)?;
        ir.transpose(once, None)
    });
    (ir, x, g.unwrap())
}

fn load(ir: &mut Builder, graph: GraphId) -> Result {
    ir.remote_code_load(graph, Destination::Executable)
}

fn other_op(ir: &mut Builder, x: TensorRef) -> Result {
    ir.transpose(x, None).map(drop)
}

/// The liveness of a graph: its state, and its spans in the main graph.
fn live(ir: &Ir, graph: GraphId) -> (CodeState, Vec<String>) {
    let liveness = CodeLiveness::new(ir);
    let code = liveness.code(graph).unwrap();
    let spans = code.spans.iter().filter(|span| span.within == MAIN).map(Span::to_string).collect();
    (code.state, spans)
}

fn findings(ir: &Ir) -> Vec<(FindingId, u32, u32)> {
    let findings = CodeLiveness::new(ir).findings;
    findings.iter().map(|finding| (finding.id, finding.within.0, finding.op.0)).collect()
}

/// 9.7.1: "the code is only live from (2) to (3), whereas without code loading, the code would have been always-live".
#[test]
fn minimal_example() -> Result {
    let program = |loads: bool, mode: Sequence| {
        let (mut ir, x, g) = expensive_id();
        other_op(&mut ir, x)?; // (1) insert many ops ...
        ir.in_sequence(mode, |ir| {
            if loads {
                load(ir, g)?; // (2)
            }
            ir.call(g, [x])?;
            other_op(ir, x)?;
            ir.call(g, [x])?;
            ir.call(g, [x]) // (3)
        })?;
        other_op(&mut ir, x)?;
        Ok::<_, Error>((ir.build()?, g))
    };
    let (ir, g) = program(true, Sequence::Enforced)?;
    assert_eq!(live(&ir, g), (CodeState::Loaded, vec!["from the load at op 1 to the call at op 5".to_owned()]));
    assert_eq!(findings(&ir), []);

    let (ir, g) = program(false, Sequence::Enforced)?;
    let (state, spans) = live(&ir, g);
    assert_eq!((state, state.is_always_live(), spans.len()), (CodeState::NeverLoaded, true, 0));

    // "Failing to use in_sequence results in undefined behaviour with respect to the code liveness."
    let (ir, g) = program(true, Sequence::Free)?;
    assert_eq!(live(&ir, g).0, CodeState::OrderUndefined);
    let liveness = CodeLiveness::new(&ir);
    let finding = &liveness.findings[0];
    assert_eq!((finding.id, finding.op.0, finding.other.unwrap().0), (FindingId::OrderUndefined, 2, 1));
    // The load and the calls do run, whatever their order.
    Interpreter::new(&ir)?.run()
}

/// 9.7.1: "if the call comes first, the Poplar liveness analyser will think the code needs to be always-live".
#[test]
fn a_call_before_the_load_makes_the_code_always_live() -> Result {
    let (mut ir, x, g) = expensive_id();
    ir.in_sequence(Sequence::Enforced, |ir| {
        other_op(ir, x)?;
        ir.call(g, [x])?;
        load(ir, g)?;
        ir.call(g, [x])
    })?;
    let ir = ir.build()?;
    let spans = ["from the start to the call at op 1", "from the load at op 2 to the call at op 3"];
    assert_eq!(live(&ir, g), (CodeState::CallWithoutLoad, spans.map(str::to_owned).to_vec()));
    assert_eq!(findings(&ir), [(FindingId::CallWithoutLoad, 0, 1)]);
    Ok(())
}

/// 9.7.2: dead in between calls, because a load follows each call.
#[test]
fn loads_before_every_call() -> Result {
    let (mut ir, x, g) = expensive_id();
    ir.in_sequence(Sequence::Enforced, |ir| {
        for _ in 0..3 {
            other_op(ir, x)?; // Dead
            load(ir, g)?; // Live
            ir.call(g, [x])?;
        }
        other_op(ir, x) // Dead again, as graph never called again
    })?;
    let ir = ir.build()?;
    let spans = [(1, 2), (4, 5), (7, 8)].map(|(from, to)| format!("from the load at op {from} to the call at op {to}"));
    assert_eq!(live(&ir, g), (CodeState::Loaded, spans.to_vec()));
    assert_eq!(findings(&ir), []);
    Ok(())
}

/// 9.7.3: loads without ops in between are merged.
#[test]
fn loads_are_merged_if_they_follow_each_other() -> Result {
    for (ops_between, expected) in [(0, FindingId::LoadsMerged), (2, FindingId::LoadsMergeable)] {
        let (mut ir, x, g) = expensive_id();
        let h = ir.create_graph("h", &[x], |ir, inputs| ir.transpose(inputs[0], None))?;
        ir.in_sequence(Sequence::Enforced, |ir| {
            load(ir, g)?;
            (0..ops_between).try_for_each(|_| other_op(ir, x))?;
            load(ir, h)?;
            ir.call(g, [x])?;
            ir.call(h, [x])
        })?;
        assert_eq!(findings(&ir.build()?), [(expected, 0, 1 + ops_between)]);
    }
    Ok(())
}

/// 9.7.4: a graph that loads another graph.
#[test]
fn nested_loading() -> Result {
    let (mut ir, x, g1) = expensive_id();
    let g2 = ir.create_graph("load_g1", &[], |ir, _| load(ir, g1))?;
    ir.in_sequence(Sequence::Enforced, |ir| {
        load(ir, g1)?; // Loads code for g1
        ir.call(g2, Inputs::none())?; // Loads code for g1
        ir.call(g1, [x]) // Execute g1
    })?;
    let ir = ir.build()?;
    let liveness = CodeLiveness::new(&ir);
    let code = liveness.code(g1).unwrap();
    let op = |at: u32| poplar_graph::OpId(at);
    let in_main = Span { within: MAIN, from: Border::Inside(op(1)), to: Border::Call(op(2)) };
    let in_g2 = Span { within: g2, from: Border::Load(op(0)), to: Border::Edge };
    let mut spans = code.spans.clone();
    spans.sort_by_key(|span| span.within);
    assert_eq!((code.state, spans), (CodeState::Loaded, vec![in_main, in_g2]));
    assert_eq!(live(&ir, g2).0, CodeState::NeverLoaded);
    // The code that the first load brings is loaded again before it runs.
    assert_eq!(findings(&ir), [(FindingId::LoadSuperseded, 0, 0)]);
    Interpreter::new(&ir)?.run()
}

/// 9.7.4: one function makes graphs that load different graphs, and these are loaded themselves.
#[test]
fn graphs_that_load_are_loaded() -> Result {
    let (mut ir, x, g1) = expensive_id();
    let g2 = ir.create_graph("load_graph", &[], |ir, _| load(ir, g1))?;
    let g3 = ir.create_graph("load_graph", &[], |ir, _| load(ir, g1))?;
    let g4 = ir.create_graph("load_graph", &[], |ir, _| load(ir, g2))?;
    ir.in_sequence(Sequence::Enforced, |ir| {
        load(ir, g3)?;
        ir.call(g3, Inputs::none())?;
        load(ir, g4)?;
        ir.call(g4, Inputs::none())?;
        // What was loaded is run.
        ir.call(g2, Inputs::none())?;
        ir.call(g1, [x])
    })?;
    let ir = ir.build()?;
    assert_eq!(live(&ir, g3), (CodeState::Loaded, vec!["from the load at op 0 to the call at op 1".to_owned()]));
    assert_eq!(live(&ir, g4), (CodeState::Loaded, vec!["from the load at op 2 to the call at op 3".to_owned()]));
    assert_eq!(live(&ir, g2), (CodeState::Loaded, vec!["from inside op 3 to the call at op 4".to_owned()]));
    assert_eq!(live(&ir, g1), (CodeState::Loaded, vec!["from inside op 4 to the call at op 5".to_owned()]));
    Ok(())
}

/// 9.7.5: "only if all possible branches contain a remote_code_load can we assume that the code was dead".
#[test]
fn loads_in_branches() -> Result {
    let program = |in_else: bool, first: bool| {
        let (mut ir, x, g) = expensive_id();
        let condition = ir.variable("condition", Array::full(&[], Bool, 1.0)?)?;
        let loads = ir.create_graph("loads", &[], |ir, _| load(ir, g))?;
        let nothing = ir.create_graph("nothing", &[], |_, _| Ok(()))?;
        ir.in_sequence(Sequence::Enforced, |ir| {
            if first {
                load(ir, g)?;
            }
            other_op(ir, x)?;
            let otherwise = if in_else { loads } else { nothing };
            ir.conditional(condition, (loads, Inputs::none()), (otherwise, Inputs::none()))?;
            ir.call(g, [x])
        })?;
        Ok::<_, Error>((ir.build()?, g))
    };
    let (ir, g) = program(true, false)?;
    assert_eq!(live(&ir, g), (CodeState::Loaded, vec!["from inside op 1 to the call at op 2".to_owned()]));
    assert_eq!(findings(&ir), []);
    // "If any possible branch does not perform a load, the code was already live before the branching."
    let (ir, g) = program(false, false)?;
    assert_eq!(live(&ir, g).0, CodeState::CallWithoutLoad);
    assert_eq!(live(&ir, g).1[0], "from the start to inside op 1");
    assert_eq!(findings(&ir), [(FindingId::LoadInSomeBranches, 0, 1), (FindingId::CallWithoutLoad, 0, 2)]);
    let (ir, g) = program(false, true)?;
    assert_eq!(live(&ir, g).0, CodeState::Loaded);
    assert_eq!(live(&ir, g).1[0], "from the load at op 0 to inside op 2");
    assert_eq!(findings(&ir), [(FindingId::LoadInSomeBranches, 0, 2)]);
    Ok(())
}

#[test]
fn loads_in_loops() -> Result {
    // Each time: load and call. Dead before, in between and after.
    let (mut ir, x, g) = expensive_id();
    let body = ir.create_graph("body", &[x], |ir, inputs| {
        ir.in_sequence(Sequence::Enforced, |ir| {
            load(ir, g)?;
            ir.call(g, [inputs[0]])
        })
    })?;
    ir.repeat(body, 3, [x])?;
    let ir = ir.build()?;
    assert_eq!(live(&ir, g), (CodeState::Loaded, vec!["from inside op 0 to inside op 0".to_owned()]));

    // Each time: call and load. The first call has no load before it.
    let (mut ir, x, g) = expensive_id();
    let body = ir.create_graph("body", &[x], |ir, inputs| {
        ir.in_sequence(Sequence::Enforced, |ir| {
            let y = ir.call(g, [inputs[0]])?;
            load(ir, g)?;
            Ok(y)
        })
    })?;
    ir.repeat(body, 3, [x])?;
    let ir = ir.build()?;
    assert_eq!(live(&ir, g).0, CodeState::CallWithoutLoad);
    // The load is for the call of the next time, so it is needed.
    assert_eq!(findings(&ir), [(FindingId::CallWithoutLoad, body.0, 0)]);
    Ok(())
}

/// A program of ops in their schedule: `Ok` calls a graph, `Err` loads it.
fn scheduled(graphs: &[&[std::result::Result<Calls, u32>]]) -> Ir {
    let op = |step: &std::result::Result<Calls, u32>| {
        let mut op = Op::new("Step");
        match step {
            Ok(calls) => op.calls = calls.clone(),
            Err(graph) => {
                op.loads = Some(CodeLoad { graph: GraphId(*graph), destination: CodeLocation::Executable });
            }
        }
        op
    };
    let graph = |(at, ops): (usize, &&[_])| {
        let mut graph = Graph::new(format!("g{at}"));
        graph.ops = ops.iter().map(op).collect();
        graph
    };
    Ir::new(graphs.iter().enumerate().map(graph).collect(), Some(MAIN), Order::Schedule).unwrap()
}

fn call(graph: u32) -> std::result::Result<Calls, u32> {
    Ok(Calls::Once(GraphId(graph)))
}

#[test]
fn loads_that_do_nothing_are_found() {
    let ir = scheduled(&[&[Err(1), call(1), Err(1), Err(2)], &[], &[]]);
    let expected =
        [(FindingId::LoadWithoutCall, 0, 2), (FindingId::LoadWithoutCall, 0, 3), (FindingId::LoadsMerged, 0, 3)];
    assert_eq!(findings(&ir), expected);
    assert_eq!(live(&ir, GraphId(2)).0, CodeState::NeverCalled);
    // Graph 1 calls graph 2, which loads graph 1.
    let ir = scheduled(&[&[Err(1), call(1), call(1)], &[call(2)], &[Err(1)]]);
    assert_eq!(findings(&ir), [(FindingId::LoadWhileRunning, 2, 0)]);
    let mut ir = scheduled(&[&[Err(1), call(1)], &[]]).graphs().to_vec();
    ir[0].ops[0].loads = Some(CodeLoad { graph: GraphId(1), destination: CodeLocation::Buffer });
    let ir = Ir::new(ir, Some(MAIN), Order::Schedule).unwrap();
    assert_eq!(findings(&ir), [(FindingId::NotExecutable, 0, 0)]);
    assert_eq!(live(&ir, GraphId(1)).0, CodeState::NeverLoaded);
}

#[test]
fn what_cannot_be_known_is_said() {
    let known = scheduled(&[&[Err(1), call(1), call(2)], &[], &[]]);
    let with = |main, order| CodeLiveness::new(&Ir::new(known.graphs().to_vec(), main, order).unwrap());
    let no_order = with(Some(MAIN), Order::Unknown);
    assert_eq!((no_order.unknown, no_order.graphs[0].state), (Some(Unknown::Order), CodeState::Unknown));
    assert_eq!(no_order.graphs[1].state, CodeState::NeverLoaded, "which needs no order");
    assert_eq!(with(None, Order::Schedule).unknown, Some(Unknown::Main));
    let recursive = scheduled(&[&[Err(1), call(1)], &[call(1)]]);
    assert_eq!(CodeLiveness::new(&recursive).unknown, Some(Unknown::Recursion));
    assert!(Schedule::new(&recursive, 10).rows.is_empty());
}

/// Data can order a load and a call: the call needs the output of an op after the load.
#[test]
fn data_and_sequences_order_ops() -> Result {
    let (mut ir, x, g) = expensive_id();
    let stream = ir.h2d_stream("in", &[], F32)?;
    let y = ir.in_sequence(Sequence::Enforced, |ir| {
        load(ir, g)?;
        ir.host_load(&stream, "y")
    })?;
    ir.call(g, [y])?;
    let ordered = ir.clone().build()?;
    assert_eq!(live(&ordered, g).0, CodeState::Loaded);
    ir.call(g, [x])?;
    assert_eq!(live(&ir.build()?, g).0, CodeState::OrderUndefined);
    Ok(())
}

#[test]
fn the_schedule_has_each_step() -> Result {
    use poplar_graph::Cell::{Call, Dead, Kept, Live, Load};

    let (mut ir, x, g1) = expensive_id();
    let g2 = ir.create_graph("load_g1", &[], |ir, _| load(ir, g1))?;
    ir.in_sequence(Sequence::Enforced, |ir| {
        other_op(ir, x)?;
        ir.call(g2, Inputs::none())?;
        other_op(ir, x)?;
        ir.call(g1, [x])?;
        other_op(ir, x)
    })?;
    let ir = ir.build()?;
    let schedule = Schedule::new(&ir, 100);
    assert_eq!((&schedule.lanes, schedule.lanes_left_out, schedule.cut), (&vec![g1, g2], 0, false));
    let rows: Vec<_> =
        schedule.rows.iter().map(|row| (row.depth, row.graph, row.op, row.ops, row.cells.as_slice())).collect();
    let op = |op: u32| Some(poplar_graph::OpId(op));
    let expected = [
        (0, MAIN, None, 1, &[Dead, Live][..]),
        (0, MAIN, op(1), 1, &[Live, Call]),
        (1, g2, op(0), 1, &[Load, Live]),
        (0, MAIN, None, 1, &[Live, Kept]),
        (0, MAIN, op(3), 1, &[Call, Kept]),
        (0, MAIN, None, 1, &[Dead, Kept]),
    ];
    assert_eq!(rows, expected);
    let cut = Schedule::new(&ir, 3);
    assert_eq!((cut.rows.len() <= 4, cut.cut), (true, true));
    Ok(())
}

/// Each graph loads and calls the next one, twice.
#[test]
fn deep_programs_are_followed() {
    let depth = 3_000;
    let bodies: Vec<Vec<_>> = (1..=depth).map(|next| vec![Err(next), call(next), Err(next), call(next)]).collect();
    let mut graphs: Vec<&[_]> = bodies.iter().map(Vec::as_slice).collect();
    graphs.push(&[]);
    let ir = scheduled(&graphs);
    let liveness = CodeLiveness::new(&ir);
    assert!(liveness.graphs.iter().all(|code| code.state == CodeState::Loaded));
    assert_eq!(liveness.code(GraphId(depth)).unwrap().spans.len(), 2 + 2);
    assert!(liveness.findings.is_empty());
    assert!(Schedule::new(&ir, 1000).cut);
}

/// Ten thousand loads and calls of each of two graphs, in no order.
#[test]
fn wide_programs_are_followed() -> Result {
    let (mut ir, x, g) = expensive_id();
    let h = ir.create_graph("h", &[x], |ir, inputs| ir.transpose(inputs[0], None))?;
    for _ in 0..10_000 {
        load(&mut ir, g)?;
        load(&mut ir, h)?;
        ir.call(g, [x])?;
        ir.call(h, [x])?;
    }
    let ir = ir.build()?;
    let liveness = CodeLiveness::new(&ir);
    assert!(liveness.graphs.iter().all(|code| code.state == CodeState::OrderUndefined));
    Ok(())
}

/// The main graph calls 3,000 times what loads and calls 100 graphs: more spans than are kept.
#[test]
fn spans_are_limited() {
    let inner: Vec<_> = (2..102).flat_map(|graph| [Err(graph), call(graph)]).collect();
    let main: Vec<_> = (0..3_000).map(|_| call(1)).collect();
    let mut graphs: Vec<&[_]> = vec![&main, &inner];
    graphs.extend((2..102).map(|_| &[] as &[_]));
    let liveness = CodeLiveness::new(&scheduled(&graphs));
    let kept: usize = liveness.graphs.iter().map(|code| code.spans.len()).sum();
    assert_eq!(kept, 1 << 18);
    // Each graph has a span in each of the 3,000 calls, and one where it is loaded and called.
    let spans = |code: &poplar_graph::GraphCode| code.spans.len() as u64 + code.spans_left_out;
    assert!(liveness.graphs.iter().skip(1).all(|code| spans(code) == 3_001));
    assert!(liveness.graphs.iter().skip(1).all(|code| code.state == CodeState::Loaded));
}
