//! Metadata that is being changed.

use std::mem;

use popef::Metadata;
use popef::types::{Anchor, ElementSources, EngineOption, ProgramInfo, Text};
use serde_json::{Map, Value};

use super::elements::{Elements, edited, read, unset_value};
use super::path::{Field, List, METADATA, Path};
use super::value::{BYTES, Given, fields_of};
use crate::error::{Code, Error};

/// Metadata whose lists are kept separately.
pub(super) struct Edited {
    plain: Metadata,
    engine_options: Elements<EngineOption>,
    device_options: Elements<EngineOption>,
    programs_map: Elements<ProgramInfo>,
    anchors: Elements<Anchor>,
}

/// Does the same with the elements of any list.
macro_rules! with {
    ($edited:expr, $list:expr, $elements:ident => $work:expr) => {
        match $list {
            List::EngineOptions => {
                let $elements = &mut $edited.engine_options;
                $work
            }
            List::DeviceOptions => {
                let $elements = &mut $edited.device_options;
                $work
            }
            List::ProgramsMap => {
                let $elements = &mut $edited.programs_map;
                $work
            }
            List::Anchors | List::Inputs | List::Outputs => {
                let $elements = &mut $edited.anchors;
                $work
            }
        }
    };
}

impl Edited {
    pub(super) fn of(mut metadata: Metadata) -> Self {
        Edited {
            engine_options: Elements::of(mem::take(&mut metadata.engine_options)),
            device_options: Elements::of(mem::take(&mut metadata.device_options)),
            programs_map: Elements::of(mem::take(&mut metadata.programs_map)),
            anchors: Elements::of(mem::take(&mut metadata.anchors)),
            plain: metadata,
        }
    }

    pub(super) fn into_parts(self) -> (Metadata, ElementSources) {
        let mut metadata = self.plain;
        let mut sources = ElementSources::default();
        (metadata.engine_options, sources.engine_options) = self.engine_options.into_lists();
        (metadata.device_options, sources.device_options) = self.device_options.into_lists();
        (metadata.programs_map, sources.programs_map) = self.programs_map.into_lists();
        (metadata.anchors, sources.anchors) = self.anchors.into_lists();
        (metadata, sources)
    }

    pub(super) fn set(&mut self, path: &Path, given: &Given) -> Result<(), Error> {
        match path {
            Path::Field(field) => self.put(field, read(path, field, given)?),
            Path::List(list) => {
                check_whole(*list)?;
                with!(self, list, elements => elements.replace(*list, given))
            }
            Path::Element(list, name, field) => {
                with!(self, list, elements => elements.set(*list, name, *field, given))
            }
        }
    }

    pub(super) fn unset(&mut self, path: &Path) -> Result<(), Error> {
        match path {
            Path::Field(field) => self.put(field, unset_value(path, field)?),
            Path::List(_) => self.set(path, &Given::Json(Value::Array(Vec::new()))),
            Path::Element(list, name, field) => with!(self, list, elements => elements.unset(*list, name, *field)),
        }
    }

    /// Merges a patch, an object like the JSON of metadata.
    pub(super) fn merge(&mut self, patch: &Value) -> Result<(), Error> {
        let Value::Object(patch) = patch else {
            return Err(Error::new(Code::WrongValue, "the patch is no object; needed {\"FIELD\": VALUE, ...}"));
        };
        for (key, value) in patch {
            // The bytes of a text come with the text.
            if key.strip_suffix(BYTES).is_some_and(|text| patch.contains_key(text)) {
                continue;
            }
            match List::ALL.iter().copied().find(|list| list.as_str() == key) {
                Some(list) => self.merge_list(list, value)?,
                None => self.merge_fields(patch, key, value)?,
            }
        }
        Ok(())
    }

    fn merge_fields(&mut self, patch: &Map<String, Value>, key: &str, value: &Value) -> Result<(), Error> {
        if let (Value::Null, "programFlow") = (value, key) {
            let flow = METADATA.iter().filter(|field| field.key.starts_with("programFlow."));
            return flow.map(Path::Field).try_for_each(|path| self.unset(&path));
        }
        let bytes = patch.get_key_value(&format!("{key}{BYTES}")).map(|(key, bytes)| (key.clone(), bytes.clone()));
        let object = [(key.to_owned(), value.clone())].into_iter().chain(bytes).collect();
        for (key, value) in fields_of(&object)? {
            self.merge_one(&key, value)?;
        }
        Ok(())
    }

    fn merge_one(&mut self, key: &str, value: Given) -> Result<(), Error> {
        let (path, _) = Path::read(key.as_bytes())?;
        match value {
            Given::Json(Value::Null) => self.unset(&path),
            value => self.set(&path, &value),
        }
    }

    fn merge_list(&mut self, list: List, value: &Value) -> Result<(), Error> {
        match value {
            Value::Null => self.unset(&Path::List(list)),
            Value::Object(elements) => elements.iter().try_for_each(|(name, value)| {
                let name = &Text::from(name.clone());
                let path = Path::Element(list, name.clone(), None);
                match value {
                    // As RFC 7396 says, so that a patch can be merged twice.
                    Value::Null if !with!(self, list, elements => elements.has(list, name)) => Ok(()),
                    Value::Null => self.unset(&path),
                    value => self.set(&path, &Given::Json(value.clone())),
                }
            }),
            whole => self.set(&Path::List(list), &Given::Json(whole.clone())),
        }
    }

    fn put(&mut self, field: &'static Field, value: Value) -> Result<(), Error> {
        self.plain = edited(&self.plain, &[(field, value)])?;
        Ok(())
    }
}

fn check_whole(list: List) -> Result<(), Error> {
    match list {
        List::Inputs | List::Outputs => {
            let message = format!("{} are a part of the anchors; replace or unset anchors as a whole", list.as_str());
            Err(Error::new(Code::WrongValue, message))
        }
        _ => Ok(()),
    }
}
