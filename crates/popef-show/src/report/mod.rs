//! The facts about a file, computed once for all renderers.

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
