//! The line that a user has typed.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use clap::{ArgMatches, Command};
use popef::types::{Diagnostic, redact, redact_word};
use popef_open::{Foreign, Opened, shell_path, shell_word};
use popef_show::{When, escape, escape_rest};

/// Parses the line of a command. Errors quote words of the line, so they are made from words that can be shown.
pub fn matches(command: &mut Command, line: &[OsString]) -> Result<ArgMatches, clap::Error> {
    remember(command.get_name(), line);
    command.try_get_matches_from_mut(line).map_err(|error| match showable(line) {
        Some(line) => match command.try_get_matches_from_mut(line) {
            Err(shown) if shown.kind() == error.kind() => shown,
            _ => in_plain_text(&error),
        },
        None => error,
    })
}

/// The line of the last call, for advice.
static TYPED: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Keeps the words after the name of the tool, which is `tool`.
fn remember(tool: &str, line: &[OsString]) {
    let words = line.iter().skip(1).cloned();
    *TYPED.lock().unwrap_or_else(PoisonError::into_inner) = [tool.into()].into_iter().chain(words).collect();
}

/// Why a file could not be read to its end. For a foreign file, the advice has the user's own line, in which the file comes
/// through a pipe. If the command leaves a file all the same (`leaves_file`), the line replaces it.
pub fn failure(opened: &Opened, leaves_file: bool) -> Option<Diagnostic> {
    let Opened { path, foreign, .. } = opened;
    match foreign {
        Some(foreign) => Some(described(foreign, path, leaves_file)),
        None => opened.error().map(|error| error.describe().in_file(path)),
    }
}

/// A foreign file as an error.
pub(crate) fn described(foreign: &Foreign, path: &Path, leaves_file: bool) -> Diagnostic {
    let line = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    let force = if leaves_file && !line.iter().any(|word| word == "--force") { " --force" } else { "" };
    foreign.describe(path, |instead| with_instead(&line, path, &format!("{instead}{force}")))
}

/// The advice to write through standard output, with the user's own line.
pub(crate) fn through_stdout(path: &Path) -> Option<String> {
    let line = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    let line: Vec<_> = line.iter().filter(|word| *word != "--force").cloned().collect();
    let line = with_instead(&line, path, "-")?;
    Some(format!("Write to it through standard output: {line} > {}", shell_path(path)?))
}

/// Options whose values may be secret. A line with one of them is not shown.
const MAY_BE_SECRET: [&str; 4] = ["--header", "--set", "--engine-option", "--device-option"];

/// The maximum length of a line that is shown, in bytes. Longer ones are not even searched, because each of many files may need it.
const LONGEST: usize = 2000;

/// A line for a shell with other words in place of a file. `None` if the file is not a word of it, or if the line would not work or must
/// not be shown.
fn with_instead(line: &[OsString], path: &Path, instead: &str) -> Option<String> {
    if line.iter().map(|word| word.len()).fold(0, usize::saturating_add) > LONGEST {
        return None;
    }
    let at = line.iter().position(|word| word == path.as_os_str())?;
    let others = || line.iter().enumerate().filter(|(other, _)| *other != at);
    let before = |at: usize| at.checked_sub(1).and_then(|before| line.get(before)).and_then(|word| word.to_str());
    let is_value = |at: usize| before(at).is_some_and(|before| before.starts_with('-') && before.len() > 1);
    let is_output = |at: usize| matches!(before(at), Some("-o" | "--output"));
    let cannot_be_there = |(at, word): (usize, &OsString)| {
        // Lines that would not work: another folder, another reader of standard input, an option that needs a file with
        // a name.
        (Path::new(word).is_dir() && !is_value(at))
            || (word == "-" && !is_output(at))
            || word == path.as_os_str()
            || (!instead.starts_with("--") && (word == "--in-place" || word == "--output-dir"))
    };
    if others().any(cannot_be_there) {
        return None;
    }
    let end = line.iter().position(|word| word == "--").unwrap_or(at).min(at);
    let words: Vec<(usize, &str)> = others().map(|(at, word)| Some((at, word.to_str()?))).collect::<Option<_>>()?;
    let has_secret = |word: &str| MAY_BE_SECRET.contains(&word.split('=').next().unwrap_or_default());
    let can_be_shown = |word: &str| escape(word) == word && redact_word(word) == word && !has_secret(word);
    if !words.iter().all(|(_, word)| can_be_shown(word)) {
        return None;
    }
    let (first, last): (Vec<_>, Vec<_>) = words.into_iter().partition(|(at, _)| *at < end);
    let typed = |words: Vec<(usize, &str)>| words.into_iter().map(|(_, word)| shell_word(word)).collect::<Vec<_>>();
    let line = [typed(first), vec![instead.to_owned()], typed(last)].concat().join(" ");
    Some(line.strip_suffix(" --").unwrap_or(&line).to_owned())
}

/// A command line without secrets of addresses and without misleading letters. `None` if nothing of this kind is in it.
fn showable(line: &[OsString]) -> Option<Vec<OsString>> {
    let shown = |word: &OsString| {
        let text = word.to_string_lossy();
        let shown = escape_rest(&redact_word(&text));
        if shown == text { word.clone() } else { shown.into() }
    };
    Some(line.iter().map(shown).collect()).filter(|shown: &Vec<OsString>| shown.as_slice() != line)
}

/// An error as plain text, for words that mean something else once they are escaped.
fn in_plain_text(error: &clap::Error) -> clap::Error {
    let text = redact(&error.to_string()).lines().map(|line| format!("{}\n", escape_rest(line))).collect::<String>();
    clap::Error::raw(error.kind(), text.trim_start_matches("error: "))
}

/// The words that users type for the command that runs, such as `popef tiles plan`.
pub fn typed(tool: &str, mut options: &ArgMatches) -> String {
    let mut line = tool.to_owned();
    while let Some((command, of_command)) = options.subcommand() {
        line.extend([" ", command]);
        options = of_command;
    }
    line
}

/// The line, in which each `--color` has a value after a `=`.
///
/// If a value is optional, clap takes any next word for it, even a file or a command. A value as a word of its own must stay possible, too.
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
    When::ALL.iter().any(|when| word == when.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_in_a_line_that_then_works() {
        for (typed, instead, meant) in [
            ("popef check --each F", "--files-from -", Some("popef check --each --files-from -")),
            ("popef merge F a.popef -o -", "--files-from -", Some("popef merge --files-from - a.popef -o -")),
            ("popef ls -- F", "--files-from -", Some("popef ls --files-from -")),
            ("popef ls -- -x F", "--files-from -", Some("popef ls --files-from - -- -x")),
            ("popef ls F F", "--files-from -", None),
            ("popef ls F .", "--files-from -", None),
            ("popef compress --output-dir . F", "--files-from -", Some("popef compress --output-dir . --files-from -")),
            ("popef ls F -", "--files-from -", None),
            ("popef ls --files-from list", "--files-from -", None),
            ("popef ls https://u:p@h/x F", "--files-from -", None),
            ("popef ls --header Key:secret F", "--files-from -", None),
            ("popef set --engine-option=password=secret F -o x", "-", None),
            ("popef ls F", "-", Some("popef ls -")),
            ("popef strip --in-place F", "-", None),
        ] {
            let line: Vec<_> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(with_instead(&line, Path::new("F"), instead).as_deref(), meant, "{typed}");
        }
        let long: Vec<_> = ["popef", "ls", "F", &"x".repeat(LONGEST)].map(OsString::from).to_vec();
        assert_eq!(with_instead(&long, Path::new("F"), "--files-from -"), None);
    }

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
