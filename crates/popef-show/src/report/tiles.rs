use std::error::Error as _;

use popef::read::ExecutableBlob;
use poplar_inspect::executable::{Options, Tiles, read_blob};
use poplar_inspect::{Error, ErrorCode, Part};

use crate::failure::Failure;

/// What is known of the tiles of an executable. It takes reading all of it.
pub(crate) struct TilesView {
    /// `None` if no tile could be read.
    pub(crate) tiles: Option<Tiles>,
    /// Why not everything was read. The executable may be undamaged: its format is not documented.
    pub(crate) not_read: Option<Error>,
    /// What is wrong with the file itself.
    pub(crate) failure: Option<Failure>,
}

impl TilesView {
    pub(crate) fn of(executable: &ExecutableBlob<'_>) -> Self {
        let (tiles, not_read) = match read_blob(executable, &Options::default()) {
            Ok(summary) => (Some(summary.overview()), summary.damage),
            Err(error) => (None, Some(error)),
        };
        let tiles = tiles.filter(|tiles| tiles.count > 0 || not_read.is_none());
        let failure = not_read.as_ref().and_then(failure_of);
        TilesView { tiles, not_read, failure }
    }
}

/// An error that is not about what is inside the executable: its data cannot be read, or not be unpacked.
fn failure_of(error: &Error) -> Option<Failure> {
    if (error.code(), error.place().part) != (ErrorCode::Unreadable, Part::Input) {
        return None;
    }
    let source = error.source().and_then(|source| source.downcast_ref::<popef::Error>());
    Some(source.map_or_else(|| Failure::new(error.to_string(), "io", "io"), Failure::from))
}
