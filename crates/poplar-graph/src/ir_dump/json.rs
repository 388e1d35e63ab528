//! JSON as PopART writes it: all values are texts, and in them quotes and backslashes stand as they are.

use std::borrow::Cow;

use poplar_inspect::tiles::{ReadError, ReadErrorKind};

/// Reads values one after the other.
pub(super) struct Json<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Whether texts have escapes, as in JSON.
    escapes: bool,
    /// Texts whose quotes or backslashes are not escaped.
    odd: Option<Odd<'b>>,
}

/// Texts whose ends were guessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odd<'b> {
    /// The number of these texts.
    pub(super) count: u64,
    /// The first one, and where it is.
    pub(super) first: &'b [u8],
    pub(super) at: usize,
}

/// What is wrong, and at which byte.
#[derive(Debug)]
pub(super) struct Fault {
    kind: ReadErrorKind,
    message: String,
    at: usize,
}

pub(super) type Read<T> = Result<T, Fault>;

/// The role of a text, which decides what may follow it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    /// A value in an object.
    Value,
    /// A part of a value that is skipped.
    Skipped,
}

impl<'b> Json<'b> {
    /// A reader of texts with escapes, or of texts without.
    pub(super) fn new(bytes: &'b [u8], escapes: bool) -> Self {
        Json { bytes, at: 0, escapes, odd: None }
    }

    /// The byte that is read next.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Texts whose quotes or backslashes are not escaped.
    pub(super) fn odd(&self) -> Option<Odd<'b>> {
        self.odd
    }

    /// Reads an object. `member` gets each key, and reads the value.
    pub(super) fn object(
        &mut self,
        what: &str,
        mut member: impl FnMut(&mut Self, Cow<'b, str>) -> Read<()>,
    ) -> Read<()> {
        self.open(b'{', what)?;
        if self.is_next(b'}') {
            return Ok(());
        }
        loop {
            let key = self.text(Role::Key)?;
            self.expect(b':', "':' after a key")?;
            member(self, key)?;
            if !self.goes_on(b'}', "',' or '}' after a value")? {
                return Ok(());
            }
        }
    }

    /// Reads a list. `element` reads each element.
    pub(super) fn list(&mut self, what: &str, mut element: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.open(b'[', what)?;
        if self.is_next(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.goes_on(b']', "',' or ']' after a value")? {
                return Ok(());
            }
        }
    }

    /// Reads any value: the content of a text, or the JSON of another value.
    pub(super) fn value(&mut self) -> Read<Cow<'b, str>> {
        self.skip_space();
        if self.peek() == Some(b'"') {
            return self.text(Role::Value);
        }
        let from = self.at;
        self.skip()?;
        Ok(text_of(self.bytes.get(from..self.at).unwrap_or_default()))
    }

    /// Fails if more than space follows.
    pub(super) fn end(&mut self) -> Read<()> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(ReadErrorKind::NotJson, "something follows the end of the IR")),
        }
    }

    /// Reads a value of any depth, without recursion.
    fn skip(&mut self) -> Read<()> {
        let mut open = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'"') => _ = self.text(Role::Skipped)?,
                Some(bracket @ (b'{' | b'[')) => {
                    open.push(bracket);
                    self.at += 1;
                    continue;
                }
                // An object or a list without members.
                Some(b'}' | b']') if !open.is_empty() => {}
                Some(_) => self.skip_word()?,
                None => return Err(self.cut()),
            }
            // After a value: commas, colons and brackets, in any order that ends.
            loop {
                self.skip_space();
                match (self.peek(), open.last()) {
                    (_, None) => return Ok(()),
                    (Some(b'}'), Some(b'{')) | (Some(b']'), Some(b'[')) => _ = open.pop(),
                    (Some(b',' | b':'), _) => {
                        self.at += 1;
                        break;
                    }
                    (None, _) => return Err(self.cut()),
                    _ => return Err(self.fault(ReadErrorKind::NotJson, "a value, a comma or a bracket is missing")),
                }
                self.at += 1;
            }
        }
    }

    /// Reads a number, or `true`, `false`, `null`.
    fn skip_word(&mut self) -> Read<()> {
        let rest = self.rest();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        match rest.iter().take_while(|byte| is_word(byte)).count() {
            0 => Err(self.fault(ReadErrorKind::NotJson, "a value is missing")),
            len => {
                self.at += len;
                Ok(())
            }
        }
    }

    fn text(&mut self, role: Role) -> Read<Cow<'b, str>> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.at += 1,
            Some(_) => return Err(self.fault(ReadErrorKind::NotJson, "a text in quotes is missing")),
            None => return Err(self.cut()),
        }
        let from = self.at;
        let end = if self.escapes { self.end_with_escapes() } else { self.end_as_written(role) };
        let Some(end) = end else {
            self.at = from.saturating_sub(1);
            return Err(self.fault(ReadErrorKind::Cut, "a text does not end"));
        };
        self.at = end + 1;
        let text = self.bytes.get(from..end).unwrap_or_default();
        if self.escapes && text.contains(&b'\\') {
            return self.unescaped(from, end);
        }
        if !self.escapes && text.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
            let odd = self.odd.get_or_insert(Odd { count: 0, first: text, at: from });
            odd.count = odd.count.saturating_add(1);
        }
        Ok(text_of(text))
    }

    /// Where a text with escapes ends.
    fn end_with_escapes(&self) -> Option<usize> {
        let mut is_escaped = false;
        let is_end = |byte: &u8| {
            let is_quote = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            is_quote
        };
        Some(self.at + self.rest().iter().position(is_end)?)
    }

    /// A text from the byte after its quote up to `end`, with its escapes resolved.
    fn unescaped(&self, from: usize, end: usize) -> Read<Cow<'b, str>> {
        let quoted = self.bytes.get(from.saturating_sub(1)..=end).unwrap_or_default();
        let wrong = || Fault {
            kind: ReadErrorKind::NotJson,
            message: "a text has an escape that is none of JSON's".to_owned(),
            at: from,
        };
        // The bytes were already made UTF-8, so that only escapes can be wrong.
        serde_json::from_str(&text_of(quoted)).map(Cow::Owned).map_err(|_| wrong())
    }

    /// Where a text without escapes ends: at the first quote after which the JSON around it can go on.
    fn end_as_written(&self, role: Role) -> Option<usize> {
        let mut quotes = Quotes { bytes: self.bytes, at: self.at };
        quotes.find(|quotes, quote| quotes.may_end(*quote, role))
    }

    fn open(&mut self, bracket: u8, what: &str) -> Read<()> {
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                let name = if bracket == b'{' { "an object" } else { "a list" };
                Err(self.fault(ReadErrorKind::WrongForm, &format!("{what} is not {name}")))
            }
            None => Err(self.cut()),
        }
    }

    /// Reads what follows a value: a comma, or the end.
    fn goes_on(&mut self, end: u8, needed: &str) -> Read<bool> {
        if self.is_next(end) {
            return Ok(false);
        }
        self.expect(b',', needed).map(|()| true)
    }

    fn expect(&mut self, byte: u8, needed: &str) -> Read<()> {
        if self.is_next(byte) {
            return Ok(());
        }
        match self.peek() {
            Some(_) => Err(self.fault(ReadErrorKind::NotJson, &format!("{needed} is missing"))),
            None => Err(self.cut()),
        }
    }

    /// Skips space, and reads the next byte if it is this one.
    fn is_next(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        self.at = behind_space(self.bytes, self.at);
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn cut(&self) -> Fault {
        self.fault(ReadErrorKind::Cut, "the file ends too early")
    }

    fn fault(&self, kind: ReadErrorKind, message: &str) -> Fault {
        Fault { kind, message: message.to_owned(), at: self.at }
    }

    /// A fault in something already read, at its first byte.
    pub(super) fn wrong(&self, at: usize, message: &str) -> Fault {
        Fault { kind: ReadErrorKind::WrongForm, message: message.to_owned(), at: behind_space(self.bytes, at) }
    }
}

impl Fault {
    /// The error, with the line and the byte of the line.
    pub(super) fn in_bytes(self, bytes: &[u8]) -> ReadError {
        let before = bytes.get(..self.at).unwrap_or(bytes);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        ReadError::new(self.kind, self.message, line, before.len() - line_start + 1)
    }
}

/// The places of the quotes from some byte on.
struct Quotes<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Quotes<'_> {
    fn next_after(&self, at: usize) -> Option<usize> {
        Some(at + self.bytes.get(at..)?.iter().position(|byte| *byte == b'"')?)
    }

    fn find(&mut self, is_end: impl Fn(&Self, &usize) -> bool) -> Option<usize> {
        loop {
            let quote = self.next_after(self.at)?;
            if is_end(self, &quote) {
                return Some(quote);
            }
            self.at = quote + 1;
        }
    }

    /// Whether a text may end at a quote. Each byte is looked at only a few times, since no look goes beyond what follows the next quote.
    fn may_end(&self, quote: usize, role: Role) -> bool {
        let (next, at) = self.next_byte(quote + 1);
        match (role, next) {
            (Role::Key, Some(b':')) => {
                matches!(self.next_byte(at + 1).0, Some(b'"' | b'[' | b'{' | b']' | b'}' | b',') | None)
            }
            (Role::Value, Some(b'}' | b']')) => matches!(self.next_byte(at + 1).0, Some(b',' | b'}' | b']') | None),
            (Role::Value, Some(b',')) => match self.next_byte(at + 1) {
                (Some(b'"'), key) => match self.next_after(key + 1) {
                    Some(end) => matches!(self.next_byte(end + 1).0, Some(b':') | None),
                    None => true,
                },
                (Some(_), _) => false,
                (None, _) => true,
            },
            (Role::Skipped, Some(b',' | b':' | b'}' | b']')) | (_, None) => true,
            _ => false,
        }
    }

    /// The next byte that is not space, and its place.
    fn next_byte(&self, at: usize) -> (Option<u8>, usize) {
        let at = behind_space(self.bytes, at);
        (self.bytes.get(at).copied(), at)
    }
}

fn behind_space(bytes: &[u8], at: usize) -> usize {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    at + bytes.get(at..).unwrap_or_default().iter().take_while(is_space).count()
}

/// The bytes as text. Those that are not UTF-8 become `\xNN`.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    Cow::Owned(text)
}
