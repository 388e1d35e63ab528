//! The files that a command reads.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use popef::File;
use popef_open::{StreamData, listed, open};
use popef_ops::{Code, Error};

use super::values::path;

/// Files to read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Inputs {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present = "files_from")]
    files: Vec<PathBuf>,
    /// Also read the files that LIST names; `-` is standard input
    ///
    /// LIST has one name per line, or names with NUL between them, as `find -print0` writes them.
    #[arg(long, value_name = "LIST", value_parser = path(), action = ArgAction::Append, help_heading = "Selection")]
    files_from: Vec<PathBuf>,
}

impl Inputs {
    /// The paths of all files.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let mut paths = self.files.clone();
        for list in &self.files_from {
            paths.extend(listed(list).map_err(|error| Error::io("read the list", error).in_file(list))?);
        }
        let from_stdin = |path: &&PathBuf| path.as_os_str() == "-";
        if paths.iter().chain(&self.files_from).filter(from_stdin).nth(1).is_some() {
            return Err(Error::new(Code::WrongArguments, "standard input (-) can be read only once"));
        }
        match paths.is_empty() {
            true => Err(Error::new(Code::WrongArguments, "the list names no files")),
            false => Ok(paths),
        }
    }

    /// All files, opened. A damaged file is an error.
    pub(crate) fn open(&self) -> Result<Vec<File>, Error> {
        self.paths()?.iter().map(|path| open_whole(path)).collect()
    }
}

/// Opens a file that must not be damaged.
pub(crate) fn open_whole(path: &Path) -> Result<File, Error> {
    let opened = open(path, StreamData::Keep);
    if let Some(foreign) = &opened.foreign {
        return Err(Error::new(Code::NotPopef, foreign.to_string()).in_file(path));
    }
    match opened.file {
        Err(error) => Err(Error::from(error).in_file(path)),
        Ok(file) => match file.damage() {
            Some(damage) => Err(Error::from(damage.clone()).in_file(path)),
            None => Ok(file),
        },
    }
}
