//! The code that the renderers of text share.

use std::io;

use popef::DataType;
use popef::read::{PoplarHeader, Value};
use poplar_inspect::executable::Tiles;

use crate::output::color::Kind::{Number, Plain, Type};
use crate::output::out::Out;
use crate::output::shown::Shown;
use crate::report::values::{Element, Values};

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

/// Says that only the values of a feed's first tensor are shown.
pub(super) fn of_which(num_tensors: Option<u32>) -> &'static str {
    if num_tensors.is_some() { "first tensor: " } else { "" }
}

/// The columns of a terminal that a list may use. It goes on in the next line where it does not fit.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Lines {
    pub(super) const ONE: Lines = Lines { start: 0, end: usize::MAX };
}

/// The first elements: `[1.5, -2.25, ...]`.
pub(super) fn first(out: &mut Out, values: &Values<'_>, lines: Lines) -> io::Result<()> {
    let elements = values.first().map(|shown| (Number, element(shown)));
    let dots = values.more().then(|| (Plain, Shown::own("...")));
    let start = lines.start.saturating_add("[".len());
    let mut column = start;
    out.put("[");
    for (index, (kind, text)) in elements.chain(dots).enumerate() {
        let end = column.saturating_add(", ,".len() + text.len());
        if index > 0 && end > lines.end {
            out.put(",").end_line()?;
            out.spaces(start);
            column = start;
        } else if index > 0 {
            out.put(", ");
            column = column.saturating_add(", ".len());
        }
        out.put_as(kind, &text).flush_if_full()?;
        column = column.saturating_add(text.len());
    }
    out.put("]");
    Ok(())
}

fn element(shown: Element) -> Shown<'static> {
    match shown {
        Element::Value(value) => value.into(),
        Element::Bits(byte) => shown!("{:#04x}", byte),
    }
}

/// `count: 2, min: -2.25, max: 1.5, mean: -0.375, NaN: 0, infinite: 0, zeros: 0`; and `finite: 1` if not all are finite, because
/// only the finite ones count for minimum, maximum and mean.
pub(super) fn stats(out: &mut Out, values: &Values<'_>) {
    out.put("count: ").number(values.count());
    let Some(stats) = &values.stats else {
        out.put(", the type's bits have no known meaning");
        return;
    };
    let shown = |value: Option<Value>| value.map_or_else(|| Shown::own("<none>"), Shown::from);
    if stats.finite < values.count() {
        out.put(", finite: ").number(stats.finite);
    }
    out.put(", min: ").put_as(Number, shown(stats.min));
    out.put(", max: ").put_as(Number, shown(stats.max));
    out.put(", mean: ").put_as(Number, shown(stats.mean.map(Value::F64)));
    out.put(", NaN: ").number(stats.nan);
    out.put(", infinite: ").number(stats.infinite);
    out.put(", zeros: ").number(stats.zeros);
}

/// The tiles of an executable, and how far the figures can be trusted.
pub(super) fn tiles(out: &mut Out, tiles: &Tiles) {
    out.put("Tiles: { count: ").number(tiles.count).put(", distinct: ").number(tiles.distinct);
    out.put(", bytes: ").number(tiles.total_bytes).put(" }");
    match (tiles.verified, tiles.complete) {
        (true, true) => out,
        (true, false) => out.put(", incomplete"),
        (false, true) => out.put(", unverified"),
        (false, false) => out.put(", unverified, incomplete"),
    };
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
