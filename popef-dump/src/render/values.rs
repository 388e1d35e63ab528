//! Pieces that the renderers of text share.

use popef::{DataType, PoplarHeader, Value};

use super::color::Kind::{Number, Type};
use super::out::Out;
use crate::report::{Shown, Values};

/// A type by its name, or by its number if it has none.
pub(super) fn data_type(out: &mut Out, data_type: DataType) {
    match data_type {
        DataType::Other(number) => out.number(number),
        known => out.put_capitals(Type, known.schema_name().unwrap_or_default()),
    };
}

/// `[2, 3]`.
pub(super) fn list(out: &mut Out, numbers: impl Iterator<Item = impl itoa::Integer>) {
    out.put("[");
    for (index, number) in numbers.enumerate() {
        out.put(if index == 0 { "" } else { ", " }).number(number);
    }
    out.put("]");
}

/// Of a feed only the first tensor's values are shown.
pub(super) fn of_which(num_tensors: Option<u32>) -> &'static str {
    if num_tensors.is_some() { "first tensor: " } else { "" }
}

/// The first elements: `[1.5, -2.25, ...]`.
pub(super) fn first(out: &mut Out, values: &Values) {
    list_of(out, &values.first, values.more);
}

fn list_of(out: &mut Out, elements: &[Shown], more: bool) {
    out.put("[");
    for (index, shown) in elements.iter().enumerate() {
        out.put(if index == 0 { "" } else { ", " }).put_as(Number, &element(*shown));
    }
    let dots = if elements.is_empty() { "..." } else { ", ..." };
    out.put(if more { dots } else { "" }).put("]");
}

fn element(shown: Shown) -> String {
    match shown {
        Shown::Value(value) => value.to_string(),
        Shown::Bits(byte) => format!("{byte:#04x}"),
    }
}

/// `count: 2, min: -2.25, max: 1.5, mean: -0.375, NaN: 0, infinite: 0, zeros: 0`.
pub(super) fn stats(out: &mut Out, values: &Values) {
    out.put("count: ").number(values.count);
    let Some(stats) = &values.stats else {
        out.put(", the type's bits have no known meaning");
        return;
    };
    let shown = |value: Option<Value>| value.map_or_else(|| "<none>".to_owned(), |value| value.to_string());
    out.put(", min: ").put_as(Number, &shown(stats.min));
    out.put(", max: ").put_as(Number, &shown(stats.max));
    out.put(", mean: ").put_as(Number, &shown(stats.mean.map(Value::F64)));
    out.put(", NaN: ").number(stats.nan);
    out.put(", infinite: ").number(stats.infinite);
    out.put(", zeros: ").number(stats.zeros);
}

/// The same, with as many elements as there is room for.
pub(super) fn first_within(out: &mut Out, values: &Values, room: Option<usize>) {
    let room = room.unwrap_or(usize::MAX);
    let mut used = "[, ...]".len();
    let fits = |shown: &&Shown| {
        used += element(**shown).len() + 2;
        used <= room
    };
    let fitting: Vec<Shown> = values.first.iter().take_while(fits).copied().collect();
    let more = values.more || fitting.len() < values.first.len();
    list_of(out, &fitting, more);
}

/// What Poplar says at the start of an executable.
pub(super) fn poplar(out: &mut Out, header: Option<&PoplarHeader>) {
    let Some(header) = header else {
        out.put("Poplar header: <none>");
        return;
    };
    out.put("Poplar header: { format: ").number(header.format);
    out.put(", archiveSize: ").number(header.archive_size);
    out.put(", archiveCompressedSize: ").number(header.archive_compressed_size);
    out.put(", metadataSize: ").number(header.metadata_size);
    out.put(", metadataCompressedSize: ").number(header.metadata_compressed_size).put(" }");
}
