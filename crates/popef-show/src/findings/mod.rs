//! The renderers of findings: one for each format.

pub(crate) mod format;
pub(crate) mod group;
mod json;
pub(crate) mod renderer;
mod sarif;
mod text;
mod uri;
