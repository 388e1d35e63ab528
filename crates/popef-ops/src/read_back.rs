//! Compares an executable with its written form, while the rest is still being written.

use std::fs;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use popef::read::{ExecutableBlob, Limits, Unpack};
use popef::write::{BlobWriter, Destination, PackedWriter, Rewind};
use popef::{Blob, Writer};
use popef_work::{Aside, Thread, Turn, aside};

use crate::error::{Code, Error};
use crate::progress::Progress;
use crate::verify::{same_bytes, wrong};
use crate::work::{PIECE, fill, len_of};

/// An executable that is being written, and can be read meanwhile.
pub(crate) trait Growing: Write {
    /// Where the data is that the file already has.
    fn flushed(&mut self) -> Result<Range<u64>, popef::Error>;
}

impl<D: Rewind> Growing for PackedWriter<&mut Writer<D>> {
    fn flushed(&mut self) -> Result<Range<u64>, popef::Error> {
        PackedWriter::flushed(self)
    }
}

impl<D: Destination> Growing for BlobWriter<&mut Writer<D>> {
    fn flushed(&mut self) -> Result<Range<u64>, popef::Error> {
        BlobWriter::flushed(self)
    }
}

/// Writes the unpacked bytes of an executable, and reports how much has arrived.
pub(crate) fn write_unpacked(
    old: &ExecutableBlob<'_>,
    blob: &mut impl Growing,
    arrived: &Arrived,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let (mut data, mut piece, mut since) = (old.unpack()?, vec![0; PIECE], 0);
    loop {
        let bytes = fill(&mut data, &mut piece)?;
        if bytes.is_empty() {
            return Ok(());
        }
        blob.write_all(bytes).map_err(|error| Error::io("write", error))?;
        progress.add(len_of(bytes))?;
        since = len_of(bytes).saturating_add(since);
        if since >= TELL_EVERY {
            arrived.tell(blob.flushed()?.end);
            since = 0;
        }
    }
}

/// The number of bytes after which the thread that reads back learns what has arrived.
const TELL_EVERY: u64 = 1 << 20;

/// How much of an executable's data the file has.
#[derive(Default)]
pub(crate) struct Arrived {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Where the data begins in the file, once that is known.
    start: Option<u64>,
    end: u64,
    ended: Option<Ended>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Whole,
    GivenUp,
}

impl Arrived {
    /// Tells where the data begins in the file.
    pub(crate) fn begin(&self, start: u64) {
        self.lock().start = Some(start);
        self.tell(start);
    }

    fn tell(&self, end: u64) {
        self.lock().end = end;
        self.changed.notify_all();
    }

    fn end(&self, how: Ended) {
        self.lock().ended.get_or_insert(how);
        self.changed.notify_all();
    }

    /// Waits until more than `at` has arrived, or the end.
    fn behind(&self, at: u64) -> State {
        self.wait_while(|state| state.end <= at)
    }

    /// Waits until it is known where the data begins. `None` if nothing is written.
    fn start(&self) -> Option<u64> {
        self.wait_while(|state| state.start.is_none()).start
    }

    /// Waits as long as this is so, or until the end.
    fn wait_while(&self, so: impl Fn(&State) -> bool) -> State {
        let goes_on = |state: &mut State| state.ended.is_none() && so(state);
        *self.changed.wait_while(self.lock(), goes_on).unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what has arrived, and waits for the rest.
struct Tail<'a> {
    file: fs::File,
    at: u64,
    /// The number of bytes on disk.
    on_disk: u64,
    arrived: &'a Arrived,
    turn: &'a Turn,
}

impl Read for Tail<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let State { end, ended, .. } = self.turn.wait(|| self.arrived.behind(self.at));
        if ended == Some(Ended::GivenUp) {
            return Err(io::Error::other("nothing more is written"));
        }
        self.flush()?;
        let count = Read::by_ref(&mut self.file).take(end.saturating_sub(self.at)).read(buf)?;
        self.at = self.at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}

impl Tail<'_> {
    /// Lets the system write the arrived bytes to disk, while more is compressed. So little is left to flush in the
    /// end.
    fn flush(&mut self) -> io::Result<()> {
        const FLUSH_EVERY: u64 = 32 << 20;
        // Windows flushes only files that were opened for writing.
        if cfg!(unix) && self.at.saturating_sub(self.on_disk) >= FLUSH_EVERY {
            self.file.sync_data()?;
            self.on_disk = self.at;
        }
        Ok(())
    }
}

/// The comparison of an executable with its written form.
pub(crate) struct ReadBack<'s, 'a> {
    compare: Compare<'a>,
    work: Option<Aside<'s, Result<bool, Error>>>,
}

/// What is compared.
#[derive(Clone, Copy)]
pub(crate) struct Compare<'a> {
    pub(crate) old: ExecutableBlob<'a>,
    pub(crate) file: &'a fs::File,
    /// Whether the output is compressed.
    pub(crate) packed: bool,
    pub(crate) arrived: &'a Arrived,
    pub(crate) progress: &'a Counted<'a>,
}

impl Compare<'_> {
    fn run(&self, turn: &Turn) -> Result<bool, Error> {
        let failed = |error| Error::io("read back what was written", error);
        let start = turn.wait(|| self.arrived.start()).ok_or_else(ended)?;
        let mut file = self.file.try_clone().map_err(failed)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut new = Tail { file, at: start, on_disk: start, arrived: self.arrived, turn };
        let (mut old, size) = (self.old.unpack()?, self.old.uncompressed_size());
        if self.packed {
            same_bytes(&mut old, &mut Unpack::from_reader(new, size, &Limits::default())?, self.progress)
        } else {
            same_bytes(&mut old, &mut new, self.progress)
        }
    }
}

/// A shorter executable is compared after it was written: a thread would cost more.
const WORTH_A_THREAD: u64 = 1 << 20;

/// Lets `then` write what is compared meanwhile, with so many threads: without one for it, the comparison is made at its end.
pub(crate) fn reading_back<R>(
    compare: Option<Compare<'_>>,
    threads: usize,
    then: impl FnOnce(Option<ReadBack<'_, '_>>) -> R,
) -> R {
    let Some(compare) = compare else { return then(None) };
    let is_worth_it = threads != 1 && compare.old.uncompressed_size() > WORTH_A_THREAD;
    let thread = if is_worth_it { Thread::IfFree } else { Thread::Never };
    let work = |turn: &Turn| compare.run(turn);
    aside(thread, "popef-read-back", work, |work| then(Some(ReadBack { compare, work: Some(work) })))
}

impl ReadBack<'_, '_> {
    /// Compares the rest, and fails if anything differs. The file has all of the data, up to `end`.
    pub(crate) fn finish(mut self, end: u64) -> Result<(), Error> {
        self.compare.arrived.tell(end);
        self.compare.arrived.end(Ended::Whole);
        let same = self.work.take().map(Aside::join);
        if same.and_then(Result::ok).unwrap_or_else(|| Err(ended()))? {
            Ok(())
        } else {
            Err(wrong(self.compare.old.blob()))
        }
    }
}

/// Without [`finish`](ReadBack::finish), the comparison ends here.
impl Drop for ReadBack<'_, '_> {
    fn drop(&mut self) {
        self.compare.arrived.end(Ended::GivenUp);
    }
}

fn ended() -> Error {
    Error::new(Code::NotVerified, "the thread that reads back ended early")
}

/// A progress that reports a fixed total in the end, whatever happens on the way.
pub(crate) struct Counted<'p> {
    progress: &'p dyn Progress,
    left: AtomicU64,
}

impl<'p> Counted<'p> {
    pub(crate) fn new(progress: &'p dyn Progress, total: u64) -> Self {
        Counted { progress, left: AtomicU64::new(total) }
    }

    /// Does the same, and first announces the total.
    pub(crate) fn expected(progress: &'p dyn Progress, total: u64) -> Self {
        progress.expect(total);
        Counted::new(progress, total)
    }

    /// Reports the bytes that were not reported yet.
    pub(crate) fn tell_rest(&self) -> Result<(), Error> {
        self.progress.add(self.left.swap(0, Relaxed))
    }
}

impl Progress for Counted<'_> {
    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        let _ = self.left.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(bytes)));
        self.progress.advance(bytes)
    }
}

/// Fails if another executable does not unpack to the same bytes.
pub(crate) fn same_unpacked(old: &Blob<'_>, new: &Blob<'_>, progress: &dyn Progress) -> Result<(), Error> {
    let (Some(one), Some(other)) = (old.as_executable(), new.as_executable()) else { return Err(wrong(old)) };
    if same_bytes(&mut one.unpack()?, &mut other.unpack()?, progress)? { Ok(()) } else { Err(wrong(old)) }
}
