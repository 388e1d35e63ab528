//! The steps of an execution, in little memory.
//!
//! A loop does the same each time, at other times. So what a step does is kept once, however often it is done, and each step points to it.
//! Numbers take as many bytes as they need. Times count from the step before; so do places, because a loop goes on with the step that was
//! next before. This takes about seven bytes for a step that was there before, and about fifty for one that is new.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use super::program::StepKind;

/// A step of an execution. Its kind says which fields it has; a `Sync` has only its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Step<'r> {
    /// `type`: what kind of step it is.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: &'r StepKind,
    /// `name`: the name of its program, if that has one.
    pub name: Option<&'r str>,
    /// `program`: the number of its program.
    pub program: Option<u32>,
    /// `computeSet` of a compute step: the number of the compute set.
    pub compute_set: Option<u32>,
    /// `exchange`, `externalExchange` or `hostExchange`: the number of the exchange.
    pub exchange: Option<u32>,
    /// `cycles`: the cycles of the tile that takes longest.
    pub cycles: Option<u64>,
    /// `cyclesFrom`: the first cycle in which any tile is at this step.
    pub cycles_from: Option<u64>,
    /// `cyclesTo`: the last cycle in which any tile is at this step.
    pub cycles_to: Option<u64>,
    /// `cyclesOverlapped`: the cycles that overlap with steps before.
    pub cycles_overlapped: Option<u64>,
    /// `activeTiles`: the tiles that compute or exchange.
    pub active_tiles: Option<u64>,
    /// `tileBalance`: the sum of cycles over all tiles, divided by the most cycles and the number of tiles.
    pub tile_balance: Option<f64>,
    /// `activeTileBalance`: the same as `tileBalance`, for the active tiles alone.
    pub active_tile_balance: Option<f64>,
    /// `threadBalance` of a compute step: how well the threads of tiles are used.
    pub thread_balance: Option<f64>,
    /// `dataBalance` of an exchange: like `tileBalance`, for the bytes that each tile sends and receives.
    pub data_balance: Option<f64>,
    /// `totalData` of an exchange: the bytes that are moved.
    pub total_data: Option<u64>,
    /// `syncType` of a `Sync`: `External` or `Internal`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sync_type: Option<&'r str>,
    /// The byte of the file at which it ends.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) at: u64,
}

impl<'r> Step<'r> {
    /// A step of which only the kind is known.
    pub(super) fn new(kind: &'r StepKind) -> Self {
        Step {
            kind,
            sync_type: None,
            program: None,
            name: None,
            tile_balance: None,
            active_tiles: None,
            active_tile_balance: None,
            cycles: None,
            cycles_from: None,
            cycles_to: None,
            cycles_overlapped: None,
            total_data: None,
            data_balance: None,
            thread_balance: None,
            compute_set: None,
            exchange: None,
            at: 0,
        }
    }
}

/// The steps of an execution, in order. They take about 7 bytes each if the same is done again and again, and about 50 if no
/// step has the numbers of another.
#[derive(Clone, Default, PartialEq)]
pub struct Steps {
    len: usize,
    kinds: Vec<StepKind>,
    /// What steps do, and their names. Nothing is there twice, as far as [`Builder`] remembers it.
    works: Vec<u8>,
    /// For each step, its times and its place in `works`.
    records: Vec<u8>,
    /// Where in `records` each [`Steps::FAR`]th step is, and what its times count from.
    marks: Vec<(u64, Before)>,
}

impl Steps {
    /// The maximum number of steps that are read from a mark to find one.
    const FAR: usize = 64;

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The step with a number, which counts from 0.
    pub fn get(&self, number: usize) -> Option<Step<'_>> {
        let (at, before) = *self.marks.get(number / Self::FAR)?;
        let left = self.len.checked_sub(number - number % Self::FAR)?;
        StepsIter { steps: self, left, records: Bytes::from(&self.records, at), before }.nth(number % Self::FAR)
    }

    /// The steps, one after the other.
    pub fn iter(&self) -> StepsIter<'_> {
        StepsIter { steps: self, left: self.len, records: Bytes(&self.records), before: Before::default() }
    }

    /// The steps with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, Step<'_>)> + Clone {
        (0_u32..).zip(self)
    }

    fn text(&self, at: u64) -> &str {
        let mut bytes = Bytes::from(&self.works, at);
        let len = bytes.number();
        std::str::from_utf8(bytes.take(len)).unwrap_or_default()
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'r> IntoIterator for &'r Steps {
    type Item = Step<'r>;
    type IntoIter = StepsIter<'r>;

    fn into_iter(self) -> StepsIter<'r> {
        self.iter()
    }
}

/// The steps of an execution, one after the other.
#[derive(Clone, Debug)]
pub struct StepsIter<'r> {
    steps: &'r Steps,
    left: usize,
    records: Bytes<'r>,
    before: Before,
}

impl<'r> Iterator for StepsIter<'r> {
    type Item = Step<'r>;

    fn next(&mut self) -> Option<Step<'r>> {
        self.left = self.left.checked_sub(1)?;
        let (steps, records) = (self.steps, &mut self.records);
        let mut work = Bytes::from(&steps.works, self.before.work.wrapping_add(records.difference()));
        let kind = steps.kinds.get(usize::try_from(work.number()).ok()?)?;
        let known = work.number();
        let mut step = Step::new(kind);
        for (bit, slot) in step.counts() {
            *slot = (known & bit != 0).then(|| work.number());
        }
        for (bit, slot) in step.indices() {
            *slot = (known & bit != 0).then(|| u32::try_from(work.number()).unwrap_or(u32::MAX));
        }
        for (bit, slot) in step.fractions() {
            *slot = (known & bit != 0).then(|| f64::from_le_bytes(work.eight()));
        }
        for (bit, slot) in step.texts() {
            *slot = (known & bit != 0).then(|| steps.text(work.number()));
        }
        step.at = self.before.at.wrapping_add(records.number());
        let [from, to, overlapped] = Before::BITS.map(|bit| known & bit != 0);
        let start = if from { self.before.end.wrapping_add(records.difference()) } else { self.before.end };
        let end = start.wrapping_add(step.cycles.unwrap_or_default());
        let end = if to { end.wrapping_add(records.difference()) } else { end };
        step.cycles_from = from.then_some(start);
        step.cycles_to = to.then_some(end);
        step.cycles_overlapped = overlapped.then(|| records.number());
        self.before = Before { at: step.at, end, work: steps.works.len().saturating_sub(work.0.len()) as u64 };
        Some(step)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for StepsIter<'_> {}

/// The parts of a step that do not change when it is done again, each with the bit that says whether the step has it.
impl<'r> Step<'r> {
    fn counts(&mut self) -> [(u64, &mut Option<u64>); 3] {
        [(1, &mut self.active_tiles), (1 << 1, &mut self.cycles), (1 << 2, &mut self.total_data)]
    }

    fn indices(&mut self) -> [(u64, &mut Option<u32>); 3] {
        [(1 << 3, &mut self.program), (1 << 4, &mut self.compute_set), (1 << 5, &mut self.exchange)]
    }

    fn fractions(&mut self) -> [(u64, &mut Option<f64>); 4] {
        [
            (1 << 6, &mut self.tile_balance),
            (1 << 7, &mut self.active_tile_balance),
            (1 << 8, &mut self.data_balance),
            (1 << 9, &mut self.thread_balance),
        ]
    }

    fn texts(&mut self) -> [(u64, &mut Option<&'r str>); 2] {
        [(1 << 10, &mut self.name), (1 << 11, &mut self.sync_type)]
    }
}

/// What the times and the place of a step count from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Before {
    /// The byte of the file at which the step before ends.
    at: u64,
    /// Its last cycle.
    end: u64,
    /// The end of what it does in `works`.
    work: u64,
}

impl Before {
    /// Whether a step has `cyclesFrom`, `cyclesTo` and `cyclesOverlapped`.
    const BITS: [u64; 3] = [1 << 12, 1 << 13, 1 << 14];
}

/// Steps that are being read.
#[derive(Default)]
pub(super) struct Builder {
    steps: Steps,
    before: Before,
    /// The place in `works` of the entry with this hash.
    known: HashMap<u64, u64>,
    hasher: RandomState,
    /// A buffer for the next entry.
    entry: Vec<u8>,
}

impl Builder {
    /// The maximum number of entries that are remembered. Later ones are stored each time they occur.
    const MOST_KNOWN: usize = 1 << 16;
    /// The maximum number of kinds that are remembered. Six are known.
    const MOST_KINDS: usize = 64;

    pub(super) fn push(&mut self, mut step: Step<'_>) {
        let [from, to, overlapped] = [step.cycles_from, step.cycles_to, step.cycles_overlapped];
        let texts = step.texts().map(|(bit, text)| (bit, text.map(|text| self.text(text))));
        let kind = self.kind(step.kind);
        let times = [from, to, overlapped].into_iter().zip(Before::BITS).map(|(time, bit)| (bit, time.is_some()));
        let has = times
            .chain(step.counts().map(|(bit, value)| (bit, value.is_some())))
            .chain(step.indices().map(|(bit, value)| (bit, value.is_some())))
            .chain(step.fractions().map(|(bit, value)| (bit, value.is_some())))
            .chain(texts.map(|(bit, value)| (bit, value.is_some())));
        let known = has.fold(0, |known, (bit, has)| known | if has { bit } else { 0 });

        let mut work = std::mem::take(&mut self.entry);
        work.clear();
        put(&mut work, kind);
        put(&mut work, known);
        step.counts().iter().for_each(|(_, value)| value.iter().for_each(|value| put(&mut work, *value)));
        step.indices().iter().for_each(|(_, value)| value.iter().for_each(|value| put(&mut work, u64::from(*value))));
        step.fractions().iter().for_each(|(_, value)| value.iter().for_each(|value| work.extend(value.to_le_bytes())));
        texts.iter().for_each(|(_, place)| place.iter().for_each(|place| put(&mut work, *place)));
        let place = self.place(&work);
        self.entry = work;

        let records = &mut self.steps.records;
        if self.steps.len.is_multiple_of(Steps::FAR) {
            self.steps.marks.push((records.len() as u64, self.before));
        }
        put_difference(records, place.wrapping_sub(self.before.work));
        put(records, step.at.wrapping_sub(self.before.at));
        let start = from.unwrap_or(self.before.end);
        let end = start.wrapping_add(step.cycles.unwrap_or_default());
        from.iter().for_each(|from| put_difference(records, from.wrapping_sub(self.before.end)));
        to.iter().for_each(|to| put_difference(records, to.wrapping_sub(end)));
        overlapped.iter().for_each(|overlapped| put(records, *overlapped));
        let work = place.wrapping_add(self.entry.len() as u64);
        self.before = Before { at: step.at, end: to.unwrap_or(end), work };
        self.steps.len = self.steps.len.saturating_add(1);
    }

    pub(super) fn finish(mut self) -> Steps {
        self.steps.works.shrink_to_fit();
        self.steps.records.shrink_to_fit();
        self.steps.marks.shrink_to_fit();
        self.steps
    }

    /// Returns the place of an entry, and adds it if it is new. No read at its place goes beyond its end.
    fn place(&mut self, entry: &[u8]) -> u64 {
        let works = &mut self.steps.works;
        let hash = self.hasher.hash_one(entry);
        if let Some(at) = self.known.get(&hash)
            && Bytes::from(works, *at).0.starts_with(entry)
        {
            return *at;
        }
        let at = works.len() as u64;
        works.extend(entry);
        if self.known.len() < Self::MOST_KNOWN {
            self.known.insert(hash, at);
        }
        at
    }

    fn text(&mut self, text: &str) -> u64 {
        let mut entry = std::mem::take(&mut self.entry);
        entry.clear();
        put(&mut entry, text.len() as u64);
        entry.extend(text.as_bytes());
        let place = self.place(&entry);
        self.entry = entry;
        place
    }

    fn kind(&mut self, kind: &StepKind) -> u64 {
        let kinds = &mut self.steps.kinds;
        let known = kinds.iter().take(Self::MOST_KINDS).position(|it| it == kind);
        known.unwrap_or_else(|| {
            kinds.push(kind.clone());
            kinds.len().saturating_sub(1)
        }) as u64
    }
}

/// Appends a number, seven bits to a byte, the lowest first. All bytes but the last have the highest bit set.
fn put(to: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return to.push(low);
        }
        to.push(low | 1 << 7);
    }
}

/// Appends a number that may be a little below 0.
fn put_difference(to: &mut Vec<u8>, difference: u64) {
    put(to, difference << 1 ^ if difference >> 63 == 1 { u64::MAX } else { 0 });
}

/// Reads what [`put`] wrote.
#[derive(Clone, Copy, Debug)]
struct Bytes<'r>(&'r [u8]);

impl<'r> Bytes<'r> {
    fn from(bytes: &'r [u8], at: u64) -> Self {
        Bytes(usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default())
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            number |= u64::from(byte & 0x7F).wrapping_shl(shift);
            shift = shift.saturating_add(7);
            if byte & 1 << 7 == 0 {
                break;
            }
        }
        number
    }

    fn difference(&mut self) -> u64 {
        let number = self.number();
        number >> 1 ^ if number & 1 == 1 { u64::MAX } else { 0 }
    }

    fn eight(&mut self) -> [u8; 8] {
        let (eight, rest) = self.0.split_first_chunk().map_or(([0; 8], &[][..]), |(eight, rest)| (*eight, rest));
        self.0 = rest;
        eight
    }

    fn take(&mut self, len: u64) -> &'r [u8] {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or_default();
        self.0 = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count() -> impl Strategy<Value = Option<u64>> {
        prop_oneof![Just(None), any::<u64>().prop_map(Some), (0..300_u64).prop_map(Some)]
    }

    fn fraction() -> impl Strategy<Value = Option<f64>> {
        prop::option::of(prop_oneof![Just(0.1 + 0.2), 0.0..1.0_f64, Just(-0.0), Just(f64::MAX)])
    }

    /// What a step has. Texts are numbers in a list of texts.
    type Made = ([Option<u64>; 7], [Option<u32>; 3], [Option<f64>; 4], [Option<usize>; 3]);

    fn any_step() -> impl Strategy<Value = Made> {
        let counts = [count(), count(), count(), count(), count(), count(), count()];
        let index = || prop::option::of(any::<u32>());
        let text = || prop::option::of(0..200_usize);
        let fractions = [fraction(), fraction(), fraction(), fraction()];
        (counts, [index(), index(), index()], fractions, [text(), text(), text()])
    }

    proptest! {
        /// Some of the steps come twice, and there are more kinds than are remembered.
        #[test]
        fn steps_are_read_as_they_were_written(made in prop::collection::vec((any_step(), any::<bool>()), 0..120), kinds in 1..200_usize) {
            let texts: Vec<String> = (0..200).map(|number| "é/".repeat(number % 7) + &number.to_string()).collect();
            let kinds: Vec<StepKind> = ["Sync", "DoExchange"].into_iter().chain(texts.iter().map(String::as_str)).take(kinds).map(StepKind::of).collect();
            let mut steps = Vec::new();
            for ((counts, indices, fractions, texts_of), twice) in made {
                let text = |nth: usize| texts_of[nth].map(|text| texts[text].as_str());
                let mut step = Step::new(&kinds[texts_of[2].unwrap_or_default() % kinds.len()]);
                [step.active_tiles, step.cycles, step.total_data, step.cycles_from, step.cycles_to, step.cycles_overlapped] =
                    [counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]];
                [step.program, step.compute_set, step.exchange] = indices;
                [step.tile_balance, step.active_tile_balance, step.data_balance, step.thread_balance] = fractions;
                (step.name, step.sync_type, step.at) = (text(0), text(1), counts[6].unwrap_or_default());
                steps.extend(std::iter::repeat_n(step, 1 + usize::from(twice)));
            }
            let mut builder = Builder::default();
            steps.iter().for_each(|step| builder.push(*step));
            let built = builder.finish();
            prop_assert_eq!(built.len(), steps.len());
            prop_assert_eq!(built.iter().len(), steps.len());
            prop_assert!((0..steps.len() + 1).all(|number| built.get(number) == steps.get(number).copied()));
            prop_assert_eq!(built.iter().collect::<Vec<_>>(), steps);
        }
    }

    #[test]
    fn what_is_done_again_takes_little_memory() {
        let kind = StepKind::OnTileExecute;
        let mut builder = Builder::default();
        for number in 0..10_000_u64 {
            let mut step = Step::new(&kind);
            let names = ["layer/one", "layer/two", "layer/three"];
            step.name = names.get((number % 3) as usize).copied();
            step.tile_balance = Some(1.0 / (1.0 + (number % 3) as f64));
            (step.program, step.cycles, step.at) = (Some((number % 3) as u32), Some(5_000), number * 300);
            (step.cycles_from, step.cycles_to) = (Some(number * 5_000), Some(number * 5_000 + 4_999));
            builder.push(step);
        }
        let steps = builder.finish();
        assert!(steps.works.len() < 200, "{}", steps.works.len());
        assert!(steps.records.len() < 6 * 10_000, "{}", steps.records.len());
    }
}
