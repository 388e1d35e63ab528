//! Models and checks.

#[path = "../../../../popef/tests/common/mod.rs"]
mod common;

mod executables;
mod files;
#[cfg(all(feature = "popart", feature = "tensorflow"))]
mod golden;
mod incomplete;
mod inside;
mod loaders;
mod metadata;
mod model;
mod policy;
mod report;
mod rules;
mod safety;
#[cfg(feature = "serde")]
mod serialized;
