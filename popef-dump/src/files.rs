//! Which files are read.

use std::path::{Path, PathBuf};

use popef_open::listed;

use crate::groups::Sources;
use crate::program::Program;

/// What a list that names no files is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyList {
    /// Worth a complaint.
    Told,
    /// An error if there are no other files: a check would pass without a look at anything.
    Refused,
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
) -> Result<Vec<PathBuf>, String> {
    let mut files = given.to_owned();
    let mut empty = Vec::new();
    for list in &sources.files_from {
        let named = listed(list).map_err(|error| format!("cannot read {}: {error}", name_of(list)))?;
        if named.is_empty() {
            empty.push(list);
        }
        files.extend(named);
    }
    let from_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if files.iter().chain(&sources.files_from).chain(others).filter(from_stdin).nth(1).is_some() {
        return Err("standard input (-) can be read only once".to_owned());
    }
    for list in empty {
        let problem = format!("{} names no files", name_of(list));
        match empty_list {
            EmptyList::Permitted => {}
            EmptyList::Refused if files.is_empty() => {
                return Err(format!("{problem}, so nothing was checked; --allow-empty permits this"));
            }
            EmptyList::Refused | EmptyList::Told => program.complain(&problem),
        }
    }
    Ok(files)
}

/// What was meant by a missing file whose name is a number: --values takes its value only after `=`.
pub(crate) fn values_meant(files: &[PathBuf], values: Option<u64>) -> Option<String> {
    values?;
    files.iter().find_map(|path| {
        let is_number = path.to_str()?.parse::<u64>().is_ok();
        is_number.then(|| meant(path, "--values=")).flatten()
    })
}

/// What was meant by a missing file that looks like the value of an option.
pub(crate) fn meant(path: &Path, option: &str) -> Option<String> {
    let word = path.to_str()?;
    (!path.exists()).then(|| format!("there is no file {word}; did you mean {option}{word}?"))
}

/// A list in a message.
fn name_of(list: &Path) -> String {
    match list.as_os_str() == "-" {
        true => "the list on standard input".to_owned(),
        false => format!("the list {}", list.display()),
    }
}
