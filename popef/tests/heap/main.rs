//! Memory held on the heap, counted by an allocator.

#[path = "../common/mod.rs"]
mod common;

mod allocations;
mod files;
#[cfg(all(feature = "popart", feature = "serde", feature = "tensorflow"))]
mod payloads;
mod pickles;

#[global_allocator]
static ALLOCATOR: common::heap::Counting = common::heap::Counting;
