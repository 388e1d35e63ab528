//! What the commands share.

pub(crate) mod color;
pub(crate) mod compression;
mod elsewhere;
pub(crate) mod end;
pub(crate) mod filter;
pub(crate) mod findings;
pub(crate) mod format;
pub(crate) mod in_turn;
pub(crate) mod input;
pub(crate) mod json_file;
pub(crate) mod listing;
pub(crate) mod meant;
pub(crate) mod one_blob;
pub(crate) mod output;
pub(crate) mod page;
pub(crate) mod plain;
pub(crate) mod rows;
pub(crate) mod signals;
pub(crate) mod stdout;
pub(crate) mod to_file;
pub(crate) mod tool;
pub(crate) mod values;
pub(crate) mod words;
