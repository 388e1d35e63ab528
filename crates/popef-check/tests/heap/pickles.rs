//! A scan for pickles takes memory in proportion to the data. `cargo bench -p popef-check --bench worst` and the fuzz target
//! `pickle` measure the time.

use crate::costs;

use costs::cost::{ARCHIVE, Cost, Worst};
use costs::heap::taken_by;
use costs::worst::pickles::worst_pickles;
use popef_payload::pickle::Pickle;

/// The bytes of heap that may be taken in all, for each call and for each byte. They show that nothing is read or
/// copied anew for each of many pickles, or for each pickle in another.
const TAKEN: (u64, u64) = (640 << 10, 32);
/// The same for archives, which unpack to more than the data and are followed too.
const TAKEN_OF_ARCHIVE: (u64, u64) = (4 << 20, 256);

#[test]
fn a_scan_takes_memory_in_proportion_to_the_data() {
    // The first scan makes tables that all scans use.
    drop(Pickle::scan_bytes(b"cm\nn\n."));
    for Worst { bound, name, make, work } in worst_pickles() {
        for size in [0, 1000, 6_200, 150_000] {
            let bytes = make(size);
            let len = bytes.len() as u64;
            let (cost, taken) = taken_by(|| Cost::of(len, || work(&bytes)));
            let (_, heap) = cost.shares(&bound);
            assert!(heap <= 1.0, "{name}: {cost}, {heap:.2} of what is promised");
            let most = if bound.decoder == ARCHIVE.decoder { TAKEN_OF_ARCHIVE } else { TAKEN };
            let allowed = most.0 + most.1 * len;
            assert!(taken <= allowed, "{name}: {taken} bytes for {len}, {allowed} allowed");
        }
    }
}

#[cfg(feature = "poptorch")]
#[test]
fn reading_poptorch_data_takes_memory_in_proportion_to_the_data() {
    drop(Pickle::scan_bytes(b"cm\nn\n."));
    for Worst { bound, name, make, work } in costs::worst::poptorch::worst_poptorch_data() {
        for size in [0, 1000, 6_200, 150_000] {
            let bytes = make(size);
            let cost = Cost::of(bytes.len() as u64, || work(&bytes));
            let (_, heap) = cost.shares(&bound);
            assert!(heap <= 1.0, "{name}: {cost}, {heap:.2} of what is promised");
        }
    }
}
