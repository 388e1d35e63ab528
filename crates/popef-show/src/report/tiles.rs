use std::error::Error as _;

use popef::read::ExecutableBlob;
use popef::types::Diagnostic;
use poplar_inspect::executable::{Fit, MemorySource, Options, Summary, Tiles, Verdict, read_blob};
use poplar_inspect::{Error, ErrorCode, Part};

use crate::output::shown::Shown;
use crate::output::units::{counted, size};

/// The facts about the tiles of an executable, all of which must be read for them.
pub(crate) struct TilesView {
    /// `None` if no tile could be read.
    pub(crate) tiles: Option<Tiles>,
    /// Why not everything was read. The executable may be undamaged: its format is not documented.
    pub(crate) not_read: Option<Error>,
    /// The failure of the file itself.
    pub(crate) failure: Option<Diagnostic>,
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

/// The failure if an error is not about the content of the executable: its data cannot be read or unpacked.
pub(crate) fn failure_of(error: &Error) -> Option<Diagnostic> {
    if (error.code(), error.place().part) != (ErrorCode::Unreadable, Part::Input) {
        return None;
    }
    let source = error.source().and_then(|source| source.downcast_ref::<popef::Error>());
    Some(source.map_or_else(|| error.describe(), popef::Error::describe))
}

/// Whether the tiles of an executable fit, and how that is known, in words.
pub(crate) fn fit_words(summary: &Summary, fit: &Fit) -> Shown<'static> {
    let memory = fit.tile_memory.map(size).unwrap_or_default();
    let from = match fit.tile_memory_from {
        Some(MemorySource::Metadata) => shown!("the {} of the IPUs that its metadata names", memory),
        Some(MemorySource::TileCount) => shown!("the {} of IPUs with so many tiles (inferred)", memory),
        _ => shown!("the given {}", memory),
    };
    let words = match (fit.verdict, fit.overfull) {
        (Verdict::Fits, _) => shown!("yes, no tile needs more than {}", from),
        (Verdict::DoesNotFit, 1) => shown!("no, 1 tile needs more than {}", from),
        (Verdict::DoesNotFit, over) => shown!("no, {} tiles need more than {}", over, from),
        _ if !summary.is_complete() => Shown::own("unknown, because not everything was read"),
        _ if summary.tiles.is_empty() => Shown::own("unknown, because it has no tiles"),
        _ => {
            let tiles = counted(summary.tiles.len(), "tile is", "tiles are");
            shown!("unknown, because {} no whole number of IPUs, so the memory of a tile is not known", tiles)
        }
    };
    match fit.tiles_per_ipu.filter(|_| fit.contradicts_metadata) {
        Some(each) => {
            shown!(
                "{}; but {} tiles contradict these IPUs, which have {} each (inferred)",
                words,
                summary.tiles.len(),
                each
            )
        }
        None => words,
    }
}
