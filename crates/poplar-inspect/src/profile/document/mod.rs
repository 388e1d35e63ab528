//! A document of JSON or CBOR, read once from front to back.
//!
//! Nothing is built from it: the caller says at each place what it expects, and gets that. A place is a JSON path and a byte, which every
//! error and remark has. Nesting has a limit, so the stack has one too. A claimed length takes no memory.
//!
//! serde and its formats are not used here. Most of a report are lists of small integers, which are read here straight from the
//! buffer; serde_json takes a byte at a time from a reader, has no position in bytes, and refuses names with lone surrogates.

mod bytes;
mod cbor;
mod json;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Read};

use super::problem::{Error, ErrorKind, Remarks, short};
use bytes::Bytes;

/// A result with the error on the heap, so that moving results of numbers is cheap.
pub(super) type Result<T> = std::result::Result<T, Box<Error>>;

/// The maximum depth of objects and lists in each other. The tree of liveness takes two levels for each program.
const DEPTH: usize = 512;
/// The maximum length of a key, and of a text that is kept, in bytes. Names of vertex types, with all their arguments, have some thousand bytes.
const TEXT: usize = 1 << 20;

/// The beginning of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Null,
    Bool,
    Uint(u64),
    /// Negative, too large, or with a fraction that may be 0.
    Other(f64),
    /// With a fraction that is not 0, even if `f64` leaves it out.
    Fraction(f64),
    /// An integer of CBOR of any length.
    Bignum,
    /// It is in `Doc::text`.
    Text,
    /// Bytes of CBOR.
    Blob,
    Array(Option<u64>),
    Object(Option<u64>),
}

/// A list or an object whose elements are being read.
struct Frame {
    /// The number of elements that are still to come, if CBOR says it.
    left: Option<u64>,
    first: bool,
}

/// Whether a text is kept.
#[derive(Clone, Copy, PartialEq)]
enum Keep {
    Yes,
    No,
}

/// A document and the place in it.
pub(super) struct Doc<'r> {
    bytes: Bytes<'r>,
    is_cbor: bool,
    depth: usize,
    path: String,
    /// The bytes of the last text.
    text: Vec<u8>,
    /// Whether the last text had a lone surrogate.
    has_surrogate: bool,
    pub(super) remarks: Remarks,
    /// Remarks that are made only once, with their places without the numbers in lists.
    remarked: BTreeSet<String>,
    /// All counts that were read.
    total: u128,
}

impl<'r> Doc<'r> {
    /// Begins a document, and finds out its format.
    pub(super) fn new(reader: &'r mut dyn Read) -> Result<Self> {
        let mut doc = Doc {
            bytes: Bytes::new(reader),
            is_cbor: false,
            depth: 0,
            path: "$".to_owned(),
            text: Vec::new(),
            has_surrogate: false,
            remarks: Remarks::default(),
            remarked: BTreeSet::new(),
            total: 0,
        };
        match doc.peek()? {
            None => return Err(doc.fail(ErrorKind::Cut, "the document is empty")),
            // A byte order mark; in CBOR, it would be a text of 15 bytes.
            Some(0xEF) => {
                for byte in [0xEF, 0xBB, 0xBF] {
                    if doc.next()? != Some(byte) {
                        return Err(doc.fail(ErrorKind::Malformed, "this is neither JSON nor CBOR"));
                    }
                }
                doc.remarks.add("$", Some(0), "a byte order mark is before the JSON");
            }
            // No JSON begins with a byte beyond ASCII.
            Some(byte) => doc.is_cbor = byte >= 0x80,
        }
        Ok(doc)
    }

    /// The number of bytes that were read.
    pub(super) fn position(&self) -> u64 {
        self.bytes.position()
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// An error at this place.
    pub(super) fn fail(&self, kind: ErrorKind, message: impl Into<String>) -> Box<Error> {
        let (path, byte) = (short(&self.path), Some(self.position()));
        Box::new(Error { kind, path, byte, message: message.into() })
    }

    /// A remark about this place.
    pub(super) fn remark(&mut self, message: impl Into<String>) {
        self.remarks.add(&self.path, Some(self.bytes.position()), message);
    }

    /// Reads the value of a key, whose slot must be empty. Returns `true`: the key is known.
    pub(super) fn fill<T>(&mut self, slot: &mut Option<T>, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<bool> {
        let value = read(self)?;
        self.first(slot.replace(value).is_none())
    }

    /// Fails if the value of a key was not the first. Returns `true`: the key is known.
    pub(super) fn first(&self, is_first: bool) -> Result<bool> {
        if is_first { Ok(true) } else { Err(self.fail(ErrorKind::Contradiction, "the key is there twice")) }
    }

    /// Reads an object. `member` gets each key, and reads its value. If it returns `false` instead, the value is skipped, and
    /// a remark says that the key is unknown.
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<bool>) -> Result<()> {
        let Token::Object(left) = self.expect("an object", |token| matches!(token, Token::Object(_)))? else {
            return Ok(());
        };
        let mut frame = self.enter(left)?;
        let base = self.path.len();
        while self.more(&mut frame, b'}')? {
            let key = self.key()?;
            push_key(&mut self.path, &key);
            if !member(self, &key)? {
                self.remark_once("the key is unknown");
                self.skip()?;
            }
            self.path.truncate(base);
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// Reads a list. `element` reads each element.
    pub(super) fn array(&mut self, mut element: impl FnMut(&mut Self, usize) -> Result<()>) -> Result<()> {
        let Token::Array(left) = self.expect("a list", |token| matches!(token, Token::Array(_)))? else {
            return Ok(());
        };
        let mut frame = self.enter(left)?;
        let base = self.path.len();
        let mut index = 0;
        while self.more(&mut frame, b']')? {
            push_index(&mut self.path, index);
            element(self, index)?;
            self.path.truncate(base);
            index = index.saturating_add(1);
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// Reads a list of what `element` reads.
    pub(super) fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.array(|doc, _| {
            list.push(element(doc)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Reads a list of integers, and returns their number. This is what reports mostly have, so the path is made only for errors.
    pub(super) fn uints(&mut self, mut each: impl FnMut(usize, u64)) -> Result<usize> {
        let Token::Array(left) = self.expect("a list of integers", |token| matches!(token, Token::Array(_)))? else {
            return Ok(0);
        };
        let mut frame = self.enter(left)?;
        let mut index = 0;
        loop {
            if !self.is_cbor && !frame.first {
                let mut counted = |index, value| {
                    self.total = self.total.saturating_add(u128::from(value));
                    each(index, value);
                };
                let read = json::plain_uints(&mut self.bytes, index, &mut counted);
                index = read.map_err(|error| self.unreadable(&error))?;
            }
            if !self.more(&mut frame, b']')? {
                break;
            }
            match self.uint() {
                Ok(value) => each(index, value),
                Err(mut error) => {
                    push_index(&mut error.path, index);
                    return Err(error);
                }
            }
            index = index.saturating_add(1);
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(index)
    }

    /// Reads an integer that is not negative. One that is written as a floating-point number is one too.
    pub(super) fn uint(&mut self) -> Result<u64> {
        // Above this, floating-point numbers leave integers out.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let value = match self.token(Keep::Yes)? {
            Token::Uint(value) => value,
            Token::Other(value) if value.fract() == 0.0 && (0.0..=EXACT).contains(&value) =>
            {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
                (value as u64)
            }
            Token::Other(value) | Token::Fraction(value) if value < 0.0 => {
                return Err(self.fail(ErrorKind::WrongForm, "expected an integer from 0 on, found a negative number"));
            }
            Token::Other(value) if value.fract() == 0.0 => return Err(self.too_large()),
            Token::Other(_) | Token::Fraction(_) => {
                return Err(self.fail(ErrorKind::WrongForm, "expected an integer, found a fraction"));
            }
            Token::Bignum => return Err(self.too_large()),
            other => return Err(self.unexpected("an integer", other)),
        };
        self.total = self.total.saturating_add(u128::from(value));
        Ok(value)
    }

    fn too_large(&self) -> Box<Error> {
        self.fail(ErrorKind::WrongForm, "the number is larger than any 64-bit integer")
    }

    /// Reads an index, or another integer of 32 bits.
    pub(super) fn index(&mut self) -> Result<u32> {
        let value = self.uint()?;
        // The largest one stands for "none" in some places.
        match u32::try_from(value) {
            Ok(index) if index < u32::MAX => Ok(index),
            _ => Err(self.fail(ErrorKind::WrongForm, format!("{value} is no index: it is larger than 32 bits have"))),
        }
    }

    /// Reads any number.
    pub(super) fn number(&mut self) -> Result<f64> {
        match self.token(Keep::Yes)? {
            #[expect(clippy::cast_precision_loss, reason = "integers where fractions are expected are small")]
            Token::Uint(value) => Ok(value as f64),
            Token::Other(value) | Token::Fraction(value) => Ok(value),
            other => Err(self.unexpected("a number", other)),
        }
    }

    /// Reads a text. What is not Unicode becomes replacement characters, with a remark. Odd characters get a remark too.
    pub(super) fn text(&mut self) -> Result<Box<str>> {
        match self.token(Keep::Yes)? {
            Token::Text => {}
            other => return Err(self.unexpected("a text", other)),
        }
        let text = String::from_utf8_lossy(&self.text).into_owned().into_boxed_str();
        if self.has_surrogate || text.as_bytes() != self.text {
            self.remark("the text is not Unicode; U+FFFD stands for what is not");
        } else if text.chars().any(is_odd) {
            self.remark("the text has control characters or changes the direction of writing");
        }
        Ok(text)
    }

    /// Takes `null` if it follows, and returns whether it did.
    pub(super) fn null(&mut self) -> Result<bool> {
        let is_null = if self.is_cbor {
            self.peek()? == Some(0xF6)
        } else {
            self.space()?;
            self.peek()? == Some(b'n')
        };
        if is_null {
            self.skip()?;
        }
        Ok(is_null)
    }

    /// Skips a value of any kind.
    pub(super) fn skip(&mut self) -> Result<()> {
        let mut open: Vec<(Frame, u8)> = Vec::new();
        loop {
            match self.token(Keep::No)? {
                Token::Array(left) => open.push((self.enter(left)?, b']')),
                Token::Object(left) => open.push((self.enter(left)?, b'}')),
                _ => {}
            }
            // Leaves everything that ends here.
            loop {
                let Some((mut frame, close)) = open.pop() else { return Ok(()) };
                if self.more(&mut frame, close)? {
                    if close == b'}' {
                        self.skip_key()?;
                    }
                    open.push((frame, close));
                    break;
                }
                self.depth = self.depth.saturating_sub(1);
            }
        }
    }

    /// Checks that nothing follows the document, and remarks numbers whose sums would overflow.
    pub(super) fn end(&mut self) -> Result<()> {
        if !self.is_cbor {
            self.space()?;
        }
        if self.peek()?.is_some() {
            return Err(self.fail(ErrorKind::Malformed, "something follows the end of the document"));
        }
        if self.total > u128::from(u64::MAX) {
            self.remark("all numbers together are larger than 2^64 - 1: sums that would be larger are shown as that");
        }
        Ok(())
    }

    /// A remark that each program or step may cause: the first one is enough.
    fn remark_once(&mut self, message: &str) {
        let place = format!("{} {message}", without_numbers(&self.path));
        if self.remarked.len() < Remarks::MOST && self.remarked.insert(place) {
            self.remark(message);
        }
    }

    /// Adds a piece to the text that is read.
    fn keep(&mut self, len: usize) -> Result<()> {
        let rest = match self.bytes.rest() {
            Ok(rest) => rest.get(..len).unwrap_or_default(),
            Err(error) => return Err(self.unreadable(&error)),
        };
        if self.text.len().saturating_add(len) > TEXT {
            return Err(self.fail(ErrorKind::WrongForm, format!("the text is longer than {TEXT} bytes")));
        }
        self.text.extend_from_slice(rest);
        Ok(())
    }

    fn expect(&mut self, what: &str, is_it: impl Fn(&Token) -> bool) -> Result<Token> {
        let token = self.token(Keep::Yes)?;
        if is_it(&token) { Ok(token) } else { Err(self.unexpected(what, token)) }
    }

    fn unexpected(&self, what: &str, token: Token) -> Box<Error> {
        let found = match token {
            Token::Null => "null",
            Token::Bool => "true or false",
            Token::Uint(_) | Token::Other(_) | Token::Fraction(_) | Token::Bignum => "a number",
            Token::Text => "a text",
            Token::Blob => "bytes",
            Token::Array(_) => "a list",
            Token::Object(_) => "an object",
        };
        self.fail(ErrorKind::WrongForm, format!("expected {what}, found {found}"))
    }

    fn enter(&mut self, left: Option<u64>) -> Result<Frame> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEPTH {
            let message = format!("more than {DEPTH} lists and objects are in each other");
            return Err(self.fail(ErrorKind::WrongForm, message));
        }
        Ok(Frame { left, first: true })
    }

    fn key(&mut self) -> Result<String> {
        match self.token(Keep::Yes)? {
            Token::Text => {}
            other => return Err(self.unexpected("a key", other)),
        }
        let key = String::from_utf8_lossy(&self.text).into_owned();
        self.after_key()?;
        Ok(key)
    }

    fn skip_key(&mut self) -> Result<()> {
        match self.token(Keep::No)? {
            Token::Text => self.after_key(),
            other => Err(self.unexpected("a key", other)),
        }
    }

    fn token(&mut self, keep: Keep) -> Result<Token> {
        if self.is_cbor { self.cbor_token(keep) } else { self.json_token(keep) }
    }

    /// Whether another element follows in a list or an object.
    fn more(&mut self, frame: &mut Frame, close: u8) -> Result<bool> {
        let more = if self.is_cbor { self.cbor_more(frame)? } else { self.json_more(frame, close)? };
        frame.first = false;
        Ok(more)
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        self.bytes.peek().map_err(|error| self.unreadable(&error))
    }

    fn next(&mut self) -> Result<Option<u8>> {
        self.bytes.next().map_err(|error| self.unreadable(&error))
    }

    /// The next byte, which must be there.
    fn byte(&mut self) -> Result<u8> {
        match self.next()? {
            Some(byte) => Ok(byte),
            None => Err(self.cut()),
        }
    }

    fn cut(&self) -> Box<Error> {
        self.fail(ErrorKind::Cut, "the document ends here")
    }

    fn unreadable(&self, error: &io::Error) -> Box<Error> {
        // Decompressors report input that ends too early in this way.
        let kind = match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::Cut,
            kind => ErrorKind::Unreadable(kind),
        };
        self.fail(kind, error.to_string())
    }
}

/// Adds a key to a path: `.key`, or `["a key"]` if it is not a plain word.
pub(super) fn push_key(path: &mut String, key: &str) {
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain {
        path.push('.');
        path.push_str(key);
    } else {
        // Writing to a text cannot fail.
        let _ = write!(path, "[{:?}]", short(key));
    }
}

pub(super) fn push_index(path: &mut String, index: usize) {
    let _ = write!(path, "[{index}]");
}

/// A path in which numbers of elements are left out.
fn without_numbers(path: &str) -> String {
    let mut place = String::new();
    for (nth, piece) in path.split('[').enumerate() {
        let rest = piece.trim_start_matches(|char: char| char.is_ascii_digit());
        place.push_str(if nth > 0 { "[" } else { "" });
        place.push_str(if nth > 0 { rest } else { piece });
    }
    place
}

/// Control characters, and those that change the direction of text.
fn is_odd(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
