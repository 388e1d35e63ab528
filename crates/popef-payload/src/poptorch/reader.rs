//! Turns values of a pickle into plain ones, within limits.

use std::cell::Cell;
use std::collections::HashMap;

use super::tensor::tensor_of;
use super::value::{PickledObject, Value};
use crate::pickle::tree::{Ref, View};
use popef::error::Error;
use popef::read::Data;
use popef::seam::as_u64;
use popef::seam::{Problem, push};

/// Maximum depth of values inside each other.
const DEEPEST: u8 = 32;
/// Maximum length of a text, in bytes of the pickle.
const LONGEST_TEXT: u64 = 64 << 10;
/// The cost of a value besides the bytes of its text: its memory, in a list that grew by doubling.
const COST: u64 = 128;

/// Reads values, and limits their total cost: a value that is in many others is read once for each of them.
pub(super) struct Reader<'r> {
    data: &'r Data<'r>,
    /// The bytes that can still be spent.
    left: Cell<u64>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(data: &'r Data<'r>) -> Self {
        let most = data.len().saturating_mul(8).saturating_add(256 << 10).min(32 << 20);
        Reader { data, left: Cell::new(most) }
    }

    pub(super) fn data(&self) -> &'r Data<'r> {
        self.data
    }

    /// Whether something had to be left out.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Pays for a value with a text of `text` bytes. If that is too much, later payments fail too.
    pub(super) fn pay(&self, text: usize) -> bool {
        let left = self.left.get().checked_sub(COST.saturating_add(as_u64(text)));
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Copies a path, if it can still be paid for.
    pub(super) fn owned(&self, path: &str) -> Result<Option<String>, Error> {
        if !self.pay(path.len()) {
            return Ok(None);
        }
        let mut owned = String::new();
        Problem::in_memory(path.len(), owned.try_reserve_exact(path.len()))?;
        owned.push_str(path);
        Ok(Some(owned))
    }

    /// Returns a text, if the value is one that is not too long.
    pub(super) fn text(&self, value: Ref<'_>) -> Result<Option<String>, Error> {
        let text = value.read_text(self.data, LONGEST_TEXT)?;
        Ok(text.filter(|text| self.pay(text.len())))
    }

    pub(super) fn value(&self, value: Ref<'_>) -> Result<Value, Error> {
        self.value_in(value, DEEPEST)
    }

    fn value_in(&self, value: Ref<'_>, deepest: u8) -> Result<Value, Error> {
        let paid = self.pay(0);
        let Some(deepest) = deepest.checked_sub(1).filter(|_| paid) else { return Ok(Value::LeftOut) };
        Ok(match value.view() {
            View::None => Value::None,
            View::Bool(value) => Value::Bool(value),
            View::Int(value) => Value::Int(value),
            View::HugeInt(len) => Value::HugeInt(len),
            View::Float(value) => Value::Float(value),
            View::Text(_) => self.text(value)?.map_or(Value::LeftOut, Value::Text),
            View::LongText(extent) => match self.text(value)? {
                Some(text) => Value::Text(text),
                None => Value::Bytes { offset: extent.offset(), len: extent.len() },
            },
            View::Bytes(extent) => Value::Bytes { offset: extent.offset(), len: extent.len() },
            View::List => Value::List(self.values(value.items(), deepest)?),
            View::Tuple => Value::Tuple(self.values(value.items(), deepest)?),
            View::Set | View::FrozenSet => Value::Set(self.values(value.items(), deepest)?),
            View::Dict => Value::Dict(self.entries(value, deepest)?),
            View::Import(path) => self.owned(path)?.map_or(Value::LeftOut, Value::Import),
            View::Object => match tensor_of(value)? {
                Some(tensor) => Value::Tensor(tensor),
                None => Value::Object(Box::new(self.object(value, deepest)?)),
            },
            View::Named(id) => Value::Persistent(Box::new(self.value_in(id, deepest)?)),
            View::Unknown => Value::Unknown,
        })
    }

    fn values<'t>(&self, values: impl Iterator<Item = Ref<'t>>, deepest: u8) -> Result<Vec<Value>, Error> {
        let mut list = Vec::new();
        for value in values {
            let value = self.value_in(value, deepest)?;
            push(&mut list, value)?;
            if self.is_spent() {
                break;
            }
        }
        Ok(list)
    }

    /// The keys and values of a dictionary: as in Python, a key stays where it came first, with the value that came last.
    fn entries(&self, dict: Ref<'_>, deepest: u8) -> Result<Vec<(Value, Value)>, Error> {
        let mut entries = Vec::new();
        for (key, value) in dict.pairs() {
            let entry = (self.value_in(key, deepest)?, self.value_in(value, deepest)?);
            push(&mut entries, entry)?;
            if self.is_spent() {
                break;
            }
        }
        self.without_doubles(entries)
    }

    fn without_doubles(&self, mut entries: Vec<(Value, Value)>) -> Result<Vec<(Value, Value)>, Error> {
        let mut firsts: HashMap<Key<'_>, usize> = HashMap::new();
        let needed = entries.len().saturating_mul(size_of::<(Key<'_>, usize)>());
        Problem::in_memory(needed, firsts.try_reserve(entries.len()))?;
        let mut doubles = Vec::new();
        for (place, (key, _)) in entries.iter().enumerate() {
            let Some(key) = Key::of(key) else { continue };
            let first = *firsts.entry(key).or_insert(place);
            if first != place {
                push(&mut doubles, (place, first))?;
            }
        }
        drop(firsts);
        for &(place, first) in doubles.iter() {
            let value = entries.get_mut(place).map(|(_, value)| std::mem::replace(value, Value::None));
            if let (Some((_, to)), Some(value)) = (entries.get_mut(first), value) {
                *to = value;
            }
        }
        let mut doubles = doubles.into_iter().map(|(place, _)| place).peekable();
        let mut place = 0usize;
        entries.retain(|_| {
            let is_double = doubles.next_if_eq(&place).is_some();
            place = place.saturating_add(1);
            !is_double
        });
        Ok(entries)
    }

    fn object(&self, value: Ref<'_>, deepest: u8) -> Result<PickledObject, Error> {
        Ok(PickledObject {
            class: value.path().map_or(Ok(None), |path| self.owned(path))?,
            arguments: self.values(value.arguments(), deepest)?,
            states: self.values(value.states(), deepest)?,
            items: self.values(value.items(), deepest)?,
            entries: self.entries(value, deepest)?,
        })
    }
}

/// A key that can be compared.
#[derive(PartialEq, Eq, Hash)]
enum Key<'k> {
    Text(&'k str),
    Int(i128),
}

impl Key<'_> {
    fn of(key: &Value) -> Option<Key<'_>> {
        match key {
            Value::Text(text) => Some(Key::Text(text)),
            Value::Int(number) => Some(Key::Int(*number)),
            _ => None,
        }
    }
}
