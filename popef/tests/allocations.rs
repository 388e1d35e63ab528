//! Listing a file that is in memory allocates nothing, and neither does looking up a name.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::read;
use popef::read::Blobs;
use popef::{Content, File};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn a_listing_allocates_nothing() {
    let bytes = read("interop/all-types.popef");
    let mut lengths = 0;
    let allocations = allocations_of(|| {
        for blob in Blobs::new(&bytes) {
            let blob = blob.unwrap();
            lengths += blob.name().unwrap().as_bytes().len();
            if let Content::Tensor(tensor) = blob.content() {
                lengths += tensor.shape().iter().count();
                lengths += usize::try_from(tensor.size_in_bytes().unwrap()).unwrap();
            }
        }
    });
    assert!(lengths > 100);
    assert_eq!(allocations, 0);
}

#[test]
fn messages_of_many_segments_are_checked_without_allocating() {
    let bytes = read("interop/many-anchors.popef");
    let allocations = allocations_of(|| assert_eq!(Blobs::new(&bytes).filter(Result::is_ok).count(), 2));
    assert_eq!(allocations, 0);
}

#[test]
fn looking_up_a_name_allocates_only_the_first_time() {
    let file = File::from_bytes(read("interop/all-types.popef")).unwrap();
    assert!(file.tensor("t_f32").is_some());
    let allocations = allocations_of(|| {
        assert!(file.tensor("t_f16").is_some());
        assert!(file.feed("f_s64").is_some());
        assert!(file.tensor("none").is_none());
    });
    assert_eq!(allocations, 0);
}
