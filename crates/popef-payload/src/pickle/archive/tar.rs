//! The structure of tar archives, which torch wrote before version 0.2, and still reads.

use std::mem;
use std::ops::Range;

use super::super::halt::Halt;
use super::super::input::PickleReader;
use super::{Content, Member, Members};
use popef::seam::as_usize;

const BLOCK: u64 = 512;
/// Extended headers are a few lines.
const LONGEST_EXTENDED: u64 = 64 << 10;

const CUT: &str = "a tar archive ends in the middle";
const ODD_HEADER: &str = "a member of a tar archive has a header that cannot be followed";
const SPARSE: &str = "it is a sparse file, whose parts these checks do not put together";
const DATA_OF_NONE: &str =
    "a member of a tar archive that has no data states its length, so readers find different members";

/// Python recognises an archive by the checksum of its first header. Other readers take a wrong one that has the mark.
pub(super) fn begins_as_tar(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(is_tar(input.peek(BLOCK)?))
}

/// Whether bytes that begin with a block begin as an archive.
pub(super) fn is_tar(first: &[u8]) -> bool {
    let first = first.get(..as_usize(BLOCK)).unwrap_or_default();
    is_header(first) || first.get(257..262) == Some(b"ustar")
}

pub(super) fn members(input: &mut PickleReader<'_, '_>) -> Result<Members, Halt> {
    let Range { start: mut place, end } = input.all();
    let mut members = Members { list: Vec::new(), fault: None };
    let mut ahead = Ahead::default();
    while place < end {
        let after_header = place.saturating_add(BLOCK);
        if after_header > end {
            members.fault = Some(CUT);
            break;
        }
        let bytes = input.bytes(place..after_header)?;
        if bytes.iter().all(|&byte| byte == 0) {
            break;
        }
        let Some(header) = Header::read(bytes)? else {
            members.fault = Some(ODD_HEADER);
            break;
        };
        let told = if header.is_about_next() { Ahead::default() } else { mem::take(&mut ahead) };
        let len = told.len.unwrap_or(header.len);
        if header.has_no_data() && len > 0 {
            // Python goes on with the next header right after this one.
            members.fault.get_or_insert(DATA_OF_NONE);
            place = after_header;
            continue;
        }
        let start = header.start_of_data(input, after_header, end)?;
        let data = start..start.saturating_add(len);
        if data.end > end {
            members.fault = Some(CUT);
            break;
        }
        place = start.saturating_add(len.div_ceil(BLOCK).saturating_mul(BLOCK));
        let is_followed = !header.is_about_next() || ahead.add(header.kind, input, data.clone(), place.min(end))?;
        if !is_followed || header.kind == b'S' && told.len.is_some() {
            members.fault.get_or_insert(ODD_HEADER);
        }
        let is_sparse = told.is_sparse || header.kind == b'S';
        let content = if is_sparse { Content::Unseen(SPARSE) } else { Content::Stored(data) };
        members.list.try_reserve(1)?;
        members.list.push(Member { name: told.name.unwrap_or(header.name), content });
    }
    Ok(members)
}

/// What extended headers say about the next member. Python applies the first of several last, so the first one counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ahead {
    name: Option<Vec<u8>>,
    len: Option<u64>,
    is_sparse: bool,
}

impl Ahead {
    /// Adds an extended header, whose blocks end at `padded`. Returns whether it can be followed.
    fn add(&mut self, kind: u8, input: &mut PickleReader<'_, '_>, data: Range<u64>, padded: u64) -> Result<bool, Halt> {
        let len = data.end.saturating_sub(data.start);
        if len > LONGEST_EXTENDED {
            return Ok(false);
        }
        // Python also reads what follows the data in its last block.
        let (text, padding) = input.bytes(data.start..padded)?.split_at_checked(as_usize(len)).unwrap_or_default();
        let is_padded = padding.iter().all(|&byte| byte == 0);
        Ok(is_padded
            && match kind {
                b'L' => {
                    self.add_name(text.split(|&byte| byte == 0).next().unwrap_or_default());
                    true
                }
                // The target of a link.
                b'K' => true,
                kind => self.add_lines(text, kind == b'g').is_some(),
            })
    }

    fn add_name(&mut self, name: &[u8]) {
        self.name.get_or_insert_with(|| name.to_vec());
    }

    /// Adds lines of the form "length key=value". What is for all members can only be a remark.
    fn add_lines(&mut self, mut lines: &[u8], is_for_all: bool) -> Option<()> {
        // Of two lines with the same key, the last counts.
        let mut own = Ahead::default();
        while lines.first().is_some_and(|&byte| byte != 0) {
            let blank = lines.iter().position(|&byte| byte == b' ')?;
            let (line, rest) = lines.split_at_checked(usize::try_from(decimal(lines.get(..blank)?)?).ok()?)?;
            let line = line.get(blank.saturating_add(1)..)?.strip_suffix(b"\n")?;
            let equals = line.iter().position(|&byte| byte == b'=')?;
            let (key, value) = (line.get(..equals)?, line.get(equals.saturating_add(1)..)?);
            match key {
                b"path" => own.name = Some(value.strip_suffix(b"/").unwrap_or(value).to_vec()),
                b"size" => own.len = Some(decimal(value)?),
                key => own.is_sparse |= key.starts_with(b"GNU.sparse"),
            }
            lines = rest;
        }
        if is_for_all {
            return (own == Ahead::default()).then_some(());
        }
        self.name = self.name.take().or(own.name);
        self.len = self.len.or(own.len);
        self.is_sparse |= own.is_sparse;
        Some(())
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))?;
    text.parse().ok()
}

struct Header {
    name: Vec<u8>,
    kind: u8,
    len: u64,
    /// More blocks of the header follow, if the member is sparse.
    has_more: bool,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Option<Header>, Halt> {
        let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
        let text = part(0..100).split(|&byte| byte == 0).next().unwrap_or_default();
        let Some(len) = number(part(124..136)).filter(|_| is_header(bytes)) else { return Ok(None) };
        let mut name = Vec::new();
        name.try_reserve_exact(text.len())?;
        name.extend_from_slice(text);
        let kind = bytes.get(156).copied().unwrap_or_default();
        let has_more = kind == b'S' && bytes.get(482).is_some_and(|&more| more != 0);
        Ok(Some(Header { name, kind, len, has_more }))
    }

    /// Whether it is an extended header, in GNU's form or that of POSIX.
    fn is_about_next(&self) -> bool {
        matches!(self.kind, b'L' | b'K' | b'x' | b'X' | b'g')
    }

    /// Whether Python looks for the next header right after this one. It takes members of kinds that it does not know for
    /// files, and those of the oldest kind for folders if their names say so.
    fn has_no_data(&self) -> bool {
        matches!(self.kind, b'1'..=b'6') || self.kind == 0 && self.name.ends_with(b"/")
    }

    fn start_of_data(&self, input: &mut PickleReader<'_, '_>, mut start: u64, end: u64) -> Result<u64, Halt> {
        let mut has_more = self.has_more;
        while has_more && end.saturating_sub(start) >= BLOCK {
            let next = start.saturating_add(BLOCK);
            has_more = input.bytes(start..next)?.get(504).is_some_and(|&more| more != 0);
            start = next;
        }
        Ok(start)
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
    use super::{Ahead, number};

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
    fn an_extended_header_tells_of_the_next_member() {
        let told = |lines: &[u8]| {
            let mut ahead = Ahead::default();
            ahead.add_lines(lines, false).map(|()| (ahead.name, ahead.len, ahead.is_sparse))
        };
        assert_eq!(told(b"15 path=pickle\n"), Some((Some(b"pickle".to_vec()), None, false)));
        assert_eq!(told(b"11 mtime=1\n11 path=a/\n"), Some((Some(b"a".to_vec()), None, false)));
        assert_eq!(told(b"10 size=1\n10 size=2\n\0\0"), Some((None, Some(2), false)));
        assert_eq!(told(b"22 GNU.sparse.major=1\n"), Some((None, None, true)));
        for odd in [&b"99 path=a\n"[..], b"8 path=a\n", b"x path=a\n", b"1 ", b"15", b"11 size=+1\n", b"0 a=b\n"] {
            assert_eq!(told(odd), None, "{}", odd.escape_ascii());
        }
        let for_all = |lines: &[u8]| Ahead::default().add_lines(lines, true);
        assert_eq!((for_all(b"11 mtime=1\n"), for_all(b"10 size=1\n")), (Some(()), None));
    }
}
