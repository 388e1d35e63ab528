//! A body that must have the expected number of bytes.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use object_store::client::{HttpError, HttpErrorKind, HttpResponseBody};

use super::fault::{Fault, Trace};

/// Counts the bytes of a body. A body that is too short, too long or endless is a fault.
pub(super) struct Checked {
    body: HttpResponseBody,
    /// The number of bytes that may still come.
    left: u64,
    end: End,
    /// For XML, the number of bytes in the current piece between tags.
    piece: Option<usize>,
    trace: Trace,
}

/// What the number of bytes of a body means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The body must have exactly this number.
    Exact,
    /// The body may have up to this number.
    AtMost,
    /// The rest of the body is not read.
    Cut,
}

/// A key has up to a thousand bytes. Each can be written with six bytes. A token is not longer. Stores put both into
/// addresses, whose length is limited.
const MOST_OF_A_TEXT: usize = 16 << 10;

impl Checked {
    /// A body of exactly `len` bytes.
    pub(super) fn exactly(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, end: End::Exact, piece: None, trace }
    }

    /// A body of at most `len` bytes.
    pub(super) fn at_most(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, end: End::AtMost, piece: None, trace }
    }

    /// The first `len` bytes of a body, or a little less.
    pub(super) fn start(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, end: End::Cut, piece: None, trace }
    }

    /// An XML body of at most `len` bytes, without very long texts.
    pub(super) fn listing(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, end: End::AtMost, piece: Some(0), trace }
    }

    /// Whether a text of the XML is too long.
    fn is_too_long(&mut self, bytes: &[u8]) -> bool {
        let Some(piece) = &mut self.piece else { return false };
        bytes.iter().any(|byte| {
            *piece = if matches!(byte, b'<' | b'>') { 0 } else { piece.saturating_add(1) };
            *piece > MOST_OF_A_TEXT
        })
    }
}

impl Body for Checked {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = &mut *self;
        let frame = match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(frame) => frame,
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let count = frame.data_ref().map_or(0, Bytes::len);
                this.trace.usage.add_bytes(count);
                match this.left.checked_sub(u64::try_from(count).unwrap_or(u64::MAX)) {
                    Some(left) if !frame.data_ref().is_some_and(|bytes| this.is_too_long(bytes)) => {
                        this.left = left;
                        Some(Ok(frame))
                    }
                    _ if this.end == End::Cut => None,
                    _ => {
                        this.end = End::AtMost;
                        Some(Err(this.trace.fault(HttpErrorKind::Decode, Fault::Long)))
                    }
                }
            }
            None if this.end == End::Exact && this.left > 0 => {
                this.end = End::AtMost;
                Some(Err(this.trace.fault(HttpErrorKind::Interrupted, Fault::Cut)))
            }
            frame => frame,
        })
    }
}
