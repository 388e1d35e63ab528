//! The order in which people count: t2 before t10.

use std::cmp::Ordering;

/// Compares names, taking each run of digits as one number. Of equal numbers, the one with fewer leading zeros comes first.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let ((digits_a, rest_a), (digits_b, rest_b)) = (split_digits(left), split_digits(right));
        let order = if digits_a.is_empty() || digits_b.is_empty() {
            match (left.split_first(), right.split_first()) {
                (Some((x, rest_x)), Some((y, rest_y))) if x == y => {
                    (left, right) = (rest_x, rest_y);
                    continue;
                }
                // The names differ in leading zeros at most.
                (None, None) => return a.len().cmp(&b.len()).then(a.cmp(b)),
                (x, y) => x.map(|(first, _)| first).cmp(&y.map(|(first, _)| first)),
            }
        } else {
            (left, right) = (rest_a, rest_b);
            number_order(digits_a, digits_b)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, &[]))
}

/// The order of numbers of any length.
fn number_order(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (without_zeros(a), without_zeros(b));
    a.len().cmp(&b.len()).then(a.cmp(b))
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers() {
        let sorted =
            ["", "1", "2", "02", "10", "99999999999999999999999", "a", "layer2/w", "layer10/w", "t1a2", "t1a10"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a.as_bytes(), b.as_bytes()), i.cmp(&j), "{a} and {b}");
            }
        }
    }
}
