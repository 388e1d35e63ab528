//! Sorts what was given: opened files, files that could not be opened, and files that were given before.

use std::collections::{BTreeMap, HashMap};

use super::options::Subject;
use popef::error::Error;
use popef::read::File;

/// What was given to a check. Files that could not be opened have numbers, too: after those of the opened files.
#[derive(Default)]
pub(super) struct Given {
    /// The opened files, each once.
    pub(super) files: Vec<File>,
    pub(super) unopened: Vec<Error>,
    /// The caller's numbers of both.
    pub(super) numbers: Vec<usize>,
    /// Files that were given again, by the number of the first.
    pub(super) again: BTreeMap<usize, Vec<File>>,
    /// The caller's numbers of files that were given before.
    pub(super) repeated: Vec<usize>,
}

impl Given {
    pub(super) fn of(subjects: &[Subject<'_>]) -> Given {
        let mut given = Given::default();
        let mut seen = HashMap::new();
        let mut unopened = Vec::new();
        for (number, &subject) in subjects.iter().enumerate() {
            match subject {
                Subject::Unopened(error) => {
                    given.unopened.push(error.clone());
                    unopened.push(number);
                }
                Subject::File(file) => {
                    let new = given.files.len();
                    // A file that is not on disk has no identity, and is never taken for another one.
                    let first = file.id().map_or(new, |id| *seen.entry(id).or_insert(new));
                    given.add(file, number, first);
                }
            }
        }
        given.numbers.append(&mut unopened);
        given
    }

    fn add(&mut self, file: &File, number: usize, first: usize) {
        if first < self.files.len() {
            self.again.entry(first).or_default().push(file.clone());
            self.repeated.push(number);
        } else {
            self.files.push(file.clone());
            self.numbers.push(number);
        }
    }
}
