//! Python's `datetime` objects.

use super::reader::Reader;
use crate::pickle::tree::{Ref, View};
use popef::error::Error;

/// Returns the time of a `datetime.datetime` without a time zone, as its `isoformat` writes it.
pub(super) fn date_and_time(value: Ref<'_>, reader: &Reader<'_>) -> Result<Option<String>, Error> {
    let mut arguments = value.arguments();
    let (Some(bytes), None) = (arguments.next(), arguments.next()) else { return Ok(None) };
    let View::Bytes(extent) = bytes.view() else { return Ok(None) };
    if value.path() != Some("datetime.datetime") || extent.len() != 10 {
        return Ok(None);
    }
    let bytes = extent.read(reader.data(), 10)?;
    Ok(bytes.as_deref().and_then(written))
}

/// The year in two bytes, month, day, hour, minute, second, and microseconds in three.
fn written(bytes: &[u8]) -> Option<String> {
    let &[year_high, year_low, month, day, hour, minute, second, high, middle, low] = bytes else { return None };
    let year = u16::from_be_bytes([year_high, year_low]);
    let micros = u32::from_be_bytes([0, high, middle, low]);
    // The highest bit says which of two equal times it is when clocks are set back.
    let month = month & 0x7f;
    let is_time = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60
        && micros < 1_000_000;
    let whole = || format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let text = if micros == 0 { whole() } else { format!("{}.{micros:06}", whole()) };
    is_time.then_some(text)
}

/// Returns the seconds of a `datetime.timedelta`.
pub(super) fn seconds(value: Ref<'_>) -> Option<f64> {
    let mut numbers = value.arguments().map(|argument| match argument.view() {
        // Python's own limits, so that the numbers convert exactly.
        View::Int(number) => i32::try_from(number).ok().map(f64::from),
        _ => None,
    });
    let mut next = || numbers.next().unwrap_or(Some(0.0));
    let (days, seconds, micros) = (next()?, next()?, next()?);
    (value.path() == Some("datetime.timedelta")).then_some(days * 86_400.0 + seconds + micros / 1e6)
}

#[cfg(test)]
mod tests {
    use super::written;

    /// By Python: `datetime.datetime(...).isoformat()`, and the bytes by `__reduce_ex__(4)`.
    #[test]
    fn times_are_those_of_python() {
        for (bytes, text) in [
            (b"\x07\xe7\t\x01\x0c\x1e\x0f\x00\x00\xfa", Some("2023-09-01T12:30:15.000250")),
            (b"\x07\xe7\x0c\x1f\x17;;\x00\x00\x00", Some("2023-12-31T23:59:59")),
            // fold=1
            (b"\x07\xe7\x8a\x1d\x02\x00\x00\x00\x00\x00", Some("2023-10-29T02:00:00")),
            (b"\x07\xe7\x0d\x01\x00\x00\x00\x00\x00\x00", None),
            (b"\x07\xe7\x01\x01\x18\x00\x00\x00\x00\x00", None),
            (b"\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00", None),
        ] {
            assert_eq!(written(bytes).as_deref(), text);
        }
        assert_eq!(written(b"\x07\xe7"), None);
    }
}
