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
    trace: Trace,
}

impl Checked {
    /// Exactly so many bytes.
    pub(super) fn exactly(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, exact: true, trace }
    }

    /// So many bytes or fewer.
    pub(super) fn at_most(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, exact: false, trace }
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
                    Some(left) => {
                        this.left = left;
                        Some(Ok(frame))
                    }
                    None => {
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
