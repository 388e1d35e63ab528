//! A scan for pickles that lacks memory says so and gives what it found. It does not abort, and does not say that the
//! data is no pickle.

#[path = "../../../popef/tests/common/mod.rs"]
mod common;
mod costs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use costs::worst::pickles::worst_pickles;
use popef_payload::pickle::Pickle;

struct Scarce;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Smaller allocations have a fixed size and are not counted.
const SMALL: usize = 1024;

/// Takes memory, if there is enough left. Freed memory does not come back.
fn take(size: usize) -> bool {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(size));
    size < SMALL || size <= left
}

// SAFETY: every call is passed on to the system's allocator as it came, or refused.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        if take(layout.size()) { unsafe { System.alloc(layout) } } else { ptr::null_mut() }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        if take(new_size) { unsafe { System.realloc(ptr, layout, new_size) } } else { ptr::null_mut() }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

fn scan_with(left: usize, bytes: &[u8]) -> Option<Pickle> {
    LEFT.set(left);
    let pickle = Pickle::scan_bytes(bytes);
    LEFT.set(usize::MAX);
    pickle
}

#[test]
fn a_scan_without_memory_says_so() {
    let mut refused = 0;
    for worst in worst_pickles() {
        // Without the mark of a protocol, only what is found shows that this is a pickle.
        let bytes = &(worst.make)(20_000)[2..];
        let whole = scan_with(usize::MAX, bytes);
        let imports = |pickle: &Option<Pickle>| pickle.as_ref().map_or(Vec::new(), |pickle| pickle.imports.clone());
        for left in (0..12).map(|step| (1 << step) * 300) {
            let scanned = scan_with(left, bytes);
            if scanned == whole {
                continue;
            }
            refused += 1;
            let fault = scanned.as_ref().and_then(|pickle| pickle.fault.as_ref());
            let told = fault.map(|fault| (fault.reason, fault.no_memory));
            let expected = ("there is not enough memory to follow it", true);
            assert_eq!(told, Some(expected), "{} with {left} bytes", worst.name);
            let (some, all) = (imports(&scanned), imports(&whole));
            assert!(
                some.iter().zip(&all).all(|(one, other)| one.path == other.path),
                "{} with {left} bytes",
                worst.name
            );
        }
    }
    assert!(refused > 100, "{refused}");
}

#[cfg(feature = "poptorch")]
#[test]
fn reading_poptorch_data_without_memory_is_an_error() {
    use popef::error::ErrorCode;
    use popef_payload::poptorch::PoptorchData;

    let mut refused = 0;
    for worst in costs::worst::poptorch::worst_poptorch_data() {
        let bytes = (worst.make)(20_000);
        let whole = PoptorchData::read_bytes(&bytes);
        for left in (0..14).map(|step| (1 << step) * 300) {
            LEFT.set(left);
            let read = PoptorchData::read_bytes(&bytes);
            LEFT.set(usize::MAX);
            match (read, &whole) {
                (Ok(read), Ok(whole)) => assert_eq!(read, *whole, "{} with {left} bytes", worst.name),
                (Err(error), _) if error.code() == ErrorCode::OutOfMemory => refused += 1,
                (read, _) => assert_eq!(read.is_err(), whole.is_err(), "{} with {left} bytes", worst.name),
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
