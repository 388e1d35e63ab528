//! Names of files for names of blobs.

use std::collections::HashMap;

/// The most bytes of a name without its number and ending. File systems take 255.
const LONGEST: usize = 120;

/// Gives each blob of a folder a file name of its own.
///
/// A file name has only ASCII letters, digits, `-`, `+`, `_` and `.`, so that it cannot lead out of its folder, means the same
/// on every system, and no normalisation of Unicode changes it. Names that differ only in upper and lower case get a number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// How many names were made of each.
    taken: HashMap<String, u64>,
}

impl Names {
    /// A new file name like the name of a blob.
    pub(crate) fn of(&mut self, name: &[u8]) -> String {
        self.unique(&safe(name), str::to_ascii_lowercase)
    }

    /// The name itself, with a number if it is taken.
    pub(crate) fn exactly(&mut self, name: &str) -> String {
        self.unique(name, str::to_owned)
    }

    /// `folded` is the same for names that must not stand beside each other.
    fn unique(&mut self, name: &str, folded: fn(&str) -> String) -> String {
        let mut nth = self.taken.get(&folded(name)).copied().unwrap_or(0).saturating_add(1);
        let mut made = name.to_owned();
        while nth > 1 {
            made = format!("{name}~{nth}");
            // Another blob may be called so.
            if self.taken.insert(folded(&made), 1).is_none() {
                break;
            }
            nth = nth.saturating_add(1);
        }
        self.taken.insert(folded(name), nth);
        made
    }
}

/// A name that is safe on every system, and that has an ending put after it.
pub(crate) fn safe(name: &[u8]) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-+_.".contains(&byte);
    let kept = name.iter().take(LONGEST).map(|&byte| if allowed(byte) { char::from(byte) } else { '_' });
    let name: String = kept.collect();
    // What begins with a dot is hidden, and with a hyphen looks like an option. Windows drops dots at the end.
    let name = name.trim_end_matches('.');
    match name.as_bytes().first() {
        None => "unnamed".to_owned(),
        Some(b'.' | b'-') => format!("_{}", name.get(1..).unwrap_or_default()),
        _ if is_reserved(name) => format!("_{name}"),
        _ => name.to_owned(),
    }
}

/// Whether Windows takes the name for a device, whatever follows the first dot.
fn is_reserved(name: &str) -> bool {
    let name = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = |device| name.strip_prefix(device).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    matches!(&*name, "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
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
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("/etc/passwd", "_etc_passwd"),
            ("C:\\windows", "C__windows"),
            ("..", "unnamed"),
            (".", "unnamed"),
            ("", "unnamed"),
            ("-rf", "_rf"),
            (".hidden", "_hidden"),
            ("dots...", "dots"),
            ("spaces  ", "spaces__"),
            ("con", "_con"),
            ("NUL", "_NUL"),
            ("aux.weights", "_aux.weights"),
            ("com1.x.y", "_com1.x.y"),
            ("com10", "com10"),
            ("\u{1b}[31m\n\0", "__31m__"),
            ("é", "__"),
        ] {
            assert_eq!(safe(name.as_bytes()), file, "{name:?}");
        }
        assert_eq!(safe(b"caf\xe9"), "caf_");
        assert_eq!(safe(&[b'a'; 5000]).len(), LONGEST);
    }

    #[test]
    fn no_two_names_are_one_on_any_system() {
        let mut names = Names::default();
        let given = ["a", "A", "a", "a~2", "A~2", "a/b", "a:b", "é", "e\u{301}", "日本", "a~3"];
        let made: Vec<String> = given.iter().map(|name| names.of(name.as_bytes())).collect();
        let mut lower: Vec<String> = made.iter().map(|name| name.to_lowercase()).collect();
        lower.sort();
        lower.dedup();
        assert_eq!(lower.len(), given.len(), "{made:?}");
        assert_eq!(made[..3], ["a", "A~2", "a~3"]);
    }

    /// Each takes as long as the first.
    #[test]
    fn many_blobs_of_one_name_take_no_longer() {
        let mut names = Names::default();
        let last = (0..100_000).map(|_| names.of(b"weights")).last();
        assert_eq!(last.as_deref(), Some("weights~100000"));
    }
}
