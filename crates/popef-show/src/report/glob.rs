use glob::{MatchOptions, Pattern, PatternError};

use crate::escape;

/// A pattern that names match: `*` is any characters, `?` one, `[a-c]` one of these. A name with odd letters also matches in the
/// form in which it is shown, with these escaped.
///
/// ```
/// use popef_show::Glob;
///
/// assert_eq!(Glob::parse("layer.[0-9].*")?.as_str(), "layer.[0-9].*");
/// assert!(Glob::parse("two\\nlines*")?.matches("two\nlines here", false));
/// assert_eq!(Glob::parse("[z-a]").unwrap_err(), "the range z-a is backwards; write a-z");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glob(Pattern);

/// Names are not paths: `*` matches `/` too, and a leading dot is not special.
const GLOB: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: false, require_literal_leading_dot: false };

impl Glob {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(pattern: &str) -> Result<Glob, String> {
        let letters: Vec<char> = pattern.chars().collect();
        match backwards(&letters) {
            Some((first, last)) => Err(format!("the range {first}-{last} is backwards; write {last}-{first}")),
            None => Pattern::new(pattern).map(Glob).map_err(|error| in_words(&error)),
        }
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str, ignore_case: bool) -> bool {
        let options = MatchOptions { case_sensitive: !ignore_case, ..GLOB };
        // All escapes begin with a backslash.
        let as_shown = || self.as_str().contains('\\') && self.0.matches_with(&escape(name), options);
        self.0.matches_with(name, options) || as_shown()
    }
}

fn in_words(error: &PatternError) -> String {
    let bracket = "a `[` has no `]` after it; `[[]` is the letter `[`";
    let stars = "`**` is for folders; `*` matches any characters, also `/`";
    if error.msg.contains("range") { bracket.to_owned() } else { stars.to_owned() }
}

/// The first range of letters whose end is before its start: such a range matches nothing.
fn backwards(mut pattern: &[char]) -> Option<(char, char)> {
    loop {
        let start = pattern.iter().position(|&letter| letter == '[')?;
        let after = pattern.get(start + 1..)?;
        let after = after.strip_prefix(&['!']).unwrap_or(after);
        // The first letter of a set may be `]`.
        let len = 1 + after.get(1..)?.iter().position(|&letter| letter == ']')?;
        let (set, rest) = after.split_at_checked(len)?;
        if let Some(range) = backwards_in_set(set) {
            return Some(range);
        }
        pattern = rest;
    }
}

fn backwards_in_set(mut set: &[char]) -> Option<(char, char)> {
    loop {
        set = match set {
            [first, '-', last, ..] if first > last => return Some((*first, *last)),
            [_, '-', _, rest @ ..] | [_, rest @ ..] => rest,
            [] => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn wrong_patterns_are_explained() {
        for pattern in ["[z-a]", "x[!9-0]", "[a][b-cz-a]", "[]-[]"] {
            assert!(Glob::parse(pattern).unwrap_err().contains("is backwards; write "), "{pattern}");
        }
        for pattern in ["[a-z]", "[a-a]", "[a-c-a]", "[!a-z-]", "[-a]", "[]]", "z-a", "[a]z-a[b]", "*", "**"] {
            assert!(Glob::parse(pattern).is_ok(), "{pattern}");
        }
        for pattern in ["[", "a[", "[a", "[]", "[!]"] {
            assert!(Glob::parse(pattern).unwrap_err().starts_with("a `[` has no `]`"), "{pattern}");
        }
        assert!(Glob::parse("a**").unwrap_err().starts_with("`**` is for folders"));
    }
}
