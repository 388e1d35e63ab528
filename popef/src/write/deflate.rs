//! Compressing in the way of pigz: each block by itself, on several threads, and one stream comes out.
//!
//! ```text
//! data            | block 1     | block 2                         | block 3                         |
//! compressed by   | one thread  | another, told the 32 KiB before | whichever is free, told as well |
//! stream   header | 1, flushed  | 2, flushed                      | 3, ended                        | checksum
//! ```
//!
//! Where blocks end follows from the data alone, so that the bytes are the same however many threads there are, and in
//! whatever pieces the data comes.

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

/// How much a thread compresses at a time: a MiB, of which the beginning costs little. Less where the faults are tested.
const BLOCK: usize = if cfg!(test) { 8 << 10 } else { 1 << 20 };

/// How far back deflate refers.
const WINDOW: usize = 32 << 10;

/// How many blocks wait for each thread, or for being written, so that none is idle.
const WAITING: usize = 4;

/// What is being done where compressing fails.
pub(super) const COMPRESS: &str = "compress";

/// All the bytes, compressed on so many threads.
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

/// Compresses what is [pushed](Self::push).
pub(super) struct Deflater {
    block: Block,
    checksum: Checksum,
    team: Team,
    /// For the blocks that are compressed in the thread of the caller.
    own: Option<Compress>,
    /// A block whose memory is used again.
    spare: Block,
}

impl Deflater {
    /// On so many threads; 0 are as many as there are processors.
    pub(super) fn new(packing: Packing, threads: usize) -> Self {
        let block = Block { packed: header(packing), ..Block::default() };
        let (checksum, team) = (Checksum::new(packing), Team::new(packing, threads));
        Deflater { block, checksum, team, own: None, spare: Block::default() }
    }

    /// Takes some of the bytes, and says how many. What is compressed by then goes to `to`.
    pub(super) fn push(&mut self, bytes: &[u8], to: &mut impl Write) -> io::Result<usize> {
        if self.block.data().len() >= BLOCK && !bytes.is_empty() {
            if self.team.is_busy() {
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
        // The only block of small data is not worth a thread.
        if !(block.last && self.team.hands.is_empty()) && self.team.hire() {
            return self.team.give(block);
        }
        block.compress(self.own.get_or_insert_with(|| self.team.compress()))?;
        to.write_all(&block.packed)?;
        self.spare = block;
        Ok(())
    }

    /// Waits for the oldest block that is under way, and writes it; false if none is.
    fn write_oldest(&mut self, to: &mut impl Write) -> io::Result<bool> {
        let Some(block) = self.team.oldest()? else { return Ok(false) };
        to.write_all(&block.packed)?;
        self.spare = block;
        Ok(true)
    }
}

/// A part of the data, and what becomes of it.
#[derive(Default)]
struct Block {
    /// The end of the block before, and behind it the data.
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

    /// Empty, behind a full one.
    fn behind(mut self, before: &Block) -> Self {
        let window = before.bytes.get(before.bytes.len().saturating_sub(WINDOW)..).unwrap_or_default();
        self.bytes.clear();
        self.packed.clear();
        self.bytes.extend_from_slice(window);
        self.start = window.len();
        self
    }

    fn compress(&mut self, state: &mut Compress) -> io::Result<()> {
        let (window, data) = self.bytes.split_at_checked(self.start).unwrap_or_default();
        state.reset();
        if !window.is_empty() {
            state.set_dictionary(window).map_err(io::Error::other)?;
        }
        let flush = if self.last { FlushCompress::Finish } else { FlushCompress::Sync };
        loop {
            // Data that cannot be made smaller grows by an eighth at the fastest level, so once round is enough.
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

/// The threads that compress. They end when it is dropped, and are waited for.
struct Team {
    packing: Packing,
    /// How many there may be.
    wanted: usize,
    hands: Vec<JoinHandle<()>>,
    /// None once no more blocks come.
    jobs: Option<Sender<Job>>,
    taken: Arc<Mutex<Receiver<Job>>>,
    /// Where the blocks that are under way arrive, the oldest first.
    under_way: VecDeque<Receiver<io::Result<Block>>>,
}

/// A block, and where it goes once it is compressed.
type Job = (Block, SyncSender<io::Result<Block>>);

impl Team {
    fn new(packing: Packing, threads: usize) -> Self {
        let wanted = match threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        };
        let (jobs, taken) = mpsc::channel();
        Team {
            packing,
            wanted,
            hands: Vec::new(),
            jobs: Some(jobs),
            taken: Arc::new(Mutex::new(taken)),
            under_way: VecDeque::new(),
        }
    }

    fn compress(&self) -> Compress {
        Compress::new(Compression::new(self.packing.level()), false)
    }

    fn is_busy(&self) -> bool {
        self.under_way.len() >= self.wanted.saturating_mul(WAITING)
    }

    /// Starts one more thread as long as there are too few; whether there is any.
    fn hire(&mut self) -> bool {
        if self.wanted > 1 && self.hands.len() < self.wanted {
            let (taken, state) = (self.taken.clone(), self.compress());
            match thread::Builder::new().name("popef-compress".to_owned()).spawn(move || work(&taken, state)) {
                Ok(hand) => self.hands.push(hand),
                // Those that there are can do it, or the caller's alone.
                Err(_) => self.wanted = self.hands.len(),
            }
        }
        !self.hands.is_empty()
    }

    fn give(&mut self, block: Block) -> io::Result<()> {
        let (done, arrives) = mpsc::sync_channel(1);
        let given = self.jobs.as_ref().is_some_and(|jobs| jobs.send((block, done)).is_ok());
        self.under_way.push_back(arrives);
        if given { Ok(()) } else { Err(ended()) }
    }

    /// Waits for the block that was given first; none if none is under way. A thread that panics takes its block along,
    /// which is an error here before one is waited for that nobody is left to take.
    fn oldest(&mut self) -> io::Result<Option<Block>> {
        let Some(arrives) = self.under_way.pop_front() else { return Ok(None) };
        arrives.recv().unwrap_or_else(|_| Err(ended())).map(Some)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.jobs = None;
        for hand in self.hands.drain(..) {
            // If it panicked, whoever waited for its block was told.
            let _ = hand.join();
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("a thread that compresses ended early")
}

fn work(jobs: &Mutex<Receiver<Job>>, mut state: Compress) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((mut block, done)) = job else { return };
        let compressed = block.compress(&mut state);
        // Nobody waits for it any more where the writing failed.
        let _ = done.send(compressed.map(|()| block));
    }
}

/// What stands before the compressed data: the same as flate2 makes by itself.
fn header(packing: Packing) -> Vec<u8> {
    match packing {
        // 32 KiB of window, and a hint at the level; both bytes together are a multiple of 31.
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
            // Deflate, no file name, no time, no operating system.
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, hint, 0xff]
        }
    }
}

/// What stands behind the compressed data.
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
            // Of the length, the lower 32 bits.
            Checksum::Gzip { crc, len } => {
                let lower = len.to_le_bytes();
                crc.sum().to_le_bytes().iter().chain(lower.iter().take(4)).copied().collect()
            }
        }
    }
}
