//! Numbers and names in messages.

use popef::types::escape;

/// Bytes: `640 B`, `1.2 KiB`.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    // Tenths of a unit, so that 1023.96 KiB becomes 1.0 MiB.
    let tenths = |power: u32| (u128::from(bytes) * 10 + (1 << (10 * power - 1))) >> (10 * power);
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let unit = UNITS.iter().zip(1..).find(|(_, power)| tenths(*power) < 10 * 1024);
    let (unit, power) = unit.unwrap_or((&"EiB", 6));
    format!("{}.{} {unit}", tenths(power) / 10, tenths(power) % 10)
}

/// A share: `12.5 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A name in quotes, without control characters. Long ones are cut.
pub(super) fn quote(name: &str) -> String {
    const MOST: usize = 200;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("\"{}...\"", escape(name.get(..end).unwrap_or(name))),
        None => format!("\"{}\"", escape(name)),
    }
}

/// The first of some numbers: `3, 17, 18, ...`.
pub(super) fn first_of(numbers: &[u32]) -> String {
    const MOST: usize = 8;
    let first: Vec<_> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    let more = if numbers.len() > MOST { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1200, "1.2 KiB"), (1 << 20, "1.0 MiB")];
        for (number, text) in cases {
            assert_eq!(bytes(number), text);
        }
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn hostile_names_are_one_short_line() {
        assert_eq!(quote("a\n\u{1b}[31mb").chars().filter(char::is_ascii_control).count(), 0);
        assert!(quote(&"ö".repeat(100_000)).len() < 500);
    }
}
