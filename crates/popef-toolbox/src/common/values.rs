//! Values of options. They are those of popef-dump.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use popef_open::is_stdin;

pub(crate) use popef_dump_tool::values::{named, path, rule_id, when};

/// The path of a file with arrays. It is read at several places, so it is not standard input.
pub(crate) fn arrays() -> impl TypedValueParser<Value = PathBuf> {
    path().try_map(|path| match is_stdin(&path) {
        true => Err("arrays are not read from standard input (-); save them to a file, and give that"),
        false => Ok(path),
    })
}

/// A tolerance of a comparison.
pub(crate) fn tolerance(given: &str) -> Result<f64, String> {
    let wrong = || format!("{given} is not a number from 0 on");
    given.parse().ok().filter(|number: &f64| *number >= 0.0).ok_or_else(wrong)
}
