//! `popef man`: the manual pages.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::builder::PossibleValuesParser;
use popef_cli::sections;
use popef_cli::end::unwritten;
use popef_cli::generate::{MANUAL_WIDTH, manual, manual_of_command};
use popef_cli::common::Common;
use popef_cli::tool::{Tool, raw_stdout};
use popef_cli::values::path;
use popef_ops::Error;

use super::{Command, Commands};
use crate::command;
use crate::help::{COMMON, command_rows};

/// Print the manual page of the tool or of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef man | man -l -
  popef man merge | man -l -
  popef man --all ~/.local/share/man/man1      popef.1, popef-ls.1 and so on")]
pub(crate) struct Args {
    /// Command; without one, the page lists all commands
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(Commands::NAMES), hide_possible_values = true)]
    command: Option<String>,
    /// Write the pages of the tool and of all its commands into DIR, and replace those that are there; DIR is made if it is missing
    #[arg(long, value_name = "DIR", value_parser = path(), conflicts_with = "command")]
    all: Option<PathBuf>,
}

impl Command for Args {
    fn run(&self, _tool: &Tool) -> Result<ExitCode, Error> {
        let mut root = command();
        root.build();
        match &self.all {
            Some(folder) => all_pages(&root, folder)?,
            None => {
                let one = self.command.as_ref().and_then(|name| root.find_subcommand(name).cloned());
                page(&root, one, &mut raw_stdout().map_err(unwritten)?).map_err(unwritten)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE
    }
}

/// Writes the page of a command, or of the tool.
fn page(root: &clap::Command, one: Option<clap::Command>, out: &mut dyn Write) -> io::Result<()> {
    match one {
        Some(command) => manual_of_command(out, command),
        None => {
            let commands = sections::lines(&rows(&command_rows(root)), MANUAL_WIDTH);
            let common = COMMON.iter().map(|(heading, rows)| ((*heading).to_owned(), sections::lines(rows, MANUAL_WIDTH)));
            manual(out, root.clone(), std::iter::once(("Commands".to_owned(), commands)).chain(common))
        }
    }
}

/// Writes all pages into a folder. Those of another version are replaced, which is what an installation wants.
fn all_pages(root: &clap::Command, folder: &Path) -> Result<(), Error> {
    let wrong = |doing, path: &Path| {
        let path = path.to_owned();
        move |error| Error::io(doing, error).in_file(path)
    };
    fs::create_dir_all(folder).map_err(wrong("make the folder", folder))?;
    let commands = root.get_subcommands().filter(|command| command.get_name() != "help").cloned().map(Some);
    for one in commands.chain([None]) {
        let name = one.as_ref().map_or_else(|| "popef.1".to_owned(), |command| format!("popef-{}.1", command.get_name()));
        let (path, mut text) = (folder.join(name), Vec::new());
        page(root, one, &mut text).map_err(unwritten)?;
        fs::write(&path, text).map_err(wrong("write the page", &path))?;
    }
    Ok(())
}

fn rows(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(term, meaning)| (term.as_str(), meaning.as_str())).collect()
}
