//! The sources of files whose bytes are not in memory.

mod local;
mod stream;
mod window;

use std::io;
use std::path::Path;

use super::problem::ReadProblem;
use crate::error::Problem;

pub use local::{FileId, LocalFile};
pub(crate) use local::{is_name_of, is_not_regular, is_same_file, open_regular};
pub(super) use stream::Stream;
pub(super) use window::{ReadAhead, Window};

/// A source that can be read by position: a file on disk, an object in a bucket, a part of an archive.
///
/// [`OpenOptions::source`](crate::OpenOptions::source) opens a file from any source. Several threads may read at the
/// same time.
///
/// ```
/// use std::io;
/// use popef::read::ReadAt;
/// use popef::OpenOptions;
///
/// /// A model inside a larger file.
/// struct Part {
///     archive: Vec<u8>,
///     start: usize,
///     len: usize,
/// }
///
/// impl ReadAt for Part {
///     fn size(&self) -> u64 {
///         self.len as u64
///     }
///
///     fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
///         let start = self.start + usize::try_from(offset).unwrap();
///         let bytes = self.archive.get(start..start + buf.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
///         buf.copy_from_slice(bytes);
///         Ok(())
///     }
/// }
///
/// # let model = std::fs::read("examples/data/executable.popef")?;
/// # let len = model.len();
/// # let archive = [vec![0; 100], model].concat();
/// let file = OpenOptions::new().source(Part { archive, start: 100, len })?;
/// let weights = file.tensor("input_parameter").expect("the model has one");
/// assert_eq!(*weights.elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// Returns the size in bytes. It must always be the same.
    fn size(&self) -> u64;

    /// Fills `buf` with the bytes from `offset`. The range is always within the size, and never empty.
    ///
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) means that the file was changed since it was opened. After
    /// [`Interrupted`](io::ErrorKind::Interrupted), the call is repeated. A [`SourceError`](crate::error::SourceError) has a code and
    /// advice of the source.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// Returns whether the bytes are unchanged since the source was made. This is called after each read.
    ///
    /// A source that checks this while it reads, or that cannot change, can keep the default, which returns `true`.
    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Returns the name of the source in errors: a path, or an address.
    fn name(&self) -> Option<&Path> {
        None
    }

    /// Returns the file on disk that has exactly these bytes, if there is one. The system can then do the copying.
    fn local_file(&self) -> Option<&LocalFile> {
        None
    }

    /// Returns whether reading takes about as little time as from a file on disk. Then less is read ahead, and long Metadata is
    /// read again rather than kept in memory.
    fn is_near(&self) -> bool {
        self.local_file().is_some()
    }
}

/// The source of an opened file. It is identified by its address, which needs this type: a boxed source of size zero
/// has no address of its own.
pub(super) struct Backing(Box<dyn ReadAt>);

impl Backing {
    pub(super) fn of(source: impl ReadAt + 'static) -> Self {
        Backing(Box::new(source))
    }

    pub(super) fn size(&self) -> u64 {
        self.0.size()
    }

    pub(super) fn name(&self) -> Option<&Path> {
        self.0.name()
    }

    pub(super) fn local_file(&self) -> Option<&LocalFile> {
        self.0.local_file()
    }

    pub(super) fn is_near(&self) -> bool {
        self.0.is_near()
    }

    /// Fills `buf` from a position, without checking for changes.
    pub(super) fn fill(&self, buf: &mut [u8], offset: u64) -> Result<(), Problem> {
        if buf.is_empty() {
            return Ok(());
        }
        uninterrupted(|| self.0.read_exact_at(buf, offset)).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => ReadProblem::FileChanged.into(),
            _ => Problem::io("read the file", source),
        })
    }

    /// Fills `buf` from a position, and then checks for changes.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), Problem> {
        self.fill(buf, offset)?;
        self.check_unchanged()
    }

    pub(super) fn check_unchanged(&self) -> Result<(), Problem> {
        let unchanged = self.0.is_unchanged().map_err(|source| Problem::io("look at the file", source))?;
        if unchanged { Ok(()) } else { Err(ReadProblem::FileChanged.into()) }
    }
}

/// Repeats an operation until no signal interrupts it.
pub(crate) fn uninterrupted<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
