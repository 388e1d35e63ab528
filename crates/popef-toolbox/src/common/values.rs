//! Values of options, besides those of all tools.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use popef_open::{is_elsewhere, is_stdin, path_of};

pub(crate) use popef_cli::values::{named, path};

/// Parses the path of a file with arrays, which cannot be standard input, because it is read at several places.
pub(crate) fn arrays() -> impl TypedValueParser<Value = PathBuf> {
    path().try_map(|path| match is_stdin(&path) {
        true => Err("arrays are not read from standard input (-); save them to a file, and give that"),
        false => Ok(path),
    })
}

/// The place of arrays: a file or folder, or a file for one tensor.
#[derive(Clone, Debug)]
pub(crate) enum GivenArrays {
    At(PathBuf),
    For(String, PathBuf),
}

/// `FILE`, or `NAME=FILE`. Both may contain a `=`. A path that exists is meant as a whole. Otherwise, the longest existing path after
/// a `=` is the file.
pub(crate) fn named_arrays() -> impl TypedValueParser<Value = GivenArrays> {
    let of = |path: PathBuf| path.to_str().and_then(for_name).unwrap_or(GivenArrays::At(path));
    arrays().try_map(move |path| match of(path) {
        GivenArrays::For(name, _) if name.is_empty() => {
            Err("the NAME of NAME=FILE is empty; is a variable of the shell not set?")
        }
        GivenArrays::For(_, path) if is_stdin(&path) || path.as_os_str().is_empty() => {
            Err("the FILE of NAME=FILE must be a file")
        }
        given => Ok(given),
    })
}

fn for_name(text: &str) -> Option<GivenArrays> {
    let parts =
        || text.match_indices('=').filter_map(|(at, _)| Some((text.get(..at)?, text.get(at.saturating_add(1)..)?)));
    if Path::new(text).exists() || is_elsewhere(Path::new(text)) {
        return None;
    }
    let (name, path) = parts().find(|(_, path)| Path::new(path).exists()).or_else(|| parts().next())?;
    Some(GivenArrays::For(name.to_owned(), path_of(path.into())))
}

/// A tolerance of a comparison.
pub(crate) fn tolerance(given: &str) -> Result<f64, String> {
    let wrong = || format!("{given} is not a number from 0 on");
    given.parse().ok().filter(|number: &f64| *number >= 0.0).ok_or_else(wrong)
}
