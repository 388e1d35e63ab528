use std::fs;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use popef::{File, OpenOptions};

use super::sniff;
use crate::report::Failure;

/// A file that was given, as far as it could be read.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) file: Option<File>,
    pub(crate) failure: Option<Failure>,
}

/// Opens a file, or standard input for `-`.
///
/// With `keep_data`, what comes from a stream is held in memory, so that its data can be read.
pub(crate) fn open(path: &Path, keep_data: bool) -> Opened {
    let (file, failure) = match open_any(path, keep_data) {
        Ok((file, named)) => {
            let failure = named.or_else(|| file.damage().map(Failure::from));
            (Some(file), failure)
        }
        Err(failure) => (None, Some(failure)),
    };
    Opened { path: path.to_owned(), file, failure }
}

/// Standard input without the small buffer that Rust puts before it: gigabytes may be passed over.
#[cfg(unix)]
fn stdin() -> Result<fs::File, Failure> {
    use std::os::fd::AsFd as _;
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(|e| Failure::io("read the stream", &e))?;
    Ok(fs::File::from(stdin))
}

#[cfg(not(unix))]
fn stdin() -> Result<io::Stdin, Failure> {
    Ok(io::stdin())
}

/// A file with its damage, and what it is if it is plainly something else.
type Found = (File, Option<Failure>);

/// The same, leaving the damage with the file.
pub(crate) fn open_any(path: &Path, keep_data: bool) -> Result<Found, Failure> {
    match path.as_os_str() == "-" {
        true => stdin().and_then(|stdin| open_stream(stdin, keep_data)),
        false => open_path(path, keep_data),
    }
}

fn open_path(path: &Path, keep_data: bool) -> Result<Found, Failure> {
    let kind = fs::metadata(path).map_err(|e| Failure::io("open the file", &e))?.file_type();
    if kind.is_dir() {
        let advice = "give the files in it, or their list: find FOLDER -name '*.popef' | popef-dump --files-from -";
        return Err(Failure::not_popef(format!("this is a folder; {advice}")));
    }
    if !kind.is_file() {
        let pipe = fs::File::open(path).map_err(|e| Failure::io("open the file", &e))?;
        return open_stream(pipe, keep_data);
    }
    let file = OpenOptions::new().damaged(true).open(path)?;
    let named = name_it(&file, || first_bytes(fs::File::open(path)?));
    Ok((file, named))
}

/// As much as a pipe holds.
const STREAM_BUFFER: usize = 64 << 10;

fn open_stream(stream: impl Read, keep_data: bool) -> Result<Found, Failure> {
    let mut stream = BufReader::with_capacity(STREAM_BUFFER, stream);
    let first = first_bytes(&mut stream).map_err(|e| Failure::io("read the stream", &e))?;
    let mut whole = Cursor::new(first.clone()).chain(stream);
    let mut options = OpenOptions::new();
    options.damaged(true);
    let file = match keep_data {
        true => {
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes).map_err(|e| Failure::io("read the stream", &e))?;
            options.bytes(bytes)?
        }
        false => options.stream(whole)?,
    };
    let named = name_it(&file, || Ok(first));
    Ok((file, named))
}

/// What a file is whose very first blob cannot be read.
fn name_it(file: &File, first: impl FnOnce() -> io::Result<Vec<u8>>) -> Option<Failure> {
    let damage = Failure::from(file.damage()?);
    damage.is_at_start().then(|| sniff::sniff(&first().ok()?)).flatten().map(Failure::not_popef)
}

fn first_bytes(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let len = u64::try_from(sniff::LEN).unwrap_or(u64::MAX);
    from.by_ref().take(len).read_to_end(&mut first)?;
    Ok(first)
}
