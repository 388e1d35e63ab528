//! Paths and names of millions of files and arrays, in little memory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Code, Error};

/// Files, by number.
#[derive(Default)]
pub(super) struct Files {
    folders: Vec<PathBuf>,
    files: Vec<FileAt>,
    names: Names,
}

struct FileAt {
    folder: usize,
    name: FileName,
}

enum FileName {
    Usual(Stretch),
    /// A name that is not UTF-8.
    Odd(Box<OsStr>),
}

impl Files {
    /// Later additions are in this folder.
    pub(super) fn enter(&mut self, folder: &Path) {
        self.folders.push(folder.to_owned());
    }

    /// Adds a file of the last folder, and returns its number.
    pub(super) fn add(&mut self, name: &OsStr) -> Result<u32, Error> {
        let number = u32::try_from(self.files.len()).map_err(|_| too_many())?;
        let name = match name.to_str() {
            Some(name) => FileName::Usual(self.names.add(name.as_bytes())?),
            None => FileName::Odd(name.into()),
        };
        self.files.push(FileAt { folder: self.folders.len().saturating_sub(1), name });
        Ok(number)
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn path(&self, number: u32) -> PathBuf {
        let file = usize::try_from(number).ok().and_then(|number| self.files.get(number));
        let Some(FileAt { folder, name }) = file else { return PathBuf::new() };
        let mut path = self.folders.get(*folder).cloned().unwrap_or_default();
        match name {
            FileName::Usual(name) => path.push(str::from_utf8(self.names.get(*name)).unwrap_or_default()),
            FileName::Odd(name) => path.push(&**name),
        }
        path
    }
}

/// Names after each other.
#[derive(Default)]
pub(super) struct Names(Vec<u8>);

/// Where a name is.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    start: u32,
    end: u32,
}

impl Names {
    pub(super) fn add(&mut self, name: &[u8]) -> Result<Stretch, Error> {
        let start = self.end()?;
        self.0.extend_from_slice(name);
        Ok(Stretch { start, end: self.end()? })
    }

    fn end(&self) -> Result<u32, Error> {
        u32::try_from(self.0.len()).map_err(|_| too_many())
    }

    pub(super) fn get(&self, Stretch { start, end }: Stretch) -> &[u8] {
        let [start, end] = [start, end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        self.0.get(start..end).unwrap_or_default()
    }
}

pub(super) fn too_many() -> Error {
    Error::new(Code::WrongArguments, "there are too many arrays; give fewer at a time")
}
