//! Conversion between lengths in memory (`usize`) and lengths in files (`u64`).

/// The length of a slice, as a length in a file.
pub fn len_of<T>(slice: &[T]) -> u64 {
    as_u64(slice.len())
}

/// Converts a length in memory to a length in a file.
pub fn as_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Converts a length in a file to a length in memory. A length that is too large becomes `usize::MAX`.
pub fn as_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
