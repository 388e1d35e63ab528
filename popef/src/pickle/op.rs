//! Reads one opcode after the other with its arguments.

use std::ops::Range;

use super::input::{Halt, PickleReader};
use super::text::Spelling;

/// The opcodes, as far as they differ in their effect on names. Texts and bytes are given as ranges of the input.
pub(super) enum Op {
    Stop,
    Mark,
    Pop,
    PopMark,
    Dup,
    /// Pushes a value whose content does not matter.
    StandIn,
    Text(Spelling, Range<u64>),
    Bytes(Range<u64>),
    ByteArray(Range<u64>),
    EmptyDict,
    /// The last values, this many, become one tuple.
    Tuple(u8),
    /// All values above the mark become one tuple.
    MarkedTuple,
    MarkedDict,
    Marked,
    Append,
    /// All values above the mark go into the value below it.
    Appends,
    SetItem,
    SetItems,
    Build,
    Reduce,
    NewObject,
    NewObjectWithNames,
    /// The first value above the mark is a class.
    Object,
    Instance(Names),
    Global(Names),
    StackGlobal,
    Extension(i64),
    /// One value becomes another.
    PersistentId,
    Get(u64),
    Put(u64),
    Memoize,
    Protocol(u8),
    /// The next opcodes take this many bytes.
    Frame(u64),
    Nothing,
}

/// The lines of a module and of a name in it.
pub(super) struct Names {
    pub(super) module: Range<u64>,
    pub(super) name: Range<u64>,
}

/// The length of the longest text that is scanned.
pub(super) const LONGEST_TEXT: u64 = 1 << 20;
const LONGEST_NAME: u64 = 4096;

impl Op {
    pub(super) fn read(input: &mut PickleReader<'_, '_>) -> Result<Op, Halt> {
        Ok(match input.byte()? {
            b'.' => Op::Stop,
            b'(' => Op::Mark,
            b'0' => Op::Pop,
            b'1' => Op::PopMark,
            b'2' => Op::Dup,
            b'F' | b'I' | b'L' | b'P' => line_then(input, Op::StandIn)?,
            b'J' => skip_then(input, 4, Op::StandIn)?,
            b'K' => skip_then(input, 1, Op::StandIn)?,
            b'M' => skip_then(input, 2, Op::StandIn)?,
            b'G' => skip_then(input, 8, Op::StandIn)?,
            0x8a => long(input, 1)?,
            0x8b => long(input, 4)?,
            b'N' | 0x88 | 0x89 | b']' | 0x8f | 0x97 => Op::StandIn,
            0x98 => Op::Nothing,
            b')' => Op::Tuple(0),
            0x85 => Op::Tuple(1),
            0x86 => Op::Tuple(2),
            0x87 => Op::Tuple(3),
            b't' => Op::MarkedTuple,
            b'd' => Op::MarkedDict,
            b'l' | 0x91 => Op::Marked,
            b'}' => Op::EmptyDict,
            b'a' => Op::Append,
            b'e' | 0x90 => Op::Appends,
            b's' => Op::SetItem,
            b'u' => Op::SetItems,
            b'b' => Op::Build,
            b'R' => Op::Reduce,
            0x81 => Op::NewObject,
            0x92 => Op::NewObjectWithNames,
            b'o' => Op::Object,
            b'i' => Op::Instance(names(input)?),
            b'c' => Op::Global(names(input)?),
            0x93 => Op::StackGlobal,
            0x82 => Op::Extension(i64::from(input.byte()?)),
            0x83 => Op::Extension(u16::from_le_bytes(input.array()?).into()),
            0x84 => Op::Extension(i32::from_le_bytes(input.array()?).into()),
            b'Q' => Op::PersistentId,
            b'g' => Op::Get(place(input)?),
            b'h' => Op::Get(input.byte()?.into()),
            b'j' => Op::Get(u32::from_le_bytes(input.array()?).into()),
            b'p' => Op::Put(place(input)?),
            b'q' => Op::Put(input.byte()?.into()),
            b'r' => Op::Put(u32::from_le_bytes(input.array()?).into()),
            0x94 => Op::Memoize,
            0x80 => Op::Protocol(input.byte()?),
            0x95 => Op::Frame(u64::from_le_bytes(input.array()?)),
            other => text_or_bytes(other, input)?,
        })
    }
}

fn text_or_bytes(opcode: u8, input: &mut PickleReader<'_, '_>) -> Result<Op, Halt> {
    Ok(match opcode {
        b'S' => Op::Text(Spelling::Quoted, any_line(input)?),
        b'V' => Op::Text(Spelling::Raw, any_line(input)?),
        b'U' | b'T' | 0x8c | b'X' | 0x8d => Op::Text(Spelling::Utf8, counted(opcode, input)?),
        b'C' | b'B' | 0x8e => Op::Bytes(counted(opcode, input)?),
        0x96 => Op::ByteArray(counted(opcode, input)?),
        _ => return Err(Halt::Fault("a byte is no opcode")),
    })
}

/// Skips bytes that have their number before them, and returns their range.
fn counted(opcode: u8, input: &mut PickleReader<'_, '_>) -> Result<Range<u64>, Halt> {
    let len = match opcode {
        b'U' | 0x8c | b'C' => input.byte()?.into(),
        b'T' | b'X' | b'B' => u32::from_le_bytes(input.array()?).into(),
        _ => u64::from_le_bytes(input.array()?),
    };
    input.skip(len)
}

fn names(input: &mut PickleReader<'_, '_>) -> Result<Names, Halt> {
    Ok(Names { module: name(input)?, name: name(input)? })
}

/// If the last line feed is missing, Python's own unpickler (the one written in Python) drops the last character,
/// imports, and stops after that.
fn name(input: &mut PickleReader<'_, '_>) -> Result<Range<u64>, Halt> {
    let start = input.position();
    match input.line(LONGEST_NAME) {
        Err(Halt::Fault(_)) => Ok(start..input.position().saturating_sub(1).max(start)),
        Err(Halt::Limit(_)) if is_name(input.bytes(start..start.saturating_add(LONGEST_NAME))?) => Err(LONG_NAME),
        line => line,
    }
}

/// Returns whether all bytes can be part of a name. That is rare in lines of other data.
fn is_name(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | 0x80..))
}

/// Reads a line of any length. A short line is in the window afterwards.
fn any_line(input: &mut PickleReader<'_, '_>) -> Result<Range<u64>, Halt> {
    let start = input.position();
    match input.line(LONGEST_TEXT) {
        Err(Halt::Limit(_)) => input.skip_line().map(|rest| start..rest.end),
        line => line,
    }
}

fn line_then(input: &mut PickleReader<'_, '_>, op: Op) -> Result<Op, Halt> {
    input.skip_line()?;
    Ok(op)
}

fn skip_then(input: &mut PickleReader<'_, '_>, bytes: u64, op: Op) -> Result<Op, Halt> {
    input.skip(bytes)?;
    Ok(op)
}

/// Skips the number of a `LONG1` or `LONG4`.
fn long(input: &mut PickleReader<'_, '_>, width: u8) -> Result<Op, Halt> {
    let len = if width == 1 { u64::from(input.byte()?) } else { u32::from_le_bytes(input.array()?).into() };
    skip_then(input, len, Op::StandIn)
}

/// Reads a number of the memo from a line.
fn place(input: &mut PickleReader<'_, '_>) -> Result<u64, Halt> {
    let line = any_line(input)?;
    if line.end.saturating_sub(line.start) > LONGEST_TEXT {
        return Err(FAR_PLACE);
    }
    // The unpickler that is written in C stops at a zero byte.
    let line = input.bytes(line)?.split(|&byte| byte == 0).next().unwrap_or_default();
    let line = std::str::from_utf8(line).unwrap_or_default().trim();
    // Python allows a sign, and an underscore between digits.
    let mut digits = line.strip_prefix(['+', '-']).unwrap_or(line).chars().filter(|&letter| letter != '_').peekable();
    digits.peek().ok_or(NO_PLACE)?;
    let number = digits.try_fold(0u64, |number, digit| {
        let digit = digit.to_digit(10).ok_or(NO_PLACE)?;
        number.checked_mul(10).and_then(|tens| tens.checked_add(digit.into())).ok_or(FAR_PLACE)
    })?;
    if line.starts_with('-') && number > 0 { Err(NO_PLACE) } else { Ok(number) }
}

const LONG_NAME: Halt = Halt::Spent("a name is longer than any model needs");
const NO_PLACE: Halt = Halt::Fault("a place in the memo is not a number");
const FAR_PLACE: Halt = Halt::Spent("a place in the memo is too large a number");
