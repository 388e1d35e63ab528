//! How files are opened.

use popef::OpenOptions;

/// Whether the data of a stream is kept. For files on disk, data is read on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamData {
    /// It is skipped: memory stays small, and asking for data is an error.
    Skip,
    /// It is held in memory.
    Keep,
}

/// The options: damaged files are read too, and PopEF after a pickle is found.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.damaged(true).after_pickle(true);
    options
}
