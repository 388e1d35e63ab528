//! Each listing of the chapter "Graphs" of PopXL's user guide, and what the guide says it gives. Those of code loading are in
//! `liveness.rs`.

use popef::DataType::{Bool, F32, S32};
use poplar_graph::{Array, Binary, Builder, Calls, Error, Inputs, Interpreter, Ir, Module, Sequence, TensorRef};

type Result = std::result::Result<(), Error>;

fn array(shape: &[u64], elements: &[f32]) -> Array {
    Array::f32(shape, elements.iter().copied()).unwrap()
}

fn full(shape: &[u64], value: f32) -> Array {
    Array::full(shape, F32, value).unwrap()
}

/// The value of a tensor of the main graph after one run with an input.
fn value_after(ir: &Ir, input: Option<(&str, Array)>, tensor: TensorRef) -> Array {
    let mut run = Interpreter::new(ir).unwrap();
    if let Some((stream, value)) = input {
        run.feed(stream, value);
    }
    run.run().unwrap();
    run.value(tensor).unwrap().clone()
}

#[test]
fn listing_9_1_basic_graph() -> Result {
    let mut ir = Builder::new();
    let input = ir.h2d_stream("input_stream", &[2, 2], F32)?;
    let x = ir.host_load(&input, "x")?;
    let increment_graph = ir.create_graph("increment_fn", &[x], |ir, inputs| {
        let ones = ir.constant("ones", full(&[2, 2], 1.0))?;
        ir.add(inputs[0], ones)
    })?;
    let o = ir.call(increment_graph, [x])?[0];
    let ir = ir.build()?;
    assert_eq!(ir.graph(increment_graph).unwrap().name, "increment_fn_subgraph(0)");
    let result = value_after(&ir, Some(("input_stream", array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]))), o);
    assert_eq!(result, array(&[2, 2], &[2.0, 3.0, 4.0, 5.0]));
    Ok(())
}

fn matmul_fn(ir: &mut Builder, inputs: &[TensorRef]) -> std::result::Result<TensorRef, Error> {
    ir.matmul(inputs[0], inputs[1])
}

#[test]
fn listing_9_2_several_graphs_from_one_function() -> Result {
    let mut ir = Builder::new();
    let input = ir.h2d_stream("input_stream", &[2, 2], F32)?;
    let x = ir.host_load(&input, "x")?;
    let w1 = ir.variable("w1", full(&[2, 2], 1.0))?;
    let w2 = ir.variable("w2", full(&[2], 1.0))?;
    let matmul_graph1 = ir.create_graph("matmul_fn", &[x, w1], matmul_fn)?;
    let matmul_graph2 = ir.create_graph("matmul_fn", &[x, w2], matmul_fn)?;
    let y1 = ir.call(matmul_graph1, [x, w1])?[0];
    let y2 = ir.call(matmul_graph2, [x, w2])?[0];
    // A graph that was made for one shape cannot be called with the other one.
    assert_eq!(ir.call(matmul_graph1, [x, w2]).unwrap_err().code(), "other-spec");
    let ir = ir.build()?;
    let names: Vec<_> = ir.graphs().iter().map(|graph| graph.name.as_str()).collect();
    assert_eq!(names, ["maingraph", "matmul_fn_subgraph(0)", "matmul_fn_subgraph(1)"]);
    let given = || Some(("input_stream", array(&[2, 2], &[1.0, 2.0, 3.0, 4.0])));
    assert_eq!(value_after(&ir, given(), y1), array(&[2, 2], &[3.0, 3.0, 7.0, 7.0]));
    assert_eq!(value_after(&ir, given(), y2), array(&[2], &[3.0, 7.0]));
    Ok(())
}

#[test]
fn listing_9_3_multiple_calls_with_a_graph_input() -> Result {
    let mut ir = Builder::new();
    let input = ir.h2d_stream("input_stream", &[2, 2], F32)?;
    let x = ir.host_load(&input, "x")?;
    let increment_graph = ir.create_graph("increment_fn", &[x], |ir, inputs| {
        let value = ir.graph_input("value", &[2, 2], F32)?;
        ir.add(inputs[0], value)
    })?;
    let value1 = ir.variable("value1", full(&[2, 2], 1.0))?;
    let value2 = ir.variable("value2", full(&[2, 2], 2.0))?;
    let o = ir.call(increment_graph, [x, value1])?[0];
    let o = ir.call(increment_graph, [o, value2])?[0];
    let ir = ir.build()?;
    let result = value_after(&ir, Some(("input_stream", array(&[2, 2], &[0.0, 1.0, 2.0, 3.0]))), o);
    assert_eq!(result, array(&[2, 2], &[3.0, 4.0, 5.0, 6.0]));
    Ok(())
}

#[test]
fn listing_9_4_call_with_info_changes_a_variable() -> Result {
    let mut ir = Builder::new();
    let one = || Array::integers(&[], S32, [1]).unwrap();
    let (x, stream, info) = ir.in_sequence(Sequence::Enforced, |ir| {
        let x = ir.variable("x", one())?;
        let value1 = ir.constant("value1", one())?;
        let increment_graph = ir.create_graph("increment_fn", &[x], |ir, inputs| {
            let value = ir.graph_input("value", &[], S32)?;
            let sum = ir.add(inputs[0], value)?;
            ir.copy_var_update_(inputs[0], sum).map(drop)
        })?;
        let info = ir.call_with_info(increment_graph, [x, value1])?;
        info.set_parent_input_modified(ir, x)?;
        let stream = ir.d2h_stream("output_stream", &[], S32)?;
        ir.host_store(&stream, x)?;
        Ok((x, stream, info))
    })?;
    assert_eq!(info.parent_input(0), Some(x));
    assert_eq!((info.parent_input(2), info.parent_output(0)), (None, None));
    let inner = info.parent_to_graph(x).unwrap();
    assert_eq!((inner.graph, info.graph_to_parent(inner)), (info.called_graph, Some(x)));
    let ir = ir.build()?;
    let mut run = Interpreter::new(&ir)?;
    run.run()?;
    // "After calling the subgraph, the value of the variable tensor x is changed to 2."
    assert_eq!(run.value(x), Some(&Array::integers(&[], S32, [2])?));
    run.run()?;
    assert_eq!(run.stored(&stream.name), [Array::integers(&[], S32, [2])?, Array::integers(&[], S32, [3])?]);
    Ok(())
}

/// PopART's test `test_modified`: without `set_parent_input_modified`, the caller's tensor stays as it is.
#[test]
fn inputs_are_copied_unless_the_call_says_that_it_changes_them() -> Result {
    let mut ir = Builder::new();
    let one = || Array::integers(&[], S32, [1]).unwrap();
    let (before, after) = ir.in_sequence(Sequence::Enforced, |ir| {
        let x = ir.variable("x", one())?;
        let graph = ir.create_graph("sg", &[x], |ir, inputs| {
            let one = ir.constant("one", one())?;
            ir.accumulate_(inputs[0], one).map(drop)
        })?;
        ir.call(graph, [x])?;
        let before = ir.d2h_stream("not_modified", &[], S32)?;
        ir.host_store(&before, x)?;
        ir.call_with_info(graph, [x])?.set_parent_input_modified(ir, x)?;
        let after = ir.d2h_stream("modified", &[], S32)?;
        ir.host_store(&after, x)?;
        Ok((before, after))
    })?;
    let ir = ir.build()?;
    let mut run = Interpreter::new(&ir)?;
    run.run()?;
    assert_eq!(run.stored(&before.name), [one()]);
    assert_eq!(run.stored(&after.name), [Array::integers(&[], S32, [2])?]);
    Ok(())
}

#[test]
fn listing_9_5_repeat() -> Result {
    let mut ir = Builder::new();
    let x = ir.variable("x", full(&[2, 2], 1.0))?;
    let value = ir.variable("value", full(&[2, 2], 1.0))?;
    let increment_graph = ir.create_graph("increment_fn", &[x, value], |ir, inputs| ir.add(inputs[0], inputs[1]))?;
    let o = ir.repeat(increment_graph, 2, [x, value])?[0];
    let ir = ir.build()?;
    // "The input x is incremented twice by value."
    assert_eq!(value_after(&ir, None, o), full(&[2, 2], 3.0));
    assert_eq!(value_after(&ir, None, x), full(&[2, 2], 1.0));
    assert_eq!(ir.graphs()[0].ops[0].calls, Calls::Repeat(increment_graph, Some(2)));
    Ok(())
}

#[derive(Default)]
struct Linear {
    out_features: u64,
    w: Option<TensorRef>,
    b: Option<TensorRef>,
}

impl Module for Linear {
    fn build(&mut self, ir: &mut Builder, inputs: &[TensorRef]) -> std::result::Result<Vec<TensorRef>, Error> {
        let x = inputs[0];
        let in_features = *ir.spec(x)?.shape.0.last().unwrap();
        let w = ir.graph_input("W", &[in_features, self.out_features], F32)?;
        let b = ir.graph_input("b", &[self.out_features], F32)?;
        (self.w, self.b) = (Some(w), Some(b));
        let y = ir.matmul(x, w)?;
        Ok(vec![ir.add(y, b)?])
    }
}

#[test]
fn listing_9_6_repeat_with_inputs_dict() -> Result {
    let mut ir = Builder::new();
    let x = ir.variable("x", full(&[2, 2], 1.0))?;
    let w = ir.variable("W", full(&[2, 2], 1.0))?;
    let b = ir.variable("b", full(&[2], 1.0))?;
    let mut linear = Linear { out_features: 2, ..Linear::default() };
    let linear_graph = ir.create_graph_from("Linear", &[x], &mut linear)?;
    let inputs = Inputs::from([x]).and(linear.b.unwrap(), b).and(linear.w.unwrap(), w);
    let o = ir.repeat(linear_graph, 2, inputs)?[0];
    let ir = ir.build()?;
    // [1 1] @ W + b = [3 3], and [3 3] @ W + b = [7 7].
    assert_eq!(value_after(&ir, None, o), full(&[2, 2], 7.0));
    Ok(())
}

/// Section 9.6: replicas of a group have the same values, and can be reduced together.
#[test]
fn section_9_6_replication() -> Result {
    let mut ir = Builder::new();
    ir.set_replication_factor(4)?;
    let groups = ir.replica_grouping(2, None)?;
    assert_eq!((groups.stride, groups.group_size), (2, 2));
    // Replicas 0 and 2 have 1, replicas 1 and 3 have 10.
    let v = ir.variable_in_groups("v", array(&[2, 1], &[1.0, 10.0]), groups)?;
    let input = ir.h2d_stream("input", &[1], F32)?;
    let x = ir.host_load(&input, "x")?;
    let sum = ir.add(v, x)?;
    let by_group = ir.replicated_all_reduce(sum, groups)?;
    let all = ir.replica_grouping(1, None)?;
    let of_all = ir.replicated_all_reduce(sum, all)?;
    let output = ir.d2h_stream("output", &[1], F32)?;
    ir.host_store(&output, by_group)?;
    let ir = ir.build()?;
    assert_eq!(ir.replication_factor(), 4);
    let mut run = Interpreter::new(&ir)?;
    run.feed("input", array(&[4, 1], &[0.0, 1.0, 2.0, 3.0]));
    run.run()?;
    let sums: Vec<_> = (0..4).map(|replica| run.value_of_replica(sum, replica).unwrap().clone()).collect();
    assert_eq!(sums, [1.0, 11.0, 3.0, 13.0].map(|value| full(&[1], value)));
    assert_eq!(run.stored("output"), [array(&[4, 1], &[4.0, 24.0, 4.0, 24.0])]);
    assert_eq!(run.value_of_replica(of_all, 3), Some(&full(&[1], 28.0)));
    Ok(())
}

/// The graph of listings 9.7 to 9.10.
#[test]
fn listing_9_7_expensive_id() -> Result {
    let mut ir = Builder::new();
    let x = ir.variable("x", array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))?;
    let mut turned = None;
    let g = ir.create_graph("expensive_id", &[x], |ir, inputs| {
        let once = ir.transpose(inputs[0], None)?;
        turned = Some(once);
        ir.transpose(once, None)
    })?;
    let t = ir.transpose(x, None)?;
    let y = ir.call(g, [x])?[0];
    assert_eq!(ir.spec(turned.unwrap())?.to_string(), "F32 3x2");
    let ir = ir.build()?;
    assert_eq!(value_after(&ir, None, t), array(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    assert_eq!(value_after(&ir, None, y), value_after(&ir, None, x));
    Ok(())
}

#[test]
fn an_if_takes_one_branch() -> Result {
    for (given, expected) in [(3, 6), (-3, 3)] {
        let mut ir = Builder::new();
        let input = ir.h2d_stream("input", &[], S32)?;
        let x = ir.host_load(&input, "x")?;
        let zero = ir.constant("zero", Array::integers(&[], S32, [0])?)?;
        let positive = ir.binary(Binary::Greater, x, zero)?;
        assert_eq!(ir.spec(positive)?.data_type, Bool);
        let double = ir.create_graph("double", &[x], |ir, inputs| ir.add(inputs[0], inputs[0]))?;
        let difference = ir.create_graph("difference", &[x, x], |ir, inputs| ir.sub(inputs[1], inputs[0]))?;
        let y = ir.conditional(positive, (double, [x]), (difference, [x, zero]))?[0];
        let ir = ir.build()?;
        let result = value_after(&ir, Some(("input", Array::integers(&[], S32, [given])?)), y);
        assert_eq!(result, Array::integers(&[], S32, [expected])?);
    }
    Ok(())
}

/// An input that is not an output keeps what the graph does to it from one time to the next.
#[test]
fn a_loop_keeps_what_it_changes_in_place() -> Result {
    let mut ir = Builder::new();
    let (x, y) = ir.in_sequence(Sequence::Enforced, |ir| {
        let x = ir.variable("x", Array::integers(&[], S32, [1])?)?;
        let y = ir.variable("y", Array::integers(&[], S32, [0])?)?;
        // y + x, and x doubled in place.
        let graph = ir.create_graph("sum", &[y, x], |ir, inputs| {
            let sum = ir.add(inputs[0], inputs[1])?;
            ir.accumulate_(inputs[1], inputs[1])?;
            Ok(sum)
        })?;
        let site = ir.repeat_with_info(graph, 5, [y, x])?;
        site.set_parent_input_modified(ir, site.graph_to_parent(site.parent_to_graph(x).unwrap()).unwrap())?;
        Ok((x, site.outputs[0]))
    })?;
    let ir = ir.build()?;
    assert_eq!(value_after(&ir, None, y), Array::integers(&[], S32, [1 + 2 + 4 + 8 + 16])?);
    assert_eq!(value_after(&ir, None, x), Array::integers(&[], S32, [32])?);
    Ok(())
}
