//! A Unix archive, read member by member.

use std::io::Read;

use object::archive::{Header, TERMINATOR};
use object::pod;

use super::input::{Input, len_of};
use crate::error::{Error, Part, Problem};

/// The length of a member's header.
const HEADER: usize = 60;

/// The maximum length of the table of long names, in bytes.
const NAMES: u64 = 16 << 20;

/// The prefix of the names of BSD's symbol tables: `__.SYMDEF`, `__.SYMDEF_64`, `__.SYMDEF SORTED`.
const BSD_SYMBOLS: &[u8] = b"__.SYMDEF";

/// The maximum number of bytes of a name that are read.
const LONGEST_NAME: usize = 1024;

/// The number of bytes of a member that are read to decide whether it is wanted.
const START: u64 = 64;

/// A reader of the members of an archive. It holds the table of long names, and no member.
pub(super) struct Archive<R> {
    input: Input<R>,
    names: Vec<u8>,
    wanted: Wanted,
}

/// Which members are read.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Whether a member with these first bytes is wanted.
    pub(super) by_start: fn(&[u8]) -> bool,
    /// The maximum length of a wanted member, in bytes.
    pub(super) most: u64,
}

/// A member of an archive.
#[derive(Debug)]
pub(super) struct Member {
    /// The name, cut after [`LONGEST_NAME`] bytes.
    pub(super) name: Vec<u8>,
    /// Where the member's bytes begin in the archive.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Whether all bytes were read. If not, the first [`START`] were.
    pub(super) is_read: bool,
}

/// The name of a member, as its header has it.
enum Name<'a> {
    Short(&'a [u8]),
    /// The place of the name in the table of names.
    Long(u64),
    /// The length of the name, which is before the member's bytes.
    Before(u64),
    Table,
    Symbols,
}

impl<R: Read> Archive<R> {
    /// Reads the members that follow the archive's first eight bytes.
    pub(super) fn new(reader: R, part: Part, wanted: Wanted) -> Self {
        let input = Input::new(reader, len_of(object::archive::MAGIC.len()), part);
        Archive { input, names: Vec::new(), wanted }
    }

    pub(super) fn part(&self) -> Part {
        self.input.part()
    }

    /// Reads the next member into `bytes`, or only its start if it is not wanted. Tables of names and symbols are not
    /// members. After an error, nothing more can be read.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Member>, Error> {
        loop {
            let start = self.input.offset();
            let mut header = [0; HEADER];
            match self.input.fill(&mut header)? {
                0 => return Ok(None),
                HEADER => {}
                found => {
                    let problem = Problem::HeaderCut { needed: len_of(HEADER), found: len_of(found) };
                    return Err(self.problem(problem, start));
                }
            }
            let parsed = parse(&header).map_err(|fault| self.problem(Problem::HeaderDamaged { fault }, start));
            let (name, size) = parsed?;
            let member = self.after_header(&name, size, start, bytes)?;
            self.skip_padding()?;
            if member.is_some() {
                return Ok(member);
            }
        }
    }

    /// Reads what follows a header at `start`. `None` if it is a table.
    fn after_header(
        &mut self,
        name: &Name<'_>,
        size: u64,
        start: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Member>, Error> {
        let (name, size) = match *name {
            Name::Symbols => return self.skip(size).map(|()| None),
            Name::Table => return self.read_names(size).map(|()| None),
            Name::Short(name) => (name.to_vec(), size),
            Name::Long(at) => {
                let name = long_name(&self.names, at);
                (name.map_err(|fault| self.problem(Problem::NameMissing { fault }, start))?, size)
            }
            Name::Before(len) => self.name_before(len, size, start)?,
        };
        if name.starts_with(BSD_SYMBOLS) {
            return self.skip(size).map(|()| None);
        }
        self.read(name, size, bytes).map(Some)
    }

    fn read(&mut self, name: Vec<u8>, size: u64, bytes: &mut Vec<u8>) -> Result<Member, Error> {
        let offset = self.input.offset();
        let (is_read, found) = self.read_wanted(size, bytes).map_err(|error| error.in_member(&shown(&name)))?;
        if found < size {
            let problem = Problem::MemberCut { needed: size, found };
            return Err(self.problem(problem, offset).in_member(&shown(&name)));
        }
        Ok(Member { name, offset, size, is_read })
    }

    /// Reads a member, or only its start and skips the rest. Returns which, and how many bytes there were.
    fn read_wanted(&mut self, size: u64, bytes: &mut Vec<u8>) -> Result<(bool, u64), Error> {
        bytes.clear();
        let start = self.input.append(size.min(START), bytes)?;
        let is_read = size <= START || (size <= self.wanted.most && (self.wanted.by_start)(bytes));
        let rest = size.saturating_sub(START);
        let rest = if is_read { self.input.append(rest, bytes) } else { self.input.skip(rest) };
        Ok((is_read, start.saturating_add(rest?)))
    }

    fn read_names(&mut self, size: u64) -> Result<(), Error> {
        let start = self.input.offset();
        if size > NAMES {
            return Err(self.problem(Problem::NamesTooLong { needed: size, limit: NAMES }, start));
        }
        self.names.clear();
        let found = self.input.append(size, &mut self.names)?;
        self.check_length(start, size, found)
    }

    /// Reads a name that is before the member's bytes. Returns it and the size of what follows.
    fn name_before(&mut self, len: u64, size: u64, start: u64) -> Result<(Vec<u8>, u64), Error> {
        let Some(rest) = size.checked_sub(len) else {
            let fault = "it is longer than the member that it is in";
            return Err(self.problem(Problem::NameMissing { fault }, start));
        };
        let mut name = Vec::new();
        let begin = self.input.offset();
        let read = len.min(len_of(LONGEST_NAME));
        let found = self.input.append(read, &mut name)?;
        let skipped = self.input.skip(len.saturating_sub(read))?;
        self.check_length(begin, len, found.saturating_add(skipped))?;
        let end = name.iter().rposition(|&byte| byte != 0).map_or(0, |last| last.saturating_add(1));
        name.truncate(end);
        Ok((name, rest))
    }

    fn skip(&mut self, size: u64) -> Result<(), Error> {
        let start = self.input.offset();
        let found = self.input.skip(size)?;
        self.check_length(start, size, found)
    }

    fn check_length(&self, start: u64, needed: u64, found: u64) -> Result<(), Error> {
        if found == needed { Ok(()) } else { Err(self.problem(Problem::MemberCut { needed, found }, start)) }
    }

    /// Members begin at even offsets. The padding byte can have any value, and may be missing after the last member.
    fn skip_padding(&mut self) -> Result<(), Error> {
        if self.input.offset() % 2 == 1 {
            self.input.skip(1)?;
        }
        Ok(())
    }

    fn problem(&self, problem: Problem, offset: u64) -> Error {
        problem.at(self.input.part(), offset)
    }
}

/// The beginning of a name, as it is kept and shown.
pub(super) fn shown(name: &[u8]) -> popef::types::Text<'static> {
    const LONGEST: usize = 64;
    name.get(..LONGEST).unwrap_or(name).to_vec().into()
}

fn parse(header: &[u8; HEADER]) -> Result<(Name<'_>, u64), &'static str> {
    let Ok((header, _)) = pod::from_bytes::<Header>(header) else { return Err("it is too short") };
    if header.terminator != TERMINATOR {
        return Err("it does not end with 0x600a, so this is not where a member begins");
    }
    let size = decimal(&header.size).ok_or("the size is not a decimal number")?;
    Ok((name(&header.name)?, size))
}

fn name(field: &[u8; 16]) -> Result<Name<'_>, &'static str> {
    let field = trim_end(field);
    match field {
        b"/" | b"/SYM64/" => Ok(Name::Symbols),
        b"//" => Ok(Name::Table),
        [b'/', place @ ..] => decimal(place).map(Name::Long).ok_or("the place of the name is not a decimal number"),
        [b'#', b'1', b'/', len @ ..] => {
            decimal(len).map(Name::Before).ok_or("the length of the name is not a decimal number")
        }
        [name @ .., b'/'] | name => Ok(Name::Short(name)),
    }
}

/// A number with spaces after it.
fn decimal(field: &[u8]) -> Option<u64> {
    let digits = trim_end(field);
    // `parse` would allow a sign.
    let all = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| all)?.parse().ok()
}

fn trim_end(field: &[u8]) -> &[u8] {
    let end = field.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last.saturating_add(1));
    field.get(..end).unwrap_or_default()
}

/// A name from the table of long names. GNU ends a name with `/` and a line end, others with a zero byte.
fn long_name(names: &[u8], at: u64) -> Result<Vec<u8>, &'static str> {
    let place = usize::try_from(at).ok();
    let names = place.and_then(|at| names.get(at..)).filter(|names| !names.is_empty());
    let names = names.ok_or("its place is outside the table of long names")?;
    let names = names.get(..LONGEST_NAME).unwrap_or(names);
    let end = names.iter().position(|&byte| byte == b'\n' || byte == 0).unwrap_or(names.len());
    let name = names.get(..end).unwrap_or_default();
    Ok(name.strip_suffix(b"/").unwrap_or(name).to_vec())
}
