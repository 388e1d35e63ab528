//! A tensor map or lowered variables: no panic, the numbers agree with each other, the start of a file gives the start of the result, and
//! reading costs no more than is promised.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef_fuzz::cost::{Bound, Line, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use poplar_inspect::tiles::{LoweredVars, Target, TensorMap};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The buffer of the reader, and the cost of the smallest tensors, variables and tiles.
const BOUND: Bound = Bound {
    decoder: "maps",
    time: Line { fixed: 200_000, per_byte_in: 1500, per_byte_out: 0, most: u64::MAX },
    heap: Line { fixed: 64 << 10, per_byte_in: 40, per_byte_out: 0, most: u64::MAX },
};

fuzz_target!(|input: &[u8]| {
    let Some((&how, json)) = input.split_first() else { return };
    let part = &json[..json.len() * usize::from(how >> 1) / 127];
    if how & 1 == 0 { tensor_map(json, part) } else { variables(json, part) }
});

fn tensor_map(json: &[u8], part: &[u8]) {
    assert_within(&BOUND, SLACK, json.len() as u64, || {
        drop(TensorMap::read(json));
        0
    });
    let Ok(map) = TensorMap::read(json) else { return };
    let target = Target::new(1472, 4).unwrap();
    for (_, tensor) in map.tensors() {
        assert!(tensor.most_elements <= tensor.mapped_elements);
        assert!(tensor.mapped_elements <= tensor.most_elements.saturating_mul(u64::from(tensor.used_tiles)));
        assert_eq!(tensor.fullest_tile.is_some(), tensor.used_tiles > 0);
        let Some(balance) = tensor.balance(&target) else { continue };
        assert!(balance.ideal_elements <= tensor.elements);
        assert_eq!(balance.excess_elements, tensor.most_elements.saturating_sub(balance.ideal_elements));
    }
    if let Ok(beginning) = TensorMap::read(part) {
        let whole: Vec<_> = map.tensors().collect();
        let before: Vec<_> = beginning.tensors().collect();
        assert!(before.len() <= whole.len());
        assert!(before.iter().zip(&whole).all(|(left, right)| left.1 == right.1));
    }
}

fn variables(json: &[u8], part: &[u8]) {
    assert_within(&BOUND, SLACK, json.len() as u64, || {
        drop(LoweredVars::read(json).map(|vars| vars.tile_memories()));
        0
    });
    let Ok(vars) = LoweredVars::read(json) else { return };
    for memory in vars.tile_memories() {
        assert_eq!(memory.used_bytes + memory.gap_bytes, memory.end);
        assert!(memory.used_bytes <= memory.variable_bytes && memory.largest_gap <= memory.gap_bytes);
        assert!(memory.always_live_bytes <= memory.lower_bound_bytes);
        assert!(memory.lower_bound_bytes <= memory.variable_bytes);
        assert!(memory.fragmentation_permille.is_none_or(|permille| permille <= 1000));
        assert_eq!(vars.on_tile(memory.tile).len() as u64, memory.variables);
        assert_eq!(vars.used_on(memory.tile).iter().map(|at| at.len()).sum::<u64>(), memory.used_bytes);
    }
    if let Ok(beginning) = LoweredVars::read(part) {
        assert!(vars.variables.starts_with(&beginning.variables));
    }
}
