//! Counts the bytes that some work holds on the heap at once. A program that uses this makes [`Counting`] its global
//! allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Threads that end free memory after their counters are gone. The peaks of such threads are not needed.
fn count(bytes: isize) {
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
        let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes.max(0).unsigned_abs() as u64));
    });
}

#[allow(unsafe_code, reason = "an allocator is unsafe to be; it passes every call on")]
// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(ptr, layout) }
    }

    // Both places are held while bytes move.
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size.cast_signed());
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// The most bytes that `work` held at once on this thread, beyond those held before it.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, u64::try_from(PEAK.get() - before).unwrap_or(0))
}

/// All bytes that `work` took from the heap on this thread, whether it gave them back or not.
pub fn taken_by<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = TAKEN.get();
    let result = work();
    (result, TAKEN.get() - before)
}

/// The bytes of headers and infos that a reader looks at: those of the whole blobs, and of the next blob as much as its
/// segment tables claim and the file has.
///
/// A reader that knows the end of the file refuses an incomplete message by its table alone.
pub fn head_bytes(file: &[u8], streamed: bool) -> u64 {
    let mut visited = 0;
    let mut end = 0;
    for blob in popef::read::Blobs::new(file).map_while(Result::ok) {
        visited += blob.head_bytes().len();
        end = blob.offset() + blob.size();
    }
    let rest = &file[usize::try_from(end).unwrap()..];
    let header = message(rest, streamed);
    visited + (header + message(&rest[header..], streamed)) as u64
}

/// The length of the message at the start of these bytes, as far as it is there.
fn message(bytes: &[u8], streamed: bool) -> usize {
    let number = |index: usize| bytes.get(index * 4..)?.first_chunk().map(|number| u32::from_le_bytes(*number));
    let Some(segments) = number(0).map(|count| u64::from(count) + 1).filter(|&count| count <= 511) else {
        return bytes.len().min(8);
    };
    let table = (segments / 2 + 1) * 8;
    let words: u64 = (1..=segments).map_while(|index| number(index as usize)).map(u64::from).sum();
    let whole = usize::try_from(table + words * 8).unwrap_or(usize::MAX);
    if whole <= bytes.len() || streamed { whole.min(bytes.len()) } else { bytes.len().min(table as usize) }
}

/// The bytes that reading may hold at once: 64 KiB and 4 times the headers and infos that it looked at.
pub fn allowance(file: &[u8], streamed: bool) -> u64 {
    BASE + 4 * head_bytes(file, streamed)
}

/// The bytes that reading may hold for any file.
pub const BASE: u64 = 64 << 10;
