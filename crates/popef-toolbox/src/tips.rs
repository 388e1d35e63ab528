//! Tips for wrong command lines for which clap has no tip.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// The error of a command line, with a tip if there is one.
pub(crate) fn with_tip(mut error: Error, tool: &Command, line: &[OsString]) -> Error {
    if matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word == "--format") {
        // The similar option, --force, means something else.
        error.remove(ContextKind::SuggestedArg);
    }
    if command_of(tool, line).is_none()
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, tip)) = COMMANDS.iter().find(|(others, _)| others.contains(&word.to_lowercase().as_str()))
    {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
        return error;
    }
    if let Some(tip) = command_of(tool, line).and_then(|command| tip(&error, command, line)) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Names of commands in other tools, and the commands to use here.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["validate", "lint", "test"],
        "'popef check' says whether a model will load, and 'popef verify' compares a file with a manifest",
    ),
    (&["info", "inspect", "list", "head"], "'popef ls' lists what is in a file, and 'popef report' makes a page of it"),
    (&["show", "print", "view"], "'popef ls' lists what is in a file, and 'popef cat' shows one blob"),
    (&["unpack", "export"], "'popef extract' writes blobs as files, and 'popef decompress' unpacks executables"),
    (&["edit", "rename"], "'popef set' changes metadata and tensors, and renames blobs"),
    (&["concat", "join"], "'popef merge' makes one file of several"),
    (&["sum", "checksum", "digest"], "'popef hash' makes a manifest, which 'popef verify' compares"),
    (&["repair", "fix"], "'popef recover' keeps the whole blobs of a damaged file, and 'popef set' changes files"),
    (&["size", "memory"], "'popef tiles' and 'popef profile' show the memory of tiles, and 'popef ls' sizes of blobs"),
];

fn command_of<'c>(tool: &'c Command, line: &[OsString]) -> Option<&'c Command> {
    line.iter().skip(1).find_map(|word| tool.find_subcommand(word))
}

fn tip(error: &Error, command: &Command, line: &[OsString]) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::MissingRequiredArgument, ContextValue::Strings(missing)) => {
            let is_output = missing.iter().any(|name| name.starts_with("--output"));
            (is_output && has(command, "in-place"))
                .then(|| "'--in-place' replaces the input, and '--dry-run' only shows what would be done".to_owned())
        }
        (ErrorKind::UnknownArgument, ContextValue::String(word)) if !word.starts_with('-') => {
            if ["npy", "npz", "safetensors"].iter().any(|ending| Path::new(word).extension() == Some(ending.as_ref()))
                && has(command, "tensors")
            {
                Some(format!("to add the arrays of '{word}', use '--tensors {word}': it is repeated for each file"))
            } else if let Some(field) = field_before(word, line).filter(|_| has(command, "set")) {
                Some(format!("to set a field, use '--set {field}={word}'"))
            } else if word.contains('=') && has(command, "set") {
                Some(format!("to set a field, use '--set {word}'"))
            } else {
                has(command, "output").then(|| format!("to write to '{word}', use '-o {word}'"))
            }
        }
        (ErrorKind::UnknownArgument, ContextValue::String(word)) if is_negative(word) => {
            Some(format!("'{word}' is a negative number, and no option takes one"))
        }
        (ErrorKind::UnknownArgument, ContextValue::String(word)) => {
            let meant = OPTIONS.iter().find(|(option, there, _)| option == word && has(command, there));
            meant.map(|(.., tip)| (*tip).to_owned()).or_else(|| compression_elsewhere(word))
        }
        _ => None,
    }
}

/// The field in `--set FIELD VALUE`, where `--set FIELD=VALUE` was meant.
fn field_before<'l>(value: &str, line: &'l [OsString]) -> Option<&'l str> {
    line.windows(3).find_map(|words| match words {
        [set, field, word] if set == "--set" && word == value => field.to_str().filter(|field| !field.contains('=')),
        _ => None,
    })
}

/// Options that a command does not have, an option that it must have for the tip to apply, and the tip. Letters that mean
/// something in popef-dump mean nothing else here.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("--compress", "compression", "the option is called '--compression'"),
    (
        "--filter",
        "drop",
        "what goes is chosen by '--drop': '--drop any:GLOB' for a name of any type, or '--drop tensor:GLOB'",
    ),
    ("--type", "drop", "what goes is chosen by '--drop': '--drop TYPE', or '--drop TYPE:GLOB'"),
    ("-t", "drop", "what goes is chosen by '--drop': '--drop TYPE', or '--drop TYPE:GLOB'"),
    ("-q", "user-anchors", "'-q' is '--quiet' of checks: 'popef check -q'"),
    ("-t", "type", "'-t' is '--tensors' of popef-dump and popef dump; to choose a type, use '--type'"),
    ("-u", "unpacked", "'-u' is '--user-anchors' of popef-dump and popef dump; to unpack, use '--unpacked'"),
    ("-a", "algorithm", "'-a' is '--anchors' of popef-dump and popef dump; to choose an algorithm, use '--algorithm'"),
];

/// The tip about the commands that compress, for an option of compression at another command.
fn compression_elsewhere(word: &str) -> Option<String> {
    let is_compression = matches!(word, "--compression" | "--compress");
    is_compression.then(|| "'popef compress' compresses executables, and so does 'popef pack --compression'".to_owned())
}

fn is_negative(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
}

fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(option))
}
