//! Models, checks, and the scan for pickles.

#[path = "../common/mod.rs"]
mod common;

mod executables;
mod files;
#[cfg(all(feature = "popart", feature = "tensorflow"))]
mod golden;
mod incomplete;
#[cfg(feature = "lz4")]
mod inside;
mod loaders;
mod metadata;
mod model;
mod pickle;
mod policy;
mod report;
mod rules;
mod safety;
