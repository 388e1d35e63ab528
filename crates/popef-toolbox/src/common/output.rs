//! Where a command writes a file.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use popef_ops::{Code, Error, Overwrite, Target};

use super::values::path;

/// Options of commands that make one file of several.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_parser = path(), required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Options of commands that change a file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ChangeArgs {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_parser = path(), required_unless_present_any = ["dry_run", "in_place"], conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace the input when the new file is complete and checked
    #[arg(long)]
    in_place: bool,
    /// Replace FILE if it exists
    #[arg(long, conflicts_with = "in_place")]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl OutputArgs {
    pub(crate) fn target(&self) -> Target<'_> {
        target(self.output.as_deref(), self.force, self.dry_run)
    }

    /// Whether the file itself goes to standard output, so that reports cannot.
    pub(crate) fn is_stdout(&self) -> bool {
        !self.dry_run && self.output.as_deref().is_some_and(is_stdout)
    }
}

impl ChangeArgs {
    /// Whether the input itself is replaced.
    pub(crate) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// The target for an input. The input's path is known unless it came through a pipe.
    pub(crate) fn target<'t>(&'t self, input: Option<&'t Path>) -> Result<Target<'t>, Error> {
        if !self.in_place || self.dry_run {
            return Ok(target(self.output.as_deref(), self.force, self.dry_run));
        }
        let stdin = || Error::new(Code::WrongArguments, "standard input cannot be changed in place; use --output");
        input.map(|path| Target::Path(path, Overwrite::Inputs)).ok_or_else(stdin)
    }

    /// Whether the file itself goes to standard output, so that reports cannot.
    pub(crate) fn is_stdout(&self) -> bool {
        !self.dry_run && self.output.as_deref().is_some_and(is_stdout)
    }
}

fn target(output: Option<&Path>, force: bool, dry_run: bool) -> Target<'_> {
    match output {
        Some(path) if !dry_run && is_stdout(path) => Target::Stream(Box::new(io::stdout())),
        Some(path) if !dry_run => Target::Path(path, if force { Overwrite::Others } else { Overwrite::Never }),
        _ => Target::Nowhere,
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
