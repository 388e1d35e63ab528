//! NumPy's types. NumPy believes the state of a type: false sizes, offsets and flags let it read and write anywhere in memory.
//! So a state must be like the ones that NumPy writes.

use std::hash::BuildHasher;

use super::ImportClass;
use super::dtype::{COUNTED, Fields, HARMLESS, Kind, Placed, Type, WITH_OBJECTS};
use super::halt::Halt;
use super::keep::Keep;
use super::machine::Machine;
use super::values::{Arguments, StandIn, TypePlace};
use super::walk::Walk;
use popef::seam::as_usize;

pub(super) const DTYPE: &str = "numpy.dtype";

/// What protocols 0 to 2 make bytes with.
const BYTES: &[&str] = &["_codecs.encode", "builtins.bytes", "__builtin__.bytes"];

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    /// Returns the stand-in for the result of a call of `numpy.dtype`.
    pub(super) fn make_type(&mut self, import: u16, arguments: StandIn) -> Result<StandIn, Halt> {
        let made = match arguments {
            StandIn::Tuple(Arguments::Spelt(text)) => Type::spelt(self.level.texts.get(text)),
            StandIn::Tuple(Arguments::Import(class)) => self.scan.imports.get(class).and_then(|class| {
                let is_user = class.class == ImportClass::Unknown;
                let kind = if is_user { Some(Kind::User) } else { None };
                kind.or((class.path == "numpy.record").then_some(Kind::Record)).map(Type::sized_later)
            }),
            _ => None,
        };
        let place = TypePlace::new(import, self.level.types.len());
        self.level.types.push(made.unwrap_or(Type::sized_later(Kind::Unknown)))?;
        Ok(place.map_or(StandIn::Own(import), StandIn::Type))
    }

    /// Records that a type without a state has another stand-in. Whoever has it may not know of a later state.
    pub(super) fn close_type(&mut self, value: StandIn) {
        if let StandIn::Type(place) = value
            && let Some(made) = self.level.types.get_mut(place.at())
        {
            let is_sized = made.is_closed || !matches!(made.kind, Kind::Record | Kind::User);
            made.kind = if is_sized { made.kind } else { Kind::Unknown };
            made.is_closed = true;
        }
    }

    /// Gives a state to the type on the stack.
    pub(super) fn build_type(&mut self, place: TypePlace, state: StandIn) -> Result<(), Halt> {
        let made = self.level.types.get_mut(place.at());
        let is_like = match (made, state) {
            (Some(made), StandIn::Tuple(Arguments::TypeState { flags, has_parts, size })) => {
                made.take(flags, has_parts, size)
            }
            _ => false,
        };
        let import = place.import();
        if matches!(state, StandIn::Tuple(Arguments::TypeState { has_parts: true, .. })) {
            self.type_with_fields = Some(import);
        }
        if is_like && !self.dict_changed_again { Ok(()) } else { self.import_change(import) }
    }

    fn type_at(&mut self, place: TypePlace) -> Option<Type> {
        let made = self.level.types.get_mut(place.at())?;
        if !made.is_known() {
            return None;
        }
        made.is_closed = true;
        Some(*made)
    }

    /// Returns the stand-in for a tuple of the values from `start` on, if it may be a part of a type.
    pub(super) fn type_part_from(&mut self, start: usize) -> Result<Option<Arguments>, Halt> {
        Ok(match self.names_from(start)? {
            Some(sum) => {
                let is_plain = self.arguments_from(start) == Some(Arguments::Plains);
                Some(Arguments::Names { is_plain, sum })
            }
            None => self.field_from(start)?.or_else(|| self.other_part_from(start)),
        })
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
        let [Some(StandIn::Type(place)), Some(StandIn::Number(offset)), title, None] = parts else { return Ok(None) };
        drop(values);
        let Some(Type { size, flags, .. }) = self.type_at(place) else { return Ok(None) };
        let title = if let Some(StandIn::Text(title)) = title { Some(title) } else { None };
        let start = u32::try_from(offset).ok();
        let Some((start, end)) = start.and_then(|start| Some((start, start.checked_add(size)?))) else {
            return Ok(None);
        };
        let at = u32::try_from(self.level.placed.len()).ok();
        self.level.placed.push(Placed { start, end, has_objects: flags & COUNTED != 0, title })?;
        Ok(at.map(Arguments::Field))
    }

    fn other_part_from(&mut self, start: usize) -> Option<Arguments> {
        let mut values = self.level.stack.exact_from(start);
        let first = values.next()?;
        let rest: [Option<StandIn>; 9] = std::array::from_fn(|_| values.next());
        match (first, rest) {
            (StandIn::Type(place), [Some(StandIn::Tuple(Arguments::Lengths { product, .. })), None, ..]) => {
                drop(values);
                let Type { size, flags, .. } = self.type_at(place)?;
                Some(Arguments::SubType { flags, size: size.checked_mul(product)? })
            }
            (StandIn::Text(text), [Some(_), Some(_), None, ..]) => {
                let arguments = self.arguments_from(start);
                (arguments == Some(Arguments::Plains)).then_some(Arguments::Spelt(text))
            }
            (
                StandIn::Number(3 | 4),
                [
                    Some(StandIn::Text(_)),
                    Some(sub),
                    Some(names),
                    Some(fields),
                    Some(StandIn::Number(size)),
                    Some(StandIn::Number(_)),
                    Some(StandIn::Number(flags)),
                    _,
                    None,
                ],
            ) => {
                drop(values);
                type_state(sub, names, self.fields_of(fields)?, size, flags)
            }
            (StandIn::Number(1), [Some(shape), Some(_), Some(_), Some(values), _, _, None, ..])
                if !matches!(values, StandIn::Number(_) | StandIn::None) =>
            {
                let len = match shape {
                    StandIn::Tuple(Arguments::Lengths { product, .. }) => product,
                    StandIn::Tuple(Arguments::Nothing) => 1,
                    _ => return None,
                };
                let are_bytes =
                    |import| self.scan.imports.get(import).is_some_and(|import| BYTES.contains(&import.path));
                let is_like = match values {
                    StandIn::List(values) => values >= len,
                    StandIn::Other | StandIn::Text(_) | StandIn::Known => true,
                    StandIn::Result(import) => are_bytes(import),
                    _ => false,
                };
                let is_plain = self.arguments_from(start).is_none() && !self.has_names(start);
                (is_like && is_plain).then_some(Arguments::ArrayState)
            }
            (StandIn::Number(_), rest) => {
                let numbers = std::iter::once(Some(first)).chain(rest).flatten();
                let product = numbers.clone().try_fold(1u32, |product, number| match number {
                    StandIn::Number(number) => product.checked_mul(number.try_into().ok()?),
                    _ => None,
                })?;
                let is_all = rest.last().is_some_and(Option::is_none);
                is_all.then_some(Arguments::Lengths { is_one: numbers.count() == 1, product })
            }
            _ => None,
        }
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

/// Returns the stand-in for the state of a type, if its parts fit together.
fn type_state(sub: StandIn, names: StandIn, fields: Option<Fields>, size: i32, flags: i32) -> Option<Arguments> {
    // Before NumPy 2, they are a signed byte.
    let flags = u8::try_from(flags).ok().or_else(|| i8::try_from(flags).ok().map(i8::cast_unsigned))?;
    let has_parts = sub != StandIn::None || fields.is_some();
    let is_like = match (sub, fields) {
        (StandIn::None, None) => names == StandIn::None,
        (StandIn::Tuple(Arguments::SubType { flags: of, size: len }), None) => {
            names == StandIn::None && flags == of && i64::from(len) == i64::from(size)
        }
        (StandIn::None, Some(fields)) => {
            // A view of some fields keeps the flags of all.
            let of_objects = if flags & COUNTED == 0 { 0 } else { WITH_OBJECTS };
            let is_flagged = flags & of_objects == of_objects && flags & !(of_objects | HARMLESS) == 0;
            // A number that overlaps a pointer could change it.
            let is_safe = !fields.has_objects || of_objects != 0 && fields.are_apart();
            sum_of(names) == Some(fields.names) && is_flagged && is_safe && i64::from(fields.end) <= i64::from(size)
        }
        _ => false,
    };
    is_like.then_some(Arguments::TypeState { flags, has_parts, size })
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
