//! How files are opened.

use popef::OpenOptions;

/// What becomes of the data that comes through a stream. Files on disk are read when they are asked for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamData {
    /// It is skipped: memory stays small, and asking for data is an error.
    Skip,
    /// It is held in memory.
    Keep,
}

/// What is before the damage is wanted too, and what is behind a pickle.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.damaged(true).after_pickle(true);
    options
}
