//! How the tool behaves towards shells, pipes, terminals and the file system.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod output;
mod overview;
mod selection;
mod values;
