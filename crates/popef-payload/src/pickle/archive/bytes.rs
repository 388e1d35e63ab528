//! Numbers in the headers of archives.

/// A number at a place in a header. Zero if the header is too short, which its reader rules out first.
pub(super) fn u16_at(header: &[u8], at: usize) -> u16 {
    array_at(header, at).map_or(0, u16::from_le_bytes)
}

pub(super) fn u32_at(header: &[u8], at: usize) -> u32 {
    array_at(header, at).map_or(0, u32::from_le_bytes)
}

pub(super) fn u64_at(header: &[u8], at: usize) -> u64 {
    array_at(header, at).map_or(0, u64::from_le_bytes)
}

fn array_at<const N: usize>(header: &[u8], at: usize) -> Option<[u8; N]> {
    header.get(at..)?.first_chunk().copied()
}
