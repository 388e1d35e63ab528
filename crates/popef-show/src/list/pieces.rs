//! What the renderers of text have in common.

use std::io;

use popef::DataType;
use popef::read::{PoplarHeader, Value};

use crate::output::color::Kind::{Number, Type};
use crate::output::out::Out;
use crate::report::values::{Shown, Values};

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

/// The first elements, as many as there is room for: `[1.5, -2.25, ...]`.
pub(super) fn first(out: &mut Out, values: &Values<'_>, room: Option<usize>) -> io::Result<()> {
    let room = room.unwrap_or(usize::MAX);
    let mut used = "[, ...]".len();
    let (mut separator, mut dots) = ("", if values.more() { "..." } else { "" });
    out.put("[");
    for shown in values.first() {
        let element = element(shown);
        used = used.saturating_add(element.len() + ", ".len());
        if used > room {
            dots = "...";
            break;
        }
        out.put(separator).put_as(Number, &element).flush_if_full()?;
        separator = ", ";
    }
    out.put(if dots.is_empty() { "" } else { separator }).put(dots).put("]");
    Ok(())
}

fn element(shown: Shown) -> String {
    match shown {
        Shown::Value(value) => value.to_string(),
        Shown::Bits(byte) => format!("{byte:#04x}"),
    }
}

/// `count: 2, min: -2.25, max: 1.5, mean: -0.375, NaN: 0, infinite: 0, zeros: 0`.
pub(super) fn stats(out: &mut Out, values: &Values<'_>) {
    out.put("count: ").number(values.count());
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

/// The header that Poplar puts before an executable.
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
