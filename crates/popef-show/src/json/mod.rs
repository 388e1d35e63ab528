//! What all JSON outputs have in common.

pub(crate) mod members;
pub(crate) mod network;
mod safe;
pub(crate) mod text;
pub(crate) mod write;
