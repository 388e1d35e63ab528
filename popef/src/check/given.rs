//! Finds files that were given more than once.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use super::options::Subject;

/// Returns for each subject whether an earlier one is the same file, by its path. Files without a path, such as those in
/// memory, are never the same.
pub(super) fn given_before(subjects: &[Subject<'_>]) -> Vec<bool> {
    let mut paths = HashSet::new();
    let several = subjects.len() > 1;
    subjects.iter().map(|subject| several && path_of(subject).is_some_and(|path| !paths.insert(path))).collect()
}

fn path_of(subject: &Subject<'_>) -> Option<PathBuf> {
    let Subject::File(file) = subject else { return None };
    let path = file.path()?;
    // If the path no longer leads to a file, the path itself is compared.
    Some(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
}
