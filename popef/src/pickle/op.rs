//! One opcode after the other, with what follows it in the stream.

use super::input::{Halt, Input};
use super::text;
use crate::read::Data;

/// The opcodes, as far as they differ in what they do to names.
pub(super) enum Op<'a> {
    Stop,
    Mark,
    Pop,
    PopMark,
    Dup,
    /// Puts a value there whose content does not matter here.
    Value,
    Text(Passage<'a>),
    Bytes(Data<'a>),
    EmptyDict,
    /// So many values become one tuple.
    Tuple(u8),
    /// All down to the mark become one.
    MarkedTuple,
    MarkedDict,
    Marked,
    Append,
    /// All down to the mark go into the value below it.
    Appends,
    SetItem,
    SetItems,
    Build,
    Reduce,
    NewObject,
    NewObjectWithNames,
    /// A class is the first after the mark.
    Object,
    Instance {
        module: String,
        name: String,
    },
    Global {
        module: String,
        name: String,
    },
    StackGlobal,
    Extension(i64),
    /// One value becomes another.
    PersistentId,
    Get(u64),
    Put(u64),
    Memoize,
    Protocol(u8),
    Nothing,
}

/// A text of the pickle: whole if it is short enough to matter, else where it lies.
pub(super) enum Passage<'a> {
    Short(String),
    Long(Data<'a>),
}

/// A line, and a text that is looked into, may be this long.
const LONGEST_TEXT: usize = 1 << 20;
const LONGEST_NAME: usize = 4096;

impl<'a> Op<'a> {
    pub(super) fn read(input: &mut Input<'a>) -> Result<Op<'a>, Halt> {
        Ok(match input.byte()? {
            b'.' => Op::Stop,
            b'(' => Op::Mark,
            b'0' => Op::Pop,
            b'1' => Op::PopMark,
            b'2' => Op::Dup,
            b'F' | b'I' | b'L' | b'P' => line_then(input, Op::Value)?,
            b'J' => skip_then(input, 4, Op::Value)?,
            b'K' => skip_then(input, 1, Op::Value)?,
            b'M' => skip_then(input, 2, Op::Value)?,
            b'G' => skip_then(input, 8, Op::Value)?,
            0x8a => long(input, 1)?,
            0x8b => long(input, 4)?,
            b'N' | 0x88 | 0x89 | b']' | 0x8f | 0x97 => Op::Value,
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
            b'i' => {
                let (module, name) = names(input)?;
                Op::Instance { module, name }
            }
            b'c' => {
                let (module, name) = names(input)?;
                Op::Global { module, name }
            }
            0x93 => Op::StackGlobal,
            0x82 => Op::Extension(i64::from(input.byte()?)),
            0x83 => Op::Extension(u16::from_le_bytes(input.array()?).into()),
            0x84 => Op::Extension(i32::from_le_bytes(input.array()?).into()),
            b'Q' => Op::PersistentId,
            b'g' => Op::Get(line_number(input)?),
            b'h' => Op::Get(input.byte()?.into()),
            b'j' => Op::Get(u32::from_le_bytes(input.array()?).into()),
            b'p' => Op::Put(line_number(input)?),
            b'q' => Op::Put(input.byte()?.into()),
            b'r' => Op::Put(u32::from_le_bytes(input.array()?).into()),
            0x94 => Op::Memoize,
            0x80 => Op::Protocol(input.byte()?),
            // Readers take a frame's length as advice only.
            0x95 => skip_then(input, 8, Op::Nothing)?,
            other => text_or_bytes(other, input)?,
        })
    }
}

fn text_or_bytes<'a>(opcode: u8, input: &mut Input<'a>) -> Result<Op<'a>, Halt> {
    Ok(match opcode {
        b'S' => short_text(text::unquote(&input.line(LONGEST_TEXT)?))?,
        b'V' => short_text(text::unescape_unicode(&input.line(LONGEST_TEXT)?))?,
        b'U' | b'T' | 0x8c | b'X' | 0x8d => {
            let len = length(opcode, input)?;
            Op::Text(passage(input, len)?)
        }
        b'C' | b'B' | 0x8e | 0x96 => {
            let len = length(opcode, input)?;
            Op::Bytes(input.part(len)?)
        }
        _ => return Err(Halt::Fault("a byte is no opcode")),
    })
}

fn length(opcode: u8, input: &mut Input<'_>) -> Result<u64, Halt> {
    Ok(match opcode {
        b'U' | 0x8c | b'C' => input.byte()?.into(),
        b'T' | b'X' | b'B' => u32::from_le_bytes(input.array()?).into(),
        _ => u64::from_le_bytes(input.array()?),
    })
}

fn short_text<'a>(text: Option<String>) -> Result<Op<'a>, Halt> {
    text.map(|text| Op::Text(Passage::Short(text))).ok_or(Halt::Limit("a text is not spelt as Python spells one"))
}

fn passage<'a>(input: &mut Input<'a>, len: u64) -> Result<Passage<'a>, Halt> {
    if len > u64::try_from(LONGEST_TEXT).unwrap_or(u64::MAX) {
        return input.part(len).map(Passage::Long);
    }
    Ok(Passage::Short(String::from_utf8_lossy(&input.bytes(len)?).into_owned()))
}

fn names(input: &mut Input<'_>) -> Result<(String, String), Halt> {
    let mut name = || Ok::<_, Halt>(String::from_utf8_lossy(&input.line(LONGEST_NAME)?).trim_end().to_owned());
    Ok((name()?, name()?))
}

fn line_then<'a>(input: &mut Input<'_>, op: Op<'a>) -> Result<Op<'a>, Halt> {
    input.line(LONGEST_TEXT)?;
    Ok(op)
}

fn skip_then<'a>(input: &mut Input<'_>, bytes: u64, op: Op<'a>) -> Result<Op<'a>, Halt> {
    input.part(bytes)?;
    Ok(op)
}

/// A number of any size; its length is one of `LONG1` or `LONG4`.
fn long<'a>(input: &mut Input<'_>, width: u8) -> Result<Op<'a>, Halt> {
    let len = if width == 1 { u64::from(input.byte()?) } else { u32::from_le_bytes(input.array()?).into() };
    skip_then(input, len, Op::Value)
}

fn line_number(input: &mut Input<'_>) -> Result<u64, Halt> {
    let line = input.line(LONGEST_NAME)?;
    // Python allows an underscore between digits.
    let number = std::str::from_utf8(&line).ok().and_then(|line| line.trim().replace('_', "").parse().ok());
    number.ok_or(Halt::Limit("a place in the memo is not a number"))
}
