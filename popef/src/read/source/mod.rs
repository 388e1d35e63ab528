//! Where a file's bytes come from when they are not in memory.

mod local;
mod stream;
mod window;

use std::io;
use std::path::Path;

use super::problem::ReadProblem;
use crate::error::Problem;

pub use local::LocalFile;
pub(crate) use local::{is_name_of, is_not_regular, is_same_file, open_regular};
pub(super) use stream::Stream;
pub(super) use window::{ReadAhead, Window};

/// Where the bytes of a file can be read by position: a file on disk, an object in a bucket, a part of an archive.
///
/// [`OpenOptions::source`](crate::OpenOptions::source) opens any. Several threads may read at the same time.
///
/// ```
/// use std::io;
/// use popef::read::ReadAt;
/// use popef::OpenOptions;
///
/// /// A model that lies in a larger file.
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
    /// How many bytes there are. This must not change.
    fn size(&self) -> u64;

    /// Fills `buf` with the bytes from `offset` on, which the caller knows to lie within the size.
    ///
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) is taken to mean that the file has become shorter. After
    /// [`Interrupted`](io::ErrorKind::Interrupted) it is called again.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// Whether the bytes are still those that were there at first. Asked after each reading.
    ///
    /// Sources that make sure of it while they read, or that cannot change, need not tell.
    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// What errors call it: a path, or an address.
    fn name(&self) -> Option<&Path> {
        None
    }

    /// The file on disk that these are the bytes of, one by one, if they are. Copying from it can be left to the system.
    fn local_file(&self) -> Option<&LocalFile> {
        None
    }
}

/// The source of an opened file. Its address tells it from others, which that of a source without a size would not.
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

    /// Fills `buf` from a position, without a look whether the bytes are still those that were there at first.
    pub(super) fn fill(&self, buf: &mut [u8], offset: u64) -> Result<(), Problem> {
        uninterrupted(|| self.0.read_exact_at(buf, offset)).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => ReadProblem::FileChanged.into(),
            _ => Problem::io("read the file", source),
        })
    }

    /// Fills `buf` from a position, and makes sure that the bytes are those that were there at first.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), Problem> {
        self.fill(buf, offset)?;
        self.check_unchanged()
    }

    pub(super) fn check_unchanged(&self) -> Result<(), Problem> {
        let unchanged = self.0.is_unchanged().map_err(|source| Problem::io("look at the file", source))?;
        if unchanged { Ok(()) } else { Err(ReadProblem::FileChanged.into()) }
    }
}

/// Does something that a signal can interrupt until none does.
pub(crate) fn uninterrupted<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
