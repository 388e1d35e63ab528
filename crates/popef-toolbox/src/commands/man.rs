//! `popef man`: the manual pages.

use std::process::ExitCode;

use clap::ColorChoice;
use clap::builder::PossibleValuesParser;
use popef_dump_tool::generate::{MANUAL_WIDTH, manual};
use popef_dump_tool::sections;
use popef_ops::Error;

use super::{Command, Commands};
use crate::command;
use crate::common::end::unwritten;
use crate::common::tool::{Tool, raw_stdout};
use crate::help::{COMMON, command_rows};

/// Print the manual page of the tool or of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef man | man -l -
  popef man merge | man -l -
  popef man > ~/.local/share/man/man1/popef.1")]
pub(crate) struct Args {
    /// Command; without one, the page lists all commands
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(Commands::NAMES), hide_possible_values = true)]
    command: Option<String>,
}

impl Command for Args {
    fn run(&self, _tool: &Tool) -> Result<ExitCode, Error> {
        let mut root = command();
        root.build();
        let one = self.command.as_ref().and_then(|name| root.find_subcommand(name).cloned());
        let mut out = raw_stdout().map_err(unwritten)?;
        match one {
            Some(command) => {
                let sections: Vec<_> = command.get_subcommands().map(of_inner).chain(own_sections(&command)).collect();
                let command = command.version(env!("CARGO_PKG_VERSION")).disable_version_flag(true);
                manual(&mut out, command, sections)
            }
            None => {
                let commands = sections::lines(&rows(&command_rows(&root)), MANUAL_WIDTH);
                let common = COMMON.iter().map(|(heading, rows)| ((*heading).to_owned(), sections::lines(rows, MANUAL_WIDTH)));
                manual(&mut out, root, std::iter::once(("Commands".to_owned(), commands)).chain(common))
            }
        }
        .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn rows(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(term, meaning)| (term.as_str(), meaning.as_str())).collect()
}

/// The help of a command of a command.
fn of_inner(command: &clap::Command) -> (String, String) {
    let help = command.clone().term_width(MANUAL_WIDTH).color(ColorChoice::Never).render_long_help().to_string();
    let lines = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    (command.get_bin_name().unwrap_or(command.get_name()).to_owned(), lines)
}

/// What the help of a command has after its options: paragraphs that begin with a heading and a colon.
fn own_sections(command: &clap::Command) -> Vec<(String, String)> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let section = |paragraph: &str| {
        let (heading, text) = paragraph.split_once(':')?;
        let lines = match text.strip_prefix('\n') {
            Some(lines) => format!("{}\n", lines.trim_end()),
            None => sections::lines(&[("", text)], MANUAL_WIDTH),
        };
        Some((heading.to_owned(), lines))
    };
    after.split("\n\n").filter_map(section).collect()
}
