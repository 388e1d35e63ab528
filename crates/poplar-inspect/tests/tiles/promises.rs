//! What holds for any input: no division by zero, nothing that wraps around, no work element by element.

use popef::DataType;
use poplar_inspect::tiles::{
    Error, Graph, Interval, Linear, Mapping, Order, Resolve, Split, Target, TensorUseTracker, calc_linear_tile_mapping,
    choose_mapping_offset, clone_to_ipu, create_broadcast_operand, dim_is_split_over_tiles, number_of_elements,
    split_regions, tile_imbalance, transform_tile_index,
};

fn interval(begin: u64, end: u64) -> Interval {
    Interval::new(begin, end).unwrap()
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let linear = Linear::new(2, 0);
    assert_eq!(calc_linear_tile_mapping(0, &[4], &linear), Err(Error::Zero { what: "tiles" }));
    assert_eq!(calc_linear_tile_mapping(4, &[4], &Linear::new(0, 0)), Err(Error::ZeroGrain));
    assert_eq!(split_regions(&[], &Split::new(1, 0)), Err(Error::Zero { what: "parts" }));
    let limits =
        [Split { max_per_region: Some(3), ..Split::new(4, 1) }, Split { max_per_part: Some(3), ..Split::new(4, 1) }];
    for split in limits {
        assert_eq!(split_regions(&[interval(0, 9)], &split), Err(Error::LimitBelowGrain { limit: 3, grain: 4 }));
    }
    assert_eq!(Interval::new(2, 1), Err(Error::Backwards { begin: 2, end: 1 }));
    assert_eq!(choose_mapping_offset(0, &[1], 0), Err(Error::Zero { what: "tiles" }));
    assert_eq!(transform_tile_index(0, 0, 0, Order::Ascending), Err(Error::Zero { what: "tiles" }));
    assert_eq!(transform_tile_index(4, 4, 0, Order::Ascending), Err(Error::NoSuchTile { tile: 4, tiles: 4 }));
    assert_eq!(Target::new(0, 1), Err(Error::Zero { what: "tiles" }));
    assert_eq!(Target::new(1, 0), Err(Error::Zero { what: "IPUs" }));
    assert_eq!(Target::new(1 << 20, 1 << 20), Err(Error::TooLarge { what: "number of tiles" }));
    let target = Target::new(4, 2).unwrap();
    assert_eq!(target.linear(DataType::Other(99)), Err(Error::NoSize));
    let mapping = calc_linear_tile_mapping(8, &[16], &linear).unwrap();
    assert_eq!(clone_to_ipu(&target, &mapping, 2), Err(Error::NoSuchIpu { ipu: 2, ipus: 2 }));
    let no_dimension = dim_is_split_over_tiles(&mapping, &[16], 1);
    assert_eq!(no_dimension, Err(Error::NoSuchDimension { dimension: 1, rank: 1 }));
    let out_of_range = dim_is_split_over_tiles(&mapping, &[15], 0);
    assert_eq!(out_of_range, Err(Error::OutOfRange { interval: interval(14, 16), elements: 15 }));
    let smaller = Target::new(4, 1).unwrap();
    let different = create_broadcast_operand(&smaller, &mapping, &[16], DataType::F16, 0, false);
    assert_eq!(different, Err(Error::DifferentTiles { left: 8, right: 4 }));
}

#[test]
fn elements_are_on_one_tile_each() {
    let twice = Mapping::new(4, [(0, interval(0, 5)), (1, interval(4, 6))]);
    assert_eq!(twice, Err(Error::Overlap { interval: interval(4, 5) }));
    assert_eq!(Mapping::new(4, [(4, interval(0, 5))]), Err(Error::NoSuchTile { tile: 4, tiles: 4 }));
    let joined = Mapping::new(4, [(1, interval(4, 6)), (0, interval(3, 3)), (1, interval(0, 4))]).unwrap();
    assert_eq!(joined.pieces(), [(1, interval(0, 6))]);
}

#[test]
fn trackers_refuse_what_does_not_fit() {
    let mut graph = Graph::new(Target::new(4, 1).unwrap());
    let variable = graph.add_variable(DataType::F32, &[8]).unwrap();
    let mut tracker = TensorUseTracker::new(4).unwrap();
    assert_eq!(tracker.add(4, variable, interval(0, 1)), Err(Error::NoSuchTile { tile: 4, tiles: 4 }));
    assert!(tracker.is_empty());
    tracker.add(0, variable, interval(0, 9)).unwrap();
    let beyond = tracker.resolve(&graph, &Resolve::new(1, 0));
    assert_eq!(beyond, Err(Error::OutOfRange { interval: interval(0, 9), elements: 8 }));
    assert_eq!(tracker.uses(variable), [(0, interval(0, 9))], "a failure changes nothing");
    let other = TensorUseTracker::new(5).unwrap();
    assert_eq!(tracker.merge(other), Err(Error::DifferentTiles { left: 4, right: 5 }));
    let mut tracker = TensorUseTracker::new(4).unwrap();
    tracker.add(0, 7, interval(0, 1)).unwrap();
    assert_eq!(tracker.resolve(&graph, &Resolve::new(1, 0)), Err(Error::NoSuchVariable { variable: 7 }));
    let mut tracker = TensorUseTracker::new(4).unwrap();
    tracker.add(0, variable, interval(0, 1)).unwrap();
    assert_eq!(tracker.resolve(&graph, &Resolve::new(0, 0)), Err(Error::ZeroGrain));
}

#[test]
fn nothing_wraps_around() {
    let too_many = Err(Error::TooLarge { what: "number of elements" });
    assert_eq!(number_of_elements(&[1 << 32, 1 << 32]), too_many);
    assert_eq!(number_of_elements(&[1 << 32, 1 << 32, 0]), Ok(0));
    let all = Interval::first(u64::MAX);
    assert_eq!(split_regions(&[all, interval(0, 1)], &Split::new(1, 2)).map(|_| 0), too_many);
    let halves = split_regions(&[all], &Split::new(3, 2)).unwrap();
    assert_eq!(halves.concat().iter().map(|half| half.len()).sum::<u64>(), u64::MAX);
    for (grain, least) in [(1, 0), (u64::MAX, u64::MAX), (7, u64::MAX - 1), (u64::MAX - 1, 3)] {
        for order in [Order::Ascending, Order::Descending] {
            let linear = Linear::new(grain, least).from(u32::MAX, order);
            let mapping = calc_linear_tile_mapping(3, &[u64::MAX], &linear).unwrap();
            assert_eq!(mapping.elements(), u64::MAX);
            assert_eq!(tile_imbalance(&mapping, u64::MAX, grain), 0);
        }
    }
    let one =
        calc_linear_tile_mapping(u32::MAX, &[3], &Linear::new(1, 0).from(u32::MAX - 1, Order::Ascending)).unwrap();
    assert_eq!(one.pieces().iter().map(|piece| piece.0).collect::<Vec<_>>(), [0, 1, u32::MAX - 1]);
    assert_eq!(dim_is_split_over_tiles(&one.with_tiles(u32::MAX).unwrap(), &[3, 1 << 40], 1), Ok(true));
}

/// 10¹² elements on the tiles of a large system. Element by element, this would take hours.
#[test]
fn work_is_done_by_intervals() {
    let target = Target::new(1472, 128).unwrap();
    let shape = [1 << 20, 1 << 20];
    let mapping = calc_linear_tile_mapping(target.tiles(), &shape, &target.linear(DataType::F16).unwrap()).unwrap();
    assert_eq!((mapping.used_tiles(), mapping.elements()), (188_416, 1 << 40));
    assert!(dim_is_split_over_tiles(&mapping, &shape, 0).unwrap());
    create_broadcast_operand(&target, &mapping, &shape, DataType::F16, 0, true).unwrap();
}

/// The form that programs read.
#[cfg(feature = "serde")]
#[test]
fn mappings_serialise() {
    let mapping = calc_linear_tile_mapping(4, &[40], &Linear::new(4, 0).from(3, Order::Ascending)).unwrap();
    let json = serde_json::to_string(&mapping).unwrap();
    let shown = concat!(
        r#"[{"tile":0,"intervals":[[8,20]]},{"tile":1,"intervals":[[20,28]]},"#,
        r#"{"tile":2,"intervals":[[28,40]]},{"tile":3,"intervals":[[0,8]]}]"#
    );
    assert_eq!(json, shown);
}
