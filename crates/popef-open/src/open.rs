use std::borrow::Cow;
use std::fs;
use std::io::{self, BufReader, Cursor, Read, Seek as _};
use std::path::{Path, PathBuf};

use popef::error::{ErrorCode, SourceError};
use popef::read::LocalFile;
use popef::seam::is_pickle;
use popef::{Error, File};

use crate::foreign::{self, Foreign};
use crate::how::{StreamData, options};
use crate::network::Network;

/// A file that a user named, as far as it could be read.
#[derive(Debug)]
pub struct Opened {
    /// The path as it was given.
    pub path: PathBuf,
    /// The file with its [damage](File::damage), or why it could not be opened.
    pub file: Result<File, Error>,
    /// The format of the file, if it is plainly not PopEF. This says more than the library's error.
    pub foreign: Option<Foreign>,
    /// How the file was read, if it is on another machine.
    pub network: Option<Network>,
}

impl Opened {
    /// A file that was opened elsewhere in the program, under the path that the user named.
    pub fn of(path: PathBuf, file: Result<File, Error>) -> Self {
        Opened { path, file, foreign: None, network: None }
    }

    /// The file, unless it could not be opened at all.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref().ok()
    }

    /// Says what comes before PopEF in the file, if anything does.
    pub fn before_popef(&self) -> Option<String> {
        let len = self.file()?.prefix().len();
        let says = |len| {
            format!(
                "a Python pickle of {len} bytes comes before PopEF, as in .poptorch files of SDK 2.5 and older; do not load it \
                     unless you trust it"
            )
        };
        (len > 0).then(|| says(len))
    }

    /// Says if a pipe or standard input has no bytes. An empty file would be whole, without blobs. Behind an empty pipe, the writing
    /// program has probably failed.
    pub fn empty_stream(&self) -> Option<&'static str> {
        // Input that does not start as PopEF is not kept.
        let is_whole = |file: &&File| self.foreign.is_none() && file.damage().is_none();
        let is_empty = self.file().filter(is_whole).is_some_and(|file| file.size() == 0);
        (is_stream(&self.path) && is_empty)
            .then_some("it has no bytes; the program that should write them may have failed")
    }

    /// Why the file could not be read to its end.
    pub fn error(&self) -> Option<&Error> {
        match &self.file {
            Ok(file) => file.damage(),
            Err(error) => Some(error),
        }
    }
}

/// Opens a file, a pipe, or standard input for `-`.
pub fn open(path: &Path, data: StreamData) -> Opened {
    if crate::is_elsewhere(path) {
        return open_elsewhere(path, data);
    }
    let (file, foreign) = if is_stdin(path) { open_stdin(data) } else { open_path(path, data) };
    Opened { foreign, ..Opened::of(path.to_owned(), file) }
}

#[cfg(feature = "remote")]
fn open_elsewhere(path: &Path, data: StreamData) -> Opened {
    match crate::remote::open_elsewhere(path, data) {
        Ok(popef_remote::Opened { file, first, usage, notice, .. }) => {
            let foreign = recognize(&file, || Ok(first));
            let network = Some(Network { usage, notice });
            Opened { foreign, network, ..Opened::of(path.to_owned(), file) }
        }
        Err(file) => Opened::of(path.to_owned(), file),
    }
}

#[cfg(not(feature = "remote"))]
fn open_elsewhere(path: &Path, _: StreamData) -> Opened {
    Opened::of(path.to_owned(), options().open(path))
}

/// A reader for a file of any format, or for standard input if the path is `-`.
pub fn read(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    #[cfg(feature = "remote")]
    if crate::is_elsewhere(path) {
        return crate::remote::read_elsewhere(path);
    }
    Ok(if is_stdin(path) { Box::new(stdin()?) } else { Box::new(open_plain(path)?) })
}

/// Opens a file on this machine, or a name in `/dev`. A named pipe on disk is an error: opening it would wait for its
/// writer, which may never come. So is a folder.
pub fn open_plain(path: &Path) -> io::Result<fs::File> {
    if path.is_dir() {
        return Err(SourceError::new(ErrorCode::IsFolder, ErrorCode::IsFolder, "this is a folder").into());
    }
    if is_named_pipe(path) {
        let (code, why) = (ErrorCode::NotRegularFile, foreign::NAMED_PIPE);
        return Err(SourceError::new(code, code, why).into());
    }
    fs::File::open(path)
}

/// Whether a path is that of a named pipe on disk. The pipes of `/dev/stdin` and `<(...)` are open already, and have no path or one in
/// `/dev` or `/proc`.
#[cfg_attr(not(unix), expect(unused_variables, reason = "pipes have no paths there"))]
pub fn is_named_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let is_pipe = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
        is_pipe && !is_of_process(path) && path.canonicalize().is_ok()
    }
    #[cfg(not(unix))]
    false
}

/// Whether a path is a name that only this process has for a file: `/dev/stdin`, `/proc/self/fd/3`.
pub fn is_of_process(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder))
}

/// Opens a regular file by its handle, for example an unnamed copy of a stream. `path` is the path that the user named.
///
/// ```
/// use std::io::Write;
/// use std::path::Path;
///
/// let mut copy = tempfile::tempfile()?;
/// copy.write_all(b"PK\x03\x04 and so on")?;
/// let opened = popef_open::open_handle(copy, Path::new("-"))?;
/// assert!(opened.foreign.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_handle(handle: fs::File, path: &Path) -> io::Result<Opened> {
    let mut start = handle.try_clone()?;
    // Without a path, so that errors name no file: a handle has no path of its own.
    let file = LocalFile::of(handle, None).and_then(|local| options().source(local));
    let foreign = recognize(&file, || {
        start.rewind()?;
        first_bytes(start)
    });
    Ok(Opened { foreign, ..Opened::of(path.to_owned(), file) })
}

/// Whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a path means standard input, a pipe or a device.
pub fn is_stream(path: &Path) -> bool {
    is_stdin(path) || fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// A path in a message: `-` is called "standard input".
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(popef_open::name_of(Path::new("-")), "standard input");
/// assert_eq!(popef_open::name_of(Path::new("a.popef")), "a.popef");
/// ```
pub fn name_of(path: &Path) -> Cow<'_, str> {
    if is_stdin(path) { "standard input".into() } else { path.to_string_lossy() }
}

type Found = (Result<File, Error>, Option<Foreign>);

fn open_path(path: &Path, data: StreamData) -> Found {
    match fs::metadata(path).map(|metadata| metadata.file_type()) {
        Ok(kind) if kind.is_dir() => (options().open(path), Some(Foreign::folder(path))),
        Ok(kind) if !kind.is_file() => match open_plain(path) {
            Ok(pipe) => open_stream(pipe, data),
            // Of a device, the library's error says more.
            Err(_) => (options().open(path), is_named_pipe(path).then(|| Foreign::named_pipe(path))),
        },
        // The library reports missing files.
        Err(error) if error.kind() == io::ErrorKind::NotFound => (options().open(path), Foreign::address(path)),
        _ => {
            let file = options().open(path);
            let foreign = recognize(&file, || first_bytes(fs::File::open(path)?));
            (file, foreign)
        }
    }
}

fn open_stdin(data: StreamData) -> Found {
    match stdin() {
        Ok(stdin) => open_stream(stdin, data),
        Err(error) => (unreadable(error), None),
    }
}

/// Standard input without Rust's small buffer, because gigabytes may be skipped.
#[cfg(unix)]
fn stdin() -> io::Result<fs::File> {
    use std::os::fd::AsFd as _;
    io::stdin().as_fd().try_clone_to_owned().map(fs::File::from)
}

#[cfg(not(unix))]
fn stdin() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// The size of a pipe's own buffer.
const STREAM_BUFFER: usize = 64 << 10;

fn open_stream(stream: impl Read, data: StreamData) -> Found {
    let mut stream = BufReader::with_capacity(STREAM_BUFFER, stream);
    let first = match first_bytes(&mut stream) {
        Ok(first) => first,
        Err(error) => return (unreadable(error), None),
    };
    let mut whole = Cursor::new(first.clone()).chain(stream);
    // Finding the end of a pickle before PopEF needs all bytes.
    let data = if is_pickle(&first) { StreamData::Keep } else { data };
    let file = match data {
        StreamData::Skip => options().stream(whole),
        StreamData::Keep => {
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes).map_or_else(unreadable, |_| options().bytes(bytes))
        }
    };
    let foreign = recognize(&file, || Ok(first));
    (file, foreign)
}

impl Opened {
    /// A stream that cannot be read.
    pub fn unreadable(path: PathBuf, error: io::Error) -> Self {
        Opened::of(path, unreadable(error))
    }
}

/// The library's error for a stream that cannot be read.
fn unreadable(error: io::Error) -> Result<File, Error> {
    struct Unreadable(Option<io::Error>);
    impl Read for Unreadable {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.take().unwrap_or_else(|| io::ErrorKind::Other.into()))
        }
    }
    File::from_stream(Unreadable(Some(error)))
}

/// Recognises a file whose first blob cannot be read, because then it may be something other than PopEF.
fn recognize(file: &Result<File, Error>, first: impl FnOnce() -> io::Result<Vec<u8>>) -> Option<Foreign> {
    let damage = file.as_ref().ok()?.damage()?;
    let is_at_start = damage.kind() == popef::error::ErrorKind::Damaged && damage.blob() == Some(0);
    is_at_start.then(|| foreign::recognize(&first().ok()?)).flatten()
}

fn first_bytes(from: impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    from.take(foreign::LEN).read_to_end(&mut first)?;
    Ok(first)
}
