//! Blobs laid out by hand, word by word: what no writer would write.

pub const fn to_struct(offset: i32, data: u64, pointers: u64) -> u64 {
    (offset << 2) as u32 as u64 | data << 32 | pointers << 48
}

pub const fn to_list(offset: u64, size: u64, len: u64) -> u64 {
    1 | offset << 2 | size << 32 | len << 35
}

pub fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn message(words: &[u64]) -> Vec<u8> {
    [bytes_of(&[(words.len() as u64) << 32]), bytes_of(words)].concat()
}

/// A header of 48 bytes, and what follows it.
pub fn blob(blob_type: u64, size: u64, info: &[u8], data: &[u8]) -> Vec<u8> {
    let header = message(&[to_struct(0, 2, 1), blob_type, size, to_list(0, 2, 1), 0]);
    [&header, info, data].concat()
}

pub fn sized(blob_type: u64, info: &[u8], data: &[u8]) -> Vec<u8> {
    blob(blob_type, (48 + info.len() + data.len()) as u64, info, data)
}

/// A boolean scalar without a name, whose blob claims this size.
pub fn tensor(size: u64) -> Vec<u8> {
    blob(2, size, &message(&[to_struct(0, 0, 2), 0, 0, 0]), &[])
}

pub fn executable(size: u64, data: &[u8]) -> Vec<u8> {
    sized(0, &message(&[to_struct(0, 1, 1), size, 0]), data)
}

pub fn with_data(len: usize) -> Vec<u8> {
    sized(2, &message(&[to_struct(0, 0, 2), 0, 0]), &vec![0; len])
}
