//! A list of metadata that is being changed.

use std::cell::OnceCell;
use std::collections::HashMap;

use popef::types::{Anchor, EngineOption, ProgramInfo, TensorType, Text};
use popef_check::shown_option;
use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};
use serde_json::{Map, Value};

use super::path::{Field, List, Path};
use super::value::{Given, fields_of, put};
use crate::error::{Code, Error};
use crate::near::{did_you_mean, quoted};

/// An element of a list of metadata.
pub(super) trait Element: Serialize + DeserializeOwned + Default {
    /// The name by which it is found.
    fn key(&self) -> Text<'static>;

    /// Whether the list, which may be only the inputs or outputs, contains it.
    fn is_of(&self, list: List) -> bool {
        let _ = list;
        true
    }

    /// The element as others may see it.
    fn shown(&self) -> Value {
        // Plain values always serialise.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Required fields of a new element.
    const NEEDED: &[&str] = &[];
}

impl Element for EngineOption {
    fn key(&self) -> Text<'static> {
        self.name.clone()
    }

    fn shown(&self) -> Value {
        serde_json::to_value(shown_option(self)).unwrap_or_default()
    }

    const NEEDED: &[&str] = &["value"];
}

impl Element for ProgramInfo {
    fn key(&self) -> Text<'static> {
        self.index.to_string().into()
    }

    const NEEDED: &[&str] = &["name"];
}

impl Element for Anchor {
    fn key(&self) -> Text<'static> {
        self.name.clone()
    }

    fn is_of(&self, list: List) -> bool {
        match list {
            List::Inputs => self.tensor_type == TensorType::Input,
            List::Outputs => self.tensor_type == TensorType::Output,
            _ => true,
        }
    }

    // An anchor with fewer fields is more likely a mistyped name than a new one.
    const NEEDED: &[&str] = &["type", "handle", "tensorInfo.dataType", "tensorInfo.shape"];
}

/// The elements of a list. They are found by their original names.
pub(super) struct Elements<T> {
    /// `None` for removed elements.
    elements: Vec<Option<Sourced<T>>>,
    /// Made when the first name is looked up, because it takes memory for each element.
    places: OnceCell<HashMap<Text<'static>, Vec<usize>>>,
}

/// An element, and the index of the old element that it was made from.
struct Sourced<T> {
    value: T,
    source: Option<usize>,
}

impl<T: Element> Elements<T> {
    pub(super) fn of(list: Vec<T>) -> Self {
        let sourced = (0..).zip(list).map(|(index, value)| Some(Sourced { value, source: Some(index) }));
        Elements { elements: sourced.collect(), places: OnceCell::new() }
    }

    /// Where the elements of each name are.
    fn places(&self) -> &HashMap<Text<'static>, Vec<usize>> {
        self.places.get_or_init(|| {
            let mut places = HashMap::<Text<'static>, Vec<usize>>::new();
            for (at, element) in self.elements.iter().enumerate() {
                let Some(element) = element else { continue };
                places.entry(element.value.key()).or_default().push(at);
            }
            places
        })
    }

    /// The elements, and their sources.
    pub(super) fn into_lists(self) -> (Vec<T>, Vec<Option<usize>>) {
        let count = self.elements.iter().flatten().count();
        let (mut values, mut sources) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for Sourced { value, source } in self.elements.into_iter().flatten() {
            values.push(value);
            sources.push(source);
        }
        (values, sources)
    }

    /// Sets a field, or several fields if none is named. Adds the element if it is missing and enough fields are given.
    pub(super) fn set(
        &mut self,
        list: List,
        name: &Text<'static>,
        field: Option<&'static Field>,
        given: &Given,
    ) -> Result<(), Error> {
        let parts = parts(list, name, field, given)?;
        let found = self.found(list, name);
        if found.is_empty() {
            return self.add(list, name, &parts);
        }
        for at in found {
            if let Some(Some(element)) = self.elements.get_mut(at) {
                element.value = edited(&element.value, &parts)?;
            }
        }
        Ok(())
    }

    /// Whether an element has the name.
    pub(super) fn has(&self, list: List, name: &Text<'static>) -> bool {
        !self.found(list, name).is_empty()
    }

    /// Unsets a field, or removes the element.
    pub(super) fn unset(
        &mut self,
        list: List,
        name: &Text<'static>,
        field: Option<&'static Field>,
    ) -> Result<(), Error> {
        let found = self.found(list, name);
        if found.is_empty() {
            return Err(self.missing(list, name));
        }
        match field {
            Some(field) => {
                let parts = [(field, unset_value(&Path::Element(list, name.clone(), Some(field)), field)?)];
                for at in found {
                    if let Some(Some(element)) = self.elements.get_mut(at) {
                        element.value = edited(&element.value, &parts)?;
                    }
                }
            }
            None => {
                for at in found {
                    if let Some(element) = self.elements.get_mut(at) {
                        *element = None;
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the whole list. New elements are made from old ones of the same name.
    pub(super) fn replace(&mut self, list: List, given: &Given) -> Result<(), Error> {
        let Given::Json(json) = given else {
            return Err(Error::new(Code::WrongValue, format!("{}: needed a list, found {given}", list.as_str())));
        };
        let values = Vec::<T>::deserialize(json);
        let values = values.map_err(|error| Error::new(Code::WrongValue, format!("{}: {error}", list.as_str())))?;
        let mut old: HashMap<&Text<'static>, std::vec::IntoIter<usize>> = HashMap::new();
        for (key, places) in self.places() {
            old.insert(key, places.clone().into_iter());
        }
        let mut new = Vec::new();
        for value in values {
            let place = old.get_mut(&value.key()).and_then(Iterator::next);
            let element = place.and_then(|at| self.elements.get(at)?.as_ref());
            new.push(Some(Sourced { source: element.and_then(|element| element.source), value }));
        }
        *self = Elements { elements: new, places: OnceCell::new() };
        Ok(())
    }

    fn add(&mut self, list: List, name: &Text<'static>, parts: &[(&'static Field, Value)]) -> Result<(), Error> {
        let lacking = T::NEEDED.iter().find(|needed| !parts.iter().any(|(field, _)| field.key == **needed));
        if lacking.is_some() {
            return Err(self.missing(list, name));
        }
        let given = name.to_str().map_or_else(|_| Given::Text(name.clone()), |word| Given::Word(word.to_owned()));
        let path = Path::Element(list, name.clone(), None);
        let key = list.field(list.key())?;
        let mut all = vec![(key, read(&path, key, &given)?)];
        all.extend(parts.iter().cloned());
        let value: T = edited(&T::default(), &all)?;
        if !value.is_of(list) {
            let message = format!("{path}: this list has no anchors of the type {}", value_of(&value, "type"));
            return Err(Error::new(Code::WrongValue, message));
        }
        let at = self.elements.len();
        if let Some(places) = self.places.get_mut() {
            places.entry(name.clone()).or_default().push(at);
        }
        self.elements.push(Some(Sourced { value, source: None }));
        Ok(())
    }

    fn found(&self, list: List, name: &Text<'static>) -> Vec<usize> {
        let is_there = |at: &usize| {
            let element = self.elements.get(*at).and_then(Option::as_ref);
            element.is_some_and(|element| element.value.is_of(list))
        };
        let exact: Vec<_> = self.places().get(name).into_iter().flatten().copied().filter(is_there).collect();
        if exact.is_empty() { self.shown_as(name).into_iter().filter(is_there).collect() } else { exact }
    }

    /// The places of names that are shown like this one. A user can type a name that is not UTF-8 only as it is shown.
    fn shown_as(&self, name: &Text<'static>) -> Vec<usize> {
        let shown = name.to_string_lossy();
        let is_shown = |key: &Text<'static>| key.to_str().is_err() && key.to_string_lossy() == shown;
        let has_marks = shown.contains(char::REPLACEMENT_CHARACTER) && name.to_str().is_ok();
        let keys = self.places().iter().filter(|(key, _)| has_marks && is_shown(key));
        keys.flat_map(|(_, places)| places).copied().collect()
    }

    fn missing(&self, list: List, name: &Text<'static>) -> Error {
        let near = did_you_mean(
            &name.to_string(),
            self.places().keys().filter(|known| *known != name).map(ToString::to_string),
        );
        let needed = match T::NEEDED {
            needed if list.main_field().is_none() && near.is_empty() => {
                format!("; a new one needs {}", needed.join(", "))
            }
            _ => String::new(),
        };
        Error::new(Code::NoSuchName, format!("{} has no {}{near}{needed}", list.as_str(), quoted(name)))
    }
}

/// The fields to set, with their values.
fn parts(
    list: List,
    name: &Text<'static>,
    field: Option<&'static Field>,
    given: &Given,
) -> Result<Vec<(&'static Field, Value)>, Error> {
    let path = Path::Element(list, name.clone(), field);
    if let Some(field) = field {
        return Ok(vec![(field, read(&path, field, given)?)]);
    }
    match (object(given), list.main_field()) {
        // The typed value of an option is always a text.
        (_, Some(field)) if matches!(given, Given::Word(_)) => Ok(vec![(field, read(&path, field, given)?)]),
        (Some(object), _) => {
            let fields = fields_of(&object)?.into_iter();
            // The size follows from the other fields.
            let fields = fields.filter(|(key, _)| key != "tensorInfo.sizeInBytes");
            fields.map(|(key, value)| part(list, name, &key, value)).collect()
        }
        (None, Some(field)) => Ok(vec![(field, read(&path, field, given)?)]),
        (None, None) => Err(Error::new(Code::WrongValue, format!("{path}: needed an object of fields, found {given}"))),
    }
}

fn part(list: List, name: &Text<'static>, key: &str, value: Given) -> Result<(&'static Field, Value), Error> {
    let of = Path::Element(list, name.clone(), None);
    let field = list.field(key).map_err(|error| Error::new(Code::UnknownField, format!("{of}: {error}")))?;
    let path = Path::Element(list, name.clone(), Some(field));
    match value {
        Given::Json(Value::Null) => Ok((field, unset_value(&path, field)?)),
        value => Ok((field, read(&path, field, &value)?)),
    }
}

/// An object of fields.
fn object(given: &Given) -> Option<Map<String, Value>> {
    match given {
        Given::Json(Value::Object(object)) => Some(object.clone()),
        Given::Json(_) | Given::Text(_) => None,
        Given::Word(word) => serde_json::from_str(word).ok(),
    }
}

pub(super) fn read(path: &Path, field: &Field, given: &Given) -> Result<Value, Error> {
    field.kind.read(given).map_err(|wrong| Error::new(Code::WrongValue, format!("{path}: {wrong}")))
}

pub(super) fn unset_value(path: &Path, field: &Field) -> Result<Value, Error> {
    let message = || format!("{path} cannot be unset; set it to another value");
    field.kind.nothing().ok_or_else(|| Error::new(Code::WrongValue, message()))
}

pub(super) fn edited<T: Serialize + DeserializeOwned>(value: &T, parts: &[(&Field, Value)]) -> Result<T, Error> {
    let impossible = |error: serde_json::Error| Error::new(Code::WrongValue, error.to_string());
    let mut object = serde_json::to_value(value).map_err(impossible)?;
    for (field, part) in parts {
        put(&mut object, field.key, part.clone());
    }
    serde_json::from_value(object).map_err(impossible)
}

fn value_of(value: &impl Serialize, key: &str) -> String {
    let object = serde_json::to_value(value).unwrap_or_default();
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
