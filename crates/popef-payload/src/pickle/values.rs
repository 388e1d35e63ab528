//! What a walk keeps of a pickle: stand-ins for the values on the stack and in the memo, and short texts.
//!
//! An opcode adds at most one value to each, so the memory is in proportion to the pickle's bytes.

use std::collections::HashMap;

use super::halt::Halt;
use super::list::List;
use super::text::{Spelling, Text};
use popef::seam::as_usize;

/// A stand-in for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandIn {
    /// A short text, by its place in [`Texts`].
    Text(u32),
    /// Something imported, by its place in the list of imports.
    Import(u16),
    /// An object of an imported class, or the result of an import, which nothing outside of the pickle has.
    Own(u16),
    /// The same through the memo or a duplicate. Others may have it already.
    OwnAgain(u16),
    /// The result of an import, which may also be an argument of the call or an object of the whole process.
    Result(u16),
    /// A dictionary without a text for the key "version".
    Dict,
    /// A dictionary with that text.
    Versioned(u32),
    /// A dictionary that has another stand-in too, on the stack or in the memo.
    SameDict,
    /// A dictionary with a key that Python may take for one of its own attributes, or a pair with such a dictionary.
    Reserved,
    /// A pair with a dictionary that has another stand-in too.
    SharedPair,
    /// Bytes that are a pickle, when everything that loading it would do is known.
    Known,
    Tuple(Arguments),
    Other,
    // The following are what the types of NumPy are made of, see `types`. All else takes them for the `plainer` ones.
    Number(i32),
    None,
    /// A type or an array: the import that made it, and its place in [`Machine::types`](super::machine::Machine).
    Made {
        import: u16,
        at: At,
    },
    /// Bytes, by their place in [`Texts`] if they are few, or a text that is too long to be a name.
    Bytes(u32),
    /// A dictionary of fields, by its place in [`Machine::fields`](super::machine::Machine).
    Fields(u32),
    /// One that has another stand-in too.
    SameFields(u32),
    /// A list of this many values.
    List(u32),
    /// A list that has another stand-in too.
    SameList,
}

/// The content of a tuple, as far as it matters as arguments or as a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    ImportAndText(u16, u32),
    /// One to three values. The first is an import. The second is no object, and no class except one of Python's own.
    Import(u16),
    /// Four values: two imports, any value, and a state that changes no class.
    Rebuild(u16),
    /// Four values, with which torch's older format names a class and its source. Torch gives the class for them.
    Source(u16),
    /// Four values: the state of a `partial` of the function.
    Partial(u16),
    /// Four values, the last of which is a state that sets no attribute of Python's own.
    Stated,
    /// What NumPy makes a generator of random numbers of.
    Generator,
    /// Values of which one may never end: what this import gives.
    Series(u16),
    /// No values.
    Nothing,
    /// Other values, of which one may be a dictionary with names that Python looks up by itself.
    Named,
    /// One value that is no import, no object and no text.
    Plain,
    /// Values that are no imports and no objects, and no names of attributes that Python looks up by itself.
    Plains,
    /// Known bytes alone.
    Known,
    KnownAndLatin1,
    // The following are what the types of NumPy are made of, as above.
    /// Only numbers.
    Lengths {
        is_one: bool,
        product: u32,
    },
    /// Arguments in a form that picklers give to this import, what its call gives, and the place of that.
    Form {
        of: u16,
        gives: Gives,
        at: u32,
    },
    /// Only texts, each once, and the sum of what they hash to.
    Names {
        is_plain: bool,
        sum: u32,
    },
    /// The state of an array of this many values, which are bytes, or a list of as many.
    ArrayState(u32),
    /// A type and where it begins, by the place in [`Machine::placed`](super::machine::Machine).
    Field(u32),
    /// A type and how many of it follow each other.
    SubType {
        flags: u8,
        size: u32,
    },
    /// The unit of times, and the same behind other metadata.
    Unit,
    Units,
    /// By the place in [`Machine::states`](super::machine::Machine).
    TypeState(u32),
}

/// A place in a list, in a form that fits behind the two bytes of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At([u16; 2]);

impl At {
    pub(super) fn new(at: u32) -> Self {
        At([at >> 16, at & 0xffff].map(|half| u16::try_from(half).unwrap_or_default()))
    }

    pub(super) fn index(self) -> usize {
        let [high, low] = self.0.map(usize::from);
        high << 16 | low
    }
}

/// What a call in a form that picklers write gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// A type or an array.
    Made,
    Bytes,
    /// An object of the pickle's own.
    New,
    /// What may be shared.
    Shared,
}

impl StandIn {
    /// Whether a value is bytes, or a text that Python 2 wrote for bytes.
    pub(super) fn is_bytes(self) -> bool {
        matches!(self, StandIn::Bytes(_) | StandIn::Text(_) | StandIn::Known)
    }

    /// Returns the stand-in for another reference to the same value.
    pub(super) fn again(self) -> StandIn {
        match self {
            StandIn::Dict | StandIn::Versioned(_) => StandIn::SameDict,
            StandIn::Fields(at) => StandIn::SameFields(at),
            StandIn::Own(class) => StandIn::OwnAgain(class),
            StandIn::List(_) => StandIn::SameList,
            // A call takes its arguments from the stack, so nothing else has them.
            StandIn::Tuple(Arguments::Form { .. }) => StandIn::Other,
            other => other,
        }
    }

    /// Returns what the walk knows of a value apart from types of NumPy, and from where the value comes.
    pub(super) fn plainer(self) -> StandIn {
        match self {
            StandIn::Number(_) | StandIn::None | StandIn::Bytes(_) | StandIn::List(_) | StandIn::SameList => {
                StandIn::Other
            }
            StandIn::Made { import, .. } => StandIn::Own(import),
            StandIn::OwnAgain(class) => StandIn::Own(class),
            StandIn::Fields(_) => StandIn::Dict,
            StandIn::SameFields(_) => StandIn::SameDict,
            StandIn::Tuple(Arguments::Lengths { is_one: true, .. }) => StandIn::Tuple(Arguments::Plain),
            StandIn::Tuple(Arguments::Lengths { .. } | Arguments::Names { is_plain: true, .. }) => {
                StandIn::Tuple(Arguments::Plains)
            }
            StandIn::Tuple(
                Arguments::Form { .. }
                | Arguments::Names { .. }
                | Arguments::ArrayState(_)
                | Arguments::Field(_)
                | Arguments::SubType { .. }
                | Arguments::Unit
                | Arguments::Units
                | Arguments::TypeState(_),
            ) => StandIn::Other,
            other => other,
        }
    }
}

/// A value on the stack or in the memo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<N> {
    pub(super) stand_in: StandIn,
    /// The value in what the walk [keeps](super::keep::Keep).
    pub(super) node: N,
}

impl<N> Slot<N> {
    /// Returns another reference to the same value.
    pub(super) fn again(self) -> Self {
        Slot { stand_in: self.stand_in.again(), ..self }
    }

    fn plainer(self) -> Self {
        Slot { stand_in: self.stand_in.plainer(), ..self }
    }
}

const _: () = assert!(size_of::<Slot<()>>() == 8 && size_of::<Option<Slot<()>>>() == 8, "there may be very many");

/// The place of bytes and texts that are not kept.
pub(super) const UNKEPT: u32 = u32::MAX;

pub(super) const EMPTY: Halt = Halt::Fault("it takes from an empty stack");
const TOO_LARGE: Halt = Halt::Spent("it has more texts than can be counted");

pub(super) struct Stack<N> {
    values: List<Slot<N>>,
    /// The number of values below each mark.
    marks: List<usize>,
    /// The last of the marks. Values below it cannot be popped.
    floor: usize,
}

impl<N> Default for Stack<N> {
    fn default() -> Self {
        Stack { values: List::default(), marks: List::default(), floor: 0 }
    }
}

impl<N: Copy> Stack<N> {
    pub(super) fn clear(&mut self) {
        self.values.truncate(0);
        self.marks.truncate(0);
        self.floor = 0;
    }

    pub(super) fn push(&mut self, value: Slot<N>) -> Result<(), Halt> {
        self.values.push(value)
    }

    pub(super) fn pop(&mut self) -> Result<Slot<N>, Halt> {
        let above = self.values.len() > self.floor;
        above.then(|| self.values.pop()).flatten().map(Slot::plainer).ok_or(EMPTY)
    }

    pub(super) fn top(&self) -> Result<Slot<N>, Halt> {
        let above = self.values.len() > self.floor;
        above.then(|| self.values.last()).flatten().ok_or(EMPTY)
    }

    pub(super) fn replace_top(&mut self, value: Slot<N>) -> Result<(), Halt> {
        self.pop()?;
        self.push(value)
    }

    #[cfg(feature = "poptorch")]
    pub(super) fn is_marked(&self) -> bool {
        self.marks.len() > 0
    }

    pub(super) fn mark(&mut self) -> Result<(), Halt> {
        self.floor = self.values.len();
        self.marks.push(self.floor)
    }

    /// Pops a value, or a mark with no values above it.
    pub(super) fn pop_or_unmark(&mut self) -> Result<(), Halt> {
        if self.marks.last() == Some(self.values.len()) {
            return self.unmark().map(drop);
        }
        self.pop().map(drop)
    }

    /// Pops the last mark, and returns where the values above it begin.
    pub(super) fn unmark(&mut self) -> Result<usize, Halt> {
        let start = self.marks.pop().ok_or(Halt::Fault("it looks for a mark that is not there"))?;
        self.floor = self.marks.last().unwrap_or(0);
        Ok(start)
    }

    /// Returns where the last `count` values begin.
    pub(super) fn start_of_last(&self, count: usize) -> Result<usize, Halt> {
        self.values.len().checked_sub(count).filter(|&start| start >= self.floor).ok_or(EMPTY)
    }

    /// Returns the value below the values from `start` on.
    pub(super) fn below(&self, start: usize) -> Option<Slot<N>> {
        start.checked_sub(1).filter(|&below| below >= self.floor).and_then(|below| self.values.get(below))
    }

    pub(super) fn slots_from(&self, start: usize) -> impl Iterator<Item = Slot<N>> {
        (start..self.values.len()).map_while(|index| self.values.get(index))
    }

    pub(super) fn values_from(&self, start: usize) -> impl Iterator<Item = StandIn> {
        self.exact_from(start).map(StandIn::plainer)
    }

    pub(super) fn exact_from(&self, start: usize) -> impl Iterator<Item = StandIn> {
        self.slots_from(start).map(|slot| slot.stand_in)
    }

    pub(super) fn exact_above_mark(&self) -> impl Iterator<Item = StandIn> {
        self.exact_from(self.floor)
    }

    pub(super) fn nodes_from(&self, start: usize) -> impl Iterator<Item = N> {
        self.slots_from(start).map(|slot| slot.node)
    }

    pub(super) fn cut(&mut self, start: usize) {
        self.values.truncate(start);
    }
}

/// The memo: values by the numbers that the pickle gives them.
pub(super) struct Memo<N> {
    /// The values with small numbers. Picklers count up from 0 or 1, so most values are here.
    near: List<Option<Slot<N>>>,
    far: Far<N>,
    /// The number of values put here, and the number of places that have one.
    puts: u64,
    len: u64,
}

impl<N> Default for Memo<N> {
    fn default() -> Self {
        Memo { near: List::default(), far: Far::default(), puts: 0, len: 0 }
    }
}

impl<N: Copy> Memo<N> {
    pub(super) fn clear(&mut self) {
        self.near.truncate(0);
        if !self.far.is_empty() {
            // Clearing a large table would take as long as filling it.
            self.far = Far::default();
        }
        (self.puts, self.len) = (0, 0);
    }

    pub(super) fn get(&self, place: u64) -> Option<Slot<N>> {
        self.near.get(as_usize(place)).flatten().or_else(|| self.far.get(place))
    }

    pub(super) fn put(&mut self, place: u64, value: Slot<N>) -> Result<(), Halt> {
        self.puts = self.puts.saturating_add(1);
        // So there are never more near places than puts, and `append` never needs a far one.
        let before = if place <= self.puts { self.put_near(place, value)? } else { self.far.put(place, value)? };
        self.len = self.len.saturating_add(before.is_none().into());
        Ok(())
    }

    fn put_near(&mut self, place: u64, value: Slot<N>) -> Result<Option<Slot<N>>, Halt> {
        let near = as_usize(place);
        while self.near.len() <= near {
            self.near.push(None)?;
        }
        let before = self.near.get_mut(near).and_then(|old| old.replace(value));
        Ok(if before.is_none() && !self.far.is_empty() { self.far.remove(place) } else { before })
    }

    /// Puts a value at the next place, whose number is the number of used places.
    pub(super) fn append(&mut self, value: Slot<N>) -> Result<(), Halt> {
        self.put(self.len, value)
    }
}

/// Values with numbers that no pickler uses. Most fit in 32 bits, which takes less memory than 64.
struct Far<N> {
    by_32: HashMap<u32, Slot<N>>,
    by_64: HashMap<u64, Slot<N>>,
}

impl<N> Default for Far<N> {
    fn default() -> Self {
        Far { by_32: HashMap::new(), by_64: HashMap::new() }
    }
}

impl<N: Copy> Far<N> {
    fn is_empty(&self) -> bool {
        self.by_32.is_empty() && self.by_64.is_empty()
    }

    fn get(&self, place: u64) -> Option<Slot<N>> {
        match u32::try_from(place) {
            Ok(place) => self.by_32.get(&place).copied(),
            Err(_) => self.by_64.get(&place).copied(),
        }
    }

    /// Returns the previous value.
    fn put(&mut self, place: u64, value: Slot<N>) -> Result<Option<Slot<N>>, Halt> {
        Ok(match u32::try_from(place) {
            Ok(place) => {
                self.by_32.try_reserve(1)?;
                self.by_32.insert(place, value)
            }
            Err(_) => {
                self.by_64.try_reserve(1)?;
                self.by_64.insert(place, value)
            }
        })
    }

    fn remove(&mut self, place: u64) -> Option<Slot<N>> {
        match u32::try_from(place) {
            Ok(place) => self.by_32.remove(&place),
            Err(_) => self.by_64.remove(&place),
        }
    }
}

/// Texts that may be names, in blocks. Each text follows its length.
#[derive(Default)]
pub(super) struct Texts {
    blocks: Vec<Vec<u8>>,
    /// The block that is being filled.
    current: usize,
    /// The text that is being added.
    text: Vec<u8>,
}

/// The number of texts at some moment.
#[cfg(feature = "poptorch")]
#[derive(Clone, Copy)]
pub(super) struct TextsMark {
    current: usize,
    len: usize,
}

impl Texts {
    /// The length of the longest module or name.
    const LONGEST: usize = 256;
    const BLOCK: usize = 4096;

    /// The other blocks are cleared when they are used again, because this can be called for every few bytes.
    pub(super) fn clear(&mut self) {
        self.current = 0;
        if let Some(first) = self.blocks.first_mut() {
            first.clear();
        }
    }

    #[cfg(feature = "poptorch")]
    pub(super) fn mark(&self) -> TextsMark {
        TextsMark { current: self.current, len: self.blocks.get(self.current).map_or(0, Vec::len) }
    }

    /// Drops the texts that were added since a mark.
    #[cfg(feature = "poptorch")]
    pub(super) fn rewind(&mut self, mark: TextsMark) {
        self.current = mark.current;
        if let Some(block) = self.blocks.get_mut(mark.current) {
            block.truncate(mark.len);
        }
    }

    /// Keeps a text. Returns `None` if it is too long to be a name, or is not the same text for each program.
    pub(super) fn add(&mut self, text: Text<'_>) -> Result<Option<u32>, Halt> {
        if matches!(text.spelling, Spelling::Utf8 | Spelling::Chosen) && text.bytes.len() > Self::LONGEST {
            return Ok(None);
        }
        self.text.clear();
        self.text.try_reserve(Self::LONGEST)?;
        let mut fits = true;
        text.spell(|piece| {
            fits &= self.text.len().saturating_add(piece.len()) <= Self::LONGEST;
            if fits {
                self.text.extend(piece.as_bytes());
            }
        })?;
        // A lone surrogate is no character, and what others are depends on the encoding if the program that loads the pickle
        // chooses it: Python may see other texts, two for one or one for two.
        let is_chosen = matches!(text.spelling, Spelling::Chosen | Spelling::Quoted);
        let spelt = std::str::from_utf8(&self.text).unwrap_or_default();
        fits &= if is_chosen { spelt.is_ascii() } else { !spelt.contains(char::REPLACEMENT_CHARACTER) };
        if fits { self.append().map(Some) } else { Ok(None) }
    }

    fn append(&mut self) -> Result<u32, Halt> {
        let len = u16::try_from(self.text.len()).unwrap_or(u16::MAX).to_le_bytes();
        self.make_room(len.len().saturating_add(self.text.len()))?;
        let block = self.blocks.get_mut(self.current).ok_or(TOO_LARGE)?;
        let place = self.current.checked_mul(Self::BLOCK).and_then(|start| start.checked_add(block.len()));
        let place = place.and_then(|place| u32::try_from(place).ok()).ok_or(TOO_LARGE)?;
        block.extend(len);
        block.extend(&self.text);
        Ok(place)
    }

    /// Moves to the next block if the current one has no room for the bytes.
    fn make_room(&mut self, needed: usize) -> Result<(), Halt> {
        let is_full = |block: &Vec<u8>| Self::BLOCK.saturating_sub(block.len()) < needed;
        if self.blocks.get(self.current).is_some_and(is_full) {
            self.current = self.current.saturating_add(1);
            if let Some(next) = self.blocks.get_mut(self.current) {
                next.clear();
            }
        }
        if self.current == self.blocks.len() {
            let mut block = Vec::new();
            block.try_reserve_exact(Self::BLOCK)?;
            self.blocks.try_reserve(1)?;
            self.blocks.push(block);
        }
        Ok(())
    }

    pub(super) fn get(&self, place: u32) -> &[u8] {
        let place = as_usize(place.into());
        let text = self.blocks.get(place / Self::BLOCK).and_then(|block| block.get(place % Self::BLOCK..));
        let Some((len, text)) = text.and_then(|text| text.split_first_chunk()) else { return &[] };
        text.get(..u16::from_le_bytes(*len).into()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Memo, Slot, Spelling, StandIn, Text, Texts};

    /// Compares with a dictionary like Python's, in which `MEMOIZE` uses the number of entries as key.
    #[test]
    #[cfg_attr(miri, ignore = "its 40,000 steps take an hour there, and none is unsafe")]
    fn places_near_and_far_are_those_of_a_map() {
        let (mut memo, mut map) = (Memo::default(), HashMap::new());
        let mut random = 1u64;
        let slot = |step| Slot { stand_in: StandIn::Text(step), node: () };
        for step in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = match random >> 61 {
                0 => map.len() as u64,
                1 | 2 => random >> 40 & 0xff,
                3 | 4 => random >> 40 & 0xffff,
                5 | 6 => random >> 30 & 0xffff_ffff,
                _ => random,
            };
            memo.put(place, slot(step)).unwrap();
            map.insert(place, step);
            memo.append(slot(step)).unwrap();
            map.insert(map.len() as u64, step);
        }
        assert!(memo.far.by_32.len() > 1000 && memo.far.by_64.len() > 1000 && memo.near.len() > 10_000);
        for place in map.keys().copied().chain(0..70_000) {
            let kept = memo.get(place).map(|slot| slot.stand_in);
            assert_eq!(kept, map.get(&place).map(|&step| StandIn::Text(step)), "{place}");
        }
        memo.clear();
        assert!(map.keys().all(|&place| memo.get(place).is_none()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "its 600 texts take a minute there, and none is unsafe")]
    fn short_texts_are_kept() {
        let mut texts = Texts::default();
        for _ in 0..2 {
            let spelt: Vec<_> = (0..300).map(|len| format!("{len:len$}")).collect();
            let add = |text: &String| texts.add(Text { spelling: Spelling::Utf8, bytes: text.as_bytes() }).unwrap();
            let places: Vec<_> = spelt.iter().map(add).collect();
            for (text, place) in spelt.iter().zip(places) {
                assert_eq!(place.map(|place| texts.get(place)), (text.len() <= 256).then_some(text.as_bytes()));
            }
            texts.clear();
        }
    }
}
