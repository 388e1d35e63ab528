use std::io::{ErrorKind, Write};
use std::{fmt, io};

use popef::types::Text;

use super::code::{Code, Language};
use super::color::{Kind, Palette};
use super::escape::is_plain;
use super::shown::{Show, Shown};

/// The output. It is gathered and written in large pieces.
///
/// What may be shown has its own type, so that text from a file cannot go out by accident: [`put`](Out::put) takes the program's own
/// words, numbers, and [`Shown`] text, which only the escaper makes; [`text`](Out::text) and [`quoted`](Out::quoted) escape text from
/// files. JSON, pages, [`Code`] and CSV come from writers of their own, which escape too. [`pass_on`](Out::pass_on) is the only door
/// for bytes as they are.
///
/// ```
/// use popef_show::{Kind, Out};
///
/// let mut out = Out::in_memory(false);
/// out.put("name: ").text(Kind::Name, &"a\u{1b}b".into()).end_line()?;
/// assert_eq!(out.into_bytes(), b"name: a\\u{1b}b\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// popef_show::Out::in_memory(false).put(String::from("a\u{1b}b"));
/// ```
///
/// ```compile_fail,E0597
/// let name = String::from("a\u{1b}b");
/// popef_show::Out::in_memory(false).put(name.as_str());
/// ```
pub struct Out {
    bytes: Vec<u8>,
    /// `None` if the output is kept in memory.
    to: Option<Box<dyn Write>>,
    /// `None` without colours.
    palette: Option<Palette>,
}

impl Out {
    /// The number of bytes that are gathered before they are written.
    const PIECE: usize = 64 << 10;

    /// An output that goes to a writer.
    pub fn new(to: Box<dyn Write>, colors: bool) -> Self {
        Out { bytes: Vec::with_capacity(Self::PIECE + (4 << 10)), to: Some(to), palette: colors.then(Palette::new) }
    }

    /// An output that is kept in memory until [`into_bytes`](Out::into_bytes).
    pub fn in_memory(colors: bool) -> Self {
        // The listing of a small file fits without growing it.
        Out { bytes: Vec::with_capacity(Self::PIECE / 4), to: None, palette: colors.then(Palette::new) }
    }

    /// Whether it has colours.
    pub fn has_colors(&self) -> bool {
        self.palette.is_some()
    }

    /// The bytes that are gathered and not yet written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds what another output has gathered, without copying it if it is long.
    pub fn append(&mut self, gathered: Vec<u8>) -> io::Result<()> {
        if gathered.len() < Self::PIECE / 8 {
            return self.pass_on(&gathered);
        }
        self.send()?;
        self.bytes = gathered;
        self.send()
    }

    /// Adds a piece: the program's own words, a number, or escaped text.
    #[inline]
    pub fn put(&mut self, piece: impl Show) -> &mut Self {
        add(&mut self.bytes, &piece);
        self
    }

    /// Adds a piece in its colour.
    #[inline]
    pub fn put_as(&mut self, kind: Kind, piece: impl Show) -> &mut Self {
        self.painted(kind, |bytes| add(bytes, &piece))
    }

    /// Adds code in a language.
    pub(crate) fn code<L: Language>(&mut self, code: impl Into<Code<L>>) -> &mut Self {
        self.bytes.extend_from_slice(code.into().as_str().as_bytes());
        self
    }

    /// Adds words of the program in capitals.
    pub(crate) fn put_capitals(&mut self, kind: Kind, words: &'static str) -> &mut Self {
        self.painted(kind, |bytes| bytes.extend(words.bytes().map(|letter| letter.to_ascii_uppercase())))
    }

    fn painted(&mut self, kind: Kind, put: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        match self.palette.as_ref().and_then(|palette| palette.paint(kind)) {
            None => put(&mut self.bytes),
            Some(paint) => {
                self.bytes.extend_from_slice(paint.before.as_bytes());
                put(&mut self.bytes);
                self.bytes.extend_from_slice(paint.after.as_bytes());
            }
        }
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.painted(Kind::Number, |bytes| bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()))
    }

    /// Adds a number at the right end of a column.
    pub(crate) fn number_in(&mut self, column: usize, number: impl itoa::Integer) -> &mut Self {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        self.spaces(column.saturating_sub(digits.len()));
        self.painted(Kind::Number, |bytes| bytes.extend_from_slice(digits))
    }

    /// Adds a text from a file.
    pub fn text(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        if is_plain(text.as_bytes()) {
            return self.painted(kind, |bytes| bytes.extend_from_slice(text.as_bytes()));
        }
        self.put_as(kind, Shown::escaped(text))
    }

    /// Adds a text from a file in quotes. Quotes inside it are escaped.
    pub fn quoted(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        self.put("\"");
        if is_plain(text.as_bytes()) {
            self.painted(kind, |bytes| bytes.extend_from_slice(text.as_bytes()));
        } else {
            self.put_as(kind, Shown::escaped(text).with_quotes_escaped());
        }
        self.put("\"")
    }

    /// Adds bytes as they are, such as the data of a blob: nothing in them is escaped.
    #[inline]
    pub fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        self.flush_if_full()
    }

    /// A writer for the languages that have one of their own. It takes bytes as they are.
    pub(super) fn raw(&mut self) -> Raw<'_> {
        Raw(self)
    }

    /// Adds spaces.
    pub fn spaces(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len().saturating_add(count), b' ');
        self
    }

    /// Ends the line.
    pub fn end_line(&mut self) -> io::Result<()> {
        self.bytes.push(b'\n');
        self.flush_if_full()
    }

    /// Writes the gathered bytes if there are many. [`end_line`](Out::end_line) does this too.
    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= Self::PIECE { self.send() } else { Ok(()) }
    }

    /// Writes the gathered bytes. Call it at the end, and before something is written to stderr.
    pub fn send(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else { return Ok(()) };
        let written = to.write_all(&self.bytes);
        self.bytes.clear();
        written?;
        to.flush()
    }
}

#[inline]
fn add(bytes: &mut Vec<u8>, piece: &impl Show) {
    match piece.words() {
        Some(words) => bytes.extend_from_slice(words.as_bytes()),
        // Writing to memory cannot fail.
        None => _ = write!(bytes, "{piece}"),
    }
}

/// An output for the writers of languages, which escape what they write.
pub(crate) struct Raw<'o>(&'o mut Out);

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // JSON comes in pieces of a few bytes: many calls, each of which has to be short.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.pass_on(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.send()
    }
}

impl fmt::Debug for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Out").field("gathered", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// A writer whose reader may leave, as `head` does. Everything written after that is dropped without an error: the work goes on,
/// and its result stays the same.
///
/// ```
/// use std::io::Write as _;
///
/// use popef_show::UntilClosed;
///
/// # fn main() -> std::io::Result<()> {
/// let (reader, writer) = std::io::pipe()?;
/// drop(reader);
/// let mut writer = UntilClosed::new(writer);
/// writer.write_all(b"too late")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct UntilClosed<W> {
    /// `None` once the reader has left.
    to: Option<W>,
}

impl<W: Write> UntilClosed<W> {
    /// A writer to another one.
    pub fn new(to: W) -> Self {
        UntilClosed { to: Some(to) }
    }

    fn unless_closed<T>(&mut self, otherwise: T, done: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        match self.to.as_mut().map(done) {
            None => Ok(otherwise),
            Some(Err(error)) if error.kind() == ErrorKind::BrokenPipe => {
                self.to = None;
                Ok(otherwise)
            }
            Some(done) => done,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), Write::flush)
    }
}
