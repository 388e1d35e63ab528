//! The parts of messages that are written directly.

use super::problem::Message;
use super::words::{WORD, Words};
use crate::error::Problem;
use crate::types::{TensorInfo, Text};

/// Reserves room for a message, and returns its segment table. Fails if the message is longer than readers accept.
pub(super) fn start(to: &mut Vec<u8>, message: Message, words: Words) -> Result<u64, Problem> {
    let (words, len) = words.accepted(message)?;
    // `put_text` writes up to one word too many before it truncates.
    reserve(to, len.saturating_add(WORD))?;
    Ok(u64::from(words) << 32)
}

pub(super) fn reserve(to: &mut Vec<u8>, len: usize) -> Result<(), Problem> {
    Problem::in_memory(len, to.try_reserve(len))
}

pub(super) fn put<const N: usize>(to: &mut Vec<u8>, words: [u64; N]) {
    to.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
}

/// Appends a text, its terminating NUL, and zeros up to a whole word. It appends a whole word of zeros and truncates,
/// which is faster than appending the exact number.
pub(super) fn put_text(to: &mut Vec<u8>, text: &Text<'_>) {
    to.extend_from_slice(text.as_bytes());
    let surplus = text.as_bytes().len() % WORD;
    to.extend_from_slice(&[0; WORD]);
    to.truncate(to.len().saturating_sub(surplus));
}

pub(super) fn put_tensor_info(to: &mut Vec<u8>, info: &TensorInfo) {
    const WORDS: u64 = 5;
    put(to, [info.data_type.number().into(), list(0, WORDS, info.shape.len())]);
    info.shape.iter().for_each(|extent| to.extend_from_slice(&extent.to_le_bytes()));
}

/// A pointer to a struct with this many data words and pointers, which begins `offset` words after the pointer.
pub(super) fn structure(offset: u64, data_words: u64, pointers: u64) -> u64 {
    offset << 2 | data_words << 32 | pointers << 48
}

/// A pointer to a list. The length must be within the limit.
pub(super) fn list(offset: u64, element_size: u64, len: usize) -> u64 {
    const LIST: u64 = 1;
    let len = u64::try_from(len).unwrap_or(u64::MAX);
    LIST | offset << 2 | element_size << 32 | len << 35
}

/// A pointer to a text with its terminating NUL.
pub(super) fn text(offset: u64, text: &Text<'_>) -> u64 {
    const BYTES: u64 = 2;
    list(offset, BYTES, text.as_bytes().len().saturating_add(1))
}

pub(super) fn text_words(text: &Text<'_>) -> u64 {
    u64::try_from(text.as_bytes().len() / WORD).unwrap_or(u64::MAX).saturating_add(1)
}
