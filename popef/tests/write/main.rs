//! Writing files: what is written, where it goes, and what is left when something fails.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod copies;
mod edits;
mod files;
mod interop;
mod kills;
mod owned;
mod packed;
mod places;
mod refused;
mod rights;
mod roundtrip;
mod watched;
