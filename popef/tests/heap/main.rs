//! Memory held on the heap, counted by an allocator.

#[path = "../common/mod.rs"]
mod common;

mod allocations;
mod files;
mod pickles;

#[global_allocator]
static ALLOCATOR: common::heap::Counting = common::heap::Counting;
