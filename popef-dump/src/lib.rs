//! The tool `popef-dump`. Its two programs call [`main`]. Nothing else here is meant to be used.

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
mod check;
mod exit;
mod generate;
mod list;
mod log;
mod policy;
mod run;
mod screen;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser as _;

/// Runs the tool with the arguments of the process.
pub fn main() -> ExitCode {
    run::run(&args::Args::parse(), Box::new(io::stdout()))
}

/// Runs the tool with other arguments and another output: for the fuzz targets, which run it many times a second.
#[doc(hidden)]
pub fn run_with(args: impl IntoIterator<Item = impl Into<OsString> + Clone>, to: Box<dyn Write>) -> ExitCode {
    match args::Args::try_parse_from(args) {
        Ok(args) => run::run(&args, to),
        Err(_) => ExitCode::FAILURE,
    }
}
