//! Comparisons of dumps. `train-changed.json` has two layers and eight micro-batches more than `train.json`.

use poplar_graph::{IrDiff, IrDump, Order};

use super::{read, testdata};

fn train() -> String {
    String::from_utf8(testdata("train.json")).unwrap()
}

fn diff(before: &str, after: &str) -> IrDiff {
    IrDiff::new(&read(before.as_bytes()).ir, &read(after.as_bytes()).ir)
}

#[test]
fn the_order_counts_only_if_it_is_known() {
    let by_id = String::from_utf8(testdata("train-by-id.json")).unwrap();
    assert!(diff(&train(), &by_id).is_same() && diff(&train(), &train()).is_same());
    let scheduled = |json: &str| IrDump::read(json.as_bytes(), Order::Schedule).unwrap().ir;
    let ops = [r#"{"type":"A","name":"1"}"#, r#"{"type":"A","name":"2"}"#];
    let [one, other] = [[0, 1], [1, 0]].map(|order| format!(r#"{{"m" :[{},{}]}}"#, ops[order[0]], ops[order[1]]));
    let diff = IrDiff::new(&scheduled(&one), &scheduled(&other));
    assert!(diff.graphs[0].reordered && diff.graphs[0].changed_ops == 0 && !diff.is_same());
}

#[test]
fn what_was_changed_is_found() {
    let changed = String::from_utf8(testdata("train-changed.json")).unwrap();
    let diff = diff(&train(), &changed);
    let ops: Vec<_> = diff.ops.iter().map(|ops| (ops.op_type.as_str(), ops.before, ops.after)).collect();
    assert_eq!(ops, [("Accumulate", 4, 6), ("AccumulatorZero", 4, 6), ("Call", 12, 18), ("PrintTensor", 1, 0)]);
    let graphs: Vec<_> = diff.graphs.iter().map(|it| (it.name.as_str(), it.ops_before, it.ops_after)).collect();
    assert_eq!(
        graphs,
        [
            ("accumulate_step_subgraph(0)", Some(20), Some(26)),
            ("debug_print_subgraph(0)", Some(1), None),
            ("maingraph", Some(16), Some(20)),
        ]
    );
    assert_eq!(diff.same_graphs, 5);
    let main = &diff.graphs[2];
    // Layers that are new, and the loop, whose number of runs is another.
    assert!(main.tensors.iter().all(|tensor| tensor.before.is_none() && tensor.name.contains("ayers.")), "{main:?}");
    assert_eq!((main.tensors.len(), main.changed_ops), (10, 1 + 2));
}

/// One change at a time.
#[test]
fn each_change_is_found() {
    for (from, to, ops, changed_ops, tensors) in [
        (r#""tripCountValue":"8""#, r#""tripCountValue":"9""#, 0, 1, 0),
        (r#""reductionType":"Mean""#, r#""reductionType":"Sum""#, 0, 1, 0),
        (r#""type":"ReduceL2""#, r#""type":"ReduceL1""#, 2, 0, 0),
        (r#""name":"Loop_accumulate""#, r#""name":"loop""#, 0, 1, 0),
        (r#""__ipu_number":"0","tileSet":"1""#, r#""__ipu_number":"7","tileSet":"1""#, 0, 1, 0),
        (r#""gid":"sgd_update_subgraph(0)""#, r#""gid":"layer_fn_subgraph(0)""#, 0, 1, 0),
        (r#""clip_limit","shape":"[]""#, r#""clip_limit","shape":"[1]""#, 0, 0, 1),
        (r#""clip_limit","shape":"[]","type":"FLOAT""#, r#""clip_limit","shape":"[]","type":"FLOAT16""#, 0, 0, 1),
        (r#""clip_limit""#, r#""limit""#, 0, 1, 2),
    ] {
        let after = train().replacen(from, to, 1);
        assert_ne!(after, train(), "{from}");
        let diff = diff(&train(), &after);
        let [graph] = &diff.graphs[..] else { panic!("{from}: {diff:?}") };
        assert_eq!((graph.ops.len(), graph.changed_ops, graph.tensors.len()), (ops, changed_ops, tensors), "{from}");
        assert_eq!((diff.ops.len(), diff.same_graphs), (ops, 7), "{from}");
    }
}
