//! Any bytes as PopTorch's data: no panic, no more time and memory than is promised, and an output that is limited too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef::read::end_of_pickles;
use popef_fuzz::cost::{POPTORCH, SLACK, assert_within, unless_archive};
use popef_fuzz::heap::Counting;
use popef_payload::pickle::Pickle;
use popef_payload::poptorch::PoptorchData;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The maximum number of bytes of JSON, for each call and for each byte. A letter can become six bytes.
const JSON: (u64, u64) = (2 << 20, 64);

fuzz_target!(|input: &[u8]| {
    let len = input.len() as u64;
    let mut read = None;
    assert_within(&unless_archive(POPTORCH, input), SLACK, len, || {
        read = PoptorchData::read_bytes(input).ok();
        0
    });
    let pickle = Pickle::scan_bytes(input);
    assert!(end_of_pickles(input).is_none_or(|end| end <= len));
    assert_eq!(read.is_some(), pickle.is_some());
    let (Some(data), Some(pickle)) = (read, pickle) else { return };
    assert_eq!(data.fault, pickle.fault);
    let is_imported = |path: &String| pickle.imports.iter().any(|import| import.path == *path);
    assert!(data.globals.iter().chain(&data.nested_globals).all(is_imported), "{data:?}");
    let json = serde_json::to_vec(&data).expect("any data has a JSON");
    assert!(json.len() as u64 <= JSON.0 + JSON.1 * len, "{} bytes of JSON for {len}", json.len());
    assert!(data.options.to_string().len() as u64 <= JSON.0 + JSON.1 * len);
    assert_eq!(data.clone().whole().is_err(), data.fault.is_some());
});
