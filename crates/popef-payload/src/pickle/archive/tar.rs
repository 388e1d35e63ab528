//! The structure of tar archives, which torch wrote before version 0.2, and still reads.

use std::ops::Range;

use super::super::halt::Halt;
use super::super::input::PickleReader;
use super::{Content, Member, Members};

const BLOCK: u64 = 512;
/// Extended headers are a few lines.
const LONGEST_EXTENDED: u64 = 64 << 10;

const CUT: &str = "a tar archive ends in the middle";
const ODD_HEADER: &str = "a member of a tar archive has a header that cannot be followed";

/// Python recognises an archive by the checksum of its first header.
pub(super) fn begins_as_tar(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(is_header(input.peek(BLOCK)?))
}

pub(super) fn members(input: &mut PickleReader<'_, '_>) -> Result<Members, Halt> {
    let end = input.position().saturating_add(input.left());
    let mut members = Members { list: Vec::new(), fault: None };
    let mut place = input.position();
    while place < end {
        let header = place..place.saturating_add(BLOCK);
        if header.end > end {
            members.fault = Some(CUT);
            break;
        }
        let bytes = input.bytes(header.clone())?;
        if bytes.iter().all(|&byte| byte == 0) {
            break;
        }
        let Some(Header { name, kind, len }) = Header::read(bytes)? else {
            members.fault = Some(ODD_HEADER);
            break;
        };
        let data = header.end..header.end.saturating_add(len);
        if data.end > end {
            members.fault = Some(CUT);
            break;
        }
        place = header.end.saturating_add(len.div_ceil(BLOCK).saturating_mul(BLOCK));
        members.list.try_reserve(1)?;
        members.list.push(Member { name, content: content(input, kind, data)? });
    }
    Ok(members)
}

/// A header that is extended can give the next one another length.
fn content(input: &mut PickleReader<'_, '_>, kind: u8, data: Range<u64>) -> Result<Content, Halt> {
    let is_long = data.end.saturating_sub(data.start) > LONGEST_EXTENDED;
    Ok(match kind {
        0 | b'0' | b'5' | b'7' => Content::Stored(data),
        b'x' | b'g' if !is_long && !changes_length(input.bytes(data.clone())?) => Content::Stored(data),
        _ => Content::Unseen("it is a kind of member of tar archives that these checks do not follow"),
    })
}

fn changes_length(extended: &[u8]) -> bool {
    [b"size".as_slice(), b"sparse"].iter().any(|key| extended.windows(key.len()).any(|window| window == *key))
}

struct Header {
    name: Vec<u8>,
    kind: u8,
    len: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Option<Header>, Halt> {
        let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
        let text = part(0..100).split(|&byte| byte == 0).next().unwrap_or_default();
        let Some(len) = octal(part(124..136)).filter(|_| is_header(bytes)) else { return Ok(None) };
        let mut name = Vec::new();
        name.try_reserve_exact(text.len())?;
        name.extend_from_slice(text);
        Ok(Some(Header { name, kind: part(156..157).first().copied().unwrap_or_default(), len }))
    }
}

fn is_header(bytes: &[u8]) -> bool {
    let Some(sum) = bytes.get(148..156).and_then(octal).filter(|_| bytes.len() == 512) else { return false };
    let value = |(at, &byte): (usize, &u8)| if (148..156).contains(&at) { b' '.into() } else { u64::from(byte) };
    sum == bytes.iter().enumerate().map(value).fold(0, u64::saturating_add)
}

/// A number in octal digits, with blanks around it.
fn octal(text: &[u8]) -> Option<u64> {
    let text = text.split(|&byte| byte == 0).next()?;
    let text = std::str::from_utf8(text).ok()?.trim();
    u64::from_str_radix(text, 8).ok().filter(|_| !text.starts_with('+'))
}
