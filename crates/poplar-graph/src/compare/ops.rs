//! Which ops of a graph have no equal in another one.

use std::cmp::Ordering;
use std::{fmt, mem};

use super::{OpChange, OpDiff, OpName};
use crate::{Callee, CodeLocation, Graph, Ir, Op};

/// All that is known of an op, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Described<'i> {
    op: (&'i str, &'i str),
    inputs: Vec<(u32, &'i str)>,
    outputs: Vec<(u32, &'i str)>,
    calls: Vec<(&'i str, u64, Option<u64>)>,
    /// The graph whose code it loads, and whether the code can run at its destination.
    loads: Option<(&'i str, bool)>,
    places: [Option<i64>; 3],
    attributes: Vec<(&'i str, &'i str)>,
}

impl<'i> Described<'i> {
    pub(super) fn all(ir: &'i Ir, graph: &'i Graph) -> Vec<Self> {
        graph.ops.iter().map(|op| Self::of(ir, graph, op)).collect()
    }

    fn of(ir: &'i Ir, graph: &'i Graph, op: &'i Op) -> Self {
        let name = |id| ir.graph(id).map_or("", |graph| graph.name.as_str());
        let tensor = |id| graph.tensor(id).map_or("", |tensor| tensor.name.as_str());
        let call = |callee: Callee| (name(callee.graph), callee.times.least, callee.times.most);
        Described {
            op: (&op.op_type, &op.name),
            inputs: op.inputs.iter().map(|slot| (slot.index, tensor(slot.tensor))).collect(),
            outputs: op.outputs.iter().map(|slot| (slot.index, tensor(slot.tensor))).collect(),
            calls: op.calls.iter().map(call).collect(),
            loads: op.loads.map(|load| (name(load.graph), load.destination == CodeLocation::Executable)),
            places: [op.ipu, op.stage, op.phase],
            attributes: op.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        }
    }
}

type Ops<'d, 'i> = Vec<&'d Described<'i>>;

/// An op of each list, or of one list.
pub(super) type Pair<'d, 'i> = (Option<&'d Described<'i>>, Option<&'d Described<'i>>);

/// The ops of both lists that have no equal in the other list, sorted. As many as possible are paired with an op of the same type.
pub(super) fn unequal<'d, 'i>(before: &'d [Described<'i>], after: &'d [Described<'i>]) -> Vec<Pair<'d, 'i>> {
    let (mut old, mut new): (Ops<'_, '_>, Ops<'_, '_>) = (before.iter().collect(), after.iter().collect());
    take_pairs(&mut old, &mut new, Some);
    let mut pairs = take_pairs(&mut old, &mut new, |op| Some((op.op, &op.outputs)));
    pairs.extend(take_pairs(&mut old, &mut new, |op| (!op.op.1.is_empty()).then_some(op.op)));
    pairs.extend(take_pairs(&mut old, &mut new, |op| (!op.outputs.is_empty()).then_some((op.op.0, &op.outputs))));
    pairs.extend(take_pairs(&mut old, &mut new, |op| Some(op.op.0)));
    let mut all: Vec<Pair<'_, '_>> = pairs.into_iter().map(|(old, new)| (Some(old), Some(new))).collect();
    all.extend(old.into_iter().map(|op| (Some(op), None)));
    all.extend(new.into_iter().map(|op| (None, Some(op))));
    all.sort_by_key(|pair| pair.0.or(pair.1));
    all
}

/// Takes pairs with the same key out of two lists. Items without a key stay.
fn take_pairs<'d, 'i, K: Ord>(
    old: &mut Ops<'d, 'i>,
    new: &mut Ops<'d, 'i>,
    key: impl Fn(&'d Described<'i>) -> Option<K>,
) -> Vec<(&'d Described<'i>, &'d Described<'i>)> {
    let sorted = |ops: &mut Ops<'d, 'i>| {
        ops.sort_by(|one, other| (key(one), one).cmp(&(key(other), other)));
        mem::take(ops).into_iter().peekable()
    };
    let (mut left, mut right) = (sorted(old), sorted(new));
    let mut pairs = Vec::new();
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let (of_one, of_other) = (key(one), key(other));
        match of_one.cmp(&of_other) {
            Ordering::Equal if of_one.is_some() => pairs.extend(left.next().zip(right.next())),
            Ordering::Less | Ordering::Equal => old.extend(left.next()),
            Ordering::Greater => new.extend(right.next()),
        }
    }
    old.extend(left);
    new.extend(right);
    pairs
}

/// The differences of a pair.
pub(super) fn diff((before, after): Pair<'_, '_>) -> OpDiff {
    let name = |op: &Described<'_>| OpName {
        name: short(op.op.1),
        output: op.outputs.first().map(|(_, tensor)| short(tensor)),
    };
    OpDiff {
        op_type: before.or(after).map_or("", |op| op.op.0).to_owned(),
        before: before.map(name),
        after: after.map(name),
        changes: before.zip(after).map_or_else(Vec::new, |(before, after)| changes(before, after)),
    }
}

/// The maximum number of fields that are listed for an op.
const MOST_CHANGES: usize = 8;

/// The first fields in which two ops differ.
fn changes(before: &Described<'_>, after: &Described<'_>) -> Vec<OpChange> {
    let (before, after) = (before.fields(), after.fields());
    let (mut old, mut new) = (before.into_iter().peekable(), after.into_iter().peekable());
    let mut changes = Vec::new();
    while changes.len() < MOST_CHANGES {
        let order = match (old.peek(), new.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let one = if order.is_le() { old.next() } else { None };
        let other = if order.is_ge() { new.next() } else { None };
        if one.map(|field| field.1) != other.map(|field| field.1) {
            let text = |field: &Option<(Field<'_>, Value<'_>)>| field.as_ref().map(|(_, value)| value.to_string());
            let field = one.as_ref().or(other.as_ref()).map_or_else(String::new, |(field, _)| field.to_string());
            changes.push(OpChange { field, before: text(&one), after: text(&other) });
        }
    }
    changes
}

/// A field of an op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field<'i> {
    Name,
    Input(u32),
    Output(u32),
    Call(usize),
    Loads,
    Place(&'static str),
    Setting(&'i str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value<'i> {
    Text(&'i str),
    Number(i64),
    /// A graph, and how often it is called.
    Call(&'i str, u64, Option<u64>),
    /// A graph, and whether its code can run at its destination.
    Loads(&'i str, bool),
}

impl<'i> Described<'i> {
    /// All fields but the type, sorted.
    fn fields(&self) -> Vec<(Field<'i>, Value<'i>)> {
        let mut fields = vec![(Field::Name, Value::Text(self.op.1))];
        fields.extend(self.inputs.iter().map(|(index, tensor)| (Field::Input(*index), Value::Text(tensor))));
        fields.extend(self.outputs.iter().map(|(index, tensor)| (Field::Output(*index), Value::Text(tensor))));
        let call = |(index, (graph, least, most)): (_, &(&'i str, _, _))| {
            (Field::Call(index), Value::Call(graph, *least, *most))
        };
        fields.extend(self.calls.iter().enumerate().map(call));
        fields.extend(self.loads.map(|(graph, runs)| (Field::Loads, Value::Loads(graph, runs))));
        let places = ["ipu", "stage", "phase"].into_iter().zip(self.places);
        fields.extend(places.filter_map(|(name, place)| Some((Field::Place(name), Value::Number(place?)))));
        fields.extend(self.attributes.iter().map(|(name, value)| (Field::Setting(name), Value::Text(value))));
        fields.sort_by_key(|(field, _)| *field);
        fields
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Name => f.write_str("name"),
            Field::Input(index) => write!(f, "inputs[{index}]"),
            Field::Output(index) => write!(f, "outputs[{index}]"),
            Field::Call(index) => write!(f, "calls[{index}]"),
            Field::Loads => f.write_str("loads"),
            Field::Place(name) => f.write_str(name),
            Field::Setting(name) => f.write_str(&short(name)),
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Text(text) => f.write_str(&short(text)),
            Value::Number(number) => number.fmt(f),
            Value::Call(graph, 1, Some(1)) => f.write_str(&short(graph)),
            Value::Call(graph, 0, None) => write!(f, "{}, any number of times", short(graph)),
            Value::Call(graph, least, Some(most)) if least == most => write!(f, "{}, {least} times", short(graph)),
            Value::Call(graph, least, Some(most)) => write!(f, "{}, {least} to {most} times", short(graph)),
            Value::Call(graph, least, None) => write!(f, "{}, {least} times or more", short(graph)),
            Value::Loads(graph, true) => write!(f, "{} as an executable", short(graph)),
            Value::Loads(graph, false) => f.write_str(&short(graph)),
        }
    }
}

/// The number of characters that are kept at each end of a long text.
const KEPT: usize = 100;

/// A text without the middle if it is long: many ops can share a long one.
fn short(text: &str) -> String {
    let mut places = text.char_indices().map(|(at, _)| at);
    let ends = places.clone().nth(KEPT).zip(places.nth_back(KEPT.saturating_sub(1)));
    match ends.filter(|(start, rest)| start < rest) {
        Some((start, rest)) => {
            let (start, rest) = (text.get(..start).unwrap_or_default(), text.get(rest..).unwrap_or_default());
            format!("{start}...{rest}")
        }
        None => text.to_owned(),
    }
}
