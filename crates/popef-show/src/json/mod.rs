//! What all JSON outputs have in common.

pub(crate) mod members;
pub(crate) mod network;
pub(crate) mod rows;
mod safe;
pub(crate) mod stream;
pub(crate) mod text;
pub(crate) mod write;
