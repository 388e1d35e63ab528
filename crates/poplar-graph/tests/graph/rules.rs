//! Programs that PopXL does not allow, and runs beyond the limits.

use popef::DataType::{Bool, F32, S32, U8};
use poplar_graph::{
    Array, Binary, Builder, Calls, Destination, Error, Graph, GraphId, Inputs, Interpreter, Ir, Op, Order, RunLimits,
    Sequence, Shape, Slot, Spec, TensorId, TensorRef, Unary,
};

type Result = std::result::Result<(), Error>;

fn ones(shape: &[u64]) -> Array {
    Array::full(shape, F32, 1.0).unwrap()
}

fn code<T: std::fmt::Debug>(result: std::result::Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

/// A builder with a variable x of two elements, and a graph that doubles such a tensor.
fn doubling() -> (Builder, TensorRef, GraphId) {
    let mut ir = Builder::new();
    let x = ir.variable("x", ones(&[2])).unwrap();
    let graph = ir.create_graph("double", &[x], |ir, inputs| ir.add(inputs[0], inputs[0])).unwrap();
    (ir, x, graph)
}

#[test]
fn calls_need_the_inputs_of_the_graph() -> Result {
    let (mut ir, x, double) = doubling();
    let number = ir.call(double, Inputs::none()).unwrap_err();
    assert_eq!(number.to_string(), "the graph \"double_subgraph(0)\" needs 1 inputs and was given 0");
    assert_eq!(code(ir.call(double, [x, x])), "number-of-inputs");
    assert_eq!(code(ir.call(double, Inputs::none().and(x, x))), "not-an-input");
    let inner = ir.call_with_info(double, [x])?.parent_to_graph(x).unwrap();
    assert_eq!(code(ir.call(double, Inputs::from([x]).and(inner, x))), "input-twice");
    ir.call(double, Inputs::none().and(inner, x))?;
    let other = ir.variable("other", ones(&[3]))?;
    let wrong = ir.call(double, [other]).unwrap_err();
    assert_eq!(wrong.to_string(), "\"input\" needs F32 2, and was given F32 3");
    assert_eq!(code(ir.call(GraphId(9), [x])), "no-such");
    assert_eq!(code(ir.call(double, [inner])), "of-another-graph");
    assert_eq!(code(ir.add(x, inner)), "of-another-graph");
    assert_eq!(code(ir.call(Builder::MAIN, [x])), "calls-itself");
    Ok(())
}

#[test]
fn graphs_do_not_call_themselves() -> Result {
    let (mut ir, x, double) = doubling();
    assert_eq!(code(ir.in_graph(double, |ir| ir.call(double, Inputs::none()))), "calls-itself");
    let outer = ir.create_graph("outer", &[x], |ir, inputs| ir.call(double, [inputs[0]]))?;
    let input = ir.call_with_info(double, [x])?.parent_to_graph(x).unwrap();
    ir.in_graph(double, |ir| ir.call(outer, [input]))?;
    assert_eq!(code(ir.build()), "calls-itself");
    Ok(())
}

#[test]
fn loops_carry_their_outputs() -> Result {
    let (mut ir, x, double) = doubling();
    assert_eq!(ir.repeat(double, 0, [x]), Err(Error::RepeatsNever));
    let pair = ir.create_graph("pair", &[x], |_, inputs| Ok([inputs[0], inputs[0]]))?;
    let few = ir.repeat(pair, 2, [x]).unwrap_err();
    assert_eq!(few, Error::TooFewLoopInputs { graph: "pair_subgraph(0)".to_owned(), inputs: 1, outputs: 2 });
    let product = ir.create_graph("product", &[x], |ir, inputs| ir.matmul(inputs[0], inputs[0]))?;
    assert_eq!(code(ir.repeat(product, 2, [x])), "other-spec");
    // As many inputs as outputs are enough.
    ir.repeat(double, u64::MAX, [x])?;
    Ok(())
}

#[test]
fn code_is_loaded_to_executable_memory_and_by_other_graphs() -> Result {
    let (mut ir, _, double) = doubling();
    assert_eq!(code(ir.remote_code_load(Builder::MAIN, Destination::Executable)), "loads-itself");
    let itself = ir.in_graph(double, |ir| ir.remote_code_load(double, Destination::Executable));
    assert_eq!(itself, Err(Error::LoadsItself { graph: "double_subgraph(0)".to_owned() }));
    for name in ["compute_buffer", "io_buffer"] {
        let destination: Destination = name.parse()?;
        assert_eq!(ir.remote_code_load(double, destination), Err(Error::DestinationNotSupported { destination }));
    }
    assert_eq!(code("tiles".parse::<Destination>()), "no-destination");
    ir.remote_code_load(double, "executable".parse()?)
}

#[test]
fn inputs_outputs_and_variables_have_their_place() -> Result {
    let (mut ir, x, double) = doubling();
    assert_eq!(ir.graph_input("a", &[2], F32), Err(Error::InputOfMain));
    assert_eq!(code(ir.in_graph(double, |ir| ir.variable("v", ones(&[2])))), "only-in-main");
    let info = ir.call_with_info(double, [x])?;
    assert_eq!(code(ir.in_graph(double, |ir| ir.graph_input("late", &[2], F32))), "called-already");
    let constant = ir.constant("c", ones(&[2]))?;
    assert_eq!(code(ir.copy_var_update_(constant, x)), "changes-constant");
    assert_eq!(code(info.set_parent_input_modified(&mut ir, constant)), "not-an-input");
    let info = ir.call_with_info(double, [constant])?;
    assert_eq!(code(info.set_parent_input_modified(&mut ir, constant)), "changes-constant");
    let again = ir.constant("c", ones(&[2]))?;
    let ir = ir.build()?;
    assert_eq!(ir.graphs()[0].tensor(again.tensor).unwrap().name, "c__t0", "names are unique in a graph");
    Ok(())
}

#[test]
fn ops_need_tensors_that_fit() -> Result {
    let (mut ir, x, double) = doubling();
    let y = ir.variable("y", ones(&[3]))?;
    let b = ir.variable("b", Array::full(&[], Bool, 1.0)?)?;
    let i = ir.variable("i", Array::full(&[2], S32, 1.0)?)?;
    assert_eq!(ir.add(x, y).unwrap_err().to_string(), "Add cannot combine F32 2 and F32 3");
    assert_eq!(code(ir.add(x, i)), "do-not-fit");
    assert_eq!(code(ir.matmul(x, y)), "do-not-fit");
    assert_eq!(code(ir.add(b, b)), "not-for-type");
    assert_eq!(code(ir.unary(Unary::Not, x)), "not-for-type");
    assert_eq!(code(ir.transpose(x, Some(&[1]))), "no-permutation");
    assert_eq!(code(ir.reshape(x, &[3])), "number-of-elements");
    assert_eq!(code(ir.copy_var_update_(x, y)), "other-spec");
    assert_eq!(code(ir.conditional(x, (double, [x]), (double, [x]))), "no-condition");
    let none = ir.create_graph("none", &[x], |_, _| Ok(()))?;
    assert_eq!(code(ir.conditional(b, (double, [x]), (none, [x]))), "branches-differ");
    ir.conditional(b, (double, [x]), (double, [x]))?;
    ir.binary(Binary::And, b, b).map(drop)
}

#[test]
fn replicas_are_divided_evenly() -> Result {
    let mut ir = Builder::new();
    assert_eq!(code(ir.set_replication_factor(0)), "replication");
    ir.set_replication_factor(6)?;
    assert_eq!(code(ir.replica_grouping(4, None)), "replication");
    assert_eq!(code(ir.replica_grouping(0, None)), "replication");
    let grouping = ir.replica_grouping(1, Some(2))?;
    let wrong = ir.variable_in_groups("v", ones(&[2, 1]), grouping).unwrap_err();
    assert_eq!(wrong, Error::NoValueForEachGroup { groups: 3, shape: Shape(vec![2, 1]) });
    ir.variable_in_groups("v", ones(&[3, 1]), grouping)?;
    ir.set_replication_factor(4)?;
    ir.clone().build()?;
    ir.set_replication_factor(5)?;
    assert_eq!(code(ir.build()), "replication");
    Ok(())
}

fn after(ir: &Ir) -> Vec<Vec<u32>> {
    ir.graphs()[0].ops.iter().map(|op| op.after.iter().map(|op| op.0).collect()).collect()
}

/// PopXL's documentation of `in_sequence`: ops of a free sequence inside of an enforced one run at its place, in any order.
#[test]
fn sequences_order_ops() -> Result {
    let mut ir = Builder::new();
    let op = |ir: &mut Builder| ir.op(Op::new("Op"), &[], &[]).map(drop);
    op(&mut ir)?;
    ir.in_sequence(Sequence::Enforced, |ir| {
        op(ir)?;
        ir.in_sequence(Sequence::Free, |ir| {
            op(ir)?;
            op(ir)?;
            ir.in_sequence(Sequence::Enforced, |ir| {
                op(ir)?;
                op(ir)
            })?;
            ir.in_sequence(Sequence::Pass, op)
        })?;
        op(ir)?;
        ir.in_sequence(Sequence::Free, |_| Ok(()))?;
        op(ir)
    })?;
    op(&mut ir)?;
    // 0 | 1 | 2, 3, 4 → 5 | pass 6 | 7 | 8 || 9
    let expected: [&[u32]; 10] = [&[], &[], &[1], &[1], &[1], &[4], &[], &[2, 3, 5], &[7], &[]];
    assert_eq!(after(&ir.build()?), expected);
    Ok(())
}

#[test]
fn ops_know_their_place() -> Result {
    let mut ir = Builder::new();
    ir.on_ipu(3, |ir| ir.in_stage(1, |ir| ir.in_phase(2, |ir| ir.op(Op::new("Op"), &[], &[]))))?;
    ir.op(Op::new("Op"), &[], &[])?;
    let ir = ir.build()?;
    let places: Vec<_> = ir.graphs()[0].ops.iter().map(|op| (op.ipu, op.stage, op.phase)).collect();
    assert_eq!(places, [(Some(3), Some(1), Some(2)), (None, None, None)]);
    Ok(())
}

#[test]
fn ids_are_checked() {
    let mut graph = Graph::new("g");
    graph.ops = vec![Op::new("A"), Op::new("B")];
    graph.tensors = vec![Default::default()];
    let with = |change: fn(&mut Graph), order| {
        let mut graph = graph.clone();
        change(&mut graph);
        Ir::new(vec![graph], Some(GraphId(0)), order)
    };
    assert!(with(|_| (), Order::Creation).is_ok());
    assert_eq!(code(with(|graph| graph.inputs.push(TensorId(1)), Order::Unknown)), "no-such");
    assert_eq!(code(with(|graph| graph.ops[0].calls = Calls::Once(GraphId(1)), Order::Unknown)), "no-such");
    assert_eq!(code(with(|graph| graph.ops[0].modifies.push(0), Order::Unknown)), "no-such");
    fn backwards(graph: &mut Graph) {
        graph.ops[0].inputs.push(Slot { index: 0, tensor: TensorId(0) });
        graph.ops[1].outputs.push(Slot { index: 0, tensor: TensorId(0) });
    }
    assert_eq!(code(with(backwards, Order::Creation)), "before-its-needs");
    assert!(with(backwards, Order::Unknown).is_ok());
    assert_eq!(code(Ir::new(vec![], Some(GraphId(0)), Order::Unknown)), "no-such");
}

#[test]
fn runs_are_bounded() -> Result {
    let mut limits = RunLimits::default();
    (limits.steps, limits.memory) = (100_000, 1 << 20);
    let (mut ir, x, double) = doubling();
    ir.repeat(double, u64::MAX, [x])?;
    let endless = ir.build()?;
    let run = Interpreter::with_limits(&endless, limits)?.run();
    assert_eq!(run, Err(Error::TooMuch { what: "steps", limit: 100_000 }));

    let mut ir = Builder::new();
    let column = ir.variable("column", ones(&[1000, 1]))?;
    let row = ir.variable("row", ones(&[1, 1000]))?;
    ir.add(column, row)?;
    let large = ir.build()?;
    let run = Interpreter::with_limits(&large, limits)?.run();
    assert_eq!(run, Err(Error::TooMuch { what: "bytes of memory", limit: 1 << 20 }));

    // Recursion that no builder makes.
    let mut graph = Graph::new("g");
    let mut call = Op::new("Call");
    call.calls = Calls::Once(GraphId(0));
    graph.ops.push(call);
    let recursive = Ir::new(vec![graph], Some(GraphId(0)), Order::Schedule)?;
    assert_eq!(code(Interpreter::with_limits(&recursive, limits)?.run()), "too-much");
    assert_eq!(code(Interpreter::new(&Ir::new(vec![], None, Order::Schedule)?)), "no-main");
    assert_eq!(code(Interpreter::new(&Ir::new(vec![Graph::new("g")], Some(GraphId(0)), Order::Unknown)?)), "no-order");
    Ok(())
}

#[test]
fn a_deep_chain_of_calls_runs() -> Result {
    let mut ir = Builder::new();
    let x = ir.variable("x", Array::integers(&[], U8, [255])?)?;
    let mut graph = ir.create_graph("leaf", &[x], |ir, inputs| ir.add(inputs[0], inputs[0]))?;
    for _ in 0..10_000 {
        graph = ir.create_graph("g", &[x], |ir, inputs| ir.call(graph, [inputs[0]]))?;
    }
    let y = ir.call(graph, [x])?[0];
    let ir = ir.build()?;
    let mut run = Interpreter::new(&ir)?;
    run.run()?;
    assert_eq!(run.value(y), Some(&Array::integers(&[], U8, [254])?), "integers wrap around");
    Ok(())
}

#[test]
fn what_cannot_run_is_said() -> Result {
    let (mut ir, x, _) = doubling();
    let spec = Spec::new(&[2], F32);
    ir.op(Op::new("Conv"), &[x], &[spec])?;
    let unknown = ir.build()?;
    let error = Interpreter::new(&unknown)?.run().unwrap_err();
    assert_eq!(error.to_string(), "cannot run an op of type \"Conv\": the interpreter does not know this type");

    let mut ir = Builder::new();
    let zero = ir.constant("zero", Array::integers(&[], S32, [0])?)?;
    ir.div(zero, zero)?;
    assert_eq!(code(Interpreter::new(&ir.build()?)?.run()), "not-runnable");

    let mut ir = Builder::new();
    let stream = ir.h2d_stream("in", &[2], F32)?;
    ir.host_load(&stream, "x")?;
    let ir = ir.build()?;
    let mut run = Interpreter::new(&ir)?;
    assert_eq!(run.run(), Err(Error::NoData { stream: "in".to_owned() }));
    run.feed("in", ones(&[3]));
    assert_eq!(code(run.run()), "other-spec");
    assert_eq!(code(Array::f32(&[2], [1.0])), "number-of-elements");
    assert_eq!(code(Array::integers(&[], U8, [256])), "value-out-of-range");
    assert_eq!(code(Array::f32(&[u64::MAX, 2], [])), "array-too-large");
    Ok(())
}
