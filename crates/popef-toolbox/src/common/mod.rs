//! The code that the commands share beyond the kit of all tools.

pub(crate) mod compression;
pub(crate) mod findings;
pub(crate) mod in_turn;
pub(crate) mod json_file;
pub(crate) mod listing;
pub(crate) mod one_blob;
pub(crate) mod page;
pub(crate) mod rows;
pub(crate) mod values;
