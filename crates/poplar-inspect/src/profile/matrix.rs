//! Lists of integers with one for each tile.

/// Sums over a list of integers, with one for each tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct RowSums {
    /// Their sum.
    pub sum: u64,
    /// The largest one.
    pub most: u64,
    /// The tile of the largest one, the first if there are several.
    pub most_tile: u32,
    /// The number of tiles with more than 0.
    pub tiles: u32,
}

impl RowSums {
    /// The sums of a list.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Self {
        let mut sums = RowSums::default();
        values.into_iter().enumerate().for_each(|(tile, value)| sums.add(tile, value));
        sums
    }

    /// 64 bits are enough for all tiles that exist. Larger sums stay at the largest number.
    #[inline]
    pub(super) fn add(&mut self, tile: usize, value: u64) {
        self.sum = self.sum.saturating_add(value);
        self.tiles = self.tiles.saturating_add(u32::from(value > 0));
        if value > self.most {
            self.most = value;
            self.most_tile = u32::try_from(tile).unwrap_or(u32::MAX);
        }
    }
}

/// The integers of a list with one for each tile, in little memory: at most 8 bytes for each one that is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// All, if they fit into 32 bits and most are not 0.
    Dense(Box<[u32]>),
    /// The tiles that have more than 0.
    Sparse(Box<[(u32, u32)]>),
    /// The tiles that have more than 0, if some values need more than 32 bits.
    Large(Box<[(u32, u64)]>),
}

impl Row {
    pub(super) fn of(values: &[u64]) -> Row {
        let used = values.iter().filter(|value| **value > 0).count();
        let small: Option<Vec<u32>> = values.iter().map(|value| u32::try_from(*value).ok()).collect();
        let pairs = (0_u32..).zip(values).filter(|(_, value)| **value > 0);
        match small {
            Some(small) if used.saturating_mul(2) >= values.len() => Row::Dense(small.into()),
            Some(small) => Row::Sparse((0_u32..).zip(small).filter(|(_, value)| *value > 0).collect()),
            None => Row::Large(pairs.map(|(tile, value)| (tile, *value)).collect()),
        }
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = match self {
            Row::Dense(values) => size_of_val::<[u32]>(values),
            Row::Sparse(pairs) => size_of_val::<[(u32, u32)]>(pairs),
            Row::Large(pairs) => size_of_val::<[(u32, u64)]>(pairs),
        };
        (size_of::<Row>() as u64).saturating_add(bytes as u64)
    }

    /// Calls `each` with all tiles that have more than 0, in order.
    pub(super) fn each(&self, mut each: impl FnMut(usize, u64)) {
        match self {
            Row::Dense(values) => {
                let used = values.iter().enumerate().filter(|(_, value)| **value > 0);
                used.for_each(|(tile, value)| each(tile, u64::from(*value)));
            }
            Row::Sparse(pairs) => pairs.iter().for_each(|(tile, value)| each(*tile as usize, u64::from(*value))),
            Row::Large(pairs) => pairs.iter().for_each(|(tile, value)| each(*tile as usize, *value)),
        }
    }
}

/// A list for each compute set, exchange or vertex type, of integers with one for each tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// The sums of each list.
    pub rows: Vec<RowSums>,
    /// The lists themselves, if they were to be kept.
    pub(super) values: Option<Vec<Row>>,
}

impl Matrix {
    /// The number of lists.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The sum over all lists.
    pub fn sum(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.sum))
    }

    /// Whether each value was kept.
    pub fn has_values(&self) -> bool {
        self.values.is_some()
    }

    /// Calls `each` with the tiles and values of a list that are more than 0, in order. Values that were not kept are not there.
    pub fn each(&self, row: usize, each: impl FnMut(usize, u64)) {
        if let Some(row) = self.values.as_ref().and_then(|values| values.get(row)) {
            row.each(each);
        }
    }
}
