//! Sizes and counts in words.

use super::shown::{Show, Shown};

/// A number of bytes with three or four digits and a unit: `0 B`, `1023 B`, `62.2 KiB`, `8.0 GiB`.
pub fn size(bytes: u64) -> Shown<'static> {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        // Most blobs of a long list are small, and `format!` takes five times as long.
        let mut size = Shown::default();
        size.push_number(bytes).push(" B");
        return size;
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
    shown!("{}.{} {}", tenths / 10, tenths % 10, unit)
}

/// A count and what is counted: `1 blob`, `2 blobs`.
pub fn counted<N: Copy + Show + PartialEq + From<u8>>(
    count: N,
    one: &'static str,
    many: &'static str,
) -> Shown<'static> {
    shown!("{} {}", count, if count == N::from(1) { one } else { many })
}

/// A count with commas between thousands: `100,000 blobs`.
pub(crate) fn many(count: usize, one: &'static str, many: &'static str) -> Shown<'static> {
    shown!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// A whole number with commas between thousands: `97,997`.
pub(crate) fn thousands(number: impl Show) -> Shown<'static> {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::{size, thousands};

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
            assert_eq!(&*size(bytes), shown);
        }
    }

    #[test]
    fn thousands_have_commas() {
        for (number, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (99_997, "99,997"), (1_000_000, "1,000,000")] {
            assert_eq!(&*thousands(number), shown);
        }
    }
}
