//! The results of both readers of header and info messages: numbers that borrow nothing.

use super::message::Frame;
use crate::types::{BlobType, DataType};

/// The part of the info message that listing needs, by blob type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InfoFields {
    Executable { name: Span, uncompressed_size: Option<u64> },
    Metadata { executable: Span, value_bytes: u64 },
    Tensor { name: Span, shape: Span, data_type: DataType },
    Feed { name: Span, shape: Span, data_type: DataType, num_tensors: u32 },
    Opaque { name: Span, executable: Span },
    Unknown { number: u16 },
}

/// The value of `uncompressedSize` for an executable that is not compressed.
pub(super) const NOT_COMPRESSED: u64 = u64::MAX;

impl InfoFields {
    /// The info of an executable. `stored_size` is the value of `uncompressedSize`.
    pub(crate) fn executable(name: Span, stored_size: u64) -> InfoFields {
        let uncompressed_size = (stored_size != NOT_COMPRESSED).then_some(stored_size);
        InfoFields::Executable { name, uncompressed_size }
    }

    /// The value of `uncompressedSize` for an executable.
    pub(crate) fn stored_size(uncompressed_size: Option<u64>) -> u64 {
        uncompressed_size.unwrap_or(NOT_COMPRESSED)
    }

    pub(super) fn blob_type(self) -> BlobType {
        match self {
            InfoFields::Executable { .. } => BlobType::PoplarExecutable,
            InfoFields::Metadata { .. } => BlobType::Metadata,
            InfoFields::Tensor { .. } => BlobType::DataTensor,
            InfoFields::Feed { .. } => BlobType::DataFeed,
            InfoFields::Opaque { .. } => BlobType::Opaque,
            InfoFields::Unknown { number } => BlobType::Other(number),
        }
    }

    pub(super) fn name(self) -> Option<Span> {
        match self {
            InfoFields::Executable { name, .. }
            | InfoFields::Tensor { name, .. }
            | InfoFields::Feed { name, .. }
            | InfoFields::Opaque { name, .. } => Some(name),
            InfoFields::Metadata { .. } | InfoFields::Unknown { .. } => None,
        }
    }
}

/// A range of bytes in a blob's header or info.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// Makes a span of `len` bytes from `start`. All empty spans are equal.
    pub(super) fn new(start: u32, len: u32) -> Span {
        if len == 0 { Span::default() } else { Span { start, len } }
    }

    /// Makes a span of `len` bytes from `start`, also if it is empty.
    pub(crate) fn at(start: u32, len: u32) -> Span {
        Span { start, len }
    }

    /// Finds the span of `part`, which capnp borrowed from `whole`.
    pub(super) fn of(part: &[u8], whole: &[u8]) -> Span {
        let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
        match (u32::try_from(start), u32::try_from(part.len())) {
            (Ok(start), Ok(len)) => Span::new(start, len),
            _ => Span::default(),
        }
    }

    pub(crate) fn len(self) -> u32 {
        self.len
    }

    /// Returns the bytes of the span from a blob's header and info.
    pub(crate) fn of_head(self, head: &[u8]) -> &[u8] {
        let (Ok(start), Ok(len)) = (usize::try_from(self.start), usize::try_from(self.len)) else {
            return &[];
        };
        head.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }
}

/// The fields of the header message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderFields {
    pub(super) size: u64,
    pub(super) blob_type: BlobType,
    pub(super) version: Span,
}

/// The bytes of an info message of a known type, and of the blob that contains it.
#[derive(Clone, Copy)]
pub(super) struct InfoMessage<'a> {
    pub(super) blob: &'a [u8],
    pub(super) bytes: &'a [u8],
    pub(super) frame: Frame,
    pub(super) blob_type: BlobType,
}
