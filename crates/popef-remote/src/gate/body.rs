//! A body that must have exactly as many bytes as it should.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use object_store::client::{HttpError, HttpErrorKind, HttpResponseBody};

use super::fault::{Fault, Trace};

/// Counts what arrives. A body that is too short or too long is a fault, and so is one without end.
pub(super) struct Checked {
    body: HttpResponseBody,
    /// How many bytes may still come.
    left: u64,
    /// Whether that many must come.
    exact: bool,
    /// How many bytes may be in one piece between tags, and how many there were until now.
    piece: Option<usize>,
    trace: Trace,
}

/// A key has a thousand bytes, of which each can be written with six, and a token is not longer. Stores put them into addresses, which
/// have a bound.
const MOST_OF_A_TEXT: usize = 16 << 10;

impl Checked {
    /// Exactly so many bytes.
    pub(super) fn exactly(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, exact: true, piece: None, trace }
    }

    /// So many bytes or fewer.
    pub(super) fn at_most(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, exact: false, piece: None, trace }
    }

    /// So many bytes or fewer of XML, in which no text is very long.
    pub(super) fn listing(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, exact: false, piece: Some(0), trace }
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
                    _ => {
                        this.exact = false;
                        Some(Err(this.trace.fault(HttpErrorKind::Decode, Fault::Long)))
                    }
                }
            }
            None if this.exact && this.left > 0 => {
                this.exact = false;
                Some(Err(this.trace.fault(HttpErrorKind::Interrupted, Fault::Cut)))
            }
            frame => frame,
        })
    }
}
