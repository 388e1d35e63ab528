//! `popef man`: the manual pages.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use popef_cli::end::{unwritten, wrong};
use popef_cli::generate::{MANUAL_WIDTH, manual, manual_of_command};
use popef_cli::common::Common;
use popef_cli::sections;
use popef_cli::tool::{Tool, raw_stdout};
use popef_cli::values::path;
use popef_ops::{Error, Overwrite, PlainFile};

use super::{Command, Commands};
use crate::command;
use crate::help::{COMMON, command_rows};

/// Print the manual page of the tool or of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef man | man -l -
  popef man merge | man -l -
  popef man tiles exec | man -l -
  popef man --output-dir ~/.local/share/man/man1      popef.1, popef-ls.1 and so on")]
pub(crate) struct Args {
    /// Command; without one, the page lists all commands
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(Commands::NAMES), hide_possible_values = true)]
    command: Option<String>,
    /// Command of this command, such as diff of profile
    #[arg(value_name = "INNER", requires = "command")]
    inner: Option<String>,
    /// Write the pages of the tool and of its commands into DIR, and replace those that are there; DIR is made if it is missing
    ///
    /// popef-dump.1 is not among them: it is the page of the tool popef-dump, whose options popef dump has. The tool prints it with
    /// --generate man.
    #[arg(long, value_name = "DIR", value_parser = path(), conflicts_with = "command")]
    output_dir: Option<PathBuf>,
}

impl Command for Args {
    fn run(&self, _tool: &Tool) -> Result<ExitCode, Error> {
        let mut root = command();
        root.build();
        match &self.output_dir {
            Some(folder) => all_pages(&root, folder)?,
            None => {
                let one = self.one(&root)?;
                page(&root, one, &mut raw_stdout().map_err(unwritten)?).map_err(unwritten)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE
    }
}

impl Args {
    /// The command whose page is requested. `None` for the tool's own page.
    fn one(&self, root: &clap::Command) -> Result<Option<clap::Command>, Error> {
        let Some(command) = self.command.as_ref().and_then(|name| root.find_subcommand(name)) else { return Ok(None) };
        let Some(inner) = &self.inner else { return Ok(Some(command.clone())) };
        let no_such = || wrong(format!("popef {} has no command {inner}", command.get_name()));
        command.find_subcommand(inner).cloned().map(Some).ok_or_else(no_such)
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

/// Writes all pages into a folder. It replaces pages of other versions, as an installation must.
fn all_pages(root: &clap::Command, folder: &Path) -> Result<(), Error> {
    // The page of `popef dump` would replace the page of popef-dump.
    let commands = root.get_subcommands().filter(|command| !["help", "dump"].contains(&command.get_name()));
    for one in commands.cloned().map(Some).chain([None]) {
        let name = one.as_ref().map_or_else(|| "popef.1".to_owned(), |command| format!("popef-{}.1", command.get_name()));
        let mut file = PlainFile::in_folder(folder, &name, Overwrite::Others)?;
        page(root, one, &mut file).map_err(|error| unwritten(error).in_file(folder.join(&name)))?;
        file.finish()?;
    }
    Ok(())
}

fn rows(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(term, meaning)| (term.as_str(), meaning.as_str())).collect()
}
