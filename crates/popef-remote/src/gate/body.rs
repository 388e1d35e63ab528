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
    /// For XML, the current piece of it.
    piece: Option<Piece>,
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

/// A piece of XML: a text, and the tag behind it.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    tag: Vec<u8>,
    in_tag: bool,
}

impl Piece {
    /// Takes a byte. Returns whether the text or the tag is too long.
    fn take(&mut self, byte: u8, trace: &Trace) -> bool {
        match byte {
            b'<' => self.in_tag = true,
            b'>' => {
                if let Some(key) = self.folder() {
                    trace.add_folder(key);
                }
                if self.tag == b"/Code" {
                    trace.said(&self.text);
                }
                *self = Piece::default();
            }
            _ if self.in_tag => self.tag.push(byte),
            _ => self.text.push(byte),
        }
        self.text.len().max(self.tag.len()) > MOST_OF_A_TEXT
    }

    /// The key that ends here, without the slash at its end. The store does not tell it from a key without one.
    fn folder(&self) -> Option<String> {
        let key = self.text.strip_suffix(b"/").filter(|_| matches!(&*self.tag, b"/Key" | b"/Name"))?;
        let key = str::from_utf8(key).ok()?;
        let mut parts = key.split('&');
        let mut plain = parts.next()?.to_owned();
        for part in parts {
            let (name, rest) = part.split_once(';')?;
            plain.push(entity(name)?);
            plain.push_str(rest);
        }
        Some(plain)
    }
}

/// The letter for which XML has a name or a number.
fn entity(name: &str) -> Option<char> {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let named = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')];
    number
        .and_then(char::from_u32)
        .or_else(|| named.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter))
}

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
        Checked { body, left: len, end: End::AtMost, piece: Some(Piece::default()), trace }
    }

    /// Whether a text of the XML is too long.
    fn is_too_long(&mut self, bytes: &[u8]) -> bool {
        let Some(piece) = &mut self.piece else { return false };
        bytes.iter().any(|byte| piece.take(*byte, &self.trace))
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
