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

use std::io::{self, Write};
use std::mem;
use std::time::Duration;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use popef_work::{Ahead, Room, Threads, Waited};
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
    level: Compression,
    /// The largest number of threads. 0 means one for each processor that is free.
    threads: usize,
    /// The blocks that are compressed on threads. Counting processors takes the system longer than compressing a few bytes, so
    /// there is none until there is more than a block.
    pool: Option<Ahead<Block, io::Result<Block>>>,
    /// A block whose memory is reused.
    spare: Block,
}

impl Deflater {
    /// Makes a compressor with `threads` threads. 0 means one per processor that is free.
    pub(super) fn new(packing: Packing, threads: usize) -> Self {
        let block = Block { packed: header(packing), ..Block::default() };
        let (checksum, level) = (Checksum::new(packing), Compression::new(packing.level()));
        Deflater { block, checksum, level, threads, pool: None, spare: Block::default() }
    }

    /// Takes some of the bytes, and returns how many. May write compressed bytes to `to`.
    pub(super) fn push(&mut self, bytes: &[u8], to: &mut impl Write) -> io::Result<usize> {
        if self.block.data().len() >= BLOCK && !bytes.is_empty() {
            if self.is_busy() {
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
        if block.last && self.pool.is_none() {
            block.compress(self.level)?;
            return to.write_all(&block.packed);
        }
        let pool = self.pool();
        pool.add(block);
        // Then nobody works on it before it is wanted.
        if pool.is_alone() { self.write_oldest(to).map(drop) } else { Ok(()) }
    }

    fn pool(&mut self) -> &mut Ahead<Block, io::Result<Block>> {
        let (level, threads) = (self.level, self.threads.min(MOST_THREADS));
        let threads = if threads == 0 { Threads::Free(MOST_THREADS) } else { Threads::These(threads) };
        let work = move |mut block: Block, _: &_| (block.compress(level).map(|()| block), 0);
        self.pool.get_or_insert_with(|| Ahead::new("popef-compress", threads, Room::ANY, work))
    }

    fn is_busy(&self) -> bool {
        let Some(pool) = &self.pool else { return false };
        let most = pool.most().saturating_mul(WAITING).min(pool.most().saturating_add(MOST_MORE));
        pool.waiting() >= most
    }

    /// Waits for the oldest pending block, and writes it. Returns `false` if no block is pending.
    fn write_oldest(&mut self, to: &mut impl Write) -> io::Result<bool> {
        let block = match self.pool.as_mut().map_or(Waited::Nothing, |pool| pool.take(Duration::MAX)) {
            Waited::Made(block) => block?,
            Waited::Nothing => return Ok(false),
            Waited::Lost | Waited::NotYet => return Err(io::Error::other("a thread that compresses ended early")),
        };
        to.write_all(&block.packed)?;
        self.spare = block;
        Ok(true)
    }
}

/// The threads end before the writer goes on.
impl Drop for Deflater {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.end();
        }
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
        assert!(deflater.pool.is_none());
    }
}
