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
    /// For XML, what was read of it.
    xml: Option<Xml>,
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

/// How the listings of stores begin: Amazon's and Google's, and Azure's.
const LISTINGS: [&[u8]; 2] = [b"ListBucketResult", b"EnumerationResults"];

/// XML as far as it was read: the current text with the tag behind it, and what the tags say of a listing.
#[derive(Default)]
struct Xml {
    text: Vec<u8>,
    tag: Vec<u8>,
    in_tag: bool,
    is_listing: bool,
    /// The name of the first element.
    root: Option<Vec<u8>>,
    /// Whether the listing has another page, if it says so.
    goes_on: Option<bool>,
    /// Whether it says how to ask for that page.
    has_next: bool,
}

impl Xml {
    /// Takes a byte. Returns whether the text or the tag is too long.
    fn take(&mut self, byte: u8, trace: &Trace) -> bool {
        match byte {
            b'<' => self.in_tag = true,
            b'>' => {
                self.take_tag(trace);
                (self.text, self.tag, self.in_tag) = Default::default();
            }
            _ if self.in_tag => self.tag.push(byte),
            _ => self.text.push(byte),
        }
        self.text.len().max(self.tag.len()) > MOST_OF_A_TEXT
    }

    fn take_tag(&mut self, trace: &Trace) {
        if let Some(key) = self.folder() {
            trace.add_folder(key);
        }
        let name = self.tag.split(|byte| byte.is_ascii_whitespace() || *byte == b'/').next().unwrap_or_default();
        if self.root.is_none() && !name.starts_with(b"?") && !name.starts_with(b"!") {
            self.root = Some(name.to_vec());
        }
        match &*self.tag {
            b"/Code" => trace.said(&self.text),
            b"/IsTruncated" => self.goes_on = Some(self.text.trim_ascii() != b"false"),
            b"/NextContinuationToken" => self.has_next = !self.text.is_empty(),
            // Azure has no other mark of the last page than an empty one of these.
            _ if name == b"NextMarker" => self.goes_on = Some(false),
            _ => {}
        }
    }

    /// What is wrong with the XML as a whole.
    fn error(&self, trace: &Trace) -> Option<HttpError> {
        let root = self.root.as_deref().unwrap_or_default();
        let fault = match self.goes_on {
            _ if root.eq_ignore_ascii_case(b"html") => Fault::Page,
            _ if !self.is_listing => return None,
            // The code in it says what happened.
            _ if root == b"Error" => {
                return Some(HttpError::new(HttpErrorKind::Decode, Fault::NoListing("it is an error")));
            }
            _ if !LISTINGS.contains(&root) => Fault::NoListing("it is no listing of a bucket"),
            None => Fault::NoListing("the listing does not say whether it goes on"),
            Some(true) if !self.has_next => Fault::NoListing("the listing goes on, but does not say where"),
            Some(_) => return None,
        };
        Some(trace.fault(HttpErrorKind::Decode, fault))
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
    fn new(len: u64, end: End, body: HttpResponseBody, trace: Trace) -> Self {
        Checked { body, left: len, end, xml: None, trace }
    }

    /// A body of exactly `len` bytes.
    pub(super) fn exactly(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked::new(len, End::Exact, body, trace)
    }

    /// A body of any number of bytes, whose end the connection tells.
    pub(super) fn framed(body: HttpResponseBody, trace: Trace) -> Self {
        Checked::new(u64::MAX, End::AtMost, body, trace)
    }

    /// The first `len` bytes of a body, or a little less.
    pub(super) fn start(len: u64, body: HttpResponseBody, trace: Trace) -> Self {
        Checked::new(len, End::Cut, body, trace)
    }

    /// An XML body of at most `len` bytes, without very long texts. A listing must say that it is one, and where it ends.
    pub(super) fn xml(len: u64, is_listing: bool, body: HttpResponseBody, trace: Trace) -> Self {
        let xml = Some(Xml { is_listing, ..Xml::default() });
        Checked { xml, ..Checked::new(len, End::AtMost, body, trace) }
    }

    /// Whether a text of the XML is too long.
    fn is_too_long(&mut self, bytes: &[u8]) -> bool {
        let Some(xml) = &mut self.xml else { return false };
        bytes.iter().any(|byte| xml.take(*byte, &self.trace))
    }

    /// Why the body may not end here.
    fn error_at_end(&mut self) -> Option<HttpError> {
        if self.end == End::Exact && self.left > 0 {
            self.end = End::AtMost;
            return Some(self.trace.fault(HttpErrorKind::Interrupted, Fault::Cut));
        }
        self.xml.take()?.error(&self.trace)
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
            None => this.error_at_end().map(Err),
            failed => failed,
        })
    }
}
