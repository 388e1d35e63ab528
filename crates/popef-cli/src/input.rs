//! The files that a command reads.

use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use popef::File;
use popef::error::ErrorCode;
use popef_open::{Opened, StreamData, is_named_pipe, is_stdin, open, open_handle};
use popef_ops::{Code, Error};

use crate::end::{refused, wrong};
use crate::groups::{Lists, with_objects};
use crate::meant::meant;
use crate::signals::{UntilStopped, is_stopped};
use crate::tool::Tool;
use crate::values::path;

/// Files to read.
#[derive(Clone, Debug, Args)]
// A heading at the flattened field would also become the heading of the command's next options.
#[command(mut_arg("files_from", |lists| lists.help_heading("Selection")))]
pub struct Inputs {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present = "files_from")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    lists: Lists,
}

impl Inputs {
    /// The paths of all files.
    pub fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let (paths, empty) = self.lists.with(&self.files, &[]).map_err(refused)?;
        match empty.first().filter(|_| paths.is_empty()) {
            Some(list) => Err(wrong("the list names no files").in_file(list)),
            None => with_objects(paths).map_err(refused),
        }
    }

    /// The lists of files. No output may replace them.
    pub fn lists(&self) -> impl Iterator<Item = &Path> {
        self.lists.files_from.iter().map(PathBuf::as_path)
    }
}

/// Opens a file, whatever it is. A stream is copied to an unnamed temporary file, because it may be larger than memory.
pub fn open_any(path: &Path) -> Result<Opened, Error> {
    // `Keep`, so that files on other machines can be asked for data later.
    let opened = open_copied(path, StreamData::Keep)?;
    filled(opened, path)
}

/// Fails if the file is a pipe without any bytes.
fn filled(opened: Opened, path: &Path) -> Result<Opened, Error> {
    match opened.empty_stream() {
        Some(empty) => Err(Error::new(Code::EmptyInput, empty).in_file(path)),
        None => Ok(opened),
    }
}

/// Opens a file for the checks, which report everything that is wrong with it. Streams are checked as thoroughly as
/// files.
pub fn open_to_check(path: &Path, data: StreamData) -> Opened {
    let opened = if is_endless(path) { Ok(open(path, data)) } else { open_copied(path, data) };
    opened.unwrap_or_else(|error| Opened::unreadable(path.to_owned(), io::Error::other(error)))
}

/// Whether the path is a device, which may never end. Only its start is then read if it is not PopEF.
#[cfg(unix)]
fn is_endless(path: &Path) -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;

    let found = if is_stdin(path) {
        io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| fs::File::from(stdin).metadata())
    } else {
        fs::metadata(path)
    };
    found.is_ok_and(|found| found.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_endless(_: &Path) -> bool {
    false
}

/// Opens a file, or the copy of a stream. `data` is for files on other machines.
fn open_copied(path: &Path, data: StreamData) -> Result<Opened, Error> {
    let handle = match fs::metadata(path) {
        _ if is_stdin(path) => stdin()?,
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() && !is_named_pipe(path) => {
            let stream = fs::File::open(path).map_err(|error| unreadable(error).in_file(path))?;
            copied(UntilStopped(stream))?
        }
        // The library reports missing files.
        _ => return Ok(open(path, data)),
    };
    open_handle(handle, path).map_err(unreadable)
}

/// Standard input: itself if it is a file, or else a copy.
#[cfg(unix)]
fn stdin() -> Result<fs::File, Error> {
    use std::io::Seek as _;
    use std::os::fd::AsFd as _;

    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(unreadable)?;
    let mut stdin = fs::File::from(stdin);
    let is_file = stdin.metadata().is_ok_and(|metadata| metadata.is_file());
    // An earlier program may have read a part of it.
    if is_file && stdin.stream_position().is_ok_and(|position| position == 0) {
        Ok(stdin)
    } else {
        copied(UntilStopped(stdin))
    }
}

#[cfg(not(unix))]
fn stdin() -> Result<fs::File, Error> {
    copied(io::stdin())
}

/// Opens a stream whose first bytes were looked at.
pub fn open_stream(stream: impl Read, path: &Path) -> Result<Opened, Error> {
    filled(open_handle(copied(stream)?, path).map_err(unreadable)?, path)
}

/// Copies a stream to a file without a name, which disappears by itself.
fn copied(mut stream: impl Read) -> Result<fs::File, Error> {
    const PIECE: usize = 1 << 20;
    let mut copy = tempfile::tempfile().map_err(|error| Error::io("make a temporary file", error))?;
    let mut piece = vec![0; PIECE];
    loop {
        let len = match stream.read(&mut piece) {
            Ok(0) => return Ok(copy),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(_) if is_stopped() => 0,
            Err(error) => return Err(unreadable(error)),
        };
        if is_stopped() {
            return Err(Error::new(ErrorCode::Stopped, "the work was stopped"));
        }
        let written = copy.write_all(piece.get(..len).unwrap_or_default());
        written.map_err(|error| Error::io("write a temporary file", error))?;
    }
}

fn unreadable(error: io::Error) -> Error {
    Error::io("read the file", error)
}

/// Opens files that must not be damaged.
pub fn open_all(tool: &Tool, paths: &[PathBuf]) -> Result<Vec<File>, Error> {
    paths.iter().map(|path| open_whole(tool, path)).collect()
}

/// Opens a file that must not be damaged.
pub fn open_whole(tool: &Tool, path: &Path) -> Result<File, Error> {
    let file = open_damaged(tool, path)?;
    match file.damage() {
        Some(damage) => Err(Error::from(damage.clone()).in_file(path)),
        None => Ok(file),
    }
}

/// Opens a file that may be damaged. The blobs before the damage can be read.
pub fn open_damaged(tool: &Tool, path: &Path) -> Result<File, Error> {
    whatever_is_popef(tool, open_any(path)?)
}

/// Returns a PopEF file, which may be damaged. Fails for files of other formats.
pub fn whatever_is_popef(tool: &Tool, opened: Opened) -> Result<File, Error> {
    let path = &*opened.path;
    if let Some(foreign) = &opened.foreign {
        return Err(match meant(path) {
            Some(meant) => {
                Error::new(foreign.info(), "this is not a PopEF file").in_file(path).advising(meant.advice())
            }
            None => tool.foreign(foreign, path),
        });
    }
    opened.file.map_err(|error| Error::from(error).in_file(path))
}
