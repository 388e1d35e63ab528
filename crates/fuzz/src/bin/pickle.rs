//! Any bytes as the data of an opaque blob: no panic, no place outside the data, and no more time and memory than is
//! promised.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef_fuzz::cost::{PICKLE, SLACK, assert_within, unless_archive};
use popef_fuzz::heap::Counting;
use popef_payload::pickle::Pickle;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    let len = input.len() as u64;
    let mut pickle = None;
    assert_within(&unless_archive(PICKLE, input), SLACK, len, || {
        pickle = Pickle::scan_bytes(input);
        0
    });
    let Some(pickle) = pickle else { return };
    for import in &pickle.imports {
        assert!(import.offset < len && !import.path.is_empty(), "{import:?}");
    }
    if let Some(fault) = &pickle.fault {
        assert!(fault.offset <= len && !fault.reason.is_empty(), "{fault:?}");
    }
    for unseen in &pickle.unseen {
        assert!(unseen.offset <= len && !unseen.why.is_empty(), "{unseen:?}");
    }
    assert_eq!(pickle.worst().is_some(), !pickle.imports.is_empty());
});
