//! The tool as people use it: one program, a module for each command.

mod cat;
mod common;
mod completions;
mod compress;
mod diff;
mod extract;
mod hash;
mod help;
mod kills;
mod man;
mod merge;
mod pack;
mod peers;
mod readme;
mod recover;
mod report;
mod schema;
mod set;
mod signals;
mod split;
mod streams;
mod strip;
mod terminal;
mod tiles;
mod under_one_roof;
mod verify;
