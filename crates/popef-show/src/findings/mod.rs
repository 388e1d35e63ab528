//! The renderers of findings: one for each format.

mod fingerprint;
pub(crate) mod format;
mod github;
pub(crate) mod group;
mod json;
mod junit;
pub(crate) mod options;
pub(crate) mod renderer;
mod sarif;
mod summary;
mod text;
mod uri;
