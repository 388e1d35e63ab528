use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::interval::joined;
use super::{Interval, LoweredVar, LoweredVars};

/// How the memory of a tile is used, calculated from [`LoweredVars`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TileMemory {
    /// The tile.
    pub tile: u32,
    /// The number of variables that are allocated on it.
    pub variables: u64,
    /// The number of variables on it that have no place.
    pub not_allocated: u64,
    /// The sizes of all variables, added up. Variables that share bytes count both.
    pub variable_bytes: u64,
    /// The bytes that any variable has. Each counts once.
    pub used_bytes: u64,
    /// The bytes of variables that are always live.
    pub always_live_bytes: u64,
    /// A lower bound of the memory in use, for any allocation: always-live variables, and variables that all interfere with each other. The
    /// set of the latter is large, but perhaps not the largest.
    pub lower_bound_bytes: u64,
    /// The byte after the last one that is used.
    pub end: u64,
    /// The number of gaps between variables.
    pub gaps: u64,
    /// The bytes of all gaps.
    pub gap_bytes: u64,
    /// The bytes of the largest gap.
    pub largest_gap: u64,
    /// How many of a thousand free bytes (gaps, and what comes after the last variable) are not in the largest free piece.
    /// `None` if the memory of a tile is not known, or full.
    pub fragmentation_permille: Option<u64>,
    /// The bytes beyond the memory of a tile.
    pub overflow_bytes: u64,
}

impl LoweredVars {
    /// The memory of every tile that has variables, by tile.
    pub fn tile_memories(&self) -> Vec<TileMemory> {
        let mut by_tile: BTreeMap<u32, Vec<&LoweredVar>> = BTreeMap::new();
        for variable in &self.variables {
            by_tile.entry(variable.tile).or_default().push(variable);
        }
        by_tile.into_iter().map(|(tile, variables)| self.tile_memory_of(tile, &variables)).collect()
    }

    /// The variables of a tile that are allocated, by place.
    pub fn on_tile(&self, tile: u32) -> Vec<&LoweredVar> {
        let mut variables: Vec<_> = self.variables.iter().filter(|it| it.tile == tile && it.offset.is_some()).collect();
        variables.sort_by_key(|it| (it.offset, it.size));
        variables
    }

    /// The bytes of a tile that any variable has, as intervals.
    pub fn used_on(&self, tile: u32) -> Vec<Interval> {
        joined(self.on_tile(tile).into_iter().filter_map(place).collect())
    }

    fn tile_memory_of(&self, tile: u32, variables: &[&LoweredVar]) -> TileMemory {
        let used = joined(variables.iter().copied().filter_map(place).collect());
        let allocated = || variables.iter().filter(|it| it.offset.is_some());
        let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
        let end = used.last().map_or(0, |last| last.end());
        let starts = used.iter().map(|at| at.begin());
        let ends = std::iter::once(0).chain(used.iter().map(|at| at.end()));
        let gaps: Vec<u64> = starts.zip(ends).map(|(begin, end)| begin - end).filter(|gap| *gap > 0).collect();
        let gap_bytes = sum(&mut gaps.iter().copied());
        TileMemory {
            tile,
            variables: allocated().fold(0, |count, _| count + 1),
            not_allocated: variables.iter().filter(|it| it.offset.is_none()).fold(0, |count, _| count + 1),
            variable_bytes: sum(&mut allocated().map(|it| it.size)),
            used_bytes: sum(&mut used.iter().map(|at| at.len())),
            always_live_bytes: sum(&mut allocated().filter(|it| it.always_live).map(|it| it.size)),
            lower_bound_bytes: self.lower_bound(variables),
            end,
            gaps: gaps.iter().fold(0, |count, _| count + 1),
            gap_bytes,
            largest_gap: gaps.iter().copied().max().unwrap_or_default(),
            fragmentation_permille: self.fragmentation(end, &gaps, gap_bytes),
            overflow_bytes: self.tile_memory.map_or(0, |memory| end.saturating_sub(memory)),
        }
    }

    fn fragmentation(&self, end: u64, gaps: &[u64], gap_bytes: u64) -> Option<u64> {
        let rest = self.tile_memory?.saturating_sub(end);
        let free = gap_bytes.checked_add(rest).filter(|free| *free > 0)?;
        let largest = gaps.iter().copied().fold(rest, u64::max);
        let permille = u128::from(free - largest) * 1000 / u128::from(free);
        u64::try_from(permille).ok()
    }

    /// Always-live variables, and those of classes that interfere with each other, cannot share bytes.
    fn lower_bound(&self, variables: &[&LoweredVar]) -> u64 {
        let (always, others): (Vec<&LoweredVar>, Vec<&LoweredVar>) =
            variables.iter().copied().filter(|it| it.offset.is_some()).partition(|it| it.always_live);
        let always = always.iter().map(|it| it.size).fold(0, u64::saturating_add);
        always.saturating_add(self.heaviest_clique(&self.weights(&others)))
    }

    /// The bytes that each class needs, the heaviest first. The variables of a class that interferes with itself need all of their
    /// bytes at once.
    fn weights(&self, variables: &[&LoweredVar]) -> Vec<(u32, u64)> {
        let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
        for (class, size) in variables.iter().filter_map(|it| Some((it.class?, it.size))) {
            let weight = weights.entry(class).or_default();
            *weight = if self.interfere(class, class) { weight.saturating_add(size) } else { size.max(*weight) };
        }
        let mut weights: Vec<_> = weights.into_iter().collect();
        weights.sort_by_key(|&(class, weight)| (Reverse(weight), class));
        weights
    }

    /// A set of classes that all interfere with each other, found greedily from each of the heaviest classes. The limits keep the
    /// work small; any such set gives a bound.
    fn heaviest_clique(&self, weights: &[(u32, u64)]) -> u64 {
        const SEEDS: usize = 8;
        const CLASSES: usize = 2048;
        const CLIQUE: usize = 64;
        let from = |&(seed, weight): &(u32, u64)| {
            let (mut clique, mut sum) = (vec![seed], weight);
            for &(class, weight) in weights.iter().take(CLASSES).filter(|other| other.0 != seed) {
                if clique.len() < CLIQUE && clique.iter().all(|&other| self.interfere(class, other)) {
                    clique.push(class);
                    sum = sum.saturating_add(weight);
                }
            }
            sum
        };
        weights.iter().take(SEEDS).map(from).max().unwrap_or_default()
    }
}

/// The bytes of a variable.
fn place(variable: &LoweredVar) -> Option<Interval> {
    let offset = variable.offset?;
    // The reader has checked the sum.
    Some(Interval::between(offset, offset.saturating_add(variable.size)))
}
