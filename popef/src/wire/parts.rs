//! What both readers of header and info messages make of them: numbers that borrow nothing.

use super::message::Frame;
use crate::types::{BlobType, DataType};

/// The part of the info message that listing needs, by type of blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Info {
    Executable { name: Span, uncompressed_size: Option<u64> },
    Metadata { executable: Span },
    Tensor { name: Span, shape: Span, data_type: DataType },
    Feed { name: Span, shape: Span, data_type: DataType, num_tensors: u32 },
    Opaque { name: Span, executable: Span },
    Unknown { number: u16 },
}

/// What uncompressedSize says of an executable that is stored as it is.
pub(super) const NOT_COMPRESSED: u64 = u64::MAX;

impl Info {
    pub(super) fn executable(name: Span, uncompressed_size: u64) -> Info {
        let uncompressed_size = (uncompressed_size != NOT_COMPRESSED).then_some(uncompressed_size);
        Info::Executable { name, uncompressed_size }
    }
}

/// Some bytes of a blob's header or info.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// `len` bytes from `start` on. An empty span has no place.
    pub(super) fn new(start: u32, len: u32) -> Span {
        if len == 0 { Span::default() } else { Span { start, len } }
    }

    /// Where `part`, which capnp cut out of `whole`, lies in it.
    pub(super) fn of(part: &[u8], whole: &[u8]) -> Span {
        let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
        match (u32::try_from(start), u32::try_from(part.len())) {
            (Ok(start), Ok(len)) => Span::new(start, len),
            _ => Span::default(),
        }
    }

    /// The bytes, out of those of the header and info that the span was made from.
    pub(crate) fn of_head(self, head: &[u8]) -> &[u8] {
        let (Ok(start), Ok(len)) = (usize::try_from(self.start), usize::try_from(self.len)) else {
            return &[];
        };
        head.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }
}

/// What the header message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderFields {
    pub(super) size: u64,
    pub(super) blob_type: BlobType,
    pub(super) version: Span,
}

/// The bytes of an info message of a known type, and of the blob that they lie in.
#[derive(Clone, Copy)]
pub(super) struct InfoMessage<'a> {
    pub(super) blob: &'a [u8],
    pub(super) bytes: &'a [u8],
    pub(super) frame: Frame,
    pub(super) blob_type: BlobType,
}
