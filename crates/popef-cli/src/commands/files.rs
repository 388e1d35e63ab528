//! Which files are read.

use std::path::{Path, PathBuf};

use popef_open::{is_elsewhere, is_stdin};

use crate::groups::{Sources, with_objects};
use crate::program::{Program, Refusal};

/// What a list that names no files is, if there are no other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyList {
    /// An error, with what else there is to say of it. Without files, anything would pass a check.
    Refused(&'static str),
    /// As good as any other.
    Permitted,
}

/// The files that were given, and those that lists name. `others` may be standard input too, which can be read only once.
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

/// What was meant by a missing file whose name is a number: --values takes its value only after `=`.
pub fn values_meant(files: &[PathBuf], values: Option<u64>) -> Option<String> {
    values?;
    files.iter().find_map(|path| {
        let is_number = path.to_str()?.parse::<u64>().is_ok();
        is_number.then(|| meant(path, "--values=")).flatten()
    })
}

/// What was meant by a missing file that looks like the value of an option.
pub fn meant(path: &Path, option: &str) -> Option<String> {
    let word = path.to_str()?;
    (!path.exists() && !is_elsewhere(path)).then(|| format!("there is no file {word}; did you mean {option}{word}?"))
}

/// A list in a message.
fn name_of(list: &Path) -> String {
    if is_stdin(list) { "the list on standard input".to_owned() } else { format!("the list {}", list.display()) }
}
