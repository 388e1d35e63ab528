//! Pickles one after the other, pickles inside the texts and bytes of others, and those in archives.

use std::ops::Range;
use std::sync::Arc;

use super::archive::{self, Content, Member};
use super::halt::Halt;
use super::input::{PickleBytes, PickleReader};
use super::keep::{Keep, Kind, Made, Part};
use super::machine::{Found, Machine, Scan};
use super::op::LONGEST_TEXT;
use super::text::{LARGEST_TRIAL, Spelling, Text};
use super::values::{StandIn, UNKEPT};
use super::walk::Walk;
use super::{ArchiveKind, UnseenMember};
use popef::read::Data;

/// Maximum depth of pickles inside each other that are followed.
const DEEPEST: u8 = 4;
/// The length of the longest bytes that mean something to NumPy: the units of times.
const LONGEST_KEPT: u64 = 8;
/// Maximum number of bytes of a member's name that are kept.
const LONGEST_NAME: usize = 256;

/// Bytes that may be pickles or an archive, and where what is found in them goes.
pub(super) struct Look<'l, 's, 'a, 'k, K: Keep> {
    pub(super) input: PickleReader<'s, 'a>,
    pub(super) level: &'l mut Machine<K::Node>,
    pub(super) scan: &'l mut Scan<'k, K>,
    pub(super) found: &'l mut Found,
    /// The value that gets the results of the pickles.
    pub(super) results: K::Node,
}

/// What is known of bytes before they are walked.
#[derive(Clone, Copy, Default)]
pub(super) struct Attempt {
    /// Programs load them as a pickle because of their name.
    is_named: bool,
    /// They begin as a pickle does.
    is_marked: bool,
}

impl<'a, 'k, K: Keep> Look<'_, '_, 'a, 'k, K> {
    /// Looks at a part of the bytes, at the same level.
    pub(super) fn part(&mut self, range: Range<u64>) -> Look<'_, '_, 'a, 'k, K> {
        let Look { input, level, scan, found, results } = self;
        Look { input: input.part(range), level, scan, found, results: *results }
    }

    /// Walks a pickle and those that follow it; torch's older format has several. Returns whether they are all of the
    /// bytes. Fails if the pickles around them cannot be followed either.
    pub(super) fn walk_pickles(&mut self) -> Result<bool, Halt> {
        let mut torch = TorchFile::default();
        let mut is_first = true;
        loop {
            let start = self.input.position();
            self.level.clear();
            let (kept_before, imports_before) = (self.scan.keep.mark(), self.scan.imports.len());
            let mut walk = Walk::new(&mut self.input, self.level, self.scan);
            let end = walk.run();
            let place = walk.place();
            let mut trial = walk.found;
            match end {
                Ok(result) => {
                    torch.add(&mut self.input, start)?;
                    self.found.absorb(trial);
                    self.scan.keep.add(self.results, Part::Items, [result].into_iter())?;
                }
                // Numbers may look like imports.
                Err(Halt::Fault(_) | Halt::Limit(_)) if torch.is_at_numbers() && !trial.dangerous => {
                    self.scan.imports.forget_from(imports_before);
                    self.scan.keep.rewind(kept_before);
                    return Ok(true);
                }
                // What follows the first pickle may be any data, as long as it imports nothing.
                Err(Halt::Fault(_)) if !is_first && !trial.imports && !trial.limited => {
                    self.scan.keep.rewind(kept_before);
                    return Ok(false);
                }
                Err(halt) => {
                    trial.halt(&halt, place);
                    self.found.absorb(trial);
                    // If there is no memory for this either, the result is left out.
                    if let Ok(Some(part)) = self.scan.keep.finish(&mut self.level.stack) {
                        drop(self.scan.keep.add(self.results, Part::Items, [part].into_iter()));
                    }
                    return if matches!(halt, Halt::Fault(_) | Halt::Limit(_)) { Ok(false) } else { Err(halt) };
                }
            }
            if self.input.left() == 0 {
                return Ok(true);
            }
            is_first = false;
        }
    }

    /// Walks what may be a pickle. Returns `None` if it is none, and otherwise whether all that loading it would do is
    /// known.
    fn try_pickles(&mut self, Attempt { is_named, is_marked }: Attempt) -> Result<Option<bool>, Halt> {
        let imports_before = self.scan.imports.len();
        let kept_before = self.scan.keep.mark();
        let mut inner = Found::default();
        let ended = Look { found: &mut inner, ..self.all() }.walk_pickles()?;
        if !(is_named || is_marked || ended || inner.dangerous) {
            // It has no dangerous import, so its calls have not made any import ordinary.
            self.scan.imports.forget_from(imports_before);
            self.scan.keep.rewind(kept_before);
            return Ok(None);
        }
        let known = is_marked && inner.fault.is_none() && inner.unseen.is_empty();
        // Bytes that only begin like a pickle are not a fault of the pickle around them.
        let is_fault = is_named || inner.limited || inner.imports;
        inner.fault = inner.fault.filter(|_| is_fault);
        inner.pickles = inner.pickles.saturating_add(1);
        self.found.absorb(inner);
        Ok(Some(known))
    }

    /// Walks an archive, or what may be a pickle. A tar archive begins with the name of a member, which may be a pickle too.
    /// Returns `None` if it is neither, and otherwise whether all that loading it would do is known.
    pub(super) fn walk_inside(&mut self, kind: Option<ArchiveKind>, attempt: Attempt) -> Result<Option<bool>, Halt> {
        let archive = kind.map(|kind| self.all().walk_archive(kind)).transpose()?;
        if kind == Some(ArchiveKind::Zip) {
            return Ok(archive);
        }
        let pickles = self.try_pickles(attempt)?;
        Ok(if archive == Some(false) { archive } else { pickles.or(archive) })
    }

    /// Looks at the pickles in an archive. Returns whether everything that loading them would do is known.
    pub(super) fn walk_archive(&mut self, kind: ArchiveKind) -> Result<bool, Halt> {
        let members = archive::members(kind, &mut self.input)?;
        let mut inner = Found::default();
        if let Some(reason) = members.fault {
            let place = if self.level.depth == 0 { self.input.position() } else { self.scan.place };
            inner.halt(&Halt::Limit(reason), place);
        }
        let outer = self.scan.member.clone();
        let walked = members.list.iter().try_for_each(|member| {
            self.scan.member = Some(path(outer.as_deref(), &member.name));
            Look { found: &mut inner, ..self.all() }.walk_member(member)
        });
        self.scan.member = outer;
        let is_known = inner.fault.is_none() && inner.unseen.is_empty();
        self.found.absorb(inner);
        walked.map(|()| is_known)
    }

    fn walk_member(&mut self, member: &Member) -> Result<(), Halt> {
        match &member.content {
            Content::Stored(range) => {
                self.mark_place(range);
                self.part(range.clone()).look_into_member(member)
            }
            Content::Deflated(range, len) => {
                self.mark_place(range);
                let is_wanted = |first: &[u8]| member.is_wanted(first, *len);
                match self.scan.unpacking.unpack(&mut self.input, range.clone(), *len, is_wanted)? {
                    Ok(None) => self.pass_over(*len),
                    Ok(Some(bytes)) => {
                        let mut source = PickleBytes::copy(Data::in_memory(&bytes));
                        let Look { level, scan, found, results, .. } = self;
                        let input = source.input();
                        let mut inside = Look { input, level: level.inner(), scan, found, results: *results };
                        inside.look_into_member(member)?;
                    }
                    Err(why) => self.add_unseen(why),
                }
                Ok(())
            }
            Content::Unseen(why) => {
                self.add_unseen(why);
                Ok(())
            }
        }
    }

    /// Bytes in a copy have no place of their own.
    fn mark_place(&mut self, range: &Range<u64>) {
        if self.level.depth == 0 {
            self.scan.place = range.start;
        }
    }

    fn look_into_member(&mut self, member: &Member) -> Result<(), Halt> {
        let (len, kind) = (self.input.left(), archive::kind_of(&mut self.input)?);
        if kind.is_none() && !member.is_wanted(self.input.peek(archive::FIRST)?, len) {
            self.pass_over(len);
            return Ok(());
        }
        if self.level.depth > DEEPEST {
            self.add_unseen("it lies too deep in archives and pickles");
            return Ok(());
        }
        let mut inner = Found::default();
        let is_marked = self.input.begins_as_pickle()?;
        let Look { input, level, scan, results, .. } = self.all();
        let level = if kind.is_some() { level.inner() } else { level };
        let mut inside = Look { input, level, scan, found: &mut inner, results };
        inside.walk_inside(kind, Attempt { is_named: member.is_named() && kind.is_none(), is_marked })?;
        if let Some(fault) = &mut inner.fault {
            fault.member = fault.member.take().or_else(|| self.scan.member.clone());
        }
        inner.version = None;
        self.found.absorb(inner);
        Ok(())
    }

    /// Counts a member that is not tried. Others may still load it as a pickle.
    fn pass_over(&mut self, len: u64) {
        self.found.passed_over = self.found.passed_over.saturating_add(u64::from(len > 0));
    }

    fn add_unseen(&mut self, why: &'static str) {
        let member = self.scan.member.clone().unwrap_or_else(|| "".into());
        self.found.add_unseen(UnseenMember { member, offset: self.scan.place, why });
    }

    /// The same bytes again.
    fn all(&mut self) -> Look<'_, '_, 'a, 'k, K> {
        self.part(self.input.all())
    }
}

fn path(outer: Option<&str>, name: &[u8]) -> Arc<str> {
    let name = String::from_utf8_lossy(name.get(..LONGEST_NAME).unwrap_or(name));
    match outer {
        Some(outer) => format!("{outer} > {name}").into(),
        None => name.into(),
    }
}

/// Follows the format in which torch saved before version 1.6: a pickle of one long number, those of the format's version, of the
/// system, of the object and of the names of its storages, and then the storages' numbers as they are in memory.
#[derive(Default)]
struct TorchFile {
    is_marked: bool,
    pickles: u8,
}

impl TorchFile {
    const MARK: [u8; 12] = *b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
    const PICKLES: u8 = 5;

    /// Adds a pickle that was walked to its end.
    fn add(&mut self, input: &mut PickleReader<'_, '_>, start: u64) -> Result<(), Halt> {
        let end = input.position();
        if self.pickles == 0 && end.saturating_sub(start) <= 32 {
            let first = input.bytes(start..end)?;
            self.is_marked = first.windows(Self::MARK.len()).any(|bytes| bytes == Self::MARK);
        }
        self.pickles = self.pickles.saturating_add(1);
        Ok(())
    }

    fn is_at_numbers(&self) -> bool {
        self.is_marked && self.pickles >= Self::PICKLES
    }
}

/// What a look at bytes that may be a pickle finds.
struct Inside<N> {
    /// Everything that loading it would do is known.
    known: bool,
    /// The results of the pickles, if there are any.
    results: Option<N>,
}

impl<N> Inside<N> {
    const NOTHING: Self = Inside { known: false, results: None };

    /// Returns the stand-in for the bytes, which are kept at a place.
    fn stand_in(&self, kept: u32) -> StandIn {
        if self.known { StandIn::Known } else { StandIn::Bytes(kept) }
    }
}

/// Walks what may be a pickle or an archive inside a pickle.
fn look_into<K: Keep>(
    mut input: PickleReader<'_, '_>,
    holder: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
) -> Result<Inside<K::Node>, Halt> {
    let is_marked = input.begins_as_pickle()?;
    let kind = archive::begins_as(&mut input)?;
    if !is_marked && kind.is_none() && input.left() > LARGEST_TRIAL {
        return Ok(Inside::NOTHING);
    }
    if holder.depth >= DEEPEST {
        let too_deep = Halt::Limit("pickles in it lie too deep in one another");
        return if is_marked || kind.is_some() { Err(too_deep) } else { Ok(Inside::NOTHING) };
    }
    // Without a directory, readers do not accept the bytes as an archive.
    if kind == Some(ArchiveKind::Zip) && !archive::has_directory(&mut input)? {
        return Ok(Inside::NOTHING);
    }
    let kept_before = scan.keep.mark();
    let results = scan.keep.make(Made::Empty(Kind::Pickles))?;
    let mut inner = Found::default();
    let mut look = Look { input, level: holder.inner(), scan, found: &mut inner, results };
    let Some(known) = look.walk_inside(kind, Attempt { is_named: false, is_marked })? else {
        scan.keep.rewind(kept_before);
        return Ok(Inside::NOTHING);
    };
    inner.version = None;
    found.absorb(inner);
    Ok(Inside { known, results: Some(results) })
}

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    pub(super) fn bytes(&mut self, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        let inside = look_into(self.input.part(range.clone()), self.level, self.scan, &mut self.found)?;
        let node = self.scan.keep.make(Made::Bytes(place, inside.results))?;
        let kept = if place.len <= LONGEST_KEPT {
            self.level.texts.add(Text { spelling: Spelling::Utf8, bytes: self.input.bytes(range)? })?
        } else {
            None
        };
        self.push(inside.stand_in(kept.unwrap_or(UNKEPT)), node)
    }

    pub(super) fn byte_array(&mut self, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        let inside = look_into(self.input.part(range), self.level, self.scan, &mut self.found)?;
        let node = self.scan.keep.make(Made::Bytes(place, inside.results))?;
        // Later opcodes can change its bytes.
        self.push(StandIn::Bytes(UNKEPT), node)
    }

    pub(super) fn text(&mut self, spelling: Spelling, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        if place.len > LONGEST_TEXT {
            return self.long_text(spelling, range);
        }
        let text = Text { spelling, bytes: self.input.bytes(range)? };
        let (stand_in, results) = match text.pickle()? {
            Some(bytes) => {
                let mut source = PickleBytes::copy(Data::in_memory(&bytes));
                let inside = look_into(source.input(), self.level, self.scan, &mut self.found)?;
                (inside.stand_in(UNKEPT), inside.results)
            }
            None => (self.level.texts.add(text)?.map_or(StandIn::Bytes(UNKEPT), StandIn::Text), None),
        };
        let node = self.scan.keep.make(Made::Text(text, place, results))?;
        self.push(stand_in, node)
    }

    /// Skips a long text. If it may be a pickle, records a fault, and the walk continues.
    fn long_text(&mut self, spelling: Spelling, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        let first = range.start..range.start.saturating_add(16);
        let text = Text { spelling, bytes: self.input.bytes(first)? };
        if text.is_marked() {
            let halt = Halt::Limit("a pickle of more than a megabyte is inside it, spelt as text");
            self.found.halt(&halt, self.place());
        }
        let node = self.scan.keep.make(Made::LongText(spelling, place))?;
        self.push(StandIn::Bytes(UNKEPT), node)
    }
}
