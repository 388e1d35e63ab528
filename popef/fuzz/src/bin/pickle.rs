//! Any bytes as the data of an opaque blob: no panic, memory in proportion, and places that are in the data.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef::Pickle;
use popef_fuzz::heap::{BASE, Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    let (pickle, peak) = peak_of(|| Pickle::scan_bytes(input));
    let allowed = 4 * BASE + 64 * input.len() as u64;
    assert!(peak <= allowed, "scanning {} bytes held {peak} of {allowed}", input.len());
    let Some(pickle) = pickle else { return };
    let len = input.len() as u64;
    for import in &pickle.imports {
        assert!(import.offset < len && !import.path.is_empty(), "{import:?}");
    }
    if let Some(fault) = &pickle.fault {
        assert!(fault.offset <= len && !fault.reason.is_empty(), "{fault:?}");
    }
    assert_eq!(pickle.worst().is_some(), !pickle.imports.is_empty());
});
