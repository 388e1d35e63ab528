//! Pickles one after the other, and pickles inside the texts and bytes of others.

use std::ops::Range;

use super::ArchiveKind;
use super::archive;
use super::halt::Halt;
use super::input::{PickleBytes, PickleReader};
use super::keep::{Keep, Kind, Made, Part};
use super::op::LONGEST_TEXT;
use super::scan::{Found, Machine, Scan};
use super::text::{LARGEST_TRIAL, Spelling, Text};
use super::values::StandIn;
use super::walk::Walk;
use popef::read::Data;

/// The number of pickles inside each other that are followed.
pub(super) const DEEPEST: u8 = 4;

pub(super) fn begins_as_pickle(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(matches!(input.peek(2)?, [0x80, 0..=5]))
}

/// Walks a pickle and those that follow it; torch's older format has several. Puts their results into `results`. Returns
/// whether they are the whole input. Fails if the pickles around them cannot be followed either.
pub(super) fn walk_all<K: Keep>(
    input: &mut PickleReader<'_, '_>,
    level: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
    results: K::Node,
) -> Result<bool, Halt> {
    let mut torch = TorchFile::default();
    let mut is_first = true;
    loop {
        let start = input.position();
        level.clear();
        let (kept_before, imports_before) = (scan.keep.mark(), scan.imports.len());
        let mut walk = Walk::new(input, level, scan);
        let end = walk.run();
        let place = walk.place();
        let mut trial = walk.found;
        match end {
            Ok(result) => {
                torch.add(input, start)?;
                found.absorb(trial);
                scan.keep.add(results, Part::Items, [result].into_iter())?;
            }
            // Numbers may look like imports.
            Err(Halt::Fault(_) | Halt::Limit(_)) if torch.is_at_numbers() && !trial.dangerous => {
                scan.imports.forget_from(imports_before);
                scan.keep.rewind(kept_before);
                return Ok(true);
            }
            // What follows the first pickle may be any data, as long as it imports nothing.
            Err(Halt::Fault(_)) if !is_first && !trial.imports && !trial.limited => {
                scan.keep.rewind(kept_before);
                return Ok(false);
            }
            Err(halt) => {
                trial.halt(&halt, place);
                found.absorb(trial);
                // If there is no memory for this either, the result is left out.
                if let Ok(Some(part)) = scan.keep.finish(&mut level.stack) {
                    drop(scan.keep.add(results, Part::Items, [part].into_iter()));
                }
                return if matches!(halt, Halt::Fault(_) | Halt::Limit(_)) { Ok(false) } else { Err(halt) };
            }
        }
        if input.left() == 0 {
            return Ok(true);
        }
        is_first = false;
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
pub(super) struct Inside<N> {
    /// Everything that loading it would do is known.
    pub(super) known: bool,
    /// The results of the pickles, if there are any.
    pub(super) results: Option<N>,
}

impl<N> Inside<N> {
    const NOTHING: Self = Inside { known: false, results: None };

    pub(super) fn stand_in(&self) -> StandIn {
        if self.known { StandIn::Known } else { StandIn::Other }
    }
}

/// Walks what may be a pickle inside another one.
pub(super) fn look_into<K: Keep>(
    input: &mut PickleReader<'_, '_>,
    holder: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
) -> Result<Inside<K::Node>, Halt> {
    let attempt = Attempt { is_named: false, is_marked: begins_as_pickle(input)? };
    let is_zip = archive::begins_as_zip(input)?;
    if !attempt.is_marked && !is_zip && input.left() > LARGEST_TRIAL {
        return Ok(Inside::NOTHING);
    }
    if holder.depth >= DEEPEST {
        let too_deep = Halt::Limit("pickles in it lie too deep in one another");
        return if attempt.is_marked || is_zip { Err(too_deep) } else { Ok(Inside::NOTHING) };
    }
    let mut inner = Found::default();
    let inside = if is_zip {
        look_into_zip(input, holder.inner(), scan, &mut inner)?
    } else {
        try_pickles(attempt, input, holder.inner(), scan, &mut inner, None)?
    };
    inner.version = None;
    found.absorb(inner);
    Ok(inside)
}

/// Looks into bytes of a pickle that begin like a zip archive. Without a directory, readers do not accept them as an
/// archive.
fn look_into_zip<K: Keep>(
    input: &mut PickleReader<'_, '_>,
    level: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
) -> Result<Inside<K::Node>, Halt> {
    if !archive::has_directory(input)? {
        return Ok(Inside::NOTHING);
    }
    let results = scan.keep.make(Made::Empty(Kind::Pickles))?;
    let known = archive::walk(ArchiveKind::Zip, input, level, scan, found, results)?;
    Ok(Inside { known, results: Some(results) })
}

/// What is known of bytes before they are walked.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Programs load them as a pickle because of their name.
    pub(super) is_named: bool,
    /// They begin as a pickle does.
    pub(super) is_marked: bool,
}

/// Walks what may be a pickle. Puts the results into `results`, or into a value of their own.
pub(super) fn try_pickles<K: Keep>(
    attempt: Attempt,
    input: &mut PickleReader<'_, '_>,
    level: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
    results: Option<K::Node>,
) -> Result<Inside<K::Node>, Halt> {
    let Attempt { is_named, is_marked } = attempt;
    let imports_before = scan.imports.len();
    let kept_before = scan.keep.mark();
    let results = match results {
        Some(results) => results,
        None => scan.keep.make(Made::Empty(Kind::Pickles))?,
    };
    let mut inner = Found::default();
    let ended = walk_all(input, level, scan, &mut inner, results)?;
    if !(is_named || is_marked || ended || inner.dangerous) {
        // It has no dangerous import, so its calls have not made any import ordinary.
        scan.imports.forget_from(imports_before);
        scan.keep.rewind(kept_before);
        return Ok(Inside::NOTHING);
    }
    let known = is_marked && inner.fault.is_none() && inner.unseen.is_empty();
    // Bytes that only begin like a pickle are not a fault of the pickle around them.
    let is_fault = is_named || inner.limited || inner.imports;
    inner.fault = inner.fault.filter(|_| is_fault);
    inner.pickles = inner.pickles.saturating_add(1);
    found.absorb(inner);
    Ok(Inside { known, results: Some(results) })
}

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    pub(super) fn bytes(&mut self, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        let inside = look_into(&mut self.input.part(range), self.level, self.scan, &mut self.found)?;
        let node = self.scan.keep.make(Made::Bytes(place, inside.results))?;
        self.push(inside.stand_in(), node)
    }

    pub(super) fn byte_array(&mut self, range: Range<u64>) -> Result<(), Halt> {
        let place = self.input.place(&range);
        let inside = look_into(&mut self.input.part(range), self.level, self.scan, &mut self.found)?;
        let node = self.scan.keep.make(Made::Bytes(place, inside.results))?;
        // Later opcodes can change its bytes.
        self.push(StandIn::Other, node)
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
                let inside = look_into(&mut source.input(), self.level, self.scan, &mut self.found)?;
                (inside.stand_in(), inside.results)
            }
            None => (self.level.texts.add(text)?.map_or(StandIn::Other, StandIn::Text), None),
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
        self.push(StandIn::Other, node)
    }
}
