//! IR dumps of PopART: no panic, the facts about calls agree with each other, the start of a dump gives the start of the result, and
//! reading costs no more than is promised.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef_fuzz::cost::{Bound, Line, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use poplar_graph::{CallGraph, IrDiff, IrDump, NoteKind, Op, OpCounts, Order, Times};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The cost of the smallest ops, tensors and attributes.
const BOUND: Bound = Bound {
    decoder: "graphs",
    time: Line { fixed: 400_000, per_byte_in: 2000, per_byte_out: 0, most: u64::MAX },
    heap: Line { fixed: 64 << 10, per_byte_in: 100, per_byte_out: 0, most: u64::MAX },
};

fuzz_target!(|input: &[u8]| {
    let Some((&how, json)) = input.split_first() else { return };
    let order = if how & 1 == 0 { Order::Unknown } else { Order::Schedule };
    assert_within(&BOUND, SLACK, json.len() as u64, || {
        drop(IrDump::read(json, order));
        0
    });
    let Ok(dump) = IrDump::read(json, order) else { return };
    let part = &json[..json.len() * usize::from(how >> 1) / 127];
    if let Ok(beginning) = IrDump::read(part, order)
        && serde_json::from_slice::<serde_json::Value>(json).is_ok()
    {
        is_beginning(&beginning, &dump);
    }
    assert_eq!(dump.ir.order() == order, dump.note(NoteKind::NoSchedule).is_none() || order == Order::Unknown);
    assert!(IrDiff::new(&dump.ir, &dump.ir).is_same());
    calls_agree(&dump);
});

/// Without names that are guessed, a part of a dump has the first ops of the whole.
fn is_beginning(part: &IrDump, whole: &IrDump) {
    let said = |op: &Op| (op.op_type.clone(), op.name.clone(), op.inputs.clone(), op.outputs.clone());
    assert!(part.ir.graphs().len() <= whole.ir.graphs().len());
    for (part, whole) in part.ir.graphs().iter().zip(whole.ir.graphs()) {
        assert!(part.name == whole.name && part.ops.len() <= whole.ops.len());
        assert!(part.ops.iter().zip(&whole.ops).all(|(part, whole)| said(part) == said(whole)));
    }
}

fn calls_agree(dump: &IrDump) {
    let calls = CallGraph::new(&dump.ir);
    let tree = calls.tree();
    assert!(tree.len() <= calls.roots.len() + calls.sites.len());
    for (id, _) in dump.ir.graph_ids() {
        let is_shown = tree.iter().any(|row| row.graph == id);
        assert_eq!(is_shown, !calls.unused.contains(&id));
        assert!(is_shown || calls.of(id).runs == Times::NEVER);
    }
    let ops: usize = dump.ir.graphs().iter().map(|graph| graph.ops.len()).sum();
    assert_eq!(OpCounts::new(&dump.ir, &calls).ops, ops as u64);
    assert!(dump.parameters().is_sorted_by_key(|parameter| std::cmp::Reverse(parameter.bytes)));
}
