//! What is on the tiles of IPUs: planned, estimated, and read from files.
//!
//! Each report is a value that can be written in every [`ReportFormat`](crate::ReportFormat).

mod exec;
mod map;
mod model;
mod picture;
mod plan;
mod vars;

use std::cmp::Reverse;

use crate::output::shown::Shown;
use crate::size;

pub use exec::{ExecutableTiles, ExecutablesRenderer, TilesFormat};
pub use map::MapReport;
pub use model::{EstimatesRenderer, ModelEstimate, TensorEstimate};
pub use plan::PlanReport;
pub use vars::VarsReport;

/// The maximum number of bytes of a name that many rows of JSON and CSV repeat.
pub(super) const MOST_NAME: usize = 1000;

/// A number of elements and their bytes: `64 elements (128 B)`.
pub(super) fn elements(count: u64, element_size: u64) -> Shown<'static> {
    let what = if count == 1 { "element" } else { "elements" };
    shown!("{} {} ({})", count, what, size(count.saturating_mul(element_size)))
}

/// The fullest tiles, the fullest one first.
pub(super) fn fullest_tiles(mut amounts: Vec<(u32, u64)>, most: usize) -> Vec<(u32, u64)> {
    amounts.sort_by_key(|&(tile, amount)| (Reverse(amount), tile));
    amounts.truncate(most);
    amounts
}
