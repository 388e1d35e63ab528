//! Words for a POSIX shell.

use std::path::Path;

/// A word that a shell takes as it is.
///
/// ```
/// assert_eq!(popef_open::shell_word("model.popef"), "model.popef");
/// assert_eq!(popef_open::shell_word("it's $HOME"), r#"'it'"'"'s $HOME'"#);
/// ```
pub fn shell_word(word: &str) -> String {
    let is_simple = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_simple) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r#"'"'"'"#))
}

/// A path as a word for a shell that no command takes for an option. `None` if it is not UTF-8.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(popef_open::shell_path(Path::new("-x")).unwrap(), "./-x");
/// ```
pub fn shell_path(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_odd = text.starts_with('-') || text.starts_with('.') && text != "." && !text.contains('/');
    Some(shell_word(&if is_odd { format!("./{text}") } else { text.to_owned() }))
}
