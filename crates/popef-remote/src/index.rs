//! Walks the headers of an object.

use bytes::Bytes;
use popef::OpenOptions;
use popef::read::Indexer;

use crate::error::RemoteError;
use crate::growth::Growth;
use crate::object::Object;

/// The size of a piece. It is much smaller than a request, so that the wanted parts of an answer can be told from the
/// rest.
const PAGE: u64 = 4 << 10;
/// Maximum number of header bytes that stay in memory for each file, for callers that read headers again.
const MOST_KEPT: usize = 256 << 10;

/// Pieces of an object in memory, in order.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pieces: Vec<(u64, Bytes)>,
    held: usize,
}

impl Kept {
    fn add(&mut self, start: u64, bytes: &[u8]) {
        if self.held.saturating_add(bytes.len()) <= MOST_KEPT {
            self.held = self.held.saturating_add(bytes.len());
            self.pieces.push((start, Bytes::copy_from_slice(bytes)));
        }
    }

    /// Fills a buffer, if all of its bytes are in one piece.
    pub(crate) fn fill(&self, buf: &mut [u8], offset: u64) -> bool {
        let next = self.pieces.partition_point(|(start, _)| *start <= offset);
        let Some((start, bytes)) = next.checked_sub(1).and_then(|index| self.pieces.get(index)) else { return false };
        let skip = usize::try_from(offset.saturating_sub(*start)).unwrap_or(usize::MAX);
        match bytes.get(skip..).and_then(|rest| rest.get(..buf.len())) {
            Some(found) => {
                buf.copy_from_slice(found);
                true
            }
            None => false,
        }
    }
}

/// Gives an indexer all bytes that it wants. `first` are the object's first bytes.
pub(crate) async fn index(
    object: &Object,
    first: Bytes,
    options: &OpenOptions,
) -> Result<(Indexer, Kept), RemoteError> {
    let size = object.size();
    let settings = &object.context().options;
    let mut growth = Growth::new(settings.first, settings.most);
    let mut indexer = { *options }.read_ahead(PAGE, PAGE).indexer(size);
    let (mut start, mut held) = (0_u64, first);
    let mut kept = Kept::default();
    // A small file is kept as a whole.
    let is_whole = u64::try_from(held.len()) == Ok(size);
    if is_whole {
        kept.add(0, &held);
    }
    while let Some(wanted) = indexer.wants() {
        let skip = wanted.start.checked_sub(start).and_then(|skip| usize::try_from(skip).ok());
        let found = skip.and_then(|skip| held.get(skip..)).filter(|found| !found.is_empty());
        if let Some(found) = found {
            growth.hit();
            let taken = indexer.give(found);
            if !is_whole {
                kept.add(wanted.start, found.get(..taken).unwrap_or_default());
            }
            continue;
        }
        let len = growth.next().max(wanted.end.saturating_sub(wanted.start)).min(settings.most.max(settings.first));
        start = wanted.start;
        held = object.read(start..start.saturating_add(len).min(size)).await?;
    }
    Ok((indexer, kept))
}
