//! The differences between old and new metadata.

use std::cell::LazyCell;
use std::collections::HashMap;

use popef::Metadata;
use popef::types::{ElementSources, Text};
use serde::Serialize;
use serde_json::Value;

use super::elements::Element;
use super::path::{List, Path};

/// A field that has changed. An added element of a list has no old value, a removed one no new value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The path of the field: `anchors[NAME].repeats`, with the old name of the anchor.
    pub field: String,
    /// The value before, as in the JSON of metadata.
    pub old: Value,
    /// The value after.
    pub new: Value,
}

impl FieldChange {
    pub(super) fn of(field: impl Into<String>, old: impl Serialize, new: impl Serialize) -> Self {
        let json = |value: serde_json::Result<Value>| value.unwrap_or_default();
        FieldChange { field: field.into(), old: json(serde_json::to_value(old)), new: json(serde_json::to_value(new)) }
    }
}

/// All fields that differ.
pub(super) fn compare(old: &Metadata, new: &Metadata, sources: &ElementSources) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let plain = |metadata: &Metadata| serde_json::to_value(metadata.without_lists()).unwrap_or_default();
    values("", &plain(old), &plain(new), &mut changes);
    list(List::EngineOptions, &old.engine_options, &new.engine_options, &sources.engine_options, &mut changes);
    list(List::DeviceOptions, &old.device_options, &new.device_options, &sources.device_options, &mut changes);
    list(List::ProgramsMap, &old.programs_map, &new.programs_map, &sources.programs_map, &mut changes);
    list(List::Anchors, &old.anchors, &new.anchors, &sources.anchors, &mut changes);
    changes
}

fn list<T: Element + PartialEq>(
    list: List,
    old: &[T],
    new: &[T],
    sources: &[Option<usize>],
    changes: &mut Vec<FieldChange>,
) {
    let mut kept = vec![false; old.len()];
    let mut added = Vec::new();
    let mut order = Vec::new();
    // Most elements are unchanged, and need no name.
    let names = LazyCell::new(|| Names::of(list, old));
    for (element, source) in new.iter().zip(sources) {
        let Some((source, before)) = source.and_then(|source| Some((source, old.get(source)?))) else {
            added.push(FieldChange::of(path(list, element), Value::Null, element.shown()));
            continue;
        };
        order.push(source);
        kept.get_mut(source).into_iter().for_each(|kept| *kept = true);
        if before != element {
            let (path, old, new) = (path(names.list_of(before), before), before.shown(), element.shown());
            if old == new {
                // Only what is not shown differs.
                changes.push(FieldChange { field: path, old, new });
            } else {
                values(&format!("{path}."), &old, &new, changes);
            }
        }
    }
    let removed = old.iter().zip(kept).filter(|(_, kept)| !kept);
    changes.extend(removed.map(|(element, _)| FieldChange::of(path(list, element), element.shown(), Value::Null)));
    changes.extend(added);
    if !order.is_sorted() {
        let names = |list: &[T]| list.iter().map(|element| element.key().to_string()).collect::<Vec<_>>();
        changes.push(FieldChange::of(list.as_str(), names(old), names(new)));
    }
}

/// The number of elements with a name: among all anchors, the inputs, and the outputs.
struct Names {
    list: List,
    counts: HashMap<Text<'static>, [usize; 3]>,
}

impl Names {
    const LISTS: [List; 3] = [List::Anchors, List::Inputs, List::Outputs];

    fn of<T: Element>(list: List, elements: &[T]) -> Self {
        let mut counts = HashMap::<Text<'static>, [usize; 3]>::new();
        // Options and programs have no such parts.
        let anchors = if list == List::Anchors { elements } else { &[] };
        for anchor in anchors {
            let counts = counts.entry(anchor.key()).or_default();
            for (count, list) in counts.iter_mut().zip(Names::LISTS) {
                *count = count.saturating_add(usize::from(anchor.is_of(list)));
            }
        }
        Names { list, counts }
    }

    /// The list in which the element's name is unique, if there is one.
    fn list_of(&self, element: &impl Element) -> List {
        let Some(counts) = self.counts.get(&element.key()) else { return self.list };
        let is_only = |(list, count): &(List, &usize)| **count == 1 && element.is_of(*list);
        Names::LISTS.into_iter().zip(counts).find(is_only).map_or(self.list, |(list, _)| list)
    }
}

fn path(list: List, element: &impl Element) -> String {
    Path::Element(list, element.key(), None).to_string()
}

/// The values that differ; for objects, each field.
fn values(path: &str, old: &Value, new: &Value, changes: &mut Vec<FieldChange>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(before), Value::Object(after)) => {
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            // The size follows from the other fields.
            for key in keys.filter(|key| *key != "sizeInBytes") {
                let of = |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or_default();
                let path = format!("{path}{key}");
                if before.get(key).is_some_and(Value::is_object) {
                    values(&format!("{path}."), &of(before), &of(after), changes);
                } else {
                    values(&path, &of(before), &of(after), changes);
                }
            }
        }
        _ => changes.push(FieldChange { field: path.to_owned(), old: old.clone(), new: new.clone() }),
    }
}
