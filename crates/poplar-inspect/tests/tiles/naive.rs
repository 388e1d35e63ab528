//! Everything against a version that works element by element and shares no code with the library.

use std::collections::{BTreeMap, BTreeSet};

use popef::DataType;
use poplar_inspect::tiles::{
    Graph, Interval, Linear, Mapping, Method, Order, Resolve, Split, Target, TensorUseTracker,
    calc_linear_tile_mapping, clone_and_expand_aliasing, clone_to_ipu, copy_to_ipu, create_broadcast_operand,
    dim_is_split_over_ipus, dim_is_split_over_tiles, fullest_of_linear, inv_transform_tile_index, linear_counts,
    split_regions, tile_imbalance, transform_tile_index,
};
use proptest::prelude::*;

/// The tile of each element.
fn tiles_of(mapping: &Mapping, elements: usize) -> Vec<Option<u32>> {
    let mut tiles = vec![None; elements];
    for &(tile, interval) in mapping.pieces() {
        for element in interval.begin()..interval.end() {
            assert_eq!(tiles[element as usize].replace(tile), None, "element {element} is on two tiles");
        }
    }
    tiles
}

fn mapping_of(tiles: u32, tile_of: &[Option<u32>]) -> Mapping {
    let pieces = tile_of.iter().zip(0..).filter_map(|(tile, at)| Some(((*tile)?, Interval::new(at, at + 1).unwrap())));
    Mapping::new(tiles, pieces).unwrap()
}

/// The part of each element, as poplibs' `splitRegions` assigns it.
fn parts_of(total: usize, split: &Split) -> Vec<usize> {
    let (grain, parts) = (split.grain as usize, split.parts as usize);
    let up = |a: usize, b: usize| a / b + usize::from(!a.is_multiple_of(b));
    let grains = up(total, grain);
    if grains == 0 {
        return Vec::new();
    }
    let mut most = up(grains, parts);
    if let Some(limit) = split.max_per_part {
        most = most.min(limit as usize / grain);
    }
    if split.min_per_part != 0 {
        let least = up(split.min_per_part as usize, grain);
        most = most.max(up(grains, 1.max(grains / least)));
    }
    let parts = up(grains, most);
    let part_of_grain = |grain: usize| (0..parts).find(|part| grain < (part + 1) * grains / parts).unwrap();
    (0..total).map(|element| part_of_grain(element / grain)).collect()
}

fn regions() -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::vec((0_u64..5, 0_u64..30), 0..6).prop_map(|gaps| {
        let mut end = 0;
        let mut next = |(gap, len)| {
            let begin = end + gap;
            end = begin + len;
            Interval::new(begin, end).unwrap()
        };
        gaps.into_iter().map(&mut next).collect()
    })
}

fn splits() -> impl Strategy<Value = Split> {
    let limit = || prop::option::of(0_u64..20);
    (1_u64..6, 1_u64..9, 0_u64..25, limit(), limit()).prop_map(|(grain, parts, min_per_part, part, region)| Split {
        grain,
        parts,
        min_per_part,
        max_per_part: part.map(|more| grain + more),
        max_per_region: region.map(|more| grain + more),
    })
}

fn linears() -> impl Strategy<Value = Linear> {
    let order = prop_oneof![Just(Order::Ascending), Just(Order::Descending)];
    (1_u64..9, 0_u64..40, 0_u32..12, order)
        .prop_map(|(grain, least, offset, order)| Linear::new(grain, least).from(offset, order))
}

/// A mapping of at most this number of elements, and the tile of each.
fn tile_lists(tiles: u32, elements: usize) -> impl Strategy<Value = Vec<Option<u32>>> {
    // Runs, so that elements often have the tile of their neighbour.
    let run = (prop::option::weighted(0.9, 0..tiles), 1_usize..8);
    prop::collection::vec(run, elements..=elements).prop_map(move |runs| {
        let all = runs.into_iter().flat_map(|(tile, len)| std::iter::repeat_n(tile, len));
        all.take(elements).collect()
    })
}

/// The elements of a tensor in row-major order, as indices.
fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all.iter().flat_map(|index| (0..size).map(move |at| [&index[..], &[at]].concat())).collect();
    }
    all
}

fn is_split<K: PartialEq>(shape: &[u64], dimension: usize, key: impl Fn(usize) -> K) -> bool {
    let indices = indices(shape);
    let mut keys: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    indices.iter().enumerate().any(|(element, index)| {
        let mut others = index.clone();
        others[dimension] = 0;
        let first = *keys.entry(others).or_insert(element);
        key(first) != key(element)
    })
}

type Uses = Vec<(u32, Interval)>;

fn uses(tiles: u32, elements: u64) -> impl Strategy<Value = Uses> {
    let interval = (0..elements, 0..elements).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b) + 1).unwrap());
    prop::collection::vec((0..tiles, interval), 1..12)
}

fn resolves() -> impl Strategy<Value = Resolve> {
    let method =
        prop_oneof![Just(Method::None), Just(Method::OptimizeHaloRegions), Just(Method::ConstrainMappingToUsedTiles)];
    (1_u64..6, 0_u64..12, any::<bool>(), method).prop_map(|(grain, least, extend, method)| {
        let mut how = Resolve::new(grain, least);
        (how.extend_partial_use, how.method) = (extend, method);
        how
    })
}

/// The tile of each element, decided a cell at a time.
fn resolved(tiles: u32, elements: usize, uses: &Uses, how: &Resolve) -> Vec<Option<u32>> {
    let constrained = how.method == Method::ConstrainMappingToUsedTiles;
    let cell = if constrained { 1 } else { how.grain as usize };
    let users_of = |element: u64| -> BTreeSet<u32> {
        let has = |at: &Interval| at.begin() <= element && element < at.end();
        uses.iter().filter(|(_, at)| has(at)).map(|(tile, _)| *tile).collect()
    };
    // A cell has the users of its first element that has any.
    let mut cells: Vec<BTreeSet<u32>> = (0..elements.div_ceil(cell))
        .map(|at| (at * cell..elements.min((at + 1) * cell)).map(|it| users_of(it as u64)).find(|it| !it.is_empty()))
        .map(Option::unwrap_or_default)
        .collect();
    if how.extend_partial_use {
        for at in 1..cells.len() {
            if cells[at].is_empty() {
                cells[at] = cells[at - 1].clone();
            }
        }
        for at in (1..cells.len()).rev() {
            if cells[at - 1].is_empty() {
                cells[at - 1] = cells[at].clone();
            }
        }
    }
    // Runs of cells with the same users.
    let mut runs: Vec<(BTreeSet<u32>, Vec<usize>)> = Vec::new();
    for (at, users) in cells.iter().enumerate() {
        match runs.last_mut() {
            Some((last, run)) if last == users && run.last() == Some(&(at - 1)) => run.push(at),
            _ if users.is_empty() => {}
            _ => runs.push((users.clone(), vec![at])),
        }
    }
    match how.method {
        Method::None => {}
        Method::OptimizeHaloRegions => {
            let old = runs.clone();
            for at in 1..old.len().saturating_sub(1) {
                let (before, own, after) = (&old[at - 1].0, &old[at].0, &old[at + 1].0);
                if before.len() + after.len() == own.len() && before.is_subset(own) && after.is_subset(own) {
                    runs[at].0 = before.clone();
                }
            }
        }
        Method::ConstrainMappingToUsedTiles => {
            let mut merged: Vec<(BTreeSet<u32>, Vec<usize>)> = Vec::new();
            for (users, run) in runs {
                match merged.last_mut() {
                    Some((all, cells)) if !all.is_disjoint(&users) => {
                        all.extend(&users);
                        cells.extend(cells.last().unwrap() + 1..=*run.last().unwrap());
                    }
                    _ => merged.push((users, run)),
                }
            }
            runs = merged;
        }
    }
    let mut groups: BTreeMap<BTreeSet<u32>, Vec<usize>> = BTreeMap::new();
    runs.into_iter().for_each(|(users, run)| groups.entry(users).or_default().extend(run));
    let mut tile_of = vec![None; elements];
    for (users, cells) in groups {
        let mut split = Split::new(if constrained { how.grain } else { 1 }, users.len() as u64);
        split.min_per_part = how.min_elements.div_ceil(cell as u64);
        for (&at, part) in cells.iter().zip(parts_of(cells.len(), &split)) {
            let tile = users.iter().nth(part).unwrap();
            tile_of[at * cell..elements.min((at + 1) * cell)].fill(Some(*tile));
        }
    }
    assert!(tile_of.iter().flatten().all(|tile| *tile < tiles));
    tile_of
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn regions_are_split(regions in regions(), split in splits()) {
        let parts = split_regions(&regions, &split).unwrap();
        let elements: Vec<u64> = regions.iter().flat_map(|at| at.begin()..at.end()).collect();
        let ours: Vec<(usize, u64)> = parts.iter().enumerate()
            .flat_map(|(part, intervals)| intervals.iter().flat_map(move |at| (at.begin()..at.end()).map(move |it| (part, it))))
            .collect();
        let theirs: Vec<(usize, u64)> = parts_of(elements.len(), &split).into_iter().zip(elements).collect();
        prop_assert_eq!(ours, theirs);
        let longest = split.max_per_region.map_or(u64::MAX, |most| most / split.grain * split.grain);
        for interval in parts.iter().flatten() {
            prop_assert!(!interval.is_empty() && interval.len() <= longest);
            prop_assert!(regions.iter().any(|it| it.begin() <= interval.begin() && interval.end() <= it.end()));
        }
    }

    #[test]
    fn tensors_are_spread_evenly(tiles in 1_u32..10, elements in 0_usize..300, linear in linears()) {
        let mapping = calc_linear_tile_mapping(tiles, &[elements as u64], &linear).unwrap();
        let mut split = Split::new(linear.grain, u64::from(tiles));
        split.min_per_part = linear.min_elements;
        let place = |part: usize| {
            let (part, offset) = (part as i64, i64::from(linear.offset));
            let tile = match linear.order {
                Order::Ascending => offset + part,
                Order::Descending => i64::from(tiles) - 1 - offset - part,
            };
            Some(tile.rem_euclid(i64::from(tiles)) as u32)
        };
        let theirs: Vec<_> = parts_of(elements, &split).into_iter().map(place).collect();
        prop_assert_eq!(tiles_of(&mapping, elements), theirs);
    }

    /// What the documentation promises of grain, minimum, alignment, offset and direction.
    #[test]
    fn linear_mappings_keep_their_promises(tiles in 1_u32..10, elements in 1_u64..300, linear in linears()) {
        let mapping = calc_linear_tile_mapping(tiles, &[elements], &linear).unwrap();
        prop_assert_eq!(mapping.elements(), elements);
        prop_assert_eq!(fullest_of_linear(tiles, elements, &linear), Ok(mapping.most()));
        let mut counts: Vec<_> = linear_counts(tiles, elements, &linear).unwrap().collect();
        counts.sort_unstable();
        prop_assert_eq!(counts, mapping.counts().collect::<Vec<_>>());
        let in_order = {
            let mut pieces = mapping.pieces().to_vec();
            pieces.sort_by_key(|piece| piece.1);
            pieces
        };
        for (number, &(tile, interval)) in in_order.iter().enumerate() {
            prop_assert!(interval.begin().is_multiple_of(linear.grain));
            prop_assert!(interval.end() == elements || interval.len().is_multiple_of(linear.grain));
            let up = (tile + tiles - linear.offset % tiles) % tiles;
            let down = (2 * tiles - 1 - linear.offset % tiles - tile) % tiles;
            prop_assert_eq!(if linear.order == Order::Ascending { up } else { down } as usize, number);
            // Only the last part can lack elements of its last grain.
            let lack = if interval.end() == elements { linear.grain - 1 } else { 0 };
            prop_assert!(interval.len() + lack >= linear.min_elements.min(elements));
        }
        // No mapping in whole grains has a fuller tile for lack of tiles.
        let ideal = elements.div_ceil(linear.grain).div_ceil(u64::from(tiles)) * linear.grain;
        if linear.min_elements == 0 {
            prop_assert!(mapping.most() <= ideal);
        }
    }

    #[test]
    fn imbalance_is_what_the_fullest_tile_has_too_much(
        list in tile_lists(5, 60), least in 0_u64..20, grain in 0_u64..20
    ) {
        let mapping = mapping_of(5, &list);
        let counts: Vec<u64> = (0..5).map(|tile| list.iter().filter(|it| **it == Some(tile)).count() as u64).collect();
        let total: u64 = counts.iter().sum();
        let expected = total.div_ceil(5).max(least).max(grain);
        let theirs = counts.iter().max().unwrap().saturating_sub(expected);
        prop_assert_eq!(tile_imbalance(&mapping, least, grain), theirs);
        let by_tile: Vec<u64> = (0..5).map(|tile| mapping.on_tile(tile).map(Interval::len).sum()).collect();
        prop_assert_eq!(by_tile, counts);
    }

    #[test]
    fn transforms_are_what_the_code_of_poplibs_says(tiles in 1_u32..40, tile in 0_u32..40, offset in 0_u32..40) {
        let (tile, offset) = (tile % tiles, offset % tiles);
        let [up, down] = [Order::Ascending, Order::Descending];
        prop_assert_eq!(transform_tile_index(tile, tiles, offset, up).unwrap(), (tiles + tile - offset) % tiles);
        prop_assert_eq!(transform_tile_index(tile, tiles, offset, down).unwrap(), (2 * tiles - offset - tile) % tiles);
        for order in [up, down] {
            let there = transform_tile_index(tile, tiles, offset, order).unwrap();
            prop_assert_eq!(inv_transform_tile_index(there, tiles, offset, order).unwrap(), tile);
        }
    }

    #[test]
    fn clones_are_on_the_same_tiles_of_another_ipu(list in tile_lists(6, 40), ipu in 0_u32..3) {
        let target = Target::new(2, 3).unwrap();
        let mapping = mapping_of(6, &list);
        let there: Vec<_> = list.iter().map(|tile| tile.map(|tile| ipu * 2 + tile % 2)).collect();
        let clone = clone_to_ipu(&target, &mapping, ipu).unwrap();
        prop_assert_eq!(tiles_of(&clone, list.len()), there.clone());
        let copy = copy_to_ipu(&target, &mapping, ipu).unwrap();
        prop_assert_eq!(&copy.mapping, &clone);
        let mut sent: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (from, to) in list.iter().zip(there).filter_map(|(from, to)| Some(((*from)?, to?))).filter(|it| it.0 != it.1) {
            *sent.entry((from, to)).or_default() += 1;
        }
        let ours: BTreeMap<_, _> = copy.transfers.iter().map(|it| ((it.from, it.to), it.elements)).collect();
        prop_assert_eq!(ours, sent);
    }

    #[test]
    fn aliases_are_expanded(
        list in tile_lists(5, 30), view in prop::collection::vec((0_u64..30, 0_u64..12), 0..8), linear in linears()
    ) {
        let view: Vec<_> = view.into_iter().map(|(begin, len)| Interval::new(begin, (begin + len).min(30)).unwrap()).collect();
        let (clone, offset) = clone_and_expand_aliasing(&mapping_of(5, &list), &view, &linear).unwrap();
        let elements: Vec<u64> = view.iter().flat_map(|at| at.begin()..at.end()).collect();
        let mut seen = BTreeSet::new();
        let mut theirs: Vec<_> = elements.iter().map(|&it| seen.insert(it).then(|| list[it as usize])).collect();
        let later: Vec<usize> = (0..theirs.len()).filter(|at| theirs[*at].is_none()).collect();
        let mut split = Split::new(linear.grain, 5);
        split.min_per_part = linear.min_elements;
        let parts = parts_of(later.len(), &split);
        let used = parts.last().map_or(0, |part| part + 1) as u32;
        for (at, part) in later.into_iter().zip(parts) {
            theirs[at] = Some(Some((linear.offset + part as u32) % 5));
        }
        prop_assert_eq!(tiles_of(&clone, elements.len()), theirs.into_iter().flatten().collect::<Vec<_>>());
        prop_assert_eq!(offset, (linear.offset + used) % 5);
    }

    #[test]
    fn dimensions_are_split(shape in prop::collection::vec(1_u64..5, 1..4), seed in tile_lists(4, 64), period in 1_usize..64) {
        let elements: usize = shape.iter().product::<u64>() as usize;
        // With a period, so that dimensions are often not split.
        let list: Vec<_> = (0..elements).map(|at| seed[at % period]).collect();
        let mapping = mapping_of(4, &list);
        for ipus in [1, 2] {
            let target = Target::new(4 / ipus, ipus).unwrap();
            for dimension in 0..shape.len() {
                let tiles = dim_is_split_over_tiles(&mapping, &shape, dimension).unwrap();
                prop_assert_eq!(tiles, is_split(&shape, dimension, |at| list[at]));
                let over_ipus = dim_is_split_over_ipus(&target, &mapping, &shape, dimension).unwrap();
                prop_assert_eq!(over_ipus, ipus > 1 && is_split(&shape, dimension, |at| list[at].map(|tile| tile / 2)));
            }
        }
    }

    #[test]
    fn uses_are_resolved(uses in uses(5, 60), how in resolves()) {
        let mut graph = Graph::new(Target::new(5, 1).unwrap());
        let variable = graph.add_variable(DataType::F32, &[60]).unwrap();
        let mut tracker = TensorUseTracker::new(5).unwrap();
        uses.iter().for_each(|&(tile, at)| tracker.add(tile, variable, at).unwrap());
        tracker.map_tensors_by_use(&mut graph, &how).unwrap();
        let mapping = graph.variable(variable).unwrap().mapping().unwrap();
        prop_assert_eq!(tiles_of(mapping, 60), resolved(5, 60, &uses, &how));
    }

    /// With another start or direction, tiles are only renumbered while their order counts.
    #[test]
    fn trackers_start_anywhere(uses in uses(5, 60), how in resolves(), start in 0_u32..5, descending in any::<bool>()) {
        let order = if descending { Order::Descending } else { Order::Ascending };
        let mut graph = Graph::new(Target::new(5, 1).unwrap());
        let variable = graph.add_variable(DataType::F32, &[60]).unwrap();
        let mut tracker = TensorUseTracker::starting_at(5, start, order).unwrap();
        uses.iter().for_each(|&(tile, at)| tracker.add(tile, variable, at).unwrap());
        tracker.map_tensors_by_use(&mut graph, &how).unwrap();
        // The first tile, as poplibs' code numbers them.
        let number = |tile: u32| if descending { (10 - start - tile) % 5 } else { (5 + tile - start) % 5 };
        let tile_of = |number: u32| if descending { (10 - start - number) % 5 } else { (number + start) % 5 };
        let renumbered: Uses = uses.iter().map(|&(tile, at)| (number(tile), at)).collect();
        let theirs: Vec<_> = resolved(5, 60, &renumbered, &how).into_iter().map(|it| it.map(tile_of)).collect();
        prop_assert_eq!(tiles_of(graph.variable(variable).unwrap().mapping().unwrap(), 60), theirs);
    }

    #[test]
    fn operands_are_where_they_are_used(
        shape in prop::collection::vec(1_u64..5, 1..4), seed in tile_lists(4, 64), dimension in 0_usize..3
    ) {
        let dimension = dimension % shape.len();
        let target = Target::new(4, 1).unwrap();
        let elements: usize = shape.iter().product::<u64>() as usize;
        let list = &seed[..elements];
        let mapping = mapping_of(4, list);
        let ours = create_broadcast_operand(&target, &mapping, &shape, DataType::F16, dimension, false).unwrap();
        let used: Uses = indices(&shape).iter().zip(list)
            .filter_map(|(index, tile)| Some(((*tile)?, Interval::new(index[dimension], index[dimension] + 1).unwrap())))
            .collect();
        let size = shape[dimension] as usize;
        let mut how = Resolve::new(4, 0);
        how.method = Method::ConstrainMappingToUsedTiles;
        let theirs = if used.is_empty() { vec![Some(0); size] } else { resolved(4, size, &used, &how) };
        prop_assert_eq!(tiles_of(&ours, size), theirs);
        let dithered = create_broadcast_operand(&target, &mapping, &shape, DataType::F16, dimension, true).unwrap();
        let offset = poplar_inspect::tiles::choose_mapping_offset(4, &shape, 0x9e37_79b9).unwrap();
        let moved: Vec<_> = tiles_of(&ours, size).into_iter().map(|it| it.map(|tile| (tile + offset) % 4)).collect();
        prop_assert_eq!(tiles_of(&dithered, size), moved);
    }
}
