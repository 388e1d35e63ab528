//! How wide texts are.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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
    use super::shorten;

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
