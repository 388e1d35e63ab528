//! The numbers of poplibs' own tests: `tests/poputil/{TileMappingTest,LargeSplitRegionsTest,UtilTest}.cpp` in
//! graphcore/poplibs at 7eac0f26.

use popef::DataType::{F16, F32};
use poplar_inspect::tiles::{
    DEFAULT_SEED, Error, Graph, Interval, Linear, Mapping, Method, Order, Resolve, Split, Target, TensorUseTracker,
    calc_linear_tile_mapping, calc_linear_tile_mapping_and_new_offset, choose_mapping_offset,
    clone_and_expand_aliasing, clone_to_graph, create_broadcast_operand, dim_is_split_over_ipus,
    dim_is_split_over_tiles, split_regions, tile_imbalance,
};

fn interval(begin: u64, end: u64) -> Interval {
    Interval::new(begin, end).unwrap()
}

fn target(tiles: u32) -> Target {
    Target::new(tiles, 1).unwrap()
}

fn by_default(tiles: u32, element_type: popef::DataType, elements: u64) -> Mapping {
    let linear = target(tiles).linear(element_type).unwrap();
    calc_linear_tile_mapping(tiles, &[elements], &linear).unwrap()
}

#[test]
fn calc_linear_tile_mapping_and_new_offset_() {
    let linear = target(8).linear(F32).unwrap();
    for (offset, tiles, new) in [(2, [2, 3, 4, 5], 6), (6, [6, 7, 0, 1], 2)] {
        let (mapping, next) = calc_linear_tile_mapping_and_new_offset(8, &[128], &linear, offset).unwrap();
        for (tile, begin) in tiles.into_iter().zip([0, 32, 64, 96]) {
            assert_eq!(mapping.on_tile(tile).collect::<Vec<_>>(), [interval(begin, begin + 32)]);
        }
        assert_eq!((mapping.used_tiles(), next), (4, new));
    }
}

#[test]
fn offset_linear_mapping() {
    use Order::{Ascending, Descending};
    let cases = [
        (16, Ascending),
        (32, Descending),
        (60, Ascending),
        (60, Descending),
        (1, Ascending),
        (0, Descending),
        (1, Descending),
        (63, Ascending),
    ];
    for (offset, order) in cases {
        let linear = target(64).linear(F32).unwrap().from(offset, order);
        let mapping = calc_linear_tile_mapping(64, &[640], &linear).unwrap();
        assert_eq!(mapping.used_tiles(), 20);
        for part in 0..20 {
            let tile = match order {
                Ascending => (offset + part) % 64,
                Descending => (2 * 64 - 1 - offset - part) % 64,
            };
            let begin = u64::from(part) * 32;
            assert_eq!(mapping.on_tile(tile).collect::<Vec<_>>(), [interval(begin, begin + 32)], "{offset} {order:?}");
        }
    }
}

#[test]
fn choose_mapping_offset_() {
    let cases: [(u32, &[u64], u64, u32); 4] = [
        (1024, &[4, 64], DEFAULT_SEED, 239),
        (4, &[4, 64], DEFAULT_SEED, 3),
        (1024, &[4, 64], 0x1234, 2),
        (1024, &[256], DEFAULT_SEED, 206),
    ];
    for (tiles, shape, seed, offset) in cases {
        assert_eq!(choose_mapping_offset(tiles, shape, seed), Ok(offset), "{tiles} {shape:?} {seed}");
    }
}

/// A graph with one variable, and a tracker of it.
fn tracked(shape: &[u64]) -> (Graph, usize, TensorUseTracker) {
    let mut graph = Graph::new(target(4));
    let variable = graph.add_variable(F32, shape).unwrap();
    (graph, variable, TensorUseTracker::new(4).unwrap())
}

fn mapped(mut graph: Graph, mut tracker: TensorUseTracker, how: &Resolve) -> Mapping {
    tracker.map_tensors_by_use(&mut graph, how).unwrap();
    let mapping = graph.variable(0).unwrap().mapping().unwrap().clone();
    assert_eq!(mapping.elements(), graph.variable(0).unwrap().elements(), "it is fully mapped");
    mapping
}

#[test]
fn tensor_use_tracker_basic() {
    let (graph, t, mut tracker) = tracked(&[16]);
    (0..4).for_each(|tile| tracker.add(tile, t, interval(0, 16)).unwrap());
    let mapping = mapped(graph, tracker, &Resolve::new(4, 4));
    assert_eq!(tile_imbalance(&mapping, 4, 4), 0);
}

#[test]
fn tensor_use_tracker_grain_size() {
    let (graph, t, mut tracker) = tracked(&[4]);
    (0..4).for_each(|tile| tracker.add(tile, t, interval(0, 4)).unwrap());
    let mapping = mapped(graph, tracker, &Resolve::new(4, 4));
    assert_eq!((mapping.used_tiles(), tile_imbalance(&mapping, 4, 4)), (1, 0));
}

/// A convolution over 14 x 14 with a kernel of 8 and a stride of 6, on 2 x 2 tiles.
#[test]
fn tensor_use_tracker_halo_regions() {
    let (graph, t, mut tracker) = tracked(&[14, 14]);
    for tile in 0..4 {
        let (x, y) = (u64::from(tile % 2) * 6, u64::from(tile / 2) * 6);
        (y..y + 8).for_each(|row| tracker.add(tile, t, interval(row * 14 + x, row * 14 + x + 8)).unwrap());
    }
    let mut how = Resolve::new(1, 1);
    how.method = Method::OptimizeHaloRegions;
    let mapping = mapped(graph, tracker, &how);
    for tile in 0..4 {
        let (x, width) = if tile % 2 == 0 { (0, 8) } else { (8, 6) };
        let y = u64::from(tile / 2) * 7;
        let rows: Vec<_> = (y..y + 7).map(|row| interval(row * 14 + x, row * 14 + x + width)).collect();
        assert_eq!(mapping.on_tile(tile).collect::<Vec<_>>(), rows, "tile {tile}");
    }
}

#[test]
fn tensor_use_tracker_extend_partial_usage() {
    let (graph, t, mut tracker) = tracked(&[4, 2]);
    for tile in 0..4 {
        (0..4).for_each(|row| tracker.add(tile, t, interval(row * 2, row * 2 + 1)).unwrap());
    }
    let mut how = Resolve::new(1, 1);
    how.extend_partial_use = true;
    assert_eq!(tile_imbalance(&mapped(graph, tracker, &how), 1, 1), 0);
}

/// `half[3][16]`, whose columns are on tiles by 1, 7, 4 and 4.
#[test]
fn tensor_use_tracker_constrain_mapping_to_used_tiles() {
    let columns = [(0, 0, 1), (1, 1, 8), (2, 8, 12), (3, 12, 16)];
    let pieces =
        (0..3).flat_map(|row| columns.map(|(tile, from, to)| (tile, interval(row * 16 + from, row * 16 + to))));
    let mapping = Mapping::new(4, pieces).unwrap();
    let operand = create_broadcast_operand(&target(4), &mapping, &[3, 16], F16, 1, false).unwrap();
    let shown = "4 tiles {0: [0, 1), 1: [1, 8), 2: [8, 12), 3: [12, 16)}";
    assert_eq!(format!("{operand:?}"), shown);
}

#[test]
fn tensor_use_tracker_resolve() {
    let (mut graph, t, mut tracker) = tracked(&[2, 16]);
    for row in 0..2 {
        let mut one = TensorUseTracker::new(4).unwrap();
        (0..4).for_each(|tile| one.add(tile, t, interval(row * 16, row * 16 + 16)).unwrap());
        one.resolve(&graph, &Resolve::new(4, 4)).unwrap();
        tracker.merge(one).unwrap();
    }
    tracker.map_tensors_by_use(&mut graph, &Resolve::new(4, 4)).unwrap();
    let mapping = graph.variable(t).unwrap().mapping().unwrap();
    assert_eq!(mapping.elements(), 32);
    for tile in 0..4 {
        for row in [interval(0, 16), interval(16, 32)] {
            let in_row = mapping.on_tile(tile).filter(|at| row.begin() <= at.begin() && at.end() <= row.end());
            assert_eq!(in_row.map(Interval::len).sum::<u64>(), 4);
        }
    }
}

#[test]
fn dim_is_split() {
    // Column i of 4 x 4 is on tile i, or on IPU i.
    let pieces = (0..16).map(|at| (at % 4, interval(u64::from(at), u64::from(at) + 1)));
    let mapping = Mapping::new(4, pieces).unwrap();
    let ipus = Target::new(1, 4).unwrap();
    for (dimension, split) in [(0, false), (1, true)] {
        assert_eq!(dim_is_split_over_tiles(&mapping, &[4, 4], dimension), Ok(split));
        assert_eq!(dim_is_split_over_ipus(&ipus, &mapping, &[4, 4], dimension), Ok(split));
        assert_eq!(dim_is_split_over_ipus(&target(4), &mapping, &[4, 4], dimension), Ok(false));
    }
}

#[test]
fn clone_to_graph_() {
    let mapping = by_default(4, F32, 1024);
    assert_eq!(clone_to_graph(&mapping, &target(4)), Ok(mapping.clone()));
    let bad_range = clone_to_graph(&mapping, &target(1));
    assert_eq!(bad_range, Err(Error::NoSuchTile { tile: 3, tiles: 1 }));
}

#[test]
fn clone_and_expand_aliasing_() {
    let [a, b, c] = [0, 1, 2].map(|at| interval(at, at + 1));
    let mapping = Mapping::new(8, [(0, a), (1, b), (2, c)]).unwrap();
    let linear = target(8).linear(F32).unwrap().from(3, Order::Ascending);
    let (clone, offset) = clone_and_expand_aliasing(&mapping, &[a, b, a, c], &linear).unwrap();
    assert_eq!(format!("{clone:?}"), "8 tiles {0: [0, 1), 1: [1, 2), 2: [3, 4), 3: [2, 3)}");
    assert_eq!(offset, 4);
}

#[test]
fn split_regions_repeats() {
    let with_region = |most| Split { max_per_region: Some(most), ..Split::new(4, 1) };
    for (most, pieces) in [(49999, 3), (50000, 2), (50001, 2)] {
        let parts = split_regions(&[interval(0, 100_000)], &with_region(most)).unwrap();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [pieces], "at most {most}");
    }
    for (size, pieces) in [(49999, 1), (50000, 1), (50001, 2)] {
        let parts = split_regions(&[interval(0, size)], &with_region(50000)).unwrap();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [pieces], "{size} elements");
    }
    let parts = split_regions(&[interval(0, 30_000), interval(40_000, 60_001)], &with_region(50000)).unwrap();
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
}

/// Not from poplibs' tests but from an independent port: tiles that are used, and the least and most elements on one.
#[test]
fn defaults_on_an_ipu() {
    let cases = [
        (F32, 33, 1, 33..=33),
        (F32, 1000, 30, 32..=34),
        (F32, 47104, 1472, 32..=32),
        (F32, 47105, 1386, 32..=34),
        (F16, 100_000, 1471, 64..=68),
    ];
    for (element_type, elements, tiles, counts) in cases {
        let mapping = by_default(1472, element_type, elements);
        assert_eq!(mapping.used_tiles(), tiles, "{elements}");
        let least = mapping.counts().map(|(_, count)| count).min();
        // The last tile lacks the elements that the last grain lacks.
        assert!(least >= Some(counts.start() - 1) && mapping.most() == *counts.end(), "{elements}: {least:?}");
    }
}

#[test]
fn the_vector_width_and_the_least_bytes_can_be_set() {
    let linear = |target: Target| target.linear(F16).unwrap();
    assert_eq!(linear(target(4)), Linear::new(4, 64));
    assert_eq!(linear(target(4).with_bytes(16, 256)), Linear::new(8, 128));
}
