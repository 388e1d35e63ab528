//! The description of a program for completion scripts. Those of clap_complete offer no file names in bash, and expect a value that is only
//! allowed after `=` as a word of its own.

use clap::{Arg, Command, ValueHint};

use crate::complete::Names;

/// A program, or a command of one.
pub(super) struct Program {
    pub(super) name: String,
    /// What it does, without a full stop.
    pub(super) about: String,
    pub(super) options: Vec<Opt>,
    /// The values that its arguments can have, and their name.
    pub(super) arguments: Words,
    pub(super) argument: String,
    /// The second argument, if it is a name out of the file that the first one is.
    pub(super) second: Option<(String, Names)>,
    pub(super) commands: Vec<Program>,
}

pub(super) struct Opt {
    pub(super) short: Option<char>,
    pub(super) long: String,
    /// What it does, without a full stop.
    pub(super) about: String,
    /// `None` if it takes no value.
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

/// The values that are possible.
pub(super) enum Words {
    /// One of these.
    One(Vec<String>),
    /// Some of these, with commas between them.
    List(Vec<String>),
    Path,
    /// Names of blobs of the files on the line.
    Names(Names),
    Any,
}

impl Program {
    pub(super) fn of(command: &Command) -> Self {
        let mut command = command.clone();
        command.build();
        Program::built(&command)
    }

    fn built(command: &Command) -> Self {
        let names = || command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        let inner = || command.get_subcommands().map(Program::built).collect();
        let first = command.get_positionals().next();
        // `help` has all other commands as commands of its own.
        let (argument, arguments, commands) = match command.get_name() {
            "help" => ("COMMAND".to_owned(), Words::One(names()), Vec::new()),
            _ if first.is_none() && command.has_subcommands() => ("COMMAND".to_owned(), Words::One(names()), inner()),
            // A command may have both arguments and commands.
            _ => (first.map(value_name).unwrap_or_default(), first.map_or(Words::Any, words), inner()),
        };
        let second = command.get_positionals().nth(1).and_then(|arg| Some((value_name(arg), blob_names(arg)?)));
        Program {
            second,
            name: command.get_name().to_owned(),
            about: command.get_about().map(ToString::to_string).unwrap_or_default(),
            options: command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(option).collect(),
            arguments,
            argument,
            commands,
        }
    }

    /// All commands as they are typed, with those inside commands: `tiles`, `tiles plan`.
    pub(super) fn all_commands(&self) -> Vec<(String, &Program)> {
        let mut all = Vec::new();
        for command in &self.commands {
            let name = &command.name;
            all.push((name.clone(), command));
            all.extend(command.all_commands().into_iter().map(|(inner, command)| (format!("{name} {inner}"), command)));
        }
        all
    }

    /// Whether anything that it takes is a name out of a file.
    pub(super) fn takes_names(&self) -> bool {
        let is_names = |option: &Opt| matches!(&option.value, Some(Value { words: Words::Names(_), .. }));
        self.second.is_some() || self.options.iter().any(is_names) || self.commands.iter().any(Program::takes_names)
    }

    /// Its options as they are typed: `--all`.
    pub(super) fn long_options(&self) -> Vec<String> {
        self.options.iter().map(|option| format!("--{}", option.long)).collect()
    }

    pub(super) fn command_names(&self) -> Vec<&str> {
        self.commands.iter().map(|command| command.name.as_str()).collect()
    }
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
        name: value_name(arg),
        words: words(arg),
        attached: arg.is_require_equals_set(),
        optional: arg.get_num_args().is_some_and(|range| range.min_values() == 0),
    }
}

fn value_name(arg: &Arg) -> String {
    arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default()
}

fn words(arg: &Arg) -> Words {
    let possible: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match arg.get_value_hint() {
        _ if !possible.is_empty() && arg.get_value_delimiter().is_some() => Words::List(possible),
        _ if !possible.is_empty() => Words::One(possible),
        ValueHint::AnyPath | ValueHint::FilePath => Words::Path,
        _ => blob_names(arg).map_or(Words::Any, Words::Names),
    }
}

/// The kind of names that a value is, if it is a name out of a file. The value's own name, which the help shows, says
/// so.
fn blob_names(arg: &Arg) -> Option<Names> {
    match value_name(arg).as_str() {
        "NAME" if arg.is_positional() => Some(Names::Blob),
        "GLOB" => Some(Names::Glob),
        "EXECUTABLE" => Some(Names::Executable),
        "TYPE[:GLOB]" => Some(Names::Drop),
        "OLD=NEW" => Some(Names::Rename),
        _ => None,
    }
}
