//! Models, checks, and the scan for pickles.

#[path = "../common/mod.rs"]
mod common;

mod checks;
mod model;
mod pickle;
mod pickle_in_parts;
