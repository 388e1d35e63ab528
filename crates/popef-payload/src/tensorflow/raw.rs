//! The fields of a message that was found to be valid, read on request.

use super::wire::{Field, Fields, Value};

/// A message inside a payload: some bytes, or all messages of one field together.
///
/// Protobuf merges the messages of a field that should come once. The schema has at most two such fields inside each
/// other, so the way from bytes to the message is at most two numbers long.
#[derive(Clone, Copy)]
pub(super) struct Raw<'m> {
    bytes: &'m [u8],
    /// The numbers of the fields that lead to the message. 0 stands for no field.
    path: [u32; 2],
}

impl<'m> Raw<'m> {
    pub(super) fn of(bytes: &'m [u8]) -> Self {
        Raw { bytes, path: [0; 2] }
    }

    /// All fields of the message.
    pub(super) fn fields(self) -> Merged<'m> {
        Merged { levels: [Fields::of(self.bytes), Fields::of(&[]), Fields::of(&[])], path: self.path, level: 0 }
    }

    fn values(self, number: u32) -> impl Iterator<Item = Value<'m>> + Clone + use<'m> {
        self.fields().filter(move |field| field.number == number).map(|field| field.value)
    }

    /// The messages, texts or packed lists of a field.
    fn all_bytes(self, number: u32) -> impl Iterator<Item = &'m [u8]> + Clone + use<'m> {
        self.values(number).filter_map(|value| if let Value::Bytes(bytes) = value { Some(bytes) } else { None })
    }

    /// The number of a field that comes once. 0 if it is missing.
    pub(super) fn number(self, number: u32) -> u64 {
        let numbers = self.values(number).filter_map(|value| if let Value::Varint(n) = value { Some(n) } else { None });
        numbers.last().unwrap_or_default()
    }

    pub(super) fn text(self, number: u32) -> &'m str {
        self.all_bytes(number).last().and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The message of a field that comes once. `None` if it is missing.
    pub(super) fn message(self, number: u32) -> Option<Raw<'m>> {
        let mut parts = self.all_bytes(number);
        let first = parts.next()?;
        let path = match self.path {
            [0, _] => [number, 0],
            [outer, _] => [outer, number],
        };
        Some(if parts.next().is_none() { Raw::of(first) } else { Raw { path, ..self } })
    }

    pub(super) fn messages(self, number: u32) -> impl Iterator<Item = Raw<'m>> + Clone + use<'m> {
        self.all_bytes(number).map(Raw::of)
    }

    /// The numbers of a field that can come several times, packed or one by one.
    pub(super) fn numbers(self, number: u32) -> impl Iterator<Item = u64> + Clone + use<'m> {
        self.values(number).flat_map(|value| match value {
            Value::Varint(number) => Numbers { one: Some(number), packed: Fields::of(&[]) },
            Value::Bytes(packed) => Numbers { one: None, packed: Fields::of(packed) },
            Value::Other => Numbers { one: None, packed: Fields::of(&[]) },
        })
    }
}

/// One number, or packed ones.
#[derive(Clone)]
struct Numbers<'m> {
    one: Option<u64>,
    packed: Fields<'m>,
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.one.take().or_else(|| self.packed.varint().ok())
    }
}

/// The fields of all messages that are one message together.
#[derive(Clone, Copy)]
pub(super) struct Merged<'m> {
    /// The fields that are left at each step of the path, and of the message itself.
    levels: [Fields<'m>; 3],
    path: [u32; 2],
    level: usize,
}

impl<'m> Iterator for Merged<'m> {
    type Item = Field<'m>;

    fn next(&mut self) -> Option<Field<'m>> {
        loop {
            let Some(field) = self.levels.get_mut(self.level)?.next() else {
                self.level = self.level.checked_sub(1)?;
                continue;
            };
            match (self.path.get(self.level), field.value) {
                (None | Some(0), _) => return Some(field),
                (Some(step), Value::Bytes(part)) if *step == field.number => {
                    self.level = self.level.saturating_add(1);
                    *self.levels.get_mut(self.level)? = Fields::of(part);
                }
                _ => {}
            }
        }
    }
}
