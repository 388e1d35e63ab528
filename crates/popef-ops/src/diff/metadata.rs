//! Metadata, field by field.

use popef::Metadata;
use popef::types::{Anchor, EngineOption, ProgramFlow, ProgramInfo, Text};
use popef_check::shown_option;
use serde::Serialize;
use serde_json::Value;

use super::report::FieldDiff;
use crate::name::Name;

/// Pushes a change for each of the fields that differ. All fields must be named, so that a new one is not forgotten.
macro_rules! compare_fields {
    ($type:ident, $a:expr, $b:expr, $changed:expr, { $( $field:ident = $key:literal, )* } except { $( $other:ident, )* }) => {
        let $type { $( $field: _, )* $( $other: _, )* } = $a;
        $( if $a.$field != $b.$field { $changed($key, json(&$a.$field), json(&$b.$field)); } )*
    };
}

/// The differences between two metadata. Anchors are found by their names and directions, options by their names and
/// programs by their indices; their order counts only if `exact`.
pub(super) fn changes(a: &Metadata, b: &Metadata, exact: bool) -> Vec<FieldDiff> {
    let mut changes = Vec::new();
    let mut changed = |field, a, b| changes.push(FieldDiff::field(field, a, b));
    compare_fields!(Metadata, a, b, changed, {
        replication_factor = "replicationFactor",
        num_ipus = "numIpus",
        num_processes = "numProcesses",
        ipu_version = "ipuVersion",
        is_pod = "isPOD",
        is_inference = "isInference",
        device_iterations = "deviceIterations",
        executable = "executable",
        seed_handle = "seedHandle",
    } except { engine_options, device_options, program_flow, programs_map, anchors, });
    compare_fields!(ProgramFlow, a.program_flow, b.program_flow, changed, {
        load = "programFlow.load",
        main = "programFlow.main",
        save = "programFlow.save",
    } except {});
    compare_lists("engineOptions", &a.engine_options, &b.engine_options, exact, &mut changes);
    compare_lists("deviceOptions", &a.device_options, &b.device_options, exact, &mut changes);
    compare_lists("programsMap", &a.programs_map, &b.programs_map, exact, &mut changes);
    compare_lists("anchors", &a.anchors, &b.anchors, exact, &mut changes);
    changes
}

pub(super) fn json(value: &impl Serialize) -> Value {
    // Plain values always serialise.
    serde_json::to_value(value).unwrap_or_default()
}

/// An item of a list in metadata whose order has no meaning.
pub(crate) trait Keyed: PartialEq + Serialize + Sized {
    /// The key that finds it in the other list.
    type Key<'i>: Ord
    where
        Self: 'i;

    fn key(&self) -> Self::Key<'_>;

    fn name(&self) -> Name;

    /// The item as others may see it.
    fn shown(&self) -> Value {
        json(self)
    }

    /// Calls `changed` with each field that differs, apart from those of the key.
    fn compare(&self, other: &Self, changed: &mut dyn FnMut(&'static str, Value, Value));
}

impl Keyed for EngineOption {
    type Key<'i> = &'i Text<'static>;

    fn key(&self) -> &Text<'static> {
        &self.name
    }

    fn name(&self) -> Name {
        self.name.by_ref().into()
    }

    fn shown(&self) -> Value {
        json(&shown_option(self))
    }

    fn compare(&self, other: &Self, changed: &mut dyn FnMut(&'static str, Value, Value)) {
        let EngineOption { name: _, value } = self;
        if *value != other.value {
            changed("value", json(&shown_option(self).value), json(&shown_option(other).value));
        }
    }
}

impl Keyed for ProgramInfo {
    type Key<'i> = u32;

    fn key(&self) -> u32 {
        self.index
    }

    fn name(&self) -> Name {
        Text::from(self.index.to_string()).into()
    }

    fn compare(&self, other: &Self, changed: &mut dyn FnMut(&'static str, Value, Value)) {
        compare_fields!(ProgramInfo, self, other, changed, { name = "name", } except { index, });
    }
}

impl Keyed for Anchor {
    type Key<'i> = (&'i Text<'static>, u16);

    fn key(&self) -> (&Text<'static>, u16) {
        (&self.name, self.tensor_type.number())
    }

    fn name(&self) -> Name {
        self.name.by_ref().into()
    }

    fn compare(&self, other: &Self, changed: &mut dyn FnMut(&'static str, Value, Value)) {
        compare_fields!(Anchor, self, other, changed, {
            handle = "handle",
            programs = "programs",
            is_per_replica = "isPerReplica",
            use_remote_buffers = "useRemoteBuffers",
            repeats = "repeats",
        } except { name, tensor_info, tensor_type, });
        let (info, of_other) = (&self.tensor_info, &other.tensor_info);
        if info.data_type != of_other.data_type {
            changed("dataType", json(&info.data_type), json(&of_other.data_type));
        }
        if info.shape != of_other.shape {
            changed("shape", json(&info.shape), json(&of_other.shape));
        }
    }
}

/// The items in the order of their keys. Items with the same key stay in their order.
pub(crate) fn sorted<T: Keyed>(items: &[T]) -> Vec<&T> {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_by(|one, other| one.key().cmp(&other.key()));
    sorted
}

fn compare_lists<T: Keyed>(list: &'static str, a: &[T], b: &[T], exact: bool, changes: &mut Vec<FieldDiff>) {
    if a == b {
        return;
    }
    let before = changes.len();
    let mut of_b = sorted(b).into_iter().peekable();
    let whole = |name, a, b| FieldDiff { list: Some(list), name: Some(name), field: None, a, b };
    for item in sorted(a) {
        while let Some(added) = of_b.next_if(|other| other.key() < item.key()) {
            changes.push(whole(added.name(), Value::Null, added.shown()));
        }
        match of_b.next_if(|other| other.key() == item.key()) {
            Some(other) => item.compare(other, &mut |field, a, b| {
                changes.push(FieldDiff { list: Some(list), name: Some(item.name()), field: Some(field), a, b });
            }),
            None => changes.push(whole(item.name(), item.shown(), Value::Null)),
        }
    }
    changes.extend(of_b.map(|added| whole(added.name(), Value::Null, added.shown())));
    if exact && changes.len() == before {
        let order = |items: &[T]| items.iter().map(|item| Value::from(item.name().to_string())).collect();
        changes.push(FieldDiff { list: Some(list), name: None, field: Some("order"), a: order(a), b: order(b) });
    }
}
