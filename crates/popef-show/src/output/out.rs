use std::io::{ErrorKind, Write};
use std::{fmt, io};

use popef::types::Text;

use super::color::{Kind, Palette};
use super::escape::{escape, is_plain};

/// The output. It is gathered and written in large pieces.
///
/// Texts from files go through [`text`](Out::text) and [`quoted`](Out::quoted), which escape them. All other text must be
/// the program's own, or already escaped.
///
/// ```
/// use popef_show::{Kind, Out};
///
/// let mut out = Out::in_memory(false);
/// out.put("name: ").text(Kind::Name, &"a\u{1b}b".into()).end_line()?;
/// assert_eq!(out.into_bytes(), b"name: a\\u{1b}b\n");
/// # Ok::<(), std::io::Error>(())
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
            return self.write_all(&gathered);
        }
        self.send()?;
        self.bytes = gathered;
        self.send()
    }

    /// Adds a piece of the program's own text.
    pub fn put(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }

    /// Adds a piece of the program's own text in its colour.
    pub fn put_as(&mut self, kind: Kind, text: &str) -> &mut Self {
        self.put_bytes(kind, text.as_bytes())
    }

    fn put_bytes(&mut self, kind: Kind, text: &[u8]) -> &mut Self {
        self.painted(kind, |bytes| bytes.extend_from_slice(text))
    }

    /// Adds a piece of the program's own text in capitals.
    pub(crate) fn put_capitals(&mut self, kind: Kind, text: &str) -> &mut Self {
        self.painted(kind, |bytes| bytes.extend(text.bytes().map(|letter| letter.to_ascii_uppercase())))
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
        self.put_as(Kind::Number, itoa::Buffer::new().format(number))
    }

    /// Adds a text from a file.
    pub fn text(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        if is_plain(text.as_bytes()) {
            return self.put_bytes(kind, text.as_bytes());
        }
        self.put_as(kind, &escape(&text.to_string_lossy()))
    }

    /// Adds a text from a file in quotes. Quotes inside it are escaped.
    pub fn quoted(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        self.put("\"");
        if is_plain(text.as_bytes()) {
            self.put_bytes(kind, text.as_bytes());
        } else {
            self.put_as(kind, &escape(&text.to_string_lossy()).replace('"', "\\\""));
        }
        self.put("\"")
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

/// Takes bytes that are the program's own, or escaped.
impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // JSON comes in pieces of a few bytes: many calls, each of which has to be short.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        self.flush_if_full()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
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
