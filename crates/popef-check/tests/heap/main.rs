//! Memory held on the heap, counted by an allocator.

#[path = "../../../../popef/tests/common/mod.rs"]
mod common;
#[path = "../costs/mod.rs"]
mod costs;

mod allocations;
mod files;
#[cfg(all(feature = "popart", feature = "serde", feature = "tensorflow"))]
mod payloads;
mod pickles;

#[global_allocator]
static ALLOCATOR: costs::heap::Counting = costs::heap::Counting;
