//! A type of NumPy's, or an array, as a pickle makes it.

/// The flags of a type whose values are pointers to objects.
const OBJECT: u8 = 0x3f;
/// The flags of a type with fields that have such values.
pub(super) const WITH_OBJECTS: u8 = 0x1b;
/// Set for all types with pointers to objects.
pub(super) const COUNTED: u8 = 0x01;
/// Aligned fields, calls of Python, and values that begin as zeros.
pub(super) const HARMLESS: u8 = 0x98;
/// The size that states give types whose values are of one size.
const NO_SIZE: i32 = -1;

/// A type that the pickle makes, or an array.
#[derive(Clone, Copy)]
pub(super) struct Type {
    /// Of an array, the number of its values.
    pub(super) size: u32,
    pub(super) flags: u8,
    pub(super) kind: Kind,
    /// It has its state, or is in use without one.
    pub(super) is_closed: bool,
    /// Its values have an order of bytes.
    is_ordered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    /// Bytes, which may have fields.
    Void,
    /// Text or bytes, whose state has their size.
    Text,
    Number,
    /// A date or a time, whose state has its unit.
    Time,
    /// `numpy.record`, whose size only the state has.
    Record,
    /// Of a class of another package.
    User,
    /// Several of another type. Arrays of it have the other type and more lengths.
    Sub,
    /// Texts of any length, which are no part of another type.
    Strings,
    Array,
    Unknown,
}

/// The state of a type, whose parts fit together.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) parts: Parts,
    pub(super) size: i32,
    pub(super) flags: u8,
    pub(super) is_ordered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    None,
    Unit,
    Fields,
    /// Another type several times.
    Sub,
}

impl Type {
    /// The type that the first argument of `numpy.dtype` names, as NumPy spells it for picklers.
    pub(super) fn spelt(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (letter, size) = text.split_at_checked(1)?;
        let bytes: u32 = size.parse().ok().filter(|bytes: &u32| bytes.to_string() == size)?;
        let (kind, flags) = match (letter, bytes) {
            ("O", 8) => (Kind::Object, OBJECT),
            ("V", _) => (Kind::Void, 0),
            ("S" | "U", _) => (Kind::Text, 0),
            ("M" | "m", 8) => (Kind::Time, 0),
            ("b", 1) | ("i" | "u", 1 | 2 | 4 | 8) | ("f", 2 | 4 | 8 | 12 | 16) | ("c", 8 | 16 | 24 | 32) => {
                (Kind::Number, 0)
            }
            _ => return None,
        };
        let size = if letter == "U" { bytes.checked_mul(4)? } else { bytes };
        let is_ordered = letter == "U" || matches!(kind, Kind::Number | Kind::Time) && size > 1;
        Some(Type { size, flags, is_ordered, ..Type::new(kind) })
    }

    pub(super) fn new(kind: Kind) -> Self {
        Type { size: 0, flags: 0, kind, is_closed: false, is_ordered: false }
    }

    /// The type of texts of any length, which has no state.
    pub(super) fn strings() -> Self {
        Type { flags: OBJECT, is_closed: true, ..Type::new(Kind::Strings) }
    }

    /// Whether its values' sizes and pointers are known.
    pub(super) fn is_known(&self) -> bool {
        match self.kind {
            Kind::Unknown | Kind::Array => false,
            Kind::Record | Kind::User => self.is_closed,
            _ => true,
        }
    }

    /// Takes a state of an array, which comes once. Returns whether it is one.
    pub(super) fn take_values(&mut self, len: u32) -> bool {
        let is_like = self.kind == Kind::Array && !self.is_closed;
        (self.is_closed, self.size) = (true, len);
        is_like
    }

    /// Takes a state. Returns whether NumPy writes such a state for it.
    pub(super) fn take(&mut self, State { parts, size, flags, is_ordered }: State) -> bool {
        let is_sized = i64::from(size) == i64::from(self.size);
        let is_like = match (self.kind, parts) {
            (Kind::Object, Parts::None) => size == NO_SIZE && flags == OBJECT,
            (Kind::Number, Parts::None) | (Kind::Time, Parts::Unit) => size == NO_SIZE && flags == 0,
            (Kind::Text | Kind::Void, Parts::None) => is_sized && flags & !HARMLESS == 0,
            (Kind::Void, Parts::Fields | Parts::Sub) => is_sized,
            (Kind::Record, Parts::Fields) => size >= 0,
            (Kind::User, Parts::None) => size == NO_SIZE && flags & 0x07 == 0,
            _ => false,
        };
        let is_like = is_like && !self.is_closed && (is_ordered == self.is_ordered || self.kind == Kind::User);
        self.is_closed = true;
        self.flags = flags;
        if self.kind == Kind::Record {
            self.size = size.try_into().unwrap_or_default();
        }
        if !is_like {
            self.kind = Kind::Unknown;
        } else if parts == Parts::Sub {
            self.kind = Kind::Sub;
        }
        is_like
    }
}

/// A type, and where it is in another one.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) has_objects: bool,
    /// A second name of the field, a text.
    pub(super) title: Option<u32>,
}

/// A dictionary of fields.
#[derive(Clone, Copy, Default)]
pub(super) struct Fields {
    /// Where the last byte of them ends.
    pub(super) end: u32,
    pub(super) has_objects: bool,
    /// One begins before another one ends that comes earlier, or has only a title.
    may_overlap: bool,
    /// The sum of what the names hash to.
    pub(super) names: u32,
    /// The place of the field that came last, and whether its name has come.
    last: Option<u32>,
    is_named: bool,
    /// It is a part of a type, so nothing changes it any more except through the memo.
    pub(super) is_closed: bool,
}

impl Fields {
    /// Adds a field by what its name hashes to, or by its title, which is no name. One comes right behind the other.
    pub(super) fn add(&mut self, at: u32, field: Placed, name: Option<u32>) {
        let is_same = self.last == Some(at) && !(self.is_named && name.is_some());
        if !is_same {
            self.may_overlap = !self.are_apart() || field.start < self.end;
            self.is_named = false;
        }
        self.last = Some(at);
        self.end = self.end.max(field.end);
        self.has_objects |= field.has_objects;
        self.is_named |= name.is_some();
        self.names = self.names.wrapping_add(name.unwrap_or_default());
    }

    /// Whether it is known that no two of them overlap.
    pub(super) fn are_apart(&self) -> bool {
        !self.may_overlap && (self.last.is_none() || self.is_named)
    }
}
