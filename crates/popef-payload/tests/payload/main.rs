//! What frameworks put into opaque blobs.

#[path = "../../../../popef/tests/common/mod.rs"]
mod common;

mod broken;
#[cfg(all(feature = "popart", feature = "poptorch", feature = "tensorflow"))]
mod payloads;
#[cfg(all(feature = "poptorch", feature = "serde"))]
mod poptorch;
