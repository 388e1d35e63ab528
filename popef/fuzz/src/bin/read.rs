//! The walk and every accessor over any bytes, from memory: no panic, nothing that contradicts itself, and no more
//! memory than the headers and infos account for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef::{Blobs, File, OpenOptions};
use popef_fuzz::everything::{everything, walk};
use popef_fuzz::heap::{BASE, Counting, allowance, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    let file = popef_fuzz::file(input);
    walk(&file);

    let allowed = allowance(&file, false);
    let allowed_streamed = allowance(&file, true);
    let (_, peak) = peak_of(|| Blobs::new(&file).for_each(drop));
    assert!(peak <= allowed, "a walk held {peak} bytes of {allowed}");
    let size = file.len() as u64;
    let bytes: std::sync::Arc<[u8]> = file.into();
    let (opened, peak) = peak_of(|| OpenOptions::new().damaged(true).bytes(bytes.clone()).unwrap());
    assert!(peak <= allowed, "an opened file held {peak} bytes of {allowed}");
    for metadata in opened.metadata() {
        let allowed = BASE + 4 * metadata.blob().info_bytes().len() as u64;
        let (_, peak) = peak_of(|| drop(metadata.read()));
        assert!(peak <= allowed, "metadata held {peak} bytes of {allowed}");
    }
    everything(&opened, size);
    let (streamed, peak) = peak_of(|| OpenOptions::new().damaged(true).stream(&*bytes).unwrap());
    assert!(peak <= allowed_streamed, "a stream held {peak} bytes of {allowed_streamed}");
    everything(&streamed, size);
    assert_eq!(File::from_bytes(bytes).is_ok(), opened.damage().is_none());
});
