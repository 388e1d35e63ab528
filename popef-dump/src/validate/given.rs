use std::io::{self, Read};
use std::path::{Path, PathBuf};

use popef::{Error, File};

use crate::input::open_any;
use crate::report::Failure;

/// A file to check, as far as it could be opened.
pub(super) struct Given {
    pub(super) path: PathBuf,
    pub(super) opened: Result<File, Error>,
    /// What it is, if it is plainly something else.
    pub(super) named: Option<String>,
    /// Why it could not be opened.
    pub(super) failure: Option<Failure>,
}

impl Given {
    /// Of streams the data is kept only if all data is to be read.
    pub(super) fn open(path: &Path, deep: bool) -> Self {
        let path = path.to_owned();
        match open_any(&path, deep) {
            Ok((file, named)) => {
                let named = named.map(|failure| failure.message().to_owned());
                Given { path, opened: Ok(file), named, failure: None }
            }
            Err(failure) => Given { path, opened: unopened(), named: None, failure: Some(failure) },
        }
    }

    pub(super) fn size(&self) -> Option<u64> {
        self.opened.as_ref().ok().map(File::size)
    }
}

/// An error for the library, which has to know that a file is missing: what else is missing may be in it.
fn unopened() -> Result<File, Error> {
    struct Unreadable;
    impl Read for Unreadable {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::NotFound.into())
        }
    }
    File::from_stream(Unreadable)
}
