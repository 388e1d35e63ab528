use std::io::{self, Write};

use popef::types::Text;

use super::color::{Kind, Palette};
use super::escape::{escape, is_plain};

/// The output, in large pieces. What it is given as text of a file is escaped; the rest is the tool's own.
pub(crate) struct Out {
    bytes: Vec<u8>,
    /// None for one that is kept until somebody takes it.
    to: Option<Box<dyn Write>>,
    /// None without colours.
    palette: Option<Palette>,
}

impl Out {
    /// So much is gathered before it is written.
    const PIECE: usize = 64 << 10;

    pub(crate) fn new(to: Box<dyn Write>, colors: bool) -> Self {
        Out { bytes: Vec::with_capacity(Self::PIECE + (4 << 10)), to: Some(to), palette: colors.then(Palette::new) }
    }

    pub(crate) fn in_memory(colors: bool) -> Self {
        // As much as the listing of a small file takes, so that few of many files make it grow.
        Out { bytes: Vec::with_capacity(Self::PIECE / 4), to: None, palette: colors.then(Palette::new) }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What another one has gathered, without a copy of it if it is much.
    pub(crate) fn append(&mut self, gathered: Vec<u8>) -> io::Result<()> {
        if gathered.len() < Self::PIECE / 8 {
            return self.write_all(&gathered);
        }
        self.send()?;
        self.bytes = gathered;
        self.send()
    }

    /// A piece of the tool's own text.
    pub(crate) fn put(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn put_as(&mut self, kind: Kind, text: &str) -> &mut Self {
        self.put_bytes(kind, text.as_bytes())
    }

    fn put_bytes(&mut self, kind: Kind, text: &[u8]) -> &mut Self {
        self.painted(kind, |bytes| bytes.extend_from_slice(text))
    }

    /// The same in capitals.
    pub(crate) fn put_capitals(&mut self, kind: Kind, text: &str) -> &mut Self {
        self.painted(kind, |bytes| bytes.extend(text.bytes().map(|letter| letter.to_ascii_uppercase())))
    }

    fn painted(&mut self, kind: Kind, put: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        match self.palette.as_ref().map(|palette| palette.paint(kind)) {
            None => put(&mut self.bytes),
            Some(paint) => {
                self.bytes.extend_from_slice(paint.before.as_bytes());
                put(&mut self.bytes);
                self.bytes.extend_from_slice(paint.after.as_bytes());
            }
        }
        self
    }

    pub(crate) fn number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.put_as(Kind::Number, itoa::Buffer::new().format(number))
    }

    /// A text from a file.
    pub(crate) fn text(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        match is_plain(text.as_bytes()) {
            true => self.put_bytes(kind, text.as_bytes()),
            false => self.put_as(kind, &escape(&text.to_string_lossy())),
        }
    }

    /// A text from a file in quotes; those in it are escaped.
    pub(crate) fn quoted(&mut self, kind: Kind, text: &Text<'_>) -> &mut Self {
        self.put("\"");
        match is_plain(text.as_bytes()) {
            true => self.put_bytes(kind, text.as_bytes()),
            false => self.put_as(kind, &escape(&text.to_string_lossy()).replace('"', "\\\"")),
        };
        self.put("\"")
    }

    pub(crate) fn spaces(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len().saturating_add(count), b' ');
        self
    }

    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.bytes.push(b'\n');
        self.flush_if_full()
    }

    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= Self::PIECE { self.send() } else { Ok(()) }
    }

    /// Writes what is gathered: before something goes to the other stream, and at the end.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else { return Ok(()) };
        let written = to.write_all(&self.bytes);
        self.bytes.clear();
        written?;
        to.flush()
    }
}

/// For those who write bytes of their own: they are the tool's, or escaped.
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
