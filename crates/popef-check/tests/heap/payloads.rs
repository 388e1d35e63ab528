//! Reading a payload takes memory in proportion to its bytes, and its JSON takes none. `cargo bench -p popef-check --bench
//! worst` and the fuzz target `payload` measure the time.

use crate::costs;

use costs::cost::{Cost, Worst};
use costs::worst::payloads::worst_payloads;

#[test]
fn a_payload_takes_memory_in_proportion_to_its_bytes() {
    for Worst { bound, name, make, work } in worst_payloads() {
        for size in [0, 1000, 150_000] {
            let bytes = make(size);
            let cost = Cost::of(bytes.len() as u64, || work(&bytes));
            let (_, heap) = cost.shares(&bound);
            assert!(heap <= 1.0, "{name}: {cost}, {heap:.2} of what is promised");
        }
    }
}
