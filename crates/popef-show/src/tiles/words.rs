//! What the reports of tiles have in common.

use std::cmp::Reverse;

use crate::size;

/// So many bytes of a name are in each row of JSON and CSV that is about a part of what has the name.
pub(super) const MOST_NAME: usize = 1000;

/// A number of elements and their bytes: `64 elements (128 B)`.
pub(super) fn elements(count: u64, element_size: u64) -> String {
    let what = if count == 1 { "element" } else { "elements" };
    format!("{count} {what} ({})", size(count.saturating_mul(element_size)))
}

/// The fullest tiles, the fullest one first.
pub(super) fn fullest_tiles(mut amounts: Vec<(u32, u64)>, most: usize) -> Vec<(u32, u64)> {
    amounts.sort_by_key(|&(tile, amount)| (Reverse(amount), tile));
    amounts.truncate(most);
    amounts
}
