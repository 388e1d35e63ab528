//! What all JSON outputs have in common.

pub(crate) mod members;
mod safe;
pub(crate) mod text;
pub(crate) mod write;
