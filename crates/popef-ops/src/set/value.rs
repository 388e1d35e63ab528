//! Values for fields.

use std::fmt;

use popef::DataType;
use popef::types::{EngineOption, TensorType, Text};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::error::{Code, Error};
use crate::near::did_you_mean;

/// A value for a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// As typed: a text as it is, anything else as in JSON, without quotes and outer brackets.
    Word(String),
    /// As in JSON.
    Json(Value),
    /// A text, which need not be UTF-8.
    Text(Text<'static>),
}

impl Given {
    fn as_json(&self) -> Value {
        match self {
            Given::Json(value) => value.clone(),
            Given::Text(text) => Value::from(text.to_string()),
            Given::Word(word) => serde_json::from_str(word).unwrap_or_else(|_| Value::from(word.as_str())),
        }
    }

    /// A typed word may lack the brackets of a list.
    fn as_list(&self) -> Value {
        match self {
            Given::Word(word) if !word.trim_start().starts_with('[') => Given::Word(format!("[{word}]")).as_json(),
            other => other.as_json(),
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 80;
        let text = match self {
            Given::Word(word) => word.clone(),
            Given::Json(value) => value.to_string(),
            Given::Text(text) => text.to_string(),
        };
        match text.char_indices().nth(MOST) {
            Some((at, _)) => write!(f, "{}...", text.get(..at).unwrap_or_default()),
            None => f.write_str(&text),
        }
    }
}

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Flag,
    Text,
    Numbers,
    Shape,
    DataType,
    Direction,
}

impl Kind {
    /// The value as in the JSON of metadata. Fails with the needed and the found value.
    pub(super) fn read(self, given: &Given) -> Result<Value, String> {
        let read = match self {
            Kind::Text => match given {
                Given::Word(word) => Some(Value::from(word.as_str())),
                Given::Json(value) => Some(value.clone()).filter(Value::is_string),
                // Bytes that are not UTF-8 become a list, which can also be read as a text.
                Given::Text(text) => {
                    Some(text.to_str().map_or_else(|_| Value::from(text.as_bytes().to_vec()), Value::from))
                }
            },
            Kind::Number => Some(given.as_json()).filter(is_number),
            Kind::Flag => Some(given.as_json()).filter(Value::is_boolean),
            Kind::Numbers => Some(given.as_list()).filter(|list| all(list, is_number)),
            Kind::Shape => Some(given.as_list()).filter(|list| all(list, is_extent)),
            Kind::DataType => named(given, |name| name.parse().map(|known: DataType| json!(known))),
            Kind::Direction => named(given, |name| name.parse().map(|known: TensorType| json!(known))),
        };
        read.ok_or_else(|| format!("needed {}, found {given}{}", self.needed(), self.near(given)))
    }

    /// The value of an unset field of this kind, if it can be unset.
    pub(super) fn nothing(self) -> Option<Value> {
        match self {
            Kind::Text => Some(Value::from("")),
            Kind::Numbers => Some(Value::Array(Vec::new())),
            _ => None,
        }
    }

    fn needed(self) -> String {
        match self {
            Kind::Number => format!("a whole number from 0 to {}", u32::MAX),
            Kind::Flag => "true or false".to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::Numbers => format!("a list of whole numbers from 0 to {}", u32::MAX),
            Kind::Shape => format!("a list of whole numbers from 0 to {}", i64::MAX),
            Kind::DataType | Kind::Direction => format!("one of {}", self.names().join(", ")),
        }
    }

    /// The names of the values, if they have names.
    fn names(self) -> Vec<String> {
        match self {
            Kind::DataType => DataType::ALL.iter().map(ToString::to_string).collect(),
            Kind::Direction => TensorType::ALL.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn near(self, given: &Given) -> String {
        did_you_mean(given.as_json().as_str().unwrap_or_default(), self.names())
    }
}

fn is_number(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| u32::try_from(number).is_ok())
}

fn is_extent(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| i64::try_from(number).is_ok())
}

fn all(list: &Value, is: fn(&Value) -> bool) -> bool {
    list.as_array().is_some_and(|list| list.iter().all(is))
}

fn named<E>(given: &Given, parse: impl Fn(&str) -> Result<Value, E>) -> Option<Value> {
    match given.as_json() {
        Value::String(name) => parse(&name).ok(),
        // A type that this version of the format does not name is shown as its number.
        number => Some(number).filter(|number| number.as_u64().is_some_and(|number| u16::try_from(number).is_ok())),
    }
}

/// The members of an object as fields: those of objects in it, with dots between the keys. A text that is not UTF-8 has two keys,
/// as in the JSON of metadata: `name`, and `nameBytes` in hex.
pub(super) fn fields_of(object: &Map<String, Value>) -> Result<Vec<(String, Given)>, Error> {
    let mut fields = Vec::new();
    for (key, value) in object {
        if key.strip_suffix(BYTES).is_some_and(|text| object.contains_key(text)) {
            continue;
        }
        match (value.as_object(), object.get(&format!("{key}{BYTES}"))) {
            (Some(inner), _) => {
                let inner = fields_of(inner)?.into_iter();
                fields.extend(inner.map(|(part, value)| (format!("{key}.{part}"), value)));
            }
            (None, Some(bytes)) => fields.push((key.clone(), Given::Text(text_of(key, value, bytes)?))),
            (None, None) => fields.push((key.clone(), Given::Json(value.clone()))),
        }
    }
    Ok(fields)
}

/// The suffix that the key of a text's bytes has after the key of the text.
pub(super) const BYTES: &str = "Bytes";

/// The text given by these two members.
fn text_of(key: &str, text: &Value, bytes: &Value) -> Result<Text<'static>, Error> {
    let option = EngineOption::deserialize(json!({"name": text, "nameBytes": bytes, "value": ""}));
    let wrong = |_| {
        let message = format!("{key}: needed the text whose bytes in hex are {key}{BYTES}, {bytes}, found {text}");
        Error::new(Code::WrongValue, message)
    };
    option.map(|option| option.name).map_err(wrong)
}

/// Puts a value into an object, in place of the one with the same key. Dots in the key lead into nested objects.
pub(super) fn put(object: &mut Value, key: &str, value: Value) {
    let (outer, inner) = key.split_once('.').map_or((key, None), |(outer, inner)| (outer, Some(inner)));
    let Some(members) = object.as_object_mut() else { return };
    match inner {
        Some(inner) => put(members.entry(outer).or_insert_with(|| Value::Object(Map::new())), inner, value),
        None => {
            // The bytes of a text that is not UTF-8 are those of the old text.
            members.remove(&format!("{outer}{BYTES}"));
            members.insert(outer.to_owned(), value);
        }
    }
}
