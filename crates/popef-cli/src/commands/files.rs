//! Which files are read.

use std::path::{Path, PathBuf};

use popef_open::{is_elsewhere, is_stdin};

use crate::groups::{Sources, with_objects};
use crate::program::{Program, Refusal};

/// What an empty list of files means, if there are no other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyList {
    /// An error, with this advice. Without files, every check would pass.
    Refused(&'static str),
    /// Nothing to do.
    Permitted,
}

/// The given files, and those that lists name. `others` are further inputs: only one input can be standard input.
pub(crate) fn files(
    program: Program,
    given: &[PathBuf],
    sources: &Sources,
    others: &[PathBuf],
    empty_list: EmptyList,
) -> Result<Vec<PathBuf>, Refusal> {
    let (files, empty) = sources.lists.with(given, others)?;
    for list in empty {
        let problem = format!("{} names no files", name_of(list));
        match empty_list {
            EmptyList::Permitted => {}
            EmptyList::Refused(more) if files.is_empty() => return Err(Refusal::Options(format!("{problem}{more}"))),
            EmptyList::Refused(_) => program.complain(&problem),
        }
    }
    with_objects(files)
}

/// Advice if a missing file is a number: --values takes its value only after `=`.
pub fn values_meant(files: &[PathBuf], values: Option<u64>) -> Option<String> {
    values?;
    files.iter().find_map(|path| {
        let is_number = path.to_str()?.parse::<u64>().is_ok();
        is_number.then(|| meant(path, "--values=")).flatten()
    })
}

/// Advice if a missing file looks like the value of an option.
pub fn meant(path: &Path, option: &str) -> Option<String> {
    let word = path.to_str()?;
    (!path.exists() && !is_elsewhere(path)).then(|| format!("there is no file {word}; did you mean {option}{word}?"))
}

/// The name of a list in a message.
fn name_of(list: &Path) -> String {
    if is_stdin(list) { "the list on standard input".to_owned() } else { format!("the list {}", list.display()) }
}
