//! Names that look alike but are not equal.

use std::collections::HashMap;

use unicode_normalization::char::compose;

use super::words::quote;
use popef::types::{Text, is_hidden};

/// Longer names, in characters, are not compared.
const LONGEST: usize = 256;

/// A name without what is easily overlooked: case, blanks, invisible characters, and how accented letters are encoded.
/// `None` if the name is too long.
pub(super) fn folded(name: &Text<'_>) -> Option<String> {
    let looks = looks(name)?;
    Some(looks.chars().flat_map(char::to_lowercase).collect())
}

/// The same, but with case, which is easily seen if both names are side by side.
///
/// Accents are composed with their letters, in their order. That makes NFC and NFD equal, and needs only one small
/// table. The tables that decompose and reorder text would make a program 100 KB larger.
pub(super) fn looks(name: &Text<'_>) -> Option<String> {
    if name.chars().nth(LONGEST).is_some() {
        return None;
    }
    let mut looks = String::new();
    for letter in name.chars().filter(|&letter| !letter.is_whitespace() && !is_hidden(letter)) {
        let composed = looks.chars().next_back().and_then(|last| compose(last, letter));
        if composed.is_some() {
            looks.pop();
        }
        looks.push(composed.unwrap_or(letter));
    }
    Some(looks)
}

/// Returns whether a name has nothing that is easily overlooked, except case.
pub(super) fn is_plain(name: &Text<'_>) -> bool {
    name.as_bytes().iter().all(u8::is_ascii_graphic)
}

/// Describes how a name differs from another one, in code points: `has U+00E9 instead of U+0065 U+0301`.
pub(super) fn difference(name: &Text<'_>, other: &Text<'_>) -> String {
    let (name, other): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    let same_start = name.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (name, other) = (name.get(same_start..).unwrap_or_default(), other.get(same_start..).unwrap_or_default());
    let same_end = name.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let middle = |letters: &[char]| {
        let letters = letters.get(..letters.len().saturating_sub(same_end)).unwrap_or_default();
        code_points(letters)
    };
    match (middle(name), middle(other)) {
        (None, None) => "is the same".to_owned(),
        (Some(extra), None) => format!("has an extra {extra}"),
        (None, Some(missing)) => format!("lacks {missing}"),
        (Some(one), Some(other)) => format!("has {one} instead of {other}"),
    }
}

/// The code points of letters, if there are any.
fn code_points(letters: &[char]) -> Option<String> {
    const MOST: usize = 4;
    let shown: Vec<_> = letters.iter().take(MOST).map(|&letter| format!("U+{:04X}", u32::from(letter))).collect();
    match shown.len() {
        0 => None,
        _ if letters.len() > MOST => Some(format!("{} ...", shown.join(" "))),
        _ => Some(shown.join(" ")),
    }
}

/// Names that were not found, with names that look like them.
#[derive(Default)]
pub(super) struct Wanted {
    by_looks: HashMap<String, Option<Text<'static>>>,
}

impl Wanted {
    /// A rule does not list more findings.
    const MOST: usize = 100;

    /// Adds a name that was not found.
    pub(super) fn add(&mut self, name: &Text<'_>) {
        if self.by_looks.len() < Self::MOST
            && let Some(looks) = folded(name).filter(|looks| !looks.is_empty())
        {
            self.by_looks.insert(looks, None);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_looks.is_empty()
    }

    /// Offers a name that could be the intended one.
    pub(super) fn see(&mut self, name: &Text<'_>) {
        if !name.is_empty()
            && let Some(found @ None) = folded(name).and_then(|looks| self.by_looks.get_mut(&looks))
        {
            *found = name.by_ref().try_to_own().ok();
        }
    }

    /// Returns a hint for a name that was not found: empty, or which `kind` of thing has a similar name.
    pub(super) fn hint(&self, name: &Text<'_>, kind: &str) -> String {
        let like = folded(name).and_then(|looks| self.by_looks.get(&looks)?.as_ref());
        like.map_or(String::new(), |like| {
            format!("; did you mean {kind} {}, which {}?", quote(like), difference(like, name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{difference, folded, looks};
    use popef::types::Text;

    #[test]
    fn what_is_easily_overlooked_is_left_out() {
        let alike = |one: &str, other: &str| {
            let both = [one, other].map(Text::from);
            for left in both.iter().filter_map(folded) {
                assert_eq!(folded(&Text::from(left.as_str())), Some(left), "what is left has nothing to leave out");
            }
            [looks(&both[0]) == looks(&both[1]), folded(&both[0]) == folded(&both[1])]
        };
        // As NFC and as NFD.
        assert_eq!(alike("caf\u{e9}", "cafe\u{301}"), [true, true]);
        assert_eq!(alike("\u{1ec7}", "e\u{323}\u{302}"), [true, true]);
        assert_eq!(alike("\u{d55c}", "\u{1112}\u{1161}\u{11ab}"), [true, true]);
        assert_eq!(alike("w", "w "), [true, true]);
        assert_eq!(alike("a.b", "a\u{200b}.b"), [true, true]);
        assert_eq!(alike("W", "w"), [false, true]);
        assert_eq!(alike("w1", "w2"), [false, false]);
        assert_eq!(alike("cafe", "caf\u{e9}"), [false, false]);
        assert_eq!(looks(&Text::from("\u{feff}Cafe\u{301} \u{200b}1")).as_deref(), Some("Caf\u{e9}1"));
        assert_eq!(folded(&Text::from("Cafe\u{301} 1")).as_deref(), Some("caf\u{e9}1"));
        assert_eq!(folded(&Text::from("a".repeat(257).as_str())), None);
    }

    #[test]
    fn the_difference_is_told_in_code_points() {
        let of = |one: &str, other: &str| difference(&Text::from(one), &Text::from(other));
        assert_eq!(of("caf\u{e9}s", "cafe\u{301}s"), "has U+00E9 instead of U+0065 U+0301");
        assert_eq!(of("w", "w "), "lacks U+0020");
        assert_eq!(of("aa", "a"), "has an extra U+0061");
        let letters = "has U+0041 U+0042 U+0043 U+0044 ... instead of U+0061 U+0062 U+0063 U+0064 ...";
        assert_eq!(of("ABCDEF", "abcdef"), letters);
    }
}
