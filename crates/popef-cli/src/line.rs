//! The line that a user has typed.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Command};
use popef::types::redact_word;
use popef_show::When;

/// What a line means to a command. An error quotes words of the line, so it is made of what can be shown.
pub fn matches(command: &mut Command, line: &[OsString]) -> Result<ArgMatches, clap::Error> {
    command
        .try_get_matches_from_mut(line)
        .map_err(|error| showable(line).and_then(|line| command.try_get_matches_from_mut(line).err()).unwrap_or(error))
}

/// A command line as it can be shown: without what may be secret in addresses. `None` if there is nothing of the kind.
fn showable(line: &[OsString]) -> Option<Vec<OsString>> {
    let shown = |word: &OsString| match redact_word(&word.to_string_lossy()) {
        Cow::Owned(shown) => shown.into(),
        Cow::Borrowed(_) => word.clone(),
    };
    Some(line.iter().map(shown).collect()).filter(|shown: &Vec<OsString>| shown.as_slice() != line)
}

/// What users type for the command that runs, such as `popef tiles plan`.
pub fn typed(tool: &str, mut options: &ArgMatches) -> String {
    let mut line = tool.to_owned();
    while let Some((command, of_command)) = options.subcommand() {
        line.extend([" ", command]);
        options = of_command;
    }
    line
}

/// The line, in which each `--color` has a value.
///
/// clap can leave out a value, but takes any next word for one, also a file or a command. The value that is a word of its own must
/// stay possible, too.
pub fn with_value(line: &[OsString]) -> Vec<OsString> {
    let options = line.iter().position(|word| word == "--").unwrap_or(line.len());
    let lacks_value = |at: usize| {
        at < options && line.get(at).is_some_and(|word| word == "--color") && !is_when(line.get(at.saturating_add(1)))
    };
    let words = line.iter().enumerate();
    words.map(|(at, word)| if lacks_value(at) { "--color=always".into() } else { word.clone() }).collect()
}

fn is_when(word: Option<&OsString>) -> bool {
    word.is_some_and(|word| When::ALL.iter().any(|when| word == OsStr::new(when.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_value_is_added() {
        for (typed, meant) in [
            ("popef --color ls x", "popef --color=always ls x"),
            ("popef ls --color x", "popef ls --color=always x"),
            ("popef ls x --color", "popef ls x --color=always"),
            ("popef ls --color --format json x", "popef ls --color=always --format json x"),
            ("popef ls --color never x", "popef ls --color never x"),
            ("popef ls --color=auto x", "popef ls --color=auto x"),
            ("popef ls -- --color x", "popef ls -- --color x"),
        ] {
            let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(with_value(&words(typed)), words(meant));
        }
    }
}
