//! Memory, mapping, parts and stream agree on any bytes: the same blobs, the same data, the same errors.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef_fuzz::everything::everything;
use popef_fuzz::ways;

fuzz_target!(|input: &[u8]| {
    let bytes = popef_fuzz::file(input);
    let path = ways::scratch_file();
    std::fs::write(&path, &bytes).unwrap();
    for file in ways::all_agree(&path, &bytes) {
        everything(&file, bytes.len() as u64);
    }
});
