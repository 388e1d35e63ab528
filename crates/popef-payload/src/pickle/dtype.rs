//! A type of NumPy's, as a pickle makes it.

/// The flags of a type whose values are pointers to objects.
const OBJECT: u8 = 0x3f;
/// The flags of a type with fields that have such values.
pub(super) const WITH_OBJECTS: u8 = 0x1b;
/// Set for all types with pointers to objects.
pub(super) const COUNTED: u8 = 0x01;
/// Aligned fields, calls of Python, and values that begin as zeros.
pub(super) const HARMLESS: u8 = 0x98;

/// A type that the pickle makes.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) size: u32,
    pub(super) flags: u8,
    pub(super) kind: Kind,
    /// It has its state, or is in use without one.
    pub(super) is_closed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    /// Bytes, which may have fields.
    Void,
    /// Text or bytes, whose state has their size.
    Text,
    Number,
    /// `numpy.record`, whose size only the state has.
    Record,
    /// Of a class of another package.
    User,
    Unknown,
}

impl Type {
    pub(super) fn spelt(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let text = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let (kind, size) = (text.chars().next()?, text.get(1..)?);
        if size.is_empty() || !size.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let size: u32 = size.parse().ok()?;
        let (kind, size) = match kind {
            'O' => (Kind::Object, size),
            'V' => (Kind::Void, size),
            'S' | 'a' => (Kind::Text, size),
            'U' => (Kind::Text, size.checked_mul(4)?),
            'b' | 'i' | 'u' | 'f' | 'c' | 'M' | 'm' => (Kind::Number, size),
            _ => return None,
        };
        let flags = if kind == Kind::Object { OBJECT } else { 0 };
        Some(Type { size, flags, kind, is_closed: false })
    }

    pub(super) fn sized_later(kind: Kind) -> Self {
        Type { size: 0, flags: 0, kind, is_closed: false }
    }

    /// Whether its values' sizes and pointers are known.
    pub(super) fn is_known(&self) -> bool {
        match self.kind {
            Kind::Unknown => false,
            Kind::Record | Kind::User => self.is_closed,
            _ => true,
        }
    }

    /// Takes a state. Returns whether NumPy writes such a state for it.
    pub(super) fn take(&mut self, flags: u8, has_parts: bool, size: i32) -> bool {
        let is_like = !self.is_closed
            && match self.kind {
                Kind::Object => !has_parts && flags == OBJECT,
                Kind::Void => (has_parts || flags & !HARMLESS == 0) && i64::from(size) == i64::from(self.size),
                Kind::Text => !has_parts && flags & !HARMLESS == 0 && i64::from(size) == i64::from(self.size),
                Kind::Number => !has_parts && flags & !HARMLESS == 0,
                Kind::Record => (has_parts || flags & !HARMLESS == 0) && size >= 0,
                Kind::User => !has_parts && flags & 0x07 == 0,
                Kind::Unknown => false,
            };
        self.is_closed = true;
        self.flags = flags;
        if matches!(self.kind, Kind::Record | Kind::User) {
            self.size = size.try_into().unwrap_or_default();
        }
        if !is_like {
            self.kind = Kind::Unknown;
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
