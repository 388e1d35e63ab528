//! The options as a shell has to know them. What clap_complete makes offers no file names in bash, and takes a value that is
//! only allowed after `=` for one that is a word of its own.

use clap::{Arg, Command, ValueHint};
use popef::check::Rule;

pub(super) struct Opt {
    pub(super) short: Option<char>,
    pub(super) long: String,
    /// What it does, without a full stop.
    pub(super) about: String,
    /// None if it takes no value.
    pub(super) value: Option<Value>,
}

pub(super) struct Value {
    pub(super) name: String,
    pub(super) words: Words,
    /// Whether it must be in the option's own word, after `=`.
    pub(super) attached: bool,
    /// Whether it can be missing.
    pub(super) optional: bool,
}

/// What a value can be.
pub(super) enum Words {
    /// One of these.
    One(Vec<String>),
    /// Some of these, with commas between them.
    List(Vec<String>),
    Path,
    Any,
}

/// The options of a command, without its files.
pub(super) fn options(command: &Command) -> Vec<Opt> {
    let mut command = command.clone();
    command.build();
    command.get_arguments().filter_map(option).collect()
}

fn option(arg: &Arg) -> Option<Opt> {
    Some(Opt {
        short: arg.get_short(),
        long: arg.get_long()?.to_owned(),
        about: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        value: arg.get_action().takes_values().then(|| value(arg)),
    })
}

fn value(arg: &Arg) -> Value {
    Value {
        name: arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default(),
        words: words(arg),
        attached: arg.is_require_equals_set(),
        optional: arg.get_num_args().is_some_and(|range| range.min_values() == 0),
    }
}

fn words(arg: &Arg) -> Words {
    let possible: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match arg.get_value_hint() {
        // Clap does not know them, because they can be written in small letters too.
        _ if arg.get_id() == "explain" => Words::List(Rule::all().map(|rule| rule.id.to_owned()).collect()),
        _ if !possible.is_empty() && arg.get_value_delimiter().is_some() => Words::List(possible),
        _ if !possible.is_empty() => Words::One(possible),
        ValueHint::AnyPath | ValueHint::FilePath => Words::Path,
        _ => Words::Any,
    }
}
