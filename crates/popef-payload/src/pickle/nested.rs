//! Pickles one after the other, and pickles inside the texts and bytes of others.

use std::ops::Range;

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
const DEEPEST: u8 = 4;

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
    let mut is_first = true;
    loop {
        level.clear();
        let kept_before = scan.keep.mark();
        let mut walk = Walk::new(input, level, scan);
        let end = walk.run();
        let place = walk.place();
        let mut trial = walk.found;
        match end {
            Ok(result) => {
                found.absorb(trial);
                scan.keep.add(results, Part::Items, [result].into_iter())?;
            }
            // What follows the first pickle may be any data, as long as it imports nothing.
            Err(Halt::Fault(_)) if !is_first && !trial.imports && !trial.limited => {
                scan.keep.rewind(kept_before);
                return Ok(false);
            }
            Err(halt) => {
                trial.halt(&halt, place);
                found.absorb(trial);
                // Without memory for this too, the result is left out.
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
    let marked = begins_as_pickle(input)?;
    if !marked && input.left() > LARGEST_TRIAL {
        return Ok(Inside::NOTHING);
    }
    if holder.depth >= DEEPEST {
        let too_deep = Halt::Limit("pickles in it lie too deep in one another");
        return if marked { Err(too_deep) } else { Ok(Inside::NOTHING) };
    }
    let imports_before = scan.imports.len();
    let kept_before = scan.keep.mark();
    let results = scan.keep.make(Made::Empty(Kind::Pickles))?;
    let mut inner = Found::default();
    let ended = walk_all(input, holder.inner(), scan, &mut inner, results)?;
    if !(marked || ended || inner.dangerous) {
        // It has no dangerous import, so no call in it has made one ordinary.
        scan.imports.forget_from(imports_before);
        scan.keep.rewind(kept_before);
        return Ok(Inside::NOTHING);
    }
    let known = marked && inner.fault.is_none();
    // Bytes that only begin like a pickle are not a fault of the pickle around them.
    let is_fault = inner.limited || inner.imports;
    inner.fault = inner.fault.filter(|_| is_fault);
    inner.version = None;
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

    /// Skips a long text. If it may be a pickle, that is a fault, but the walk goes on.
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
