//! Serialisation of errors.

use std::borrow::Cow;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Diagnostic;
use crate::error::ErrorKind;
use crate::types::Text;
use crate::types::object::{Hex, put_text, take_text};

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let human_readable = serializer.is_human_readable();
        let with_bytes = human_readable && self.file.as_ref().is_some_and(|file| file.to_str().is_err());
        let Diagnostic { code, kind, message, file, blob, offset, needed, found, advice } = self;
        let mut object = serializer.serialize_struct("Diagnostic", 9 + usize::from(with_bytes))?;
        object.serialize_field("code", code)?;
        object.serialize_field("kind", kind)?;
        object.serialize_field("message", message)?;
        match file {
            Some(file) if human_readable => put_text(&mut object, true, file, ["file", "fileBytes"])?,
            file => object.serialize_field("file", file)?,
        }
        object.serialize_field("blob", blob)?;
        object.serialize_field("offset", offset)?;
        object.serialize_field("needed", needed)?;
        object.serialize_field("found", found)?;
        object.serialize_field("advice", advice)?;
        object.end()
    }
}

#[derive(Deserialize)]
struct Fields {
    code: Cow<'static, str>,
    kind: ErrorKind,
    message: String,
    file: Option<Text<'static>>,
    blob: Option<usize>,
    offset: Option<u64>,
    needed: Option<u64>,
    found: Option<u64>,
    advice: Cow<'static, str>,
}

#[derive(Deserialize)]
struct HumanReadable {
    #[serde(flatten)]
    fields: Fields,
    #[serde(rename = "fileBytes")]
    file_bytes: Option<Hex>,
}

impl<'de> Deserialize<'de> for Diagnostic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (fields, bytes) = if deserializer.is_human_readable() {
            let HumanReadable { fields, file_bytes } = HumanReadable::deserialize(deserializer)?;
            (fields, file_bytes)
        } else {
            (Fields::deserialize(deserializer)?, None)
        };
        let Fields { code, kind, message, file, blob, offset, needed, found, advice } = fields;
        let file = file.map(|file| take_text(file, bytes, "file")).transpose()?;
        Ok(Diagnostic { code, kind, message, file, blob, offset, needed, found, advice })
    }
}
