//! Poplar's profiling reports. All of them are synthetic (testdata/profile): no whole report of Poplar is public.

mod damage;
mod diff;
#[cfg(feature = "serde")]
mod facts;
#[cfg(feature = "serde")]
mod naive;
mod odd;
mod propose;
#[cfg(feature = "serde")]
mod real;
mod shown;

use std::fs;
use std::path::PathBuf;

use poplar_inspect::profile::{Error, ReadOptions, Report};
use serde_json::Value;

fn testdata() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/profile"))
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(testdata().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).unwrap()
}

fn read(bytes: &[u8]) -> Result<Report, Error> {
    Report::read(bytes, &ReadOptions::all())
}

/// A graph profile with its execution profile.
fn case(name: &str) -> Report {
    let half = |half: &str| read(&bytes(&format!("{name}.{half}.json"))).unwrap();
    half("graph").join(half("execution")).unwrap()
}

const CASES: [&str; 9] = ["tiny", "model", "hardware", "single-tile", "vertices", "external", "host", "oom", "none"];
