//! Reading files that are whole, odd, damaged or changed meanwhile, in every way in.

#[path = "../common/mod.rs"]
mod common;

mod bucket;
mod changed;
mod compressed;
mod damage;
mod debug;
mod elements;
mod errors;
mod exhaustive;
mod flips;
mod handles;
mod interop;
mod lookup;
mod names;
mod odd_files;
mod readers;
mod reads;
mod regressions;
mod serialized;
mod sources;
mod truncation;
mod unknown;
mod unpack_reader;
mod ways_in;
