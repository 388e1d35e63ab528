//! A file with several arrays, which are found by their names.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use popef::types::Text;

use super::{Array, ArrayFile};
use crate::error::{Code, Error};
use crate::near::quoted;

/// Maximum number of files with several arrays that are used together, because each stays open.
pub(crate) const MOST_OPEN: usize = 128;

/// A file whose arrays are requested by name, most often in its own order.
#[derive(Debug)]
pub(crate) struct NamedArrays {
    file: ArrayFile,
    /// The array that is probably requested next.
    next: usize,
    /// Hashes of the names with the numbers of their arrays, sorted. Made when a request is out of order.
    numbers: Option<Vec<(u64, u32)>>,
    hasher: RandomState,
}

impl NamedArrays {
    pub(crate) fn of(file: ArrayFile) -> Self {
        NamedArrays { file, next: 0, numbers: None, hasher: RandomState::new() }
    }

    /// The file, whose arrays have numbers.
    pub(crate) fn into_file(self) -> ArrayFile {
        self.file
    }

    /// The array with a name, and its number.
    pub(crate) fn array(&mut self, name: &Text<'_>) -> Result<Option<(usize, Array)>, Error> {
        let mut found = self.named(self.next, name)?;
        if found.is_none() {
            for index in self.numbers_of(name)? {
                found = self.named(index, name)?;
                if found.is_some() {
                    self.next = index;
                    break;
                }
            }
        }
        self.next = self.next.saturating_add(1);
        Ok(found)
    }

    /// The only array, whatever its name, or else the one with the name; and its number. `path` is that of the file.
    pub(crate) fn only_or_named(&mut self, name: &Text<'_>, path: &Path) -> Result<(usize, Array), Error> {
        let found = match self.file.len() {
            1 => self.file.get(0)?.map(|array| (0, array)),
            _ => self.array(name)?,
        };
        found.ok_or_else(|| {
            let message = format!("it has {} arrays, and none is called {}", self.file.len(), quoted(name));
            Error::new(Code::NoSuchName, message).in_file(path)
        })
    }

    fn named(&mut self, index: usize, name: &Text<'_>) -> Result<Option<(usize, Array)>, Error> {
        Ok(self.file.get(index)?.filter(|array| array.name == *name).map(|array| (index, array)))
    }

    /// The arrays whose names have the same hash.
    fn numbers_of(&mut self, name: &Text<'_>) -> Result<Vec<usize>, Error> {
        let numbers = match &mut self.numbers {
            Some(numbers) => numbers,
            None => {
                let mut all = Vec::with_capacity(self.file.len());
                for index in 0..self.file.len() {
                    let Some(array) = self.file.get(index)? else { continue };
                    all.push((self.hasher.hash_one(array.name.as_bytes()), u32::try_from(index).unwrap_or(u32::MAX)));
                }
                all.sort_unstable();
                self.numbers.insert(all)
            }
        };
        let hash = self.hasher.hash_one(name.as_bytes());
        let start = numbers.partition_point(|(known, _)| *known < hash);
        let same = numbers.iter().skip(start).take_while(|(known, _)| *known == hash);
        Ok(same.filter_map(|(_, index)| usize::try_from(*index).ok()).collect())
    }
}
