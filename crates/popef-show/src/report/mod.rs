//! What there is to show of a file, worked out once, whatever renderer shows it.

pub(crate) mod file;
pub(crate) mod glob;
pub(crate) mod metadata;
mod natural;
pub(crate) mod options;
pub(crate) mod payload;
pub(crate) mod stats;
pub(crate) mod sums;
pub(crate) mod tensor;
pub(crate) mod tiles;
pub(crate) mod values;
