//! How files are opened.

use popef::OpenOptions;

/// Whether the data of a stream is kept. Files on disk are read when a caller wants their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamData {
    /// It is skipped: memory stays small, and asking for data is an error.
    Skip,
    /// It is held in memory.
    Keep,
}

/// Files are read up to their damage, and behind a pickle.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.damaged(true).after_pickle(true);
    options
}
