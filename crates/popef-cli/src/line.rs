//! The line that a user has typed.

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Command};
use popef::types::{redact, redact_word};
use popef_show::{When, escape_rest};

/// What a line means to a command. An error quotes words of the line, so it is made of what can be shown.
pub fn matches(command: &mut Command, line: &[OsString]) -> Result<ArgMatches, clap::Error> {
    command.try_get_matches_from_mut(line).map_err(|error| match showable(line) {
        Some(line) => match command.try_get_matches_from_mut(line) {
            Err(shown) if shown.kind() == error.kind() => shown,
            _ => in_plain_text(&error),
        },
        None => error,
    })
}

/// A command line as it can be shown: without what may be secret in addresses, and without letters that mislead. `None` if there
/// is nothing of the kind.
fn showable(line: &[OsString]) -> Option<Vec<OsString>> {
    let shown = |word: &OsString| {
        let text = word.to_string_lossy();
        let shown = escape_rest(&redact_word(&text));
        if shown == text { word.clone() } else { shown.into() }
    };
    Some(line.iter().map(shown).collect()).filter(|shown: &Vec<OsString>| shown.as_slice() != line)
}

/// An error in a form that shows only what can be shown, for words that mean something else once they are escaped.
fn in_plain_text(error: &clap::Error) -> clap::Error {
    let text = redact(&error.to_string()).lines().map(|line| format!("{}\n", escape_rest(line))).collect::<String>();
    clap::Error::raw(error.kind(), text.trim_start_matches("error: "))
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

/// The line, in which each `--color` has a value, behind a `=`.
///
/// clap can leave out a value, but takes any next word for one, also a file or a command. The value that is a word of its own must
/// stay possible, too.
pub fn with_value(line: &[OsString]) -> Vec<OsString> {
    let options = line.iter().position(|word| word == "--").unwrap_or(line.len());
    let mut words = Vec::with_capacity(line.len());
    let mut rest = line.iter().enumerate().peekable();
    while let Some((at, word)) = rest.next() {
        if at > options || word != "--color" {
            words.push(word.clone());
            continue;
        }
        let value = rest.next_if(|(_, next)| is_when(next)).map_or(OsStr::new("always"), |(_, value)| value);
        words.push([OsStr::new("--color="), value].into_iter().collect());
    }
    words
}

fn is_when(word: &OsStr) -> bool {
    When::ALL.iter().any(|when| word == when.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_color_has_its_value() {
        for (typed, meant) in [
            ("popef --color ls x", "popef --color=always ls x"),
            ("popef ls --color x", "popef ls --color=always x"),
            ("popef ls x --color", "popef ls x --color=always"),
            ("popef ls --color --format json x", "popef ls --color=always --format json x"),
            ("popef ls --color never x", "popef ls --color=never x"),
            ("popef ls --color=auto x", "popef ls --color=auto x"),
            ("popef ls -- --color x", "popef ls -- --color x"),
        ] {
            let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(with_value(&words(typed)), words(meant));
        }
    }
}
