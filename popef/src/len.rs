//! Lengths in memory as those of files.

/// How many elements a slice has, as a length in a file.
pub(crate) fn len_of<T>(slice: &[T]) -> u64 {
    as_u64(slice.len())
}

/// A length in memory as one in a file.
pub(crate) fn as_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A length in a file as one in memory; of one that is too large, the largest.
pub(crate) fn as_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
