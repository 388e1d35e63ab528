//! `popef completions`: scripts for shells.

use std::io::Write as _;
use std::process::ExitCode;

use popef_cli::end::unwritten;
use popef_cli::generate::{Shell, completions_of_commands};
use popef_cli::common::Common;
use popef_cli::tool::{Tool, raw_stdout};
use popef_cli::values::named;
use popef_ops::Error;

use super::Command;
use crate::command;

/// Print the script by which a shell completes commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef completions bash > ~/.local/share/bash-completion/completions/popef
  popef completions zsh > ~/.zfunc/_popef      if .zshrc has fpath+=~/.zfunc before compinit
  popef completions fish > ~/.config/fish/completions/popef.fish
  source <(popef completions bash)             for this shell only")]
pub(crate) struct Args {
    /// Shell
    #[arg(value_name = "SHELL", value_parser = named(Shell::ALL.iter().copied(), |shell| shell.as_str()))]
    shell: Shell,
}

impl Command for Args {
    fn run(&self, _tool: &Tool) -> Result<ExitCode, Error> {
        let script = completions_of_commands(self.shell, &command(), &["popef"]);
        raw_stdout().and_then(|mut out| out.write_all(script.as_bytes())).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE
    }
}
