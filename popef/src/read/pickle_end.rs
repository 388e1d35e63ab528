//! Finds the end of the Python pickles at the start of `.poptorch` files of SDK 2.5 or older.
//!
//! Only lengths are read here. The crate `popef-payload` follows what pickles do, and takes the lengths from here.

use super::data::Data;
use super::reader::DataReader;
use crate::error::Error;
use crate::len::len_of;

/// Returns where the pickles end that these bytes begin with. `None` if they do not begin with a pickle that has an end.
///
/// The `.poptorch` files of SDK 2.5 and older begin with a pickle, and PopEF follows it.
/// [`OpenOptions::after_pickle`](crate::OpenOptions::after_pickle) opens such a file.
///
/// ```
/// let mut bytes = std::fs::read("examples/data/poptorch34-noexport.pickle")?;
/// bytes.extend(std::fs::read("examples/data/all-types.popef")?);
/// assert_eq!(popef::read::end_of_pickles(&bytes), Some(2612));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn end_of_pickles(bytes: &[u8]) -> Option<u64> {
    // Bytes in memory cannot fail to be read.
    end_in(&Data::in_memory(bytes)).unwrap_or_default()
}

/// Returns whether bytes begin like a pickle of protocol 2 or newer. A PopEF file never does: it would have too many
/// segments.
pub fn is_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 2..=5, ..])
}

/// Like [`end_of_pickles`], for data that may be in a file. Reads it in parts.
pub(super) fn end_in(data: &Data<'_>) -> Result<Option<u64>, Error> {
    let mut reader = data.reader();
    let mut end = None;
    while is_pickle(reader.peek(2)?) {
        if skip_pickle(&mut reader)?.is_none() {
            return Ok(None);
        }
        end = Some(data.len().saturating_sub(reader.left()));
    }
    Ok(end)
}

/// Skips the opcodes up to and including the one that stops. `None` if the bytes end before it, or if an opcode is
/// unknown.
fn skip_pickle(reader: &mut DataReader<'_>) -> Result<Option<()>, Error> {
    loop {
        let Some(&opcode) = reader.peek(1)?.first() else { return Ok(None) };
        reader.skip(1);
        if opcode == b'.' {
            return Ok(Some(()));
        }
        if skip_argument(reader, opcode)?.is_none() {
            return Ok(None);
        }
    }
}

/// What follows an opcode of a pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickleArgument {
    /// So many bytes. Those of a number begin with the lowest, except in a float.
    Bytes(u8),
    /// So many lines, each with the line feed at its end.
    Lines(u8),
    /// A length in so many bytes, the lowest first, and that number of bytes.
    Counted(u8),
}

impl PickleArgument {
    /// Returns `None` if the byte is no opcode.
    pub fn of(opcode: u8) -> Option<Self> {
        use PickleArgument::{Bytes, Counted, Lines};
        Some(match opcode {
            b'.' | b'(' | b'0' | b'1' | b'2' | b'N' | b']' | b')' | b't' | b'd' | b'l' | b'}' => Bytes(0),
            b'a' | b'e' | b's' | b'u' | b'b' | b'R' | b'o' | b'Q' => Bytes(0),
            0x81 | 0x85..=0x89 | 0x8f..=0x94 | 0x97 | 0x98 => Bytes(0),
            b'K' | b'h' | b'q' | 0x80 | 0x82 => Bytes(1),
            b'M' | 0x83 => Bytes(2),
            b'J' | b'j' | b'r' | 0x84 => Bytes(4),
            b'G' | 0x95 => Bytes(8),
            b'F' | b'I' | b'L' | b'P' | b'S' | b'V' | b'g' | b'p' => Lines(1),
            b'i' | b'c' => Lines(2),
            b'U' | b'C' | 0x8a | 0x8c => Counted(1),
            b'T' | b'X' | b'B' | 0x8b => Counted(4),
            0x8d | 0x8e | 0x96 => Counted(8),
            _ => return None,
        })
    }
}

fn skip_argument(reader: &mut DataReader<'_>, opcode: u8) -> Result<Option<()>, Error> {
    Ok(match PickleArgument::of(opcode) {
        Some(PickleArgument::Bytes(len)) => reader.skip(len.into()),
        Some(PickleArgument::Lines(lines)) => return skip_lines(reader, lines),
        Some(PickleArgument::Counted(width)) => take(reader, width)?.and_then(|len| reader.skip(len)),
        None => None,
    })
}

/// Reads a number of up to eight bytes, the lowest first. `None` if fewer are left.
fn take(reader: &mut DataReader<'_>, width: u8) -> Result<Option<u64>, Error> {
    let Some(bytes) = reader.peek(width.into())?.get(..width.into()) else { return Ok(None) };
    let number = bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    Ok(reader.skip(width.into()).map(|()| number))
}

fn skip_lines(reader: &mut DataReader<'_>, lines: u8) -> Result<Option<()>, Error> {
    for _ in 0..lines {
        if skip_line(reader)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// Skips bytes up to and including a line feed. `None` if there is no line feed.
fn skip_line(reader: &mut DataReader<'_>) -> Result<Option<()>, Error> {
    loop {
        let bytes = reader.peek(1)?;
        let line = bytes.iter().position(|&byte| byte == b'\n');
        let len = line.map_or(len_of(bytes), |at| at.saturating_add(1).try_into().unwrap_or(u64::MAX));
        if len == 0 {
            return Ok(None);
        }
        reader.skip(len);
        if line.is_some() {
            return Ok(Some(()));
        }
    }
}
