use std::fmt;

use super::tensor::PickledTensor;

/// A value in a pickle, as far as it can be read without running the pickle.
///
/// With the feature `serde`, plain values serialise as the JSON value that is most like them. A dictionary whose keys are
/// all texts or all integers is an object. Everything else is an object with one of the keys `class`, `import`, `dtype`, `bytes`,
/// `integerBytes`, `persistentId`, `unknown`, `leftOut`.
///
/// It displays like Python's `repr`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// An integer of this many bytes, which is too large for [`Int`](Self::Int).
    HugeInt(u64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes, or a text that is too long.
    Bytes {
        /// Their place in the data. `None` if the data does not have them in this form.
        offset: Option<u64>,
        /// Their number, at most 2³² - 1.
        len: u64,
    },
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set or a frozen set.
    Set(Vec<Value>),
    /// A dictionary: each key once, with its last value.
    Dict(Vec<(Value, Value)>),
    /// A class, a function or another object of a module, by its path.
    Import(String),
    /// A tensor of torch's.
    Tensor(PickledTensor),
    /// Another object. Only the code of its class can say what it is.
    Object(Box<PickledObject>),
    /// An object outside the pickle, by its persistent id.
    Persistent(Box<Value>),
    /// Something that cannot be known without running the pickle.
    Unknown,
    /// A value that is nested too deep, or that would make the result too large.
    LeftOut,
}

/// An object in a pickle that needs code of its class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PickledObject {
    /// The path of its class, or of the function whose result it is. `None` if that is itself computed.
    pub class: Option<String>,
    /// The arguments of the class or the function.
    pub arguments: Vec<Value>,
    /// Its attributes, usually a [`Dict`](Value::Dict). A later one changes an earlier one.
    pub states: Vec<Value>,
    /// Items that are appended to it.
    pub items: Vec<Value>,
    /// Keys and values that are set in it.
    pub entries: Vec<(Value, Value)>,
}

/// An input for which the model was compiled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Input {
    /// Its name. SDK 2.5 and older do not record names.
    pub name: Option<String>,
    /// What it is: usually a [tensor](Value::Tensor).
    pub value: Value,
}

impl Value {
    /// Returns the value of a key of a [`Dict`](Self::Dict), or of an attribute of an [`Object`](Self::Object).
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Dict(entries) => {
                entries.iter().rev().find(|(other, _)| other.as_str() == Some(key)).map(|(_, value)| value)
            }
            Value::Object(object) => object.states.iter().rev().find_map(|state| match state {
                Value::Dict(_) => state.get(key),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Returns the text of a [`Text`](Self::Text).
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number of an [`Int`](Self::Int), if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Int(value) = self { i64::try_from(*value).ok() } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(value) => write!(f, "{value}"),
            Value::HugeInt(len) => write!(f, "<integer of {len} bytes>"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Bytes { len, .. } => write!(f, "<{len} bytes>"),
            Value::List(values) => write!(f, "[{}]", Listed(values)),
            Value::Tuple(values) if values.len() == 1 => write!(f, "({},)", Listed(values)),
            Value::Tuple(values) => write!(f, "({})", Listed(values)),
            Value::Set(values) if values.is_empty() => f.write_str("set()"),
            Value::Set(values) => write!(f, "{{{}}}", Listed(values)),
            Value::Dict(entries) => write!(f, "{{{}}}", Entries(entries)),
            Value::Import(path) => f.write_str(path),
            Value::Tensor(tensor) => write!(f, "{tensor}"),
            Value::Object(object) => write!(f, "{object}"),
            Value::Persistent(id) => write!(f, "<object {id}>"),
            Value::Unknown => f.write_str("<unknown>"),
            Value::LeftOut => f.write_str("..."),
        }
    }
}

/// Shows a call, and what comes after it in braces.
impl fmt::Display for PickledObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.class.as_deref().unwrap_or("<unknown>"), Listed(&self.arguments))?;
        for state in &self.states {
            write!(f, " {state}")?;
        }
        if !self.items.is_empty() {
            write!(f, " [{}]", Listed(&self.items))?;
        }
        if !self.entries.is_empty() {
            write!(f, " {{{}}}", Entries(&self.entries))?;
        }
        Ok(())
    }
}

struct Listed<'v>(&'v [Value]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

struct Entries<'v>(&'v [(Value, Value)]);

impl fmt::Display for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (key, value)) in self.0.iter().enumerate() {
            write!(f, "{}{key}: {value}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
