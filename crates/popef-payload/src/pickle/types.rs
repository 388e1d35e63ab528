//! NumPy's types. NumPy believes the state of a type: false sizes, offsets and flags let it read and write anywhere in memory.
//! So a state must have the form of those that NumPy writes.

use std::hash::BuildHasher;

use super::dtype::{COUNTED, Fields, HARMLESS, Kind, Parts, Placed, State, Type, WITH_OBJECTS};
use super::halt::Halt;
use super::keep::Keep;
use super::machine::Machine;
use super::values::{Arguments, At, StandIn};
use super::walk::Walk;
use popef::seam::as_usize;

/// The units of times.
const UNITS: [&[u8]; 15] =
    [b"Y", b"M", b"W", b"D", b"h", b"m", b"s", b"ms", b"us", b"ns", b"ps", b"fs", b"as", b"B", b"generic"];

/// The largest number of lengths in a shape.
const MOST_LENGTHS: usize = 64;

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    /// Records that a type without a state has another stand-in. Whoever has it may not know of a later state.
    pub(super) fn close_type(&mut self, value: StandIn) {
        if let StandIn::Made { at, .. } = value
            && let Some(made) = self.level.types.get_mut(at.index())
            && made.kind != Kind::Array
        {
            made.kind = if made.is_known() { made.kind } else { Kind::Unknown };
            made.is_closed = true;
        }
    }

    /// Gives a state to the type or the array on the stack.
    pub(super) fn build_made(&mut self, import: u16, at: At, state: StandIn) -> Result<(), Halt> {
        let Machine { types, states, .. } = &mut *self.level;
        let Some(made) = types.get_mut(at.index()) else { return self.import_change(import) };
        let is_like = match state {
            StandIn::Tuple(Arguments::ArrayState(len)) => made.take_values(len),
            StandIn::Tuple(Arguments::TypeState(at)) => {
                states.get(as_usize(at.into())).is_some_and(|state| made.take(state))
            }
            _ => false,
        };
        if is_like { Ok(()) } else { self.import_change(import) }
    }

    /// The type at a place, if its values' sizes and pointers are known.
    fn type_at(&mut self, at: At) -> Option<Type> {
        let made = self.level.types.get_mut(at.index())?;
        if !made.is_known() {
            return None;
        }
        made.is_closed = true;
        Some(*made)
    }

    /// The same, if it can be the type of values by themselves.
    pub(super) fn value_type_at(&mut self, at: At) -> Option<Type> {
        self.type_at(at).filter(|made| !matches!(made.kind, Kind::Strings | Kind::Sub))
    }

    /// Returns the stand-in for a tuple of the values from `start` on, if it may be arguments or a state of what NumPy makes, or
    /// a part of them.
    pub(super) fn part_from(&mut self, start: usize) -> Result<Option<Arguments>, Halt> {
        if let Some(form) = self.form_from(start)? {
            return Ok(Some(form));
        }
        if let Some(sum) = self.names_from(start)? {
            let is_plain = self.arguments_from(start) == Some(Arguments::Plains);
            return Ok(Some(Arguments::Names { is_plain, sum }));
        }
        let field = self.field_from(start)?;
        if field.is_some() { Ok(field) } else { self.other_part_from(start) }
    }

    /// Returns what the texts from `start` on hash to, if they are different texts and nothing else.
    fn names_from(&mut self, start: usize) -> Result<Option<u32>, Halt> {
        let Machine { stack, texts, hasher, hashes, .. } = &mut *self.level;
        hashes.clear();
        for value in stack.exact_from(start) {
            let StandIn::Text(text) = value else { return Ok(None) };
            hashes.try_reserve(1)?;
            hashes.push(hasher.hash_one(texts.get(text)));
        }
        hashes.sort_unstable();
        let is_again = hashes.iter().zip(hashes.iter().skip(1)).any(|(hash, next)| hash == next);
        let sum = hashes.iter().fold(0, |sum: u32, &hash| sum.wrapping_add(half(hash)));
        Ok((!is_again && !hashes.is_empty()).then_some(sum))
    }

    /// Keeps the field that the values from `start` on are: a type, where it begins, and maybe a title.
    fn field_from(&mut self, start: usize) -> Result<Option<Arguments>, Halt> {
        let mut values = self.level.stack.exact_from(start);
        let parts: [Option<StandIn>; 4] = std::array::from_fn(|_| values.next());
        let [Some(StandIn::Made { at: place, .. }), Some(StandIn::Number(offset)), title, None] = parts else {
            return Ok(None);
        };
        drop(values);
        let part = self.type_at(place).filter(|part| part.kind != Kind::Strings);
        let Some(Type { size, flags, .. }) = part else { return Ok(None) };
        let title = if let Some(StandIn::Text(title)) = title { Some(title) } else { None };
        let start = u32::try_from(offset).ok();
        let Some((start, end)) = start.and_then(|start| Some((start, start.checked_add(size)?))) else {
            return Ok(None);
        };
        let at = u32::try_from(self.level.placed.len()).ok();
        self.level.placed.push(Placed { start, end, has_objects: flags & COUNTED != 0, title })?;
        Ok(at.map(Arguments::Field))
    }

    fn other_part_from(&mut self, start: usize) -> Result<Option<Arguments>, Halt> {
        let mut values = self.level.stack.exact_from(start);
        let parts: [Option<StandIn>; 10] = std::array::from_fn(|_| values.next());
        drop(values);
        Ok(match parts {
            [Some(StandIn::Made { at, .. }), Some(StandIn::Tuple(Arguments::Lengths { product, .. })), None, ..] => {
                let size = |made: &Type| made.size.checked_mul(product);
                let made = self.value_type_at(at).and_then(|made| Some((made.flags, size(&made)?)));
                made.map(|(flags, size)| Arguments::SubType { flags, size })
            }
            [
                Some(StandIn::Number(version @ (3 | 4))),
                Some(StandIn::Text(order)),
                Some(sub),
                Some(names),
                Some(fields),
                Some(StandIn::Number(size)),
                Some(StandIn::Number(alignment)),
                Some(StandIn::Number(flags)),
                metadata,
                None,
            ] => {
                let is_ordered = match self.level.texts.get(order) {
                    b"|" => Some(false),
                    b"<" | b">" => Some(true),
                    _ => None,
                };
                let is_aligned = if size < 0 { alignment == size } else { matches!(alignment, 1 | 2 | 4 | 8 | 16) };
                let is_written = is_aligned && (version == 4) == metadata.is_some();
                let fields = self.fields_of(fields);
                let state = fields.and_then(|fields| type_state([sub, names], fields, metadata, size, flags));
                let state = is_ordered.zip(state).map(|(is_ordered, state)| State { is_ordered, ..state });
                let at = state.filter(|_| is_written).map(|state| self.level.states.add(state)).transpose()?;
                at.map(Arguments::TypeState)
            }
            [
                Some(StandIn::Number(1)),
                Some(shape),
                Some(StandIn::Made { at, .. }),
                Some(StandIn::Number(0 | 1)),
                Some(values),
                mask,
                fill,
                None,
                ..,
            ] if mask.is_some() == fill.is_some() && mask.is_none_or(StandIn::is_bytes) => {
                self.array_state(shape, at, values).filter(|_| !self.has_names(start))
            }
            [
                Some(unit),
                Some(StandIn::Number(count)),
                Some(StandIn::Number(1)),
                Some(StandIn::Number(1)),
                None,
                ..,
            ] if count > 0 && self.is_unit(unit) => Some(Arguments::Unit),
            [Some(StandIn::None | StandIn::Dict), Some(StandIn::Tuple(Arguments::Unit)), None, ..] => {
                Some(Arguments::Units)
            }
            [Some(StandIn::Number(_)), ..] => self.lengths_from(start),
            _ => None,
        })
    }

    fn is_unit(&self, unit: StandIn) -> bool {
        matches!(unit, StandIn::Text(unit) | StandIn::Bytes(unit) if UNITS.contains(&self.level.texts.get(unit)))
    }

    /// Returns the stand-in for the state of an array that has the type at a place, if it has as many values as its shape says.
    fn array_state(&mut self, shape: StandIn, at: At, values: StandIn) -> Option<Arguments> {
        let len = match shape {
            StandIn::Tuple(Arguments::Lengths { product, .. }) => product,
            StandIn::Tuple(Arguments::Nothing) => 1,
            _ => return None,
        };
        let has_objects = self.type_at(at).filter(|made| made.kind != Kind::Sub)?.flags & COUNTED != 0;
        let is_like = if has_objects { values == StandIn::List(len) } else { values.is_bytes() };
        is_like.then_some(Arguments::ArrayState(len))
    }

    /// Returns the stand-in for the values from `start` on, if they are a shape.
    fn lengths_from(&self, start: usize) -> Option<Arguments> {
        let numbers = self.level.stack.exact_from(start);
        let (count, product) = numbers.enumerate().try_fold((0, 1u32), |(_, product), (at, number)| match number {
            StandIn::Number(number) if at < MOST_LENGTHS => {
                Some((at.saturating_add(1), product.saturating_mul(number.try_into().ok()?)))
            }
            _ => None,
        })?;
        Some(Arguments::Lengths { is_one: count == 1, product })
    }

    /// Returns the stand-in for a list of this length to which the values from `start` on are added.
    pub(super) fn list_with(&self, len: u32, start: usize) -> StandIn {
        let more = u32::try_from(self.level.stack.values_from(start).count()).unwrap_or_default();
        StandIn::List(len.saturating_add(more))
    }

    /// Returns the stand-in for an empty dictionary. In the state of a type, the fields come fifth.
    pub(super) fn empty_dict(&mut self) -> Result<StandIn, Halt> {
        let mut before = self.level.stack.exact_above_mark();
        let before: [Option<StandIn>; 5] = std::array::from_fn(|_| before.next());
        let [Some(StandIn::Number(3 | 4)), Some(StandIn::Text(_)), Some(StandIn::None), Some(_), None] = before else {
            return Ok(StandIn::Dict);
        };
        let Ok(at) = u32::try_from(self.level.fields.len()) else { return Ok(StandIn::Dict) };
        self.level.fields.push(Fields::default())?;
        Ok(StandIn::Fields(at))
    }

    /// Adds the values from `start` on to a dictionary of fields. Returns whether all of them are fields.
    pub(super) fn add_fields(&mut self, at: u32, start: usize) -> bool {
        let Machine { stack, texts, placed, fields, hasher, .. } = &mut *self.level;
        let Some(fields) = fields.get_mut(as_usize(at.into())) else { return false };
        let (keys, values) = (stack.exact_from(start).step_by(2), stack.exact_from(start).skip(1).step_by(2));
        keys.zip(values).all(|item| {
            let (StandIn::Text(name), StandIn::Tuple(Arguments::Field(at))) = item else { return false };
            let Some(field) = placed.get(as_usize(at.into())) else { return false };
            let name = texts.get(name);
            let is_title = field.title.is_some_and(|title| texts.get(title) == name);
            fields.add(at, field, (!is_title).then(|| half(hasher.hash_one(name))));
            true
        })
    }

    /// Returns the fields of a type: none, too. `None` if they are something else, or may still change.
    fn fields_of(&mut self, fields: StandIn) -> Option<Option<Fields>> {
        let (at, is_again) = match fields {
            StandIn::None => return Some(None),
            StandIn::Fields(at) => (at, false),
            StandIn::SameFields(at) => (at, true),
            _ => return None,
        };
        let fields = self.level.fields.get_mut(as_usize(at.into()))?;
        fields.is_closed |= !is_again;
        fields.is_closed.then_some(Some(*fields))
    }
}

/// Returns the state of a type, if its parts fit together.
fn type_state(
    [sub, names]: [StandIn; 2],
    fields: Option<Fields>,
    metadata: Option<StandIn>,
    size: i32,
    flags: i32,
) -> Option<State> {
    // Before NumPy 2, they are a signed byte.
    let flags = u8::try_from(flags).ok().or_else(|| i8::try_from(flags).ok().map(i8::cast_unsigned))?;
    let (parts, is_like) = match (sub, fields) {
        (StandIn::None, None) if metadata == Some(StandIn::Tuple(Arguments::Units)) => {
            (Parts::Unit, names == StandIn::None)
        }
        (StandIn::None, None) => (Parts::None, names == StandIn::None),
        (StandIn::Tuple(Arguments::SubType { flags: of, size: len }), None) => {
            (Parts::Sub, names == StandIn::None && flags == of && i64::from(len) == i64::from(size))
        }
        (StandIn::None, Some(fields)) => {
            // A view of some fields keeps the flags of all.
            let of_objects = if flags & COUNTED == 0 { 0 } else { WITH_OBJECTS };
            let is_flagged = flags & of_objects == of_objects && flags & !(of_objects | HARMLESS) == 0;
            // A number that overlaps a pointer could change it.
            let is_safe = !fields.has_objects || of_objects != 0 && fields.are_apart();
            let is_inside = i64::from(fields.end) <= i64::from(size);
            (Parts::Fields, sum_of(names) == Some(fields.names) && is_flagged && is_safe && is_inside)
        }
        _ => return None,
    };
    let is_like = is_like
        && match metadata {
            None | Some(StandIn::Dict | StandIn::SameDict | StandIn::Versioned(_)) => parts != Parts::Unit,
            metadata => parts == Parts::Unit && metadata.is_some(),
        };
    is_like.then_some(State { parts, size, flags, is_ordered: false })
}

/// Returns what the names of a type hash to together.
fn sum_of(names: StandIn) -> Option<u32> {
    match names {
        StandIn::Tuple(Arguments::Names { sum, .. }) => Some(sum),
        StandIn::Tuple(Arguments::Nothing) => Some(0),
        _ => None,
    }
}

fn half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}
