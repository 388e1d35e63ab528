use super::message::Frame;
use super::parts::{HeaderFields, InfoFields, InfoMessage, Span};
use super::problem::{Message, WireProblem};
use super::{Stop, decode, plain};
use crate::error::SystemProblem;
use crate::limits::{HEADER_BYTES, Limits};
use crate::types::BlobType;

/// A blob's header and info messages as numbers. It borrows nothing and allocates nothing.
///
/// The spans are relative to the blob's first byte, and are known to be within its header and info.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The size of the whole blob.
    pub(crate) size: u64,
    pub(crate) header_len: u32,
    /// The length of header and info together. The data begins there.
    pub(crate) len: u32,
    pub(crate) version: Span,
    pub(crate) info: InfoFields,
}

impl Head {
    /// Reads the header and the info of the blob at the start of `bytes`.
    ///
    /// `room` is the number of bytes from here to the end of the file; `bytes` may be only the first of them. It is
    /// `u64::MAX` if the number is unknown.
    pub(crate) fn parse(bytes: &[u8], room: u64, limits: &Limits) -> Result<Head, Stop> {
        let header = Header::parse(bytes, room, limits)?;
        let HeaderFields { size, blob_type, version } = header.fields;
        let (info_len, info) = match blob_type {
            // It is unknown whether an info message follows the header of an unknown type.
            BlobType::Other(number) => (0, InfoFields::Unknown { number }),
            _ => read_info(bytes, &header, room, limits).map_err(|stop| stop.behind(header.len).in_blob(size))?,
        };
        let len = header.len.saturating_add(info_len);
        let limit = u64::from(u32::MAX);
        let short = |len| u32::try_from(len).map_err(|_| WireProblem::InfoTooLong { needed: len, limit });
        Ok(Head { size, header_len: short(header.len)?, len: short(len)?, version, info })
    }

    pub(crate) fn blob_type(&self) -> BlobType {
        self.info.blob_type()
    }

    /// The blob's own name. Metadata has only the name of its executable.
    pub(crate) fn name(&self) -> Option<Span> {
        self.info.name()
    }

    /// Returns the header and the info from a blob's bytes.
    pub(crate) fn of_blob(self, blob: &[u8]) -> &[u8] {
        usize::try_from(self.len).ok().and_then(|len| blob.get(..len)).unwrap_or_default()
    }
}

struct Header {
    len: u64,
    fields: HeaderFields,
}

impl Header {
    fn parse(bytes: &[u8], room: u64, limits: &Limits) -> Result<Header, Stop> {
        let frame = match Frame::parse(bytes, Message::Header) {
            Err(Stop::Need(needed)) if needed > room => {
                return Err(WireProblem::HeaderCut { needed, found: room }.into());
            }
            result => result?,
        };
        let len = frame.len;
        if len > HEADER_BYTES {
            return Err(WireProblem::HeaderTooLong { needed: len, limit: HEADER_BYTES }.into());
        }
        if frame.is_empty() {
            return Err(WireProblem::BlobUnwritten.into());
        }
        if len > room {
            return Err(WireProblem::HeaderCut { needed: len, found: room }.into());
        }
        let bytes = given(bytes, len)?;

        let fields = plain::header(bytes, frame, limits).map_or_else(|| decode::header(bytes, frame, limits), Ok)?;
        if fields.size < len {
            return Err(WireProblem::BlobTooSmall { needed: len, found: fields.size }.into());
        }
        if fields.size > room {
            return Err(WireProblem::BlobCut { needed: fields.size, found: room }.into());
        }
        Ok(Header { len, fields })
    }
}

/// Returns the first `len` bytes, or how many are needed if fewer are given.
fn given(bytes: &[u8], len: u64) -> Result<&[u8], Stop> {
    let index = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
    bytes.get(..index).ok_or(Stop::Need(len))
}

/// Reads the info message after a header of a known type. Also returns its length.
///
/// Positions in a `Stop` are relative to the message's first byte.
fn read_info(blob: &[u8], header: &Header, room: u64, limits: &Limits) -> Result<(u64, InfoFields), Stop> {
    let size = header.fields.size;
    let bytes = usize::try_from(header.len).ok().and_then(|start| blob.get(start..)).unwrap_or_default();
    let left = size.saturating_sub(header.len);
    let bytes = usize::try_from(left).ok().and_then(|left| bytes.get(..left)).unwrap_or(bytes);
    let too_small = |len: u64| WireProblem::BlobTooSmall { needed: header.len.saturating_add(len), found: size };
    let frame = match Frame::parse(bytes, Message::Info) {
        Err(Stop::Need(needed)) if needed > left => return Err(too_small(needed).into()),
        result => result?,
    };
    if frame.len > room.saturating_sub(header.len) {
        return Err(WireProblem::InfoPastEnd { needed: frame.len, found: left }.into());
    }
    if frame.len > left {
        return Err(Stop::from(too_small(frame.len)).reaching(frame.len));
    }
    if frame.len > limits.info_bytes {
        return Err(WireProblem::InfoTooLong { needed: frame.len, limit: limits.info_bytes }.into());
    }
    let bytes = given(bytes, frame.len)?;
    let message = InfoMessage { blob, bytes, frame, blob_type: header.fields.blob_type };
    let info = plain::info(message, limits).map_or_else(|| decode::info(message, limits), Ok)?;
    Ok((frame.len, info))
}
