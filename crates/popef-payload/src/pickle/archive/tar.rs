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
const DATA_OF_NONE: &str =
    "a member of a tar archive that has no data states its length, so readers find different members";

/// Python recognises an archive by the checksum of its first header. Other readers take a wrong one that has the mark.
pub(super) fn begins_as_tar(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    let first = input.peek(BLOCK)?;
    Ok(is_header(first) || first.len() == 512 && first.get(257..262) == Some(b"ustar"))
}

pub(super) fn members(input: &mut PickleReader<'_, '_>) -> Result<Members, Halt> {
    let end = input.position().saturating_add(input.left());
    let mut members = Members { list: Vec::new(), fault: None };
    let mut place = input.position();
    let mut next_name = None;
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
        let Some(Header { mut name, kind, len }) = Header::read(bytes)? else {
            members.fault = Some(ODD_HEADER);
            break;
        };
        if matches!(kind, b'1'..=b'6') && len > 0 {
            // Python goes on with the next header right after this one.
            members.fault.get_or_insert(DATA_OF_NONE);
            place = header.end;
            next_name = None;
            continue;
        }
        let data = header.end..header.end.saturating_add(len);
        if data.end > end {
            members.fault = Some(CUT);
            break;
        }
        place = header.end.saturating_add(len.div_ceil(BLOCK).saturating_mul(BLOCK));
        let content = content(input, kind, data.clone())?;
        match (kind, &content) {
            (b'x' | b'X' | b'g', Content::Stored(_)) => match extended_name(input.bytes(data)?) {
                Ok(None) => {}
                Ok(name @ Some(_)) if kind != b'g' => next_name = name,
                _ => members.fault = members.fault.or(Some(ODD_HEADER)),
            },
            _ => name = next_name.take().unwrap_or(name),
        }
        members.list.try_reserve(1)?;
        members.list.push(Member { name, content });
    }
    Ok(members)
}

/// A header that is extended can give the next one another length.
fn content(input: &mut PickleReader<'_, '_>, kind: u8, data: Range<u64>) -> Result<Content, Halt> {
    let is_long = data.end.saturating_sub(data.start) > LONGEST_EXTENDED;
    Ok(match kind {
        0 | b'0' | b'5' | b'7' => Content::Stored(data),
        b'x' | b'X' | b'g' if !is_long && !changes_length(input.bytes(data.clone())?) => Content::Stored(data),
        _ => Content::Unseen("it is a kind of member of tar archives that these checks do not follow"),
    })
}

fn changes_length(extended: &[u8]) -> bool {
    [b"size".as_slice(), b"sparse"].iter().any(|key| extended.windows(key.len()).any(|window| window == *key))
}

/// Returns the name that an extended header gives to the next member, and an error if its lines cannot be followed.
fn extended_name(mut extended: &[u8]) -> Result<Option<Vec<u8>>, ()> {
    let mut name = None;
    while extended.first().is_some_and(|&byte| byte != 0) {
        let blank = extended.iter().position(|&byte| byte == b' ').ok_or(())?;
        let digits = extended.get(..blank).filter(|digits| digits.iter().all(u8::is_ascii_digit)).ok_or(())?;
        let len: usize = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(())?;
        let (line, rest) = extended.split_at_checked(len).ok_or(())?;
        let line = line.get(blank.saturating_add(1)..).and_then(|line| line.strip_suffix(b"\n")).ok_or(())?;
        let equals = line.iter().position(|&byte| byte == b'=').ok_or(())?;
        if line.get(..equals) == Some(b"path") {
            let value = line.get(equals.saturating_add(1)..).unwrap_or_default();
            name = Some(value.strip_suffix(b"/").unwrap_or(value).to_vec());
        }
        extended = rest;
    }
    Ok(name)
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
        let Some(len) = number(part(124..136)).filter(|_| is_header(bytes)) else { return Ok(None) };
        let mut name = Vec::new();
        name.try_reserve_exact(text.len())?;
        name.extend_from_slice(text);
        Ok(Some(Header { name, kind: part(156..157).first().copied().unwrap_or_default(), len }))
    }
}

/// Whether it has its checksum. Some programs took the bytes for signed.
fn is_header(bytes: &[u8]) -> bool {
    let Some(sum) = bytes.get(148..156).and_then(number).filter(|_| bytes.len() == 512) else { return false };
    let others = || bytes.iter().enumerate().filter(|(at, _)| !(148..156).contains(at)).map(|(_, &byte)| byte);
    let unsigned = others().map(i64::from).fold(256, i64::saturating_add);
    let signed = others().map(|byte| i64::from(byte.cast_signed())).fold(256, i64::saturating_add);
    [unsigned, signed].iter().any(|&known| u64::try_from(known) == Ok(sum))
}

/// A number of a header as Python reads it: octal digits, or bytes after a mark.
fn number(field: &[u8]) -> Option<u64> {
    match field {
        [0x80, digits @ ..] => digits.iter().try_fold(0u64, |number, &digit| {
            number.checked_mul(256).and_then(|number| number.checked_add(digit.into()))
        }),
        // A negative number. No length is.
        [0xff, ..] => None,
        _ => octal(field),
    }
}

/// Octal digits as Python's `int` reads them: with blanks around them, a sign, a prefix, and lines between digits.
fn octal(field: &[u8]) -> Option<u64> {
    let field = field.split(|&byte| byte == 0).next()?;
    let text = std::str::from_utf8(field).ok().filter(|text| text.is_ascii())?;
    let text = text.trim_matches(|letter: char| matches!(letter, '\t'..='\r' | '\x1c'..='\x1f' | ' '));
    if text.is_empty() {
        return Some(0);
    }
    let (is_negative, text) = match text.split_at_checked(1) {
        Some(("-", digits)) => (true, digits),
        Some(("+", digits)) => (false, digits),
        _ => (false, text),
    };
    let bare = text.strip_prefix("0o").or_else(|| text.strip_prefix("0O"));
    let digits = bare.map_or(text, |bare| bare.strip_prefix('_').unwrap_or(bare));
    let is_whole =
        digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|digit| (b'0'..=b'7').contains(&digit)));
    let number = u64::from_str_radix(&digits.replace('_', ""), 8).ok().filter(|_| is_whole)?;
    (!is_negative || number == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{extended_name, number};

    /// Compared with Python's `tarfile.nti`.
    #[test]
    fn numbers_are_those_that_python_reads() {
        for (field, expected) in [
            (&b"0000012\0"[..], Some(10)),
            (b" 12 \0\0\0\0", Some(10)),
            (b"0o12\0xx", Some(10)),
            (b"0O_1_2\0", Some(10)),
            (b"+12", Some(10)),
            (b"-0", Some(0)),
            (b"-12", None),
            (b"\0\0\0", Some(0)),
            (b"1__2", None),
            (b"_12", None),
            (b"12_", None),
            (b"18", None),
            (b"\xb212", None),
            (b"\x80\0\0\x01\x02", Some(258)),
            (b"\x80\x01\0\0\0\0\0\0\0\0", None),
            (b"\xff\xff\xff", None),
        ] {
            assert_eq!(number(field), expected, "{}", field.escape_ascii());
        }
    }

    #[test]
    fn an_extended_header_names_the_next_member() {
        assert_eq!(extended_name(b"15 path=pickle\n"), Ok(Some(b"pickle".to_vec())));
        assert_eq!(extended_name(b"11 mtime=1\n11 path=a/\n"), Ok(Some(b"a".to_vec())));
        assert_eq!(extended_name(b"11 mtime=1\n\0\0"), Ok(None));
        for odd in [&b"99 path=a\n"[..], b"8 path=a\n", b"x path=a\n", b"1 ", b"15"] {
            assert_eq!(extended_name(odd), Err(()), "{}", odd.escape_ascii());
        }
    }
}
