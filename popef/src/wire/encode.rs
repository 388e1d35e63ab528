//! Writes header and info messages directly, without `capnp`: one segment, near pointers, plain lists. The counterpart
//! of `plain.rs`.
//!
//! This is fast, as writing many small tensors consists mostly of making these messages. The bytes are the same that
//! Cap'n Proto's own builder makes if the fields are set in the schema's order; the tests prove it. Texts are written
//! as bytes and enumerations as numbers, so everything that was read from a file can be written again.

use super::layout::{put, put_tensor_info, put_text, reserve, start, structure, text, text_words};
use super::parts::NOT_COMPRESSED;
use super::problem::Message;
use super::words::{WORD, Words};
use super::{edit, encode_metadata};
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{BlobType, ElementSources, InfoRef, ShapeProblem, Text};

/// The header and info messages of a blob to be written.
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
    /// Lays out new messages in the same memory. The blob's size must be set afterwards.
    pub(crate) fn lay_out(&mut self, version: &Text<'_>, info: InfoRef<'_>) -> Result<(), Problem> {
        self.bytes.clear();
        header(&mut self.bytes, version, info.blob_type())?;
        self.header_len = self.bytes.len();
        self::info(&mut self.bytes, info)
    }

    /// The header message alone of a blob of this size.
    pub(crate) fn header_alone(version: &Text<'_>, blob_type: BlobType, size: u64) -> Result<Vec<u8>, Problem> {
        let mut head = NewHead::default();
        header(&mut head.bytes, version, blob_type)?;
        head.set_size(size);
        Ok(head.bytes)
    }

    /// Copies the messages of a blob that was read, byte for byte.
    pub(crate) fn verbatim(header: &[u8], info: &[u8]) -> Result<Self, Problem> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, header.len().saturating_add(info.len()))?;
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(info);
        Ok(NewHead { bytes, header_len: header.len() })
    }

    /// Brings the header into the form in which the blob's size can be filled in, and sets the version if one is given.
    pub(crate) fn set_version(&mut self, version: Option<&Text<'_>>, limits: &Limits) -> Result<(), Problem> {
        let header = edit::header(self.header(), version, limits)?;
        *self = NewHead::verbatim(&header, self.info())?;
        Ok(())
    }

    /// Sets the name in the info, if blobs of this type have a name.
    pub(crate) fn set_name(&mut self, blob_type: BlobType, name: &Text<'_>, limits: &Limits) -> Result<(), Problem> {
        let info = edit::name(self.info(), blob_type, name, limits)?;
        *self = NewHead::verbatim(self.header(), &info)?;
        Ok(())
    }

    /// Brings the info of an executable into the form in which its uncompressed size can be filled in.
    pub(crate) fn make_room_for_uncompressed_size(&mut self, limits: &Limits) -> Result<(), Problem> {
        let info = edit::executable_size(self.info(), limits)?;
        *self = NewHead::verbatim(self.header(), &info)?;
        Ok(())
    }

    /// Sets the fields of the info, which is of the same type.
    pub(crate) fn set_info(
        &mut self,
        info: InfoRef<'_>,
        sources: Option<&ElementSources>,
        limits: &Limits,
    ) -> Result<(), Problem> {
        let info = edit::info(self.info(), info, sources, limits)?;
        *self = NewHead::verbatim(self.header(), &info)?;
        Ok(())
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

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }

    /// Sets the blob's size from the length of its data.
    pub(crate) fn set_data_len(&mut self, data_len: u64) -> Result<(), ShapeProblem> {
        let size = self.len().checked_add(data_len).ok_or(ShapeProblem::TooLarge)?;
        self.set_size(size);
        Ok(())
    }

    fn set_size(&mut self, size: u64) {
        self.set_word(SIZE.saturating_mul(WORD), size);
    }

    /// Sets the size of an unpacked executable, or that it is not compressed.
    pub(crate) fn set_uncompressed_size(&mut self, size: Option<u64>) {
        let size = size.unwrap_or(NOT_COMPRESSED);
        self.set_word(self.header_len.saturating_add(UNCOMPRESSED_SIZE.saturating_mul(WORD)), size);
    }

    fn set_word(&mut self, at: usize, value: u64) {
        if let Some(word) = self.bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *word = value.to_le_bytes();
        }
    }
}

/// Appends a header message to `to`. The blob's size must be set afterwards.
fn header(to: &mut Vec<u8>, version: &Text<'_>, blob_type: BlobType) -> Result<(), Problem> {
    let table = start(to, Message::Header, Words::of_root(3).and_text(version))?;
    put(to, [table, structure(0, 2, 1), blob_type.number().into(), 0, text(0, version)]);
    put_text(to, version);
    Ok(())
}

/// Appends an info message to `to`.
fn info(to: &mut Vec<u8>, info: InfoRef<'_>) -> Result<(), Problem> {
    match info {
        InfoRef::Executable(info) => {
            let table = start(to, Message::Info, Words::of_root(2).and_text(&info.name))?;
            let size = info.uncompressed_size.unwrap_or(NOT_COMPRESSED);
            put(to, [table, structure(0, 1, 1), size, text(0, &info.name)]);
            put_text(to, &info.name);
        }
        InfoRef::Metadata(metadata) => {
            encode_metadata::metadata(to, metadata)?;
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

// Random values take hours in Miri.
#[cfg(all(test, not(miri)))]
mod tests;
