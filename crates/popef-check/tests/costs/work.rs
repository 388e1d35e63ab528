//! Work whose cost is measured. Each function takes the bytes of a file and returns 0, because no bytes come out.

use std::hint::black_box;

use popef::read::Blobs;
use popef::{Content, File, OpenOptions};
use popef_check::{CheckOptions, Loader, check};

/// Reads all headers and infos and keeps none.
pub fn walk(file: &[u8]) -> u64 {
    Blobs::new(file).for_each(|blob| drop(black_box(blob)));
    0
}

/// Opens the file and keeps its headers and infos.
pub fn list(file: &[u8]) -> u64 {
    drop(black_box(OpenOptions::new().damaged(true).stream(file)));
    0
}

pub fn read_metadata(file: &[u8]) -> u64 {
    for blob in Blobs::new(file).map_while(Result::ok) {
        if let Content::Metadata(metadata) = blob.content() {
            drop(black_box(metadata.read()));
        }
    }
    0
}

/// Checks the file by all rules, its data too. The copy of the bytes counts.
pub fn check_all(file: &[u8]) -> u64 {
    check_file(file, true)
}

/// Checks the file by all rules that read no data.
pub fn check_headers(file: &[u8]) -> u64 {
    check_file(file, false)
}

fn check_file(file: &[u8], deep: bool) -> u64 {
    let file = OpenOptions::new().damaged(true).bytes(file.to_vec());
    let mut options = CheckOptions::new();
    for &loader in Loader::ALL {
        options.loader(loader);
    }
    let files: Vec<File> = file.into_iter().collect();
    drop(black_box(check(&files, options.deep(deep))));
    0
}
