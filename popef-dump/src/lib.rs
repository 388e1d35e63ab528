//! The tool `popef-dump`: the arguments of the vendor's tool, and the work of `popef-cli` that they ask for. Its two programs call
//! [`main`].

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

mod args;
mod combine;
mod generate;
mod run;
mod sections;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use args::Args;
use popef_cli::complete::answer;

/// Runs the tool with the arguments of the process.
pub fn main() -> ExitCode {
    main_with(std::env::args_os())
}

/// Runs the tool with other arguments, the first of which is its name.
pub fn main_with(line: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    let line: Vec<OsString> = line.into_iter().map(Into::into).collect();
    if let Some(status) = answer(&line, &mut io::stdout()) {
        return status;
    }
    match Args::of(line) {
        Ok(args) => run::run(&args, Box::new(io::stdout())),
        Err(error) => run::POPEF_DUMP.printed(error.print(), error.exit_code()),
    }
}

/// Runs the tool with other arguments and another output: for the fuzz targets, which run it many times a second.
#[doc(hidden)]
pub fn run_with(args: impl IntoIterator<Item = impl Into<OsString>>, to: Box<dyn Write>) -> ExitCode {
    match Args::of(args) {
        Ok(args) => run::run(&args, to),
        Err(_) => ExitCode::FAILURE,
    }
}
