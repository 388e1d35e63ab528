//! The worst inputs known for reading and checking headers, infos and Metadata.

use super::super::cost::{Bound, CHECK, HEADS, HEADS_KEPT, METADATA, Worst};
use super::super::work::{check_all, list, read_metadata, walk};
use super::{worst_blobs, worst_files};

pub fn worst_messages() -> Vec<Worst> {
    let mut all = inputs(HEADS, walk);
    all.extend(inputs(HEADS_KEPT, list));
    all.extend(inputs(METADATA, read_metadata));
    all.extend(inputs(CHECK, check_all));
    all
}

fn inputs(bound: Bound, work: fn(&[u8]) -> u64) -> Vec<Worst> {
    let blobs = worst_blobs().into_iter().map(move |(name, blob)| {
        let make = Box::new(move |size: usize| blob.repeat(size.div_ceil(blob.len()).max(1)));
        Worst { bound, name, make, work }
    });
    // Scans for pickles and unpacking have rows of their own.
    let files = worst_files().into_iter().filter(|(name, _)| !name.contains("pickle") && !name.contains("packed"));
    let files = files.map(move |(name, make)| {
        let make = Box::new(move |size: usize| make(size.max(1000)));
        Worst { bound, name, make, work }
    });
    blobs.chain(files).collect()
}
