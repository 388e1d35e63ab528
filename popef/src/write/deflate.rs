//! Compresses like pigz: blocks are compressed independently, on several threads, and form one stream.
//!
//! ```text
//! data            | block 1     | block 2                         | block 3                         |
//! compressed by   | one thread  | another, with 32 KiB of history | any free one, also with history |
//! stream   header | 1, flushed  | 2, flushed                      | 3, ended                        | checksum
//! ```
//!
//! The ends of blocks depend on the data alone. So the bytes are the same for any number of threads, and for any pieces
//! in which the data comes.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use zlib_rs::adler32::adler32;

use super::packing::Packing;
use crate::error::Problem;
use crate::len::len_of;

/// The size of a block: large enough that starting one costs little, and small enough for many threads. Smaller in the tests
/// of faults.
const BLOCK: usize = if cfg!(test) { 8 << 10 } else { 256 << 10 };

/// How far back deflate can refer.
const WINDOW: usize = 32 << 10;

/// Maximum number of blocks per thread that wait to be compressed or written, so that no thread is idle.
const WAITING: usize = 4;

/// Maximum number of waiting blocks beyond one per thread. Each takes up to 580 KiB, so together they stay below 10 MiB
/// with any number of threads.
const MOST_MORE: usize = 8;

/// Maximum number of threads that compress. Each takes about 5 MiB, including what the allocator keeps for it.
const MOST_THREADS: usize = 8;

/// The operation that an error of compression names.
pub(super) const COMPRESS: &str = "compress";

/// Compresses bytes on `threads` threads.
pub(super) fn pack(data: &[u8], packing: Packing, threads: usize) -> Result<Vec<u8>, Problem> {
    packing.check()?;
    let failed = |source| Problem::io(COMPRESS, source);
    let (mut deflater, mut packed, mut rest) = (Deflater::new(packing, threads), Vec::new(), data);
    while !rest.is_empty() {
        let taken = deflater.push(rest, &mut packed).map_err(failed)?;
        rest = rest.get(taken..).unwrap_or_default();
    }
    deflater.finish(&mut packed).map_err(failed)?;
    Ok(packed)
}

/// Compresses the bytes that are [pushed](Self::push).
pub(super) struct Deflater {
    block: Block,
    checksum: Checksum,
    pool: Pool,
    /// A block whose memory is reused.
    spare: Block,
}

impl Deflater {
    /// Makes a compressor with `threads` threads. 0 means one per processor.
    pub(super) fn new(packing: Packing, threads: usize) -> Self {
        let block = Block { packed: header(packing), ..Block::default() };
        let (checksum, pool) = (Checksum::new(packing), Pool::new(packing, threads));
        Deflater { block, checksum, pool, spare: Block::default() }
    }

    /// Takes some of the bytes, and returns how many. May write compressed bytes to `to`.
    pub(super) fn push(&mut self, bytes: &[u8], to: &mut impl Write) -> io::Result<usize> {
        if self.block.data().len() >= BLOCK && !bytes.is_empty() {
            if self.pool.is_busy() {
                self.write_oldest(to)?;
            }
            let next = mem::take(&mut self.spare).behind(&self.block);
            let full = mem::replace(&mut self.block, next);
            self.compress(full, to)?;
        }
        let room = BLOCK.saturating_sub(self.block.data().len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.block.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    pub(super) fn finish(mut self, to: &mut impl Write) -> io::Result<()> {
        let mut last = mem::take(&mut self.block);
        last.last = true;
        self.compress(last, to)?;
        while self.write_oldest(to)? {}
        to.write_all(&self.checksum.trailer())
    }

    fn compress(&mut self, mut block: Block, to: &mut impl Write) -> io::Result<()> {
        self.checksum.update(block.data());
        // If there is only one block, a thread is not worth its cost.
        if !(block.last && self.pool.threads.is_empty()) && self.pool.start_thread() {
            return self.pool.give(block);
        }
        block.compress(self.pool.level())?;
        to.write_all(&block.packed)?;
        self.spare = block;
        Ok(())
    }

    /// Waits for the oldest pending block, and writes it. Returns `false` if no block is pending.
    fn write_oldest(&mut self, to: &mut impl Write) -> io::Result<bool> {
        let Some(block) = self.pool.oldest()? else { return Ok(false) };
        to.write_all(&block.packed)?;
        self.spare = block;
        Ok(true)
    }
}

/// A part of the data, and its compressed bytes.
#[derive(Default)]
struct Block {
    /// The end of the previous block, followed by the data.
    bytes: Vec<u8>,
    /// Where the data begins.
    start: usize,
    last: bool,
    packed: Vec<u8>,
}

impl Block {
    fn data(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Makes the block empty, with the end of the previous block as its history.
    fn behind(mut self, before: &Block) -> Self {
        let window = before.bytes.get(before.bytes.len().saturating_sub(WINDOW)..).unwrap_or_default();
        self.bytes.clear();
        self.packed.clear();
        self.bytes.extend_from_slice(window);
        self.start = window.len();
        self
    }

    fn compress(&mut self, level: Compression) -> io::Result<()> {
        let (window, data) = self.bytes.split_at_checked(self.start).unwrap_or_default();
        // A compressor that is reset keeps some of the last block, and then finds other matches.
        let mut state = Compress::new(level, false);
        if !window.is_empty() {
            state.set_dictionary(window).map_err(io::Error::other)?;
        }
        let flush = if self.last { FlushCompress::Finish } else { FlushCompress::Sync };
        loop {
            // Incompressible data grows by an eighth at the fastest level, so one round is enough.
            self.packed.reserve(data.len().saturating_add(data.len() / 8).saturating_add(1024));
            let taken = usize::try_from(state.total_in()).unwrap_or(usize::MAX);
            let rest = data.get(taken..).unwrap_or_default();
            let status = state.compress_vec(rest, &mut self.packed, flush).map_err(io::Error::other)?;
            let flushed = self.packed.len() < self.packed.capacity();
            if status == Status::StreamEnd || (flushed && !self.last) {
                return Ok(());
            }
        }
    }
}

/// The threads that compress. A drop ends them and waits for them.
struct Pool {
    packing: Packing,
    /// The largest number of threads. 0 if it is not known yet.
    wanted: usize,
    threads: Vec<JoinHandle<()>>,
    /// `None` when no more blocks will come.
    jobs: Option<Sender<Job>>,
    taken: Arc<Mutex<Receiver<Job>>>,
    /// The channels on which pending blocks arrive, oldest first.
    under_way: VecDeque<Receiver<io::Result<Block>>>,
}

/// A block, and the channel for its result.
type Job = (Block, SyncSender<io::Result<Block>>);

impl Pool {
    fn new(packing: Packing, threads: usize) -> Self {
        let wanted = threads.min(MOST_THREADS);
        let (jobs, taken) = mpsc::channel();
        Pool {
            packing,
            wanted,
            threads: Vec::new(),
            jobs: Some(jobs),
            taken: Arc::new(Mutex::new(taken)),
            under_way: VecDeque::new(),
        }
    }

    fn level(&self) -> Compression {
        Compression::new(self.packing.level())
    }

    fn is_busy(&mut self) -> bool {
        self.count_processors();
        let most = self.wanted.saturating_add(MOST_MORE);
        self.under_way.len() >= self.wanted.saturating_mul(WAITING).min(most)
    }

    /// Counting processors takes the system longer than compressing a few bytes, so it waits until there is more than a block.
    fn count_processors(&mut self) {
        if self.wanted == 0 {
            self.wanted = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        }
    }

    /// Starts one more thread if there are too few. Returns whether there is any.
    fn start_thread(&mut self) -> bool {
        self.count_processors();
        if self.wanted > 1 && self.threads.len() < self.wanted {
            let (taken, level) = (self.taken.clone(), self.level());
            match thread::Builder::new().name("popef-compress".to_owned()).spawn(move || work(&taken, level)) {
                Ok(thread) => self.threads.push(thread),
                // The existing threads are enough, or the caller's own.
                Err(_) => self.wanted = self.threads.len().max(1),
            }
        }
        !self.threads.is_empty()
    }

    fn give(&mut self, block: Block) -> io::Result<()> {
        let (done, arrives) = mpsc::sync_channel(1);
        let given = self.jobs.as_ref().is_some_and(|jobs| jobs.send((block, done)).is_ok());
        self.under_way.push_back(arrives);
        if given { Ok(()) } else { Err(ended()) }
    }

    /// Waits for the oldest pending block. `None` if no block is pending. If a thread panics, its block is lost and
    /// this fails, instead of waiting for blocks that no thread is left to compress.
    fn oldest(&mut self) -> io::Result<Option<Block>> {
        let Some(arrives) = self.under_way.pop_front() else { return Ok(None) };
        arrives.recv().unwrap_or_else(|_| Err(ended())).map(Some)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // If the thread panicked, `oldest` has failed for its block.
            let _ = thread.join();
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("a thread that compresses ended early")
}

fn work(jobs: &Mutex<Receiver<Job>>, level: Compression) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((mut block, done)) = job else { return };
        let compressed = block.compress(level);
        // The receiver is gone if writing failed.
        let _ = done.send(compressed.map(|()| block));
    }
}

/// The bytes before the compressed data, the same as flate2 writes.
fn header(packing: Packing) -> Vec<u8> {
    match packing {
        // A window of 32 KiB, and a hint at the level. Both bytes together are a multiple of 31.
        Packing::Zlib(0 | 1) => vec![0x78, 0x01],
        Packing::Zlib(2..=5) => vec![0x78, 0x5e],
        Packing::Zlib(6) => vec![0x78, 0x9c],
        Packing::Zlib(_) => vec![0x78, 0xda],
        Packing::Gzip(level) => {
            let hint = match level {
                0 | 1 => 4,
                2..=8 => 0,
                _ => 2,
            };
            // Deflate, no file name, no time, unknown operating system.
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, hint, 0xff]
        }
    }
}

/// The checksum after the compressed data.
enum Checksum {
    Zlib(u32),
    Gzip { crc: Crc, len: u64 },
}

impl Checksum {
    fn new(packing: Packing) -> Self {
        match packing {
            Packing::Zlib(_) => Checksum::Zlib(1),
            Packing::Gzip(_) => Checksum::Gzip { crc: Crc::new(), len: 0 },
        }
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Checksum::Zlib(sum) => *sum = adler32(*sum, data),
            Checksum::Gzip { crc, len } => {
                crc.update(data);
                *len = len.wrapping_add(len_of(data));
            }
        }
    }

    fn trailer(&self) -> Vec<u8> {
        match self {
            Checksum::Zlib(sum) => sum.to_be_bytes().to_vec(),
            // The lower 32 bits of the length.
            Checksum::Gzip { crc, len } => {
                let lower = len.to_le_bytes();
                crc.sum().to_le_bytes().iter().chain(lower.iter().take(4)).copied().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Deflater, Packing};

    #[test]
    fn few_bytes_do_not_ask_for_processors() {
        let mut deflater = Deflater::new(Packing::default(), 0);
        deflater.push(b"few", &mut Vec::new()).unwrap();
        let block = std::mem::take(&mut deflater.block);
        deflater.compress(super::Block { last: true, ..block }, &mut Vec::new()).unwrap();
        assert_eq!((deflater.pool.wanted, deflater.pool.threads.len()), (0, 0));
    }
}
