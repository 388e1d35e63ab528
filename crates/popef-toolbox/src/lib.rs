//! The tool `popef`. Its program calls [`main`]. Nothing else here is meant to be used.
//!
//! Each command is one file in `commands/`. It has the command's arguments, calls the operation in `popef-ops`, and shows
//! its report. What several commands share is in `common/`.

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

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser};
use popef_show::When;

use commands::Commands;
use common::end::{ended, hear_signals};
use common::tool::Tool;

/// Takes PopEF files apart and puts them together: compiled models for Graphcore IPUs.
#[derive(Debug, Parser)]
#[command(
    name = "popef",
    version,
    infer_subcommands = true,
    infer_long_args = true,
    args_override_self = true,
    disable_help_subcommand = true,
    after_help = "More on a command, with examples: popef COMMAND --help"
)]
struct Args {
    #[command(subcommand)]
    command: Commands,

    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", value_parser = common::values::when(), default_value = "auto", hide_default_value = true, help_heading = "Output")]
    color: When,
}

/// Runs the tool with the arguments of the process.
pub fn main() -> ExitCode {
    let args = match parsed(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    if let Err(error) = hear_signals() {
        let _ = writeln!(io::stderr(), "popef: cannot listen for Ctrl-C: {error}");
    }
    let tool = Tool::new(args.color);
    ended(&tool, args.command.run(&tool))
}

fn parsed(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Args, clap::Error> {
    let width = popef_dump_tool::screen::help_width();
    let mut command = Args::command().term_width(width).color(ColorChoice::Auto);
    let matches = command.try_get_matches_from_mut(line)?;
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}
