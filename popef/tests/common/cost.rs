//! What a decoder costs: processor time, and bytes held on the heap at once, beside the bytes that go in and come out.
//!
//! docs/ROBUSTNESS.md promises the bounds below. `cargo bench -p popef --bench worst` measures the worst inputs known
//! against them, and the fuzz targets take any input beyond them for a find.

use std::fmt;
use std::time::Duration;

use super::heap::peak_of;

/// How many times as long a fuzz target may take: its build checks sums and counts branches, and is little optimised in CI.
pub const SLACK: f64 = 12.0;

/// What a decoder may cost.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub decoder: &'static str,
    /// Nanoseconds of processor time.
    pub time: Line,
    /// Bytes held on the heap at once.
    pub heap: Line,
}

/// So much for each call, for each byte that goes in, and for each byte that comes out.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub fixed: u64,
    pub per_byte_in: u64,
    pub per_byte_out: u64,
    /// However many bytes there are.
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
/// All rules together, and an opened file.
pub const CHECK: Bound = Bound { decoder: "checks", time: line(100_000, 200, 0), heap: line(4 << 20, 12, 0) };

pub const ZLIB: Bound = Bound { decoder: "zlib", time: line(10_000, 75, 6), heap: line(128 << 10, 0, 0) };
/// A member's header may hold three texts of 64 KiB.
pub const GZIP: Bound = Bound { decoder: "gzip", time: line(10_000, 75, 6), heap: line(320 << 10, 0, 0) };
pub const ZSTD: Bound = zstd(8 << 20);
/// A byte may become 255 before the block that it is in turns out to be damaged.
pub const LZ4: Bound =
    Bound { decoder: "LZ4", time: line(10_000, 650, 1), heap: Line { most: 9 << 20, ..line(96 << 10, 520, 0) } };

/// Of zstd data so many bytes may be unpacked before any is given, and a block of more matches than it may have.
pub const fn zstd(ahead: u64) -> Bound {
    const PER_BYTE_OUT: u64 = 16;
    let time = line(10_000 + PER_BYTE_OUT * (ahead + (300 << 10)), 1500, PER_BYTE_OUT);
    // ruzstd holds a power of two, and half of it while it takes that.
    let heap = line((3 << 20) + ahead.next_power_of_two() * 3 / 2, 0, 0);
    Bound { decoder: "zstd", time, heap }
}

pub const PICKLE: Bound = Bound { decoder: "pickle", time: line(50_000, 120, 0), heap: line(256 << 10, 16, 0) };

impl Line {
    pub fn of(self, bytes_in: u64, bytes_out: u64) -> u64 {
        (self.fixed + self.per_byte_in * bytes_in + self.per_byte_out * bytes_out).min(self.most)
    }
}

/// Inputs that cost a decoder much.
pub struct Worst {
    pub bound: Bound,
    pub name: &'static str,
    /// Makes one of about so many bytes; of 0 bytes the smallest.
    pub make: Box<dyn Fn(usize) -> Vec<u8>>,
    /// Decodes it, and tells how many bytes came out.
    pub work: fn(&[u8]) -> u64,
}

/// What a piece of work took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub time: Duration,
    pub heap: u64,
}

impl Cost {
    /// Does the work, which says how many bytes came out of `bytes_in`. It must stay on this thread.
    pub fn of(bytes_in: u64, work: impl FnOnce() -> u64) -> Cost {
        let before = processor_time();
        let (bytes_out, heap) = peak_of(work);
        Cost { bytes_in, bytes_out, time: processor_time().saturating_sub(before), heap }
    }

    /// How much of the bound's time and of its heap was taken: 1 is all of it.
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

/// Panics if the work costs more than the bound. `slack` is how many times as slow a build is that checks or counts
/// what it does; the heap is the same in every build.
///
/// A processor that is shared is slow at times: work that takes too long is tried again.
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

/// The time that the processor spent on this thread: what else it is busy with does not count.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Elsewhere all the time that went by.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
