//! Values to header and info messages, laid out directly: one segment, near pointers, plain lists. The twin of
//! `plain.rs`.
//!
//! Writing many small tensors is little else than making these messages. The bytes are those that Cap'n Proto's own
//! builder makes when it is given the fields in the schema's order, which the tests prove. Texts are written as the bytes
//! they are, numbers of enumerations as the numbers they are, so that what was read from any file can be written again.

use super::parts::NOT_COMPRESSED;
use super::problem::Message;
use super::words::{WORD, Words};
use super::{edit, encode_metadata};
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{BlobType, InfoRef, ShapeProblem, TensorInfo, Text};

/// Header and info message of a blob that is to be written.
#[derive(Debug, Default)]
pub(crate) struct NewHead {
    bytes: Vec<u8>,
    header_len: usize,
}

/// The word of a header message that holds the blob's size.
const SIZE: usize = 3;
/// The word of an executable's info message that holds its uncompressed size.
const UNCOMPRESSED_SIZE: usize = 2;

impl NewHead {
    /// Makes it anew in the same memory. The blob's size is to be filled in.
    pub(crate) fn lay_out(&mut self, version: &Text<'_>, info: InfoRef<'_>) -> Result<(), Problem> {
        self.bytes.clear();
        header(&mut self.bytes, version, info.blob_type())?;
        self.header_len = self.bytes.len();
        self::info(&mut self.bytes, info)
    }

    /// That of a blob which was read, byte for byte.
    pub(crate) fn verbatim(header: &[u8], info: &[u8]) -> Result<Self, Problem> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, header.len().saturating_add(info.len()))?;
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(info);
        Ok(NewHead { bytes, header_len: header.len() })
    }

    /// Puts another version into the header, if one is given, and the header into the form in which the blob's size can
    /// be filled in.
    pub(crate) fn set_version(&mut self, version: Option<&Text<'_>>, limits: &Limits) -> Result<(), Problem> {
        let header = edit::header(self.header(), version, limits)?;
        *self = NewHead::verbatim(&header, self.info())?;
        Ok(())
    }

    /// Puts another name into the info of a blob of a type that has one.
    pub(crate) fn set_name(&mut self, blob_type: BlobType, name: &Text<'_>, limits: &Limits) -> Result<(), Problem> {
        let info = edit::info(self.info(), blob_type, name, limits)?;
        *self = NewHead::verbatim(self.header(), &info)?;
        Ok(())
    }

    /// Puts another info in the place of the one that is there.
    pub(crate) fn set_info(&mut self, info: InfoRef<'_>) -> Result<(), Problem> {
        self.bytes.truncate(self.header_len);
        self::info(&mut self.bytes, info)
    }

    fn header(&self) -> &[u8] {
        self.bytes.get(..self.header_len).unwrap_or_default()
    }

    fn info(&self) -> &[u8] {
        self.bytes.get(self.header_len..).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }

    /// States how many bytes of data the blob has.
    pub(crate) fn set_data_len(&mut self, data_len: u64) -> Result<(), ShapeProblem> {
        let size = self.len().checked_add(data_len).ok_or(ShapeProblem::TooLarge)?;
        self.set_word(SIZE.saturating_mul(WORD), size);
        Ok(())
    }

    /// States how many bytes an executable has once it is unpacked.
    pub(crate) fn set_uncompressed_size(&mut self, size: u64) {
        self.set_word(self.header_len.saturating_add(UNCOMPRESSED_SIZE.saturating_mul(WORD)), size);
    }

    fn set_word(&mut self, at: usize, value: u64) {
        if let Some(word) = self.bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *word = value.to_le_bytes();
        }
    }
}

/// Puts a header message behind what is in `to`. Its size is to be filled in.
fn header(to: &mut Vec<u8>, version: &Text<'_>, blob_type: BlobType) -> Result<(), Problem> {
    let table = start(to, Message::Header, Words::of_root(3).and_text(version))?;
    put(to, [table, structure(0, 2, 1), blob_type.number().into(), 0, text(0, version)]);
    put_text(to, version);
    Ok(())
}

/// Puts an info message behind what is in `to`.
fn info(to: &mut Vec<u8>, info: InfoRef<'_>) -> Result<(), Problem> {
    match info {
        InfoRef::Executable(info) => {
            let table = start(to, Message::Info, Words::of_root(2).and_text(&info.name))?;
            let size = info.uncompressed_size.unwrap_or(NOT_COMPRESSED);
            put(to, [table, structure(0, 1, 1), size, text(0, &info.name)]);
            put_text(to, &info.name);
        }
        InfoRef::Metadata(metadata) => {
            let message = encode_metadata::metadata(metadata)?;
            reserve(to, message.len())?;
            to.extend_from_slice(&message);
        }
        InfoRef::Tensor(info) => {
            let words = Words::of_root(2).and_text(&info.name).and_tensor_info(&info.tensor_info);
            let table = start(to, Message::Info, words)?;
            put(to, [table, structure(0, 0, 2), text(1, &info.name), structure(text_words(&info.name), 1, 1)]);
            put_text(to, &info.name);
            put_tensor_info(to, &info.tensor_info);
        }
        InfoRef::Feed(info) => {
            let words = Words::of_root(3).and_text(&info.name).and_tensor_info(&info.tensor_info);
            let table = start(to, Message::Info, words)?;
            let pointers = [text(1, &info.name), structure(text_words(&info.name), 1, 1)];
            put(to, [table, structure(0, 1, 2), info.num_tensors.into()]);
            put(to, pointers);
            put_text(to, &info.name);
            put_tensor_info(to, &info.tensor_info);
        }
        InfoRef::Opaque(info) => {
            let words = Words::of_root(2).and_text(&info.name).and_text(&info.executable);
            let table = start(to, Message::Info, words)?;
            let executable = text(text_words(&info.name), &info.executable);
            put(to, [table, structure(0, 0, 2), text(1, &info.name), executable]);
            put_text(to, &info.name);
            put_text(to, &info.executable);
        }
    }
    Ok(())
}

/// Makes room for a message, and gives the segment table that it begins with; an error if no reader would take it.
fn start(to: &mut Vec<u8>, message: Message, words: Words) -> Result<u64, Problem> {
    let (words, len) = words.accepted(message)?;
    // A word more, for the zeros behind a text.
    reserve(to, len.saturating_add(WORD))?;
    Ok(u64::from(words) << 32)
}

fn reserve(to: &mut Vec<u8>, len: usize) -> Result<(), Problem> {
    Problem::in_memory(len, to.try_reserve(len))
}

fn put<const N: usize>(to: &mut Vec<u8>, words: [u64; N]) {
    to.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
}

/// A text, the NUL that ends it, and zeros up to a whole word. A whole word of zeros is put, of which some are taken away
/// again: that takes less time than to put as many as are needed.
fn put_text(to: &mut Vec<u8>, text: &Text<'_>) {
    to.extend_from_slice(text.as_bytes());
    let surplus = text.as_bytes().len() % WORD;
    to.extend_from_slice(&[0; WORD]);
    to.truncate(to.len().saturating_sub(surplus));
}

fn put_tensor_info(to: &mut Vec<u8>, info: &TensorInfo) {
    const WORDS: u64 = 5;
    put(to, [info.data_type.number().into(), list(0, WORDS, info.shape.len())]);
    info.shape.iter().for_each(|extent| to.extend_from_slice(&extent.to_le_bytes()));
}

/// A pointer to a struct of so many words of data and so many pointers, which begins `offset` words behind it.
fn structure(offset: u64, data_words: u64, pointers: u64) -> u64 {
    offset << 2 | data_words << 32 | pointers << 48
}

/// A pointer to a list, whose length was found to be within the limit.
fn list(offset: u64, element_size: u64, len: usize) -> u64 {
    const LIST: u64 = 1;
    let len = u64::try_from(len).unwrap_or(u64::MAX);
    LIST | offset << 2 | element_size << 32 | len << 35
}

/// A pointer to a text, with the NUL that ends it.
fn text(offset: u64, text: &Text<'_>) -> u64 {
    const BYTES: u64 = 2;
    list(offset, BYTES, text.as_bytes().len().saturating_add(1))
}

fn text_words(text: &Text<'_>) -> u64 {
    u64::try_from(text.as_bytes().len() / WORD).unwrap_or(u64::MAX).saturating_add(1)
}

// Values made by chance take hours in Miri.
#[cfg(all(test, not(miri)))]
mod tests;
