//! Sizes and counts in words, and how wide texts are.

use std::borrow::Cow;
use std::fmt::Display;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A number of bytes with three or four digits and a unit: `0 B`, `1023 B`, `62.2 KiB`, `8.0 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        // Most blobs of a long list are small, and `format!` takes five times as long.
        return [itoa::Buffer::new().format(bytes), " B"].concat();
    }
    // Tenths of a unit, so that 1023.96 KiB becomes 1.0 MiB and not 1024.0 KiB.
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = "";
    for name in UNITS {
        unit = name;
        let rounded = (tenths + 512) / 1024;
        if rounded < 10240 {
            tenths = rounded;
            break;
        }
        tenths /= 1024;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A count and what is counted: `1 blob`, `2 blobs`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let what = if count == N::from(1) { one } else { many };
    format!("{count} {what}")
}

/// A count with commas between thousands: `100,000 blobs`.
pub(crate) fn many(count: usize, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{} {what}", thousands(count))
}

/// A whole number with commas between thousands: `97,997`.
pub(crate) fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number of columns of a terminal that a text takes. It must be escaped, so that it has no control characters.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// A text that is no wider than `most`. The middle is left out, as names differ at both ends.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if width(text) <= most {
        return Cow::Borrowed(text);
    }
    let room = most.saturating_sub(1);
    let start = take(text.chars(), room.div_ceil(2));
    // Letters can be wider together than alone.
    let end = take(text.chars().rev(), room.saturating_sub(width(&start)));
    Cow::Owned(format!("{start}…{}", end.chars().rev().collect::<String>()))
}

/// The first letters that are no wider than `width` together.
fn take(letters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= width
    };
    letters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::{shorten, size, thousands};

    #[test]
    fn sizes_have_units() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (63682, "62.2 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (1 << 20, "1.0 MiB"),
            (8 << 30, "8.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, shown) in cases {
            assert_eq!(size(bytes), shown);
        }
    }

    #[test]
    fn thousands_have_commas() {
        let shown = [0, 999, 1000, 99_997, 1_000_000].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "99,997", "1,000,000"]);
    }

    #[test]
    fn the_middle_gives_way() {
        let cases = [
            ("name", 4, "name"),
            ("model.layer.weights", 9, "mode…ghts"),
            ("model.layer.weights", 2, "m…"),
            ("重み重み重み", 7, "重…重み"),
            ("", 0, ""),
            ("x", 0, "…"),
            ("\u{2601}\u{fe0f}\u{2601}\u{fe0f}\u{2601}\u{fe0f}", 3, "\u{2601}\u{fe0f}…\u{fe0f}"),
        ];
        for (text, width, short) in cases {
            assert_eq!(shorten(text, width), short);
        }
    }
}
