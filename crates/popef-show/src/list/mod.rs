//! The renderers of files: one for each format of a listing.

pub(crate) mod format;
mod json;
pub(crate) mod overview;
pub(crate) mod payload;
mod pieces;
pub(crate) mod renderer;
mod text;
