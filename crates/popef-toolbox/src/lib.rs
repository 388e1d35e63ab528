//! The tool `popef`. Its program calls [`main`]. Nothing else here is meant to be used.
//!
//! Each command is one file in `commands/`. It has the command's arguments, calls the operation in `popef-ops`, and shows
//! its report. The code that several commands share is in `common/`.

#![forbid(unsafe_code, reason = "above all no mapping: a mapped file that is shortened kills the process")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "no input may panic"
    )
)]

mod commands;
mod common;
mod help;
mod tips;

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(feature = "remote")]
use clap::Arg;
use clap::{ArgAction, ArgMatches, ColorChoice, Command, CommandFactory as _, FromArgMatches as _, Parser};
use commands::Commands;
use popef_cli::end::ended;
#[cfg(feature = "remote")]
use popef_cli::end::wrong;
use popef_cli::line::{matches, typed, with_value};
use popef_cli::program::Program;
#[cfg(feature = "remote")]
use popef_cli::remote::OTHER_MACHINES;
use popef_cli::screen::help_width;
use popef_cli::tool::Tool;
use popef_cli::version::built_with;
use popef_show::When;
use tips::with_tip;

// Beginnings of commands and options are errors, so that a new command or option cannot break a script.
/// Works on PopEF files, which are compiled models for Graphcore IPUs
#[derive(Debug, Parser)]
#[command(name = "popef", version, long_version = built_with(), args_override_self = true, arg_required_else_help = true, disable_help_flag = true)]
struct Args {
    #[command(subcommand)]
    command: Commands,

    /// When to use colours: auto, always or never; without WHEN, always
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_parser = popef_cli::values::when(),
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true,
        display_order = LAST,
        help_heading = "Output"
    )]
    color: When,

    /// Say on stderr what reading from other machines took
    #[cfg(feature = "remote")]
    #[arg(short, long, global = true, hide_short_help = true, help_heading = OTHER_MACHINES)]
    verbose: bool,

    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: popef_cli::remote::RemoteArgs,

    /// Print help; --help has all options
    #[arg(short, long, global = true, long_help = "Print help; -h prints a summary", action = ArgAction::Help, display_order = LAST, help_heading = "Other")]
    help: Option<bool>,
}

/// The place in the help of the options that all commands have.
const LAST: usize = 1000;

/// The tool as a whole.
const POPEF: Program = Program { name: "popef", explain: "popef explain", tells_unread: false };

/// Runs the tool with the arguments of the process.
pub fn main() -> ExitCode {
    main_with(std::env::args_os())
}

/// Runs the tool with other arguments, the first of which is its name.
pub fn main_with(line: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    let line: Vec<OsString> = line.into_iter().map(Into::into).collect();
    popef_cli::advice::name_options();
    if let Some(status) = popef_cli::complete::answer(&line, &mut std::io::stdout()) {
        return status;
    }
    match parsed(line) {
        Ok((args, options)) => {
            let command = args.command.given();
            let tool = Tool::new(args.command.name(), typed("popef", &options), args.color, &command.common());
            let ready = tool.check_stdout();
            #[cfg(feature = "remote")]
            let ready = ready
                .and_then(|()| command.common().output.check_sources(args.remote.sources()))
                .and_then(|()| args.remote.apply(Some(popef_cli::signals::is_stopped)).map_err(wrong));
            let status = ended(&tool, ready.and_then(|()| command.run(&tool)));
            #[cfg(feature = "remote")]
            if !args.command.tells_cost() {
                tool.tell_cost(args.verbose);
            }
            status
        }
        Err(error) => POPEF.printed(error.print(), error.exit_code()),
    }
}

/// The command line, from which tests learn what there is to run.
pub fn command() -> Command {
    let command = help::with_statuses(local_commands(Args::command()), "popef");
    let command = command.term_width(help_width()).color(ColorChoice::Auto);
    let help = help::text(&command);
    command.override_help(help)
}

/// Hides the options for files on other machines in the help of commands that read only files here.
#[cfg(feature = "remote")]
fn local_commands(command: Command) -> Command {
    let is_remote = |arg: &&Arg| arg.get_help_heading() == Some(OTHER_MACHINES);
    let hidden: Vec<Arg> = command.get_arguments().filter(is_remote).map(|arg| arg.clone().hide(true)).collect();
    command.mut_subcommands(|inner| match inner.get_name() {
        "explain" | "completions" | "man" => inner.args(&hidden),
        "tiles" => inner.mut_subcommands(|of_tiles| match of_tiles.get_name() {
            "plan" => of_tiles.args(&hidden),
            _ => of_tiles,
        }),
        _ => inner,
    })
}

#[cfg(not(feature = "remote"))]
fn local_commands(command: Command) -> Command {
    command
}

fn parsed(line: impl IntoIterator<Item = impl Into<OsString>>) -> Result<(Args, ArgMatches), clap::Error> {
    let mut command = command();
    let line = with_value(&line.into_iter().map(Into::into).collect::<Vec<_>>());
    let matches = matches(&mut command, &line).map_err(|error| with_tip(error, &command, &line))?;
    let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((args, matches))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters of options, with the full names: of a command and of those in it.
    fn letters(command: &Command) -> Vec<(String, char, String)> {
        let own = command.get_arguments().filter_map(|arg| Some((arg.get_short()?, arg.get_long()?.to_owned())));
        let mut found: Vec<_> = own.map(|(short, long)| (command.get_name().to_owned(), short, long)).collect();
        found.extend(command.get_subcommands().flat_map(letters));
        found
    }

    /// People who know popef-dump must not be misled.
    #[test]
    fn letters_of_popef_dump_mean_the_same_or_nothing() {
        let mut tool = command();
        tool.build();
        let all = letters(&tool);
        let mut of_dump: Vec<(char, &str)> = all
            .iter()
            .filter(|(command, ..)| command == "dump")
            .map(|(_, short, long)| (*short, long.as_str()))
            .collect();
        for letter in "mauetfoivhc".chars() {
            assert!(of_dump.iter().any(|(short, _)| *short == letter), "-{letter}");
        }
        // popef dump does not have these itself.
        of_dump.extend([('q', "quiet"), ('V', "version")]);
        for (command, short, long) in all.iter().filter(|(command, ..)| command != "dump") {
            // The output has had this letter in all tools since the first one.
            let is_output = (*short, long.as_str()) == ('o', "output");
            let meaning = of_dump.iter().find(|(letter, _)| letter == short);
            assert!(is_output || meaning.is_none_or(|(_, there)| there == long), "popef {command} -{short}, --{long}");
        }
    }

    #[test]
    fn compression_has_one_name() {
        let options = |command: &Command| -> Vec<String> {
            let names = command.get_arguments().flat_map(|arg| {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect::<Vec<_>>()
            });
            names.filter(|name| name.starts_with("compress")).collect()
        };
        let tool = command();
        let found: Vec<_> = tool.get_subcommands().filter(|command| !options(command).is_empty()).collect();
        assert_eq!(found.iter().map(|command| command.get_name()).collect::<Vec<_>>(), ["pack", "compress"]);
        assert!(found.iter().all(|command| options(command) == ["compression"]));
    }
}
