//! Names of files for names of blobs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use popef::types::{Text, is_hidden};
use unicode_normalization::UnicodeNormalization as _;

/// The most bytes of a name without its number and ending. File systems take 255.
const LONGEST: usize = 230;
/// The most bytes of a key. Those of `.npz` files are names of zip entries, which take 65535.
const LONGEST_KEY: usize = 4096;

/// Gives each of a few things a file name of its own.
///
/// A file name has only visible characters that every file system accepts, so that it cannot lead out of its folder or
/// mislead users. Names that differ only in upper and lower case, or in the normalisation of Unicode, get a number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The number of names made from each.
    taken: HashMap<String, u64>,
}

impl Names {
    /// Makes a new file name from a name in a file.
    pub(crate) fn of(&mut self, name: &[u8]) -> String {
        let name = safe(name);
        let mut nth = self.taken.get(&*folded(&name)).copied().unwrap_or(0).saturating_add(1);
        let mut made = name.clone();
        while nth > 1 {
            made = format!("{name}~{nth}");
            // Another one may be called so.
            if self.taken.insert(folded(&made).into_owned(), 1).is_none() {
                break;
            }
            nth = nth.saturating_add(1);
        }
        self.taken.insert(folded(&name).into_owned(), nth);
        made
    }
}

/// The wanted name of a blob among others, before it is known whether it needs a number.
#[derive(Clone, Debug)]
pub(super) struct Wish<'n> {
    /// Where all names must differ: a folder, or an archive.
    pub(super) place: &'static str,
    pub(super) name: Cow<'n, str>,
    pub(super) same: Same,
}

/// Which names are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// Only names with the same characters.
    Exactly,
    /// Names that differ only in upper and lower case, or in the normalisation of Unicode, are the same too.
    Folded,
    /// Names with and without `.npy` are the same too: NumPy finds an array by its key and by its entry, which is the
    /// key and `.npy`.
    Keys,
}

impl Wish<'_> {
    fn hash(&self, hasher: &RandomState, number: Option<u32>) -> u64 {
        let name = numbered(&self.name, number);
        let name = match self.same {
            Same::Exactly => name,
            Same::Folded => folded(&name).into_owned().into(),
            Same::Keys => name.trim_end_matches(".npy").to_owned().into(),
        };
        hasher.hash_one((self.place, name))
    }
}

/// The numbers of the names that would equal another one.
///
/// Only hashes of names are examined, 8 bytes per name, and only numbers are kept, so that a file may have millions of
/// blobs. If two names happen to have the same hash, one of them gets a number that it does not need.
#[derive(Debug, Default)]
pub(super) struct Numbers(
    /// Blobs and their numbers, in order.
    Vec<(usize, u32)>,
);

impl Numbers {
    /// `wishes` gives the blobs in order with their names, the same each time. The first blob with a name has no
    /// number.
    pub(super) fn of<'n, I: Iterator<Item = (usize, Wish<'n>)>>(count: usize, wishes: impl Fn() -> I) -> Numbers {
        let hasher = RandomState::new();
        let mut all = Vec::with_capacity(count);
        all.extend(wishes().map(|(_, wish)| wish.hash(&hasher, None)));
        all.sort_unstable();
        let pairs = all.windows(2).filter(|pair| pair.first() == pair.last());
        let mut shared: Vec<u64> = pairs.filter_map(|pair| pair.first().copied()).collect();
        shared.dedup();
        let mut numbers = Numbers::default();
        if shared.is_empty() {
            return numbers;
        }
        let (mut last, mut given) = (HashMap::<u64, u32>::new(), HashSet::new());
        for (blob, wish) in wishes() {
            let own = wish.hash(&hasher, None);
            if shared.binary_search(&own).is_err() {
                continue;
            }
            let Some(number) = last.get_mut(&own) else {
                last.insert(own, 1);
                continue;
            };
            loop {
                *number = number.saturating_add(1);
                let made = wish.hash(&hasher, Some(*number));
                // Another blob may be called so.
                if all.binary_search(&made).is_err() && given.insert(made) {
                    break;
                }
            }
            numbers.0.push((blob, *number));
        }
        numbers
    }

    /// The name of a blob, with its number if it has one.
    pub(super) fn name_of<'n>(&self, blob: usize, name: &'n str) -> Cow<'n, str> {
        let at = self.0.binary_search_by_key(&blob, |(blob, _)| *blob).ok();
        numbered(name, at.and_then(|at| self.0.get(at)).map(|(_, number)| *number))
    }
}

fn numbered(name: &str, number: Option<u32>) -> Cow<'_, str> {
    number.map_or(Cow::Borrowed(name), |number| Cow::Owned(format!("{name}~{number}")))
}

/// Makes a name that is safe on every system, before its ending is added.
pub(crate) fn safe(name: &[u8]) -> String {
    let mut kept = String::new();
    for chunk in cut(name).utf8_chunks() {
        kept.extend(chunk.valid().chars().map(|letter| if is_refused(letter) { '_' } else { letter }));
        kept.extend(chunk.invalid().iter().map(|_| '_'));
    }
    // A name with a leading dot is hidden, and one with a leading hyphen looks like an option. Windows drops dots and
    // spaces at the end.
    let name = kept.trim_end_matches(['.', ' ']);
    match name.as_bytes().first() {
        None => "unnamed".to_owned(),
        Some(b'.' | b'-') => format!("_{}", name.get(1..).unwrap_or_default()),
        _ if is_reserved(name) => format!("_{name}"),
        _ => name.to_owned(),
    }
}

/// The first bytes of a name, without a part of a letter.
fn cut(name: &[u8]) -> &[u8] {
    let begins_letter = |at: &usize| name.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    // A letter has at most 4 bytes.
    let end = (LONGEST.saturating_sub(3)..=LONGEST).rev().find(begins_letter).unwrap_or(LONGEST);
    name.get(..end).unwrap_or(name)
}

/// Whether a system does not accept the letter in the name of a file, or the letter hides something from a reader.
fn is_refused(letter: char) -> bool {
    matches!(letter, '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*') || is_hidden(letter)
}

/// Whether Windows treats the name as a device, whatever follows the first dot.
fn is_reserved(name: &str) -> bool {
    let name = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let is_number =
        |rest: &str| matches!(rest, "\u{b9}" | "\u{b2}" | "\u{b3}") || matches!(rest.as_bytes(), [b'0'..=b'9']);
    let numbered = |device| name.strip_prefix(device).is_some_and(is_number);
    matches!(&*name, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$")
        || numbered("COM")
        || numbered("LPT")
}

/// Returns the common form of all names that are one file on some system: case and the normalisation of Unicode do not
/// count everywhere. Some names with the same form are two files everywhere.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return name.to_ascii_lowercase().into();
    }
    // Some letters have the same upper case, but not the same lower case.
    let upper = name.nfd().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfd().collect::<String>().into()
}

/// The key of an array in an `.npz` file: the name itself, unless it hides something, or would lead elsewhere when the
/// archive is unpacked. Names with slashes are usual, and numpy accepts them.
pub(super) fn entry_key(name: &Text<'_>) -> String {
    let is_key = |text: &str| text.len() <= LONGEST_KEY && !text.contains(|letter| letter == '\\' || is_hidden(letter));
    let text = name.to_str().ok().filter(|text| is_key(text) && is_path_within(text));
    text.map_or_else(|| safe(name.as_bytes()), str::to_owned)
}

/// Whether a path stays within the folder in which it begins, on any system.
fn is_path_within(path: &str) -> bool {
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    !has_drive && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_harmless() {
        for (name, file) in [
            ("weights", "weights"),
            ("model.layer-1.w+b_2", "model.layer-1.w+b_2"),
            ("Add:0", "Add_0"),
            ("größe/日本語", "größe_日本語"),
            ("модель (2) #1 & more", "модель (2) #1 & more"),
            ("हिन्दी", "हिन्दी"),
            ("a<b>|c?*\"", "a_b__c___"),
            ("a\u{202e}gpj.\u{200b}\u{feff}x", "a_gpj.__x"),
            ("a\u{2028}b\u{a0}c\u{e0041}", "a_b_c_"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("/etc/passwd", "_etc_passwd"),
            ("C:\\windows", "C__windows"),
            ("..", "unnamed"),
            (".", "unnamed"),
            ("", "unnamed"),
            ("-rf", "_rf"),
            (".hidden", "_hidden"),
            ("dots. .", "dots"),
            ("spaces  ", "spaces"),
            ("   ", "unnamed"),
            ("con", "_con"),
            ("NUL", "_NUL"),
            ("aux.weights", "_aux.weights"),
            ("com1.x.y", "_com1.x.y"),
            ("com10", "com10"),
            ("COM¹", "_COM¹"),
            ("con .x", "_con .x"),
            ("\u{1b}[31m\n\0", "_[31m__"),
        ] {
            assert_eq!(safe(name.as_bytes()), file, "{name:?}");
        }
        assert_eq!(safe(b"caf\xe9"), "caf_");
        assert_eq!(safe(&[b'a'; 5000]).len(), LONGEST);
        // The limit counts bytes, and characters are never cut.
        for start in ["", "a", "aa", "aaa"] {
            let name = safe(format!("{start}{}", "日🦀".repeat(100)).as_bytes());
            assert!((LONGEST - 3..=LONGEST).contains(&name.len()) && !name.contains('_'), "{name}");
        }
        assert_eq!(safe(&[0x80; 5000]), "_".repeat(LONGEST));
    }

    #[test]
    fn no_two_names_are_one_on_any_system() {
        let mut names = Names::default();
        let given = [
            "a", "A", "a", "a~2", "A~2", "a/b", "a:b", "é", "e\u{301}", "É", "日本", "a~3", "straße", "STRASSE", "ſ",
            "S", "s",
        ];
        let made: Vec<String> = given.iter().map(|name| names.of(name.as_bytes())).collect();
        let mut lower: Vec<String> = made.iter().map(|name| folded(name).into_owned()).collect();
        lower.sort();
        lower.dedup();
        assert_eq!(lower.len(), given.len(), "{made:?}");
        assert_eq!(made[..3], ["a", "A~2", "a~3"]);
        assert_eq!(made[7..11], ["é", "e\u{301}~2", "É~3", "日本"]);
    }

    /// Each takes as long as the first.
    #[test]
    fn many_of_one_name_take_no_longer() {
        let mut names = Names::default();
        let last = (0..100_000).map(|_| names.of(b"weights")).last();
        assert_eq!(last.as_deref(), Some("weights~100000"));
        assert_eq!(made(&["weights"; 100_000], Same::Folded).last().map(String::as_str), Some("weights~100000"));
    }

    /// The names that blobs with these names get.
    fn made(names: &[&str], same: Same) -> Vec<String> {
        let wish = |name: &str| Wish { place: "tensors", name: name.to_owned().into(), same };
        let numbers = Numbers::of(names.len(), || names.iter().enumerate().map(|(blob, name)| (blob, wish(name))));
        names.iter().enumerate().map(|(blob, name)| numbers.name_of(blob, name).into_owned()).collect()
    }

    #[test]
    fn only_names_that_are_the_same_get_numbers() {
        assert_eq!(made(&["a", "b", "A", "a.npy"], Same::Exactly), ["a", "b", "A", "a.npy"]);
        let made_folded = made(&["a", "b", "A", "a", "B~2", "b", "a.npy"], Same::Folded);
        assert_eq!(made_folded, ["a", "b", "A~2", "a~3", "B~2", "b~3", "a.npy"]);
        let made_folded = made(&["a", "a~2", "a", "a~2", "a~2~2"], Same::Folded);
        assert_eq!(made_folded, ["a", "a~2", "a~3", "a~2~3", "a~2~2"]);
    }

    #[test]
    fn an_ending_makes_no_other_key() {
        assert_eq!(made(&["w", "w.npy", "W.npy"], Same::Keys), ["w", "w.npy~2", "W.npy"]);
        assert_eq!(made(&["w.npy", "w", "w.npy~2.npy"], Same::Keys), ["w.npy", "w~2", "w.npy~2.npy"]);
        assert_eq!(made(&["w", "w.npy", "w.npy~2.npy"], Same::Keys), ["w", "w.npy~3", "w.npy~2.npy"]);
        assert_eq!(made(&["v.npy", "w.npy"], Same::Keys), ["v.npy", "w.npy"]);
    }

    #[test]
    fn keys_are_names_that_lead_nowhere() {
        for name in ["dense/kernel:0", "größe", "a b", "日本/語.npy", ".hidden", "con"] {
            assert_eq!(entry_key(&Text::from(name)), name);
        }
        for (name, key) in [
            ("../w", "_._w"),
            ("a/../w", "a_.._w"),
            ("/w", "_w"),
            ("a//b", "a__b"),
            ("a/", "a_"),
            ("c:w", "c_w"),
            ("a\\b", "a_b"),
            ("a\u{202e}b", "a_b"),
            ("", "unnamed"),
        ] {
            assert_eq!(entry_key(&Text::from(name)), key);
        }
    }

    #[test]
    fn the_same_name_in_another_folder_needs_no_number() {
        let wishes = ["tensors", "feeds", "tensors"].map(|place| Wish { place, name: "w".into(), same: Same::Folded });
        let numbers = Numbers::of(3, || wishes.iter().cloned().enumerate());
        assert_eq!([0, 1, 2].map(|blob| numbers.name_of(blob, "w")), ["w", "w", "w~2"]);
    }
}
