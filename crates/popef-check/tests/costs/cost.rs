//! The cost of a decoder: processor time, and bytes held on the heap at once, for the bytes that go in and come out.
//!
//! docs/ROBUSTNESS.md promises the bounds below. `cargo bench -p popef-check --bench worst` measures the worst inputs known
//! against them. The fuzz targets report any input beyond them.

use std::fmt;
use std::time::Duration;

use super::heap::peak_of;

/// The factor by which a fuzz target may be slower: its build checks sums and counts branches, and CI optimises it
/// little.
pub const SLACK: f64 = 12.0;

/// The promised cost of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub decoder: &'static str,
    /// Nanoseconds of processor time.
    pub time: Line,
    /// Bytes held on the heap at once.
    pub heap: Line,
}

/// An amount for each call, for each byte that goes in, and for each byte that comes out.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub fixed: u64,
    pub per_byte_in: u64,
    pub per_byte_out: u64,
    /// The amount for a call, whatever the number of bytes.
    pub most: u64,
}

const fn line(fixed: u64, per_byte_in: u64, per_byte_out: u64) -> Line {
    Line { fixed, per_byte_in, per_byte_out, most: u64::MAX }
}

/// Reading headers and infos.
pub const HEADS: Bound = Bound { decoder: "headers and infos", time: line(10_000, 12, 0), heap: line(1 << 10, 0, 0) };
pub const HEADS_KEPT: Bound =
    Bound { decoder: "headers and infos, kept", time: line(20_000, 15, 0), heap: line(64 << 10, 4, 0) };
pub const METADATA: Bound = Bound { decoder: "Metadata", time: line(10_000, 40, 0), heap: line(64 << 10, 4, 0) };
/// All rules of the check together, and an opened file.
pub const CHECK: Bound = Bound { decoder: "checks", time: line(100_000, 200, 0), heap: line(4 << 20, 12, 0) };

pub const ZLIB: Bound = Bound { decoder: "zlib", time: line(10_000, 75, 6), heap: line(128 << 10, 0, 0) };
/// The header of a gzip member may hold three texts of 64 KiB.
pub const GZIP: Bound = Bound { decoder: "gzip", time: line(10_000, 75, 6), heap: line(320 << 10, 0, 0) };
pub const ZSTD: Bound = zstd(8 << 20);
/// A byte may become 255 bytes before its block turns out to be damaged.
pub const LZ4: Bound =
    Bound { decoder: "LZ4", time: line(10_000, 650, 1), heap: Line { most: 9 << 20, ..line(96 << 10, 520, 0) } };

/// This many bytes of zstd data may be unpacked before any is given, and a block may have too many matches.
pub const fn zstd(ahead: u64) -> Bound {
    const PER_BYTE_OUT: u64 = 16;
    let time = line(10_000 + PER_BYTE_OUT * (ahead + (300 << 10)), 1500, PER_BYTE_OUT);
    // ruzstd's buffer is a power of two. While it grows, the old half of it is held, too.
    let heap = line((3 << 20) + ahead.next_power_of_two() * 3 / 2, 0, 0);
    Bound { decoder: "zstd", time, heap }
}

pub const PICKLE: Bound = Bound { decoder: "pickle", time: line(50_000, 120, 0), heap: line(320 << 10, 16, 0) };
/// Twice the bytes of an archive may be unpacked, and 64 KiB.
pub const ARCHIVE: Bound =
    Bound { decoder: "archive of pickles", time: line(10_000_000, 400, 0), heap: line(1536 << 10, 56, 0) };
/// The payload of an opaque blob, and its JSON.
pub const PAYLOAD: Bound = Bound { decoder: "payload", time: line(50_000, 150, 10), heap: line(128 << 10, 8, 0) };

/// The output for PopTorch's data is limited by its length, too.
pub const POPTORCH: Bound =
    Bound { decoder: "PopTorch's data", time: line(200_000, 250, 0), heap: line(768 << 10, 64, 0) };

/// The bound for data that may be an archive: then twice as many bytes are unpacked, and followed with the same cost.
pub fn unless_archive(bound: Bound, bytes: &[u8]) -> Bound {
    if !bytes.windows(4).any(|window| window == b"PK\x05\x06") {
        return bound;
    }
    let more = |line: Line, other: Line| Line {
        fixed: line.fixed + other.fixed,
        per_byte_in: 4 * line.per_byte_in + other.per_byte_in,
        ..line
    };
    Bound { time: more(bound.time, ARCHIVE.time), heap: more(bound.heap, ARCHIVE.heap), ..bound }
}

impl Line {
    pub fn of(self, bytes_in: u64, bytes_out: u64) -> u64 {
        (self.fixed + self.per_byte_in * bytes_in + self.per_byte_out * bytes_out).min(self.most)
    }
}

/// An input that costs a decoder much.
pub struct Worst {
    pub bound: Bound,
    pub name: &'static str,
    /// Makes an input of about this many bytes. For 0 bytes it makes the smallest one.
    pub make: Box<dyn Fn(usize) -> Vec<u8>>,
    /// Decodes it and returns the number of bytes that came out.
    pub work: fn(&[u8]) -> u64,
}

/// What some work cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub time: Duration,
    pub heap: u64,
}

impl Cost {
    /// Measures `work`, which returns how many bytes came out of `bytes_in`. It must stay on this thread.
    pub fn of(bytes_in: u64, work: impl FnOnce() -> u64) -> Cost {
        let before = processor_time();
        let (bytes_out, heap) = peak_of(work);
        Cost { bytes_in, bytes_out, time: processor_time().saturating_sub(before), heap }
    }

    /// The shares of the bound's time and heap that were taken. 1 is all of it.
    pub fn shares(&self, bound: &Bound) -> (f64, f64) {
        let allowed = |line: Line| line.of(self.bytes_in, self.bytes_out) as f64;
        (self.time.as_nanos() as f64 / allowed(bound.time), self.heap as f64 / allowed(bound.heap))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { bytes_in, bytes_out, time, heap } = self;
        write!(f, "{bytes_in} bytes in, {bytes_out} out: {time:?} and {heap} bytes held")
    }
}

/// Panics if the work costs more than the bound. `slack` is the factor by which a build with checks is slower. The heap
/// is the same in every build.
///
/// A shared processor is slow at times, so work that takes too long is tried again.
pub fn assert_within(bound: &Bound, slack: f64, bytes_in: u64, mut work: impl FnMut() -> u64) {
    const TRIES: usize = 5;
    for tries in 1.. {
        let cost = Cost::of(bytes_in, &mut work);
        let (time, heap) = cost.shares(bound);
        assert!(heap <= 1.0, "{} held too much: {cost}, {heap:.2} of what is promised", bound.decoder);
        if time <= slack {
            return;
        }
        assert!(tries < TRIES, "{} took too long: {cost}, {time:.2} of what is promised", bound.decoder);
    }
}

/// The processor time of this thread. Other work of the machine does not count.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Other systems give the time that went by.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
