//! The message as protobuf's JSON, except that 64-bit integers are numbers. Fields with their default value are left out.

use serde::ser::{SerializeMap as _, SerializeStruct as _};
use serde::{Serialize, Serializer};

use super::Executable;
use super::raw::Raw;
use super::schema::{Described, Kind, Message};
use super::wire::{Value, low_half};
use popef::seam::List;

impl Serialize for Executable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Tensorflow", 7)?;
        object.serialize_field("kind", "tensorflow")?;
        object.serialize_field("bytes", &self.bytes().len())?;
        object.serialize_field("flag7Means", &self.flag7_meaning().map(super::Flag7::as_str))?;
        object.serialize_field("plausible", &self.is_plausible())?;
        object.serialize_field("unknownFields", self.unknown_fields())?;
        object.serialize_field("unknownFieldsInside", &self.unknown_fields_inside())?;
        object.serialize_field("message", &self.message())?;
        object.end()
    }
}

/// A message of a type.
pub(super) struct Object<'m> {
    pub(super) message: &'static Message,
    pub(super) raw: Raw<'m>,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let present = self.present();
        let fields = self.message.fields.iter().zip(present).filter_map(|(field, is_here)| is_here.then_some(field));
        let mut object = serializer.serialize_map(Some(fields.clone().count()))?;
        for field in fields {
            object.serialize_entry(field.key, &Content { field, raw: self.raw })?;
        }
        object.end()
    }
}

/// The largest number of fields that a message of the schema has.
const MOST: usize = 17;

impl Object<'_> {
    /// Which of the described fields have a value other than the default, found in one pass.
    fn present(&self) -> [bool; MOST] {
        let mut present = [false; MOST];
        for found in self.raw.fields() {
            let index = self.message.fields.iter().position(|field| field.number == found.number);
            let Some((field, here)) = index.and_then(|at| Some((self.message.fields.get(at)?, present.get_mut(at)?)))
            else {
                continue;
            };
            if !field.fits(found.value) {
                continue;
            }
            // The last value counts where a field comes once, and any value where it can come several times.
            *here = match (&field.kind, found.value) {
                (Kind::Message(_), _) => true,
                (_, Value::Bytes(bytes)) => !bytes.is_empty() || field.is_repeated && *here,
                (_, Value::Varint(number)) => field.is_repeated || !is_default(field, number),
                (_, Value::Other) => *here,
            };
        }
        present
    }
}

fn is_default(field: &Described, number: u64) -> bool {
    match field.kind {
        Kind::U32 | Kind::Named(_) => low_half(number) == 0,
        _ => number == 0,
    }
}

/// The content of a field.
struct Content<'m> {
    field: &'static Described,
    raw: Raw<'m>,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Content { field, raw } = *self;
        match field.kind {
            Kind::Text => serializer.serialize_str(raw.text(field.number)),
            Kind::Message(message) if field.is_repeated => {
                let message = message();
                List(|| raw.messages(field.number).map(|raw| Object { message, raw })).serialize(serializer)
            }
            Kind::Message(message) => match raw.message(field.number) {
                Some(raw) => Object { message: message(), raw }.serialize(serializer),
                None => serializer.serialize_unit(),
            },
            _ if field.is_repeated => {
                List(|| raw.numbers(field.number).map(|number| Number { field, number })).serialize(serializer)
            }
            _ => Number { field, number: raw.number(field.number) }.serialize(serializer),
        }
    }
}

/// A number, as the kind of its field says.
struct Number {
    field: &'static Described,
    number: u64,
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = self.number;
        match self.field.kind {
            Kind::Bool => serializer.serialize_bool(number != 0),
            Kind::U32 => serializer.serialize_u32(low_half(number)),
            Kind::Named(name) => match name(low_half(number).cast_signed()) {
                Some(name) => serializer.serialize_str(name),
                None => serializer.serialize_i32(low_half(number).cast_signed()),
            },
            Kind::I64 | Kind::Text | Kind::Message(_) => serializer.serialize_i64(number.cast_signed()),
        }
    }
}
