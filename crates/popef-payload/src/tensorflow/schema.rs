//! How the fields of a message are described, and whether bytes match a description.

use super::wire::{Fault, Field, Fields, Value, What, deeper};

/// A type of message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) fields: &'static [Described],
}

/// A field of a type of message.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) number: u32,
    /// Its name in protobuf's JSON.
    #[cfg_attr(not(feature = "serde"), expect(dead_code, reason = "names are for serialising"))]
    pub(super) key: &'static str,
    pub(super) kind: Kind,
    pub(super) is_repeated: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    Bool,
    I64,
    U32,
    Text,
    /// A number, and the name that it may have.
    Named(
        #[cfg_attr(not(feature = "serde"), expect(dead_code, reason = "names are for serialising"))]
        fn(i32) -> Option<&'static str>,
    ),
    /// A message of the type that the function returns. Types can contain themselves.
    Message(fn() -> &'static Message),
}

impl Message {
    pub(super) fn field(&self, number: u32) -> Option<&'static Described> {
        // Most fields have numbers that follow each other.
        let at = |index: usize| self.fields.get(index).filter(|field| field.number == number);
        let guess = usize::try_from(number).ok()?.checked_sub(1)?;
        at(guess).or_else(|| self.fields.iter().find(|field| field.number == number))
    }
}

impl Described {
    /// Whether a value in a message is of this field. A value of another wire type is an unknown field.
    pub(super) fn fits(&self, value: Value<'_>) -> bool {
        match (value, &self.kind) {
            (Value::Other, _) | (Value::Varint(_), Kind::Text | Kind::Message(_)) => false,
            (Value::Varint(_), _) | (Value::Bytes(_), Kind::Text | Kind::Message(_)) => true,
            (Value::Bytes(_), _) => self.is_repeated,
        }
    }
}

/// What was seen of a message while it was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) known: u64,
    pub(super) unknown: u64,
    /// The unknown fields inside messages of the message.
    pub(super) unknown_inside: u64,
    /// The different numbers of the unknown fields, in order. At most [`NUMBERS`](Self::NUMBERS).
    pub(super) numbers: Vec<u32>,
}

impl Seen {
    /// Maximum number of unknown field numbers that are kept.
    const NUMBERS: usize = 64;

    fn saw_unknown(&mut self, number: u32, depth: u32) {
        if depth > 0 {
            self.unknown_inside = self.unknown_inside.saturating_add(1);
            return;
        }
        self.unknown = self.unknown.saturating_add(1);
        if let Err(at) = self.numbers.binary_search(&number)
            && self.numbers.len() < Self::NUMBERS
        {
            self.numbers.insert(at, number);
        }
    }
}

/// Checks that bytes are a message of this type, in all its parts.
pub(super) fn check(message: &'static Message, bytes: &[u8]) -> Result<Seen, Fault> {
    let mut seen = Seen::default();
    check_at(message, bytes, 0, &mut seen)?;
    Ok(seen)
}

fn check_at(message: &'static Message, bytes: &[u8], depth: u32, seen: &mut Seen) -> Result<(), Fault> {
    let mut fields = Fields::of(bytes);
    while let Some(Field { number, value }) = fields.read(depth)? {
        let Some(field) = message.field(number).filter(|field| field.fits(value)) else {
            seen.saw_unknown(number, depth);
            continue;
        };
        if depth == 0 {
            seen.known = seen.known.saturating_add(1);
        }
        let Value::Bytes(bytes) = value else { continue };
        let fault = |what| Fault { what, address: bytes.as_ptr().addr() };
        match field.kind {
            Kind::Message(part) => {
                let depth = deeper(depth).ok_or_else(|| fault(What::TooDeep))?;
                check_at(part(), bytes, depth, seen).map_err(inside)?;
            }
            Kind::Text => {
                std::str::from_utf8(bytes).map_err(|_| fault(What::Malformed("a text is not UTF-8")))?;
            }
            _ => check_packed(bytes).map_err(inside)?,
        }
    }
    Ok(())
}

fn check_packed(bytes: &[u8]) -> Result<(), Fault> {
    let mut numbers = Fields::of(bytes);
    while !numbers.is_empty() {
        numbers.varint()?;
    }
    Ok(())
}

/// If a part ends too early, the part is at fault: the message has more bytes.
fn inside(fault: Fault) -> Fault {
    match fault.what {
        What::Cut(_) => Fault { what: What::Malformed("a field is longer than the message that it is in"), ..fault },
        What::Malformed(_) | What::TooDeep => fault,
    }
}
