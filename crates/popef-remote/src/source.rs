//! An object as a byte source for the library.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use popef::read::ReadAt;
use tokio::runtime::Handle;

use crate::error::{Code, RemoteError};
use crate::index::Kept;
use crate::object::{Context, Object};

/// Reads an object from any thread. Reads ahead of sequential readers, in pieces that are requested together.
pub(crate) struct Source {
    object: Object,
    name: PathBuf,
    runtime: Handle,
    kept: Kept,
    readers: Mutex<Vec<Reader>>,
    ends: Arc<OnceLock<Vec<u64>>>,
    /// The number of bytes that were read ahead for all files together and are not used yet.
    ahead: Arc<AtomicU64>,
}

/// Maximum number of readers per file that data is read ahead for.
const READERS: usize = 4;
/// Maximum distance between two reads that belong together: the header of the next blob is between them.
const GAP: u64 = 64 << 10;
/// Maximum number of bytes read ahead for all files together.
const MOST_AHEAD: u64 = 12 << 20;

/// A caller that reads sequentially.
struct Reader {
    /// Where the next read is expected.
    next: u64,
    window: u64,
    /// Whether it has read past the end of a blob. Before that, nothing of the next one is read.
    crossed: bool,
    /// The data requested ahead, in order and without gaps.
    pieces: Vec<Piece>,
}

struct Piece {
    range: Range<u64>,
    state: State,
    /// Returns the bytes to the budget for reading ahead.
    _held: Held,
}

enum State {
    Here(Bytes),
    Coming(Receiver<Result<Bytes, RemoteError>>),
}

struct Held {
    count: u64,
    of: Arc<AtomicU64>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.of.fetch_sub(self.count, Ordering::Relaxed);
    }
}

impl Source {
    pub(crate) fn new(object: Object, kept: Kept, runtime: Handle, ahead: Arc<AtomicU64>) -> Self {
        let name = PathBuf::from(&*object.context().name);
        Source { object, name, runtime, kept, readers: Mutex::default(), ends: Arc::default(), ahead }
    }

    /// Takes the ends of the blobs, in order, once they are known.
    pub(crate) fn ends(&self) -> Arc<OnceLock<Vec<u64>>> {
        Arc::clone(&self.ends)
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a range. The answer comes on a thread of the runtime.
    fn ask(&self, range: Range<u64>) -> Receiver<Result<Bytes, RemoteError>> {
        let (answer, answered) = sync_channel(1);
        let object = self.object.clone();
        self.runtime.spawn(async move {
            // The receiver may be gone. Then the result is not needed.
            let _ = answer.send(object.read(range).await);
        });
        answered
    }

    /// The limit of reading ahead for a reader at `at`.
    fn end_for(&self, at: u64, crossed: bool) -> u64 {
        let size = self.object.size();
        let Some(ends) = self.ends.get().filter(|_| !crossed) else { return size };
        ends.get(ends.partition_point(|end| *end <= at)).copied().unwrap_or(size)
    }

    /// Takes the reader that reads here, or makes a new one. While it is taken, other callers do not get it.
    fn take_reader(&self, offset: u64) -> Reader {
        let mut readers = self.readers();
        let fits =
            |reader: &Reader| offset >= reader.next && offset.saturating_sub(reader.next) <= GAP.max(reader.window);
        match readers.iter().position(fits) {
            Some(index) => {
                let mut reader = readers.remove(index);
                let is_near = reader.pieces.iter().any(|piece| piece.range.contains(&offset))
                    || offset.saturating_sub(reader.next) <= GAP;
                if is_near {
                    reader.crossed |= self.end_for(reader.next.saturating_sub(1), false) <= offset;
                    return reader;
                }
                Reader { next: offset, window: 0, crossed: false, pieces: Vec::new() }
            }
            None => Reader { next: offset, window: 0, crossed: false, pieces: Vec::new() },
        }
    }

    fn put_reader(&self, reader: Reader) {
        let mut readers = self.readers();
        if readers.len() >= READERS {
            readers.remove(0);
        }
        readers.push(reader);
    }

    /// Requests the bytes after the last piece, up to `to`.
    fn extend(&self, reader: &mut Reader, from: u64, to: u64, is_needed: bool) {
        let piece = self.object.context().options.piece.max(1);
        let mut start = reader.pieces.last().map_or(from, |last| last.range.end);
        while start < to {
            let end = start.saturating_add(piece).min(to);
            let count = end.saturating_sub(start);
            let held = self.ahead.fetch_add(count, Ordering::Relaxed);
            let held_now = Held { count, of: Arc::clone(&self.ahead) };
            if !is_needed && held.saturating_add(count) > MOST_AHEAD {
                return;
            }
            let state = State::Coming(self.ask(start..end));
            reader.pieces.push(Piece { range: start..end, state, _held: held_now });
            start = end;
        }
    }

    fn wait(&self, answered: &Receiver<Result<Bytes, RemoteError>>) -> Result<Bytes, RemoteError> {
        wait(answered, self.object.context())
    }

    fn read_through(&self, reader: &mut Reader, mut buf: &mut [u8], mut offset: u64) -> Result<(), RemoteError> {
        let end = offset.saturating_add(u64::try_from(buf.len()).unwrap_or(u64::MAX));
        reader.pieces.retain(|piece| piece.range.end > offset);
        if reader.pieces.first().is_some_and(|first| first.range.start > offset) {
            reader.pieces.clear();
        }
        let goes_on = reader.window > 0;
        let options = &self.object.context().options;
        let most_at_once = options.ahead.max(options.piece);
        while offset < end {
            // A large read is not in memory twice: its pieces are requested a few at a time.
            let needed = end.min(offset.saturating_add(most_at_once));
            self.extend(reader, offset, needed, true);
            if goes_on {
                let wish =
                    needed.saturating_add(reader.window).min(self.end_for(needed.saturating_sub(1), reader.crossed));
                self.extend(reader, offset, wish, false);
            }
            let Some(piece) = reader.pieces.first_mut() else { return Err(self.lost()) };
            if let State::Coming(answered) = &piece.state {
                let bytes = self.wait(answered)?;
                piece.state = State::Here(bytes);
            }
            let State::Here(bytes) = &piece.state else { return Err(self.lost()) };
            let skip = usize::try_from(offset.saturating_sub(piece.range.start)).unwrap_or(usize::MAX);
            let found = bytes.get(skip..).unwrap_or_default();
            let count = found.len().min(buf.len());
            if count == 0 {
                return Err(self.lost());
            }
            let (now, later) = std::mem::take(&mut buf).split_at_mut(count);
            now.copy_from_slice(found.get(..count).unwrap_or_default());
            buf = later;
            offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            if offset >= piece.range.end {
                reader.pieces.remove(0);
            }
        }
        reader.next = end;
        let least = options.first.min(options.ahead);
        reader.window = reader.window.saturating_mul(2).clamp(least, options.ahead);
        Ok(())
    }

    fn lost(&self) -> RemoteError {
        self.object.context().error(Code::Cut, "the connection has ended")
    }
}

/// Waits for the result of another thread, and sometimes checks whether the caller wants to give up.
pub(crate) fn wait<T>(answered: &Receiver<Result<T, RemoteError>>, context: &Context) -> Result<T, RemoteError> {
    loop {
        match answered.recv_timeout(LOOK) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if !context.options.stopped.is_some_and(|stopped| stopped()) => {}
            Err(RecvTimeoutError::Timeout) => return Err(context.error(Code::Stopped, "")),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(context.error(Code::Other, "the work ended without a result"));
            }
        }
    }
}

/// The longest time until a stop is noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

impl ReadAt for Source {
    fn size(&self) -> u64 {
        self.object.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if self.kept.fill(buf, offset) {
            return Ok(());
        }
        let mut reader = self.take_reader(offset);
        // Data is no longer read ahead for a reader that failed.
        self.read_through(&mut reader, buf, offset)?;
        self.put_reader(reader);
        Ok(())
    }

    fn name(&self) -> Option<&Path> {
        Some(&self.name)
    }
}
