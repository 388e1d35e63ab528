//! Bytes in lines of sixteen, in the format of `hexdump -C`.

use std::io;

use super::color::Kind;
use super::out::Out;
use super::shown::Shown;

const WIDTH: usize = 16;

/// Shows bytes: their position, their values in hexadecimal, and their letters. With colours, the kinds of bytes can be told
/// apart: letters, spaces, control characters, zeros and the rest. Lines that repeat the line before are one `*`.
///
/// ```
/// use popef_show::{HexView, Out};
///
/// let mut out = Out::in_memory(false);
/// let mut view = HexView::new(0);
/// view.add(&mut out, b"PopEF\0")?;
/// view.end(&mut out)?;
/// let text = String::from_utf8(out.into_bytes())?;
/// assert_eq!(text.lines().next(), Some("00000000  50 6f 70 45 46 00                                 |PopEF.|"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HexView {
    /// The position at which the incomplete line begins.
    position: u64,
    line: Vec<u8>,
    /// The line that was shown last.
    shown: Vec<u8>,
    /// Whether lines after it are left out.
    repeats: bool,
    is_empty: bool,
}

impl HexView {
    /// A view of bytes, of which the first is at a position.
    pub fn new(position: u64) -> Self {
        let line = || Vec::with_capacity(WIDTH);
        HexView { position, line: line(), shown: line(), repeats: false, is_empty: true }
    }

    /// Shows more bytes. Those of an incomplete line wait.
    pub fn add(&mut self, out: &mut Out, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = WIDTH.saturating_sub(self.line.len());
            let (now, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.line.extend_from_slice(now);
            bytes = rest;
            if self.line.len() == WIDTH {
                self.end_line(out)?;
            }
        }
        Ok(())
    }

    /// Shows the incomplete line, and the position after the last byte, which cannot be seen if lines were left out.
    pub fn end(mut self, out: &mut Out) -> io::Result<()> {
        if !self.line.is_empty() {
            self.end_line(out)?;
        }
        if self.is_empty {
            return Ok(());
        }
        out.put(shown!("{:08x}", self.position)).end_line()
    }

    fn end_line(&mut self, out: &mut Out) -> io::Result<()> {
        if self.line != self.shown {
            self.repeats = false;
            self.show(out)?;
            self.shown.clone_from(&self.line);
        } else if !self.repeats {
            self.repeats = true;
            out.put("*").end_line()?;
        }
        self.is_empty = false;
        self.position = self.position.saturating_add(u64::try_from(self.line.len()).unwrap_or(u64::MAX));
        self.line.clear();
        Ok(())
    }

    fn show(&self, out: &mut Out) -> io::Result<()> {
        out.put(shown!("{:08x}  ", self.position));
        let (first, second) = self.line.split_at_checked(WIDTH / 2).unwrap_or((&self.line, &[]));
        for half in [first, second] {
            runs(half).for_each(|(kind, run)| _ = out.put_as(kind, values(run)));
            out.spaces(3 * (WIDTH / 2 - half.len()) + 1);
        }
        out.put("|");
        runs(&self.line).for_each(|(kind, run)| _ = out.put_as(kind, letters(run)));
        out.put("|").end_line()
    }
}

fn values(bytes: &[u8]) -> Shown<'static> {
    Shown::joined(bytes.iter().map(|byte| shown!("{:02x} ", byte)), "")
}

/// All letters that a terminal can show as they are, from the space on.
const LETTERS: &str =
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

fn letters(bytes: &[u8]) -> Shown<'static> {
    let letter = |byte: &u8| {
        let at = usize::from(byte.wrapping_sub(b' '));
        LETTERS.get(at..=at).unwrap_or(".")
    };
    Shown::joined(bytes.iter().map(letter), "")
}

/// Bytes of the same kind that follow each other.
fn runs(bytes: &[u8]) -> impl Iterator<Item = (Kind, &[u8])> {
    let runs = bytes.chunk_by(|&one, &next| kind(one) == kind(next));
    runs.map(|run| (run.first().map_or(Kind::Plain, |&byte| kind(byte)), run))
}

/// The kinds share the colours of other things: no others are legible on every background.
fn kind(byte: u8) -> Kind {
    match byte {
        0 => Kind::Plain,
        b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' => Kind::Note,
        b'!'..=b'~' => Kind::Name,
        0x80.. => Kind::Number,
        _ => Kind::Type,
    }
}

#[cfg(test)]
mod tests {
    use super::HexView;
    use crate::output::out::Out;

    fn shown(position: u64, colors: bool, pieces: &[&[u8]]) -> String {
        let mut out = Out::in_memory(colors);
        let mut view = HexView::new(position);
        pieces.iter().for_each(|piece| view.add(&mut out, piece).unwrap());
        view.end(&mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn repeated_lines_are_left_out() {
        let zeros = "00 00 00 00 00 00 00 00";
        let expected = format!("00000000  {zeros}  {zeros}  |................|\n*\n00000031\n");
        let expected = expected.replace("*\n", "*\n00000030  00                                                |.|\n");
        assert_eq!(shown(0, false, &[&[0; 49]]), expected);
        let lines = shown(0, false, &[&[0; 32], &[1; 16], &[0; 16]]);
        let starts: Vec<_> = lines.lines().map(|line| line.get(..8).unwrap_or(line)).collect();
        assert_eq!(starts, ["00000000", "*", "00000020", "00000030", "00000040"]);
    }

    #[test]
    fn pieces_can_have_any_length() {
        let bytes: Vec<u8> = (0..=255).collect();
        let whole = shown(1 << 32, false, &[&bytes]);
        assert!(whole.starts_with("100000000  00 01 "), "{whole}");
        for len in [1, 3, 15, 17] {
            let pieces: Vec<_> = bytes.chunks(len).collect();
            assert_eq!(shown(1 << 32, false, &pieces), whole);
        }
        assert_eq!(shown(7, false, &[]), "");
    }

    #[test]
    fn colors_are_by_kind() {
        let text = shown(0, true, &[b"ab\0\0\xff"]);
        assert!(text.contains("28m61 62 \u{1b}[0m00 00 ") || text.contains("28m61 62 "), "{text:?}");
        assert_eq!(text.matches("\u{1b}[38;5;").count(), 4, "{text:?}");
    }
}
