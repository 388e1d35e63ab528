//! Reads one opcode after the other with its arguments.

#![cfg_attr(not(feature = "poptorch"), expect(dead_code, reason = "a scan needs no values"))]

use std::ops::Range;

use super::halt::Halt;
use super::input::PickleReader;
use super::text::Spelling;
use popef::seam::PickleArgument;

/// The opcodes, as far as they differ in their effect on names. Texts and bytes are given as ranges of the input.
pub(super) enum Op {
    Stop,
    Mark,
    Pop,
    PopMark,
    Dup,
    Plain(Plain),
    Text(Spelling, Range<u64>),
    Bytes(Range<u64>),
    ByteArray(Range<u64>),
    EmptyDict,
    /// The last values, this many, become one tuple.
    Tuple(u8),
    /// All values above the mark become one tuple.
    MarkedTuple,
    MarkedDict,
    MarkedList,
    MarkedFrozenSet,
    Append,
    /// All values above the mark go into the value below it.
    Appends,
    /// The same for a set.
    AddItems,
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
    /// Replaces a value by the object that it names.
    PersistentId,
    Get(u64),
    Put(u64),
    Memoize,
    Protocol(u8),
    /// The next opcodes take this many bytes.
    Frame(u64),
    Nothing,
}

/// A value that imports cannot come from.
#[derive(Clone, Debug)]
pub(super) enum Plain {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Number(Notation, Range<u64>),
    List,
    Set,
    /// What the program that loads the pickle gives it: a buffer, or the object that a line names.
    Given,
}

/// How bytes in the pickle encode a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notation {
    /// Decimal digits. `00` and `01` are booleans.
    IntLine,
    /// Decimal digits, and usually an `L`.
    LongLine,
    FloatLine,
    /// Two's complement, the lowest byte first.
    Bytes,
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
        let opcode = input.byte()?;
        let (number, range) = match PickleArgument::of(opcode) {
            Some(PickleArgument::Bytes(0) | PickleArgument::Lines(_)) => (0, 0..0),
            Some(PickleArgument::Bytes(width)) => (input.number(width)?, 0..0),
            Some(PickleArgument::Counted(width)) => {
                let len = input.number(width)?;
                (len, input.skip(len)?)
            }
            None => return Err(NO_OPCODE),
        };
        let low = || u32::try_from(number).unwrap_or_default();
        Ok(match opcode {
            b'.' => Op::Stop,
            b'(' => Op::Mark,
            b'0' => Op::Pop,
            b'1' => Op::PopMark,
            b'2' => Op::Dup,
            b'N' => Op::Plain(Plain::None),
            0x88 => Op::Plain(Plain::Bool(true)),
            0x89 => Op::Plain(Plain::Bool(false)),
            b'J' => Op::Plain(Plain::Int(low().cast_signed().into())),
            b'K' | b'M' => Op::Plain(Plain::Int(low().into())),
            // Of all numbers, only this one begins with its highest byte.
            b'G' => Op::Plain(Plain::Float(f64::from_bits(number.swap_bytes()))),
            b'F' => Op::Plain(Plain::Number(Notation::FloatLine, input.skip_line()?)),
            b'I' => Op::Plain(Plain::Number(Notation::IntLine, input.skip_line()?)),
            b'L' => Op::Plain(Plain::Number(Notation::LongLine, input.skip_line()?)),
            0x8a | 0x8b => Op::Plain(Plain::Number(Notation::Bytes, range)),
            b']' => Op::Plain(Plain::List),
            0x8f => Op::Plain(Plain::Set),
            0x97 => Op::Plain(Plain::Given),
            b'P' => {
                input.skip_line()?;
                Op::Plain(Plain::Given)
            }
            0x98 => Op::Nothing,
            b')' => Op::Tuple(0),
            0x85 => Op::Tuple(1),
            0x86 => Op::Tuple(2),
            0x87 => Op::Tuple(3),
            b't' => Op::MarkedTuple,
            b'd' => Op::MarkedDict,
            b'l' => Op::MarkedList,
            0x91 => Op::MarkedFrozenSet,
            b'}' => Op::EmptyDict,
            b'a' => Op::Append,
            b'e' => Op::Appends,
            0x90 => Op::AddItems,
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
            0x82 | 0x83 => Op::Extension(low().into()),
            0x84 => Op::Extension(low().cast_signed().into()),
            b'Q' => Op::PersistentId,
            b'g' => Op::Get(place(input)?),
            b'h' | b'j' => Op::Get(number),
            b'p' => Op::Put(place(input)?),
            b'q' | b'r' => Op::Put(number),
            0x94 => Op::Memoize,
            0x80 => Op::Protocol(u8::try_from(number).unwrap_or_default()),
            0x95 => Op::Frame(number),
            b'S' => Op::Text(Spelling::Quoted, any_line(input)?),
            b'V' => Op::Text(Spelling::Raw, any_line(input)?),
            b'U' | b'T' => Op::Text(Spelling::Chosen, range),
            0x8c | b'X' | 0x8d => Op::Text(Spelling::Utf8, range),
            b'C' | b'B' | 0x8e => Op::Bytes(range),
            0x96 => Op::ByteArray(range),
            _ => return Err(NO_OPCODE),
        })
    }
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

const NO_OPCODE: Halt = Halt::Fault("a byte is no opcode");
const LONG_NAME: Halt = Halt::Spent("a name is longer than any model needs");
const NO_PLACE: Halt = Halt::Fault("a place in the memo is not a number");
const FAR_PLACE: Halt = Halt::Spent("a place in the memo is too large a number");
