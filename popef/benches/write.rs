//! The cost of writing, beside the standard library with the same bytes: `cargo bench -p popef --bench write`.
//!
//! Each pair takes turns, and the fastest runs are compared, because other programs only make a run slower. The ratio
//! is the plain time divided by ours: 1.00 is as fast, more is faster. `POPEF_BENCH_MIB` is the amount to write (128),
//! `POPEF_BENCH_EXECUTABLE_MIB` the amount to compress (256), `POPEF_BENCH_ROUNDS` the number of rounds (21), and
//! `POPEF_BENCH_FOLDER` the folder. Arguments name the parts to run: tensors, small, feeds, verbatim, compressing,
//! memory.

mod common;

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::measure::{Row, ratio, rounded};
use common::recipe;
use flate2::write::ZlibEncoder;
use popef::types::{FeedDataInfo, OpaqueInfo, TensorDataInfo};
use popef::write::Packing;
use popef::{DataType, TensorInfo, Writer};

const MIB: usize = 1 << 20;
const TENSOR: usize = 16 * MIB;
const SMALL: usize = 100_000;

fn main() {
    if common::only_tested() {
        return;
    }
    let bench = Bench::new();
    let parts: [(_, fn(&Bench)); 6] = [
        ("tensors", Bench::tensors),
        ("small", Bench::small),
        ("feeds", Bench::feeds),
        ("verbatim", Bench::verbatim),
        ("compressing", Bench::compressing),
        ("memory", Bench::memory),
    ];
    let wanted: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part(&bench);
        }
    }
}

/// A work, what it is measured beside, and its goal, in words and as the least ratio of the speeds.
type What<'a> = (&'a str, &'a str, (&'a str, f64));

const AS_FAST: (&str, f64) = ("at least 0.95 of its speed", 0.95);
/// Three percent are noise.
const AS_FAST_AS_CP: (&str, f64) = ("at least its speed (0.97 and more counts)", 0.97);
const BOTH_PROCESSORS: (&str, f64) = ("at least 1.8 times its speed, on two processors", 1.8);
const NEARLY_AS_FAST: (&str, f64) = ("at least 0.8 of its speed", 0.8);
const NO_GOAL: (&str, f64) = ("none", 0.0);

struct Bench {
    folder: tempfile::TempDir,
    /// Random bytes. Weights look like that to a disk or a compressor.
    random: Vec<u8>,
    tensors: usize,
    rounds: usize,
}

impl Bench {
    fn new() -> Self {
        let folder = std::env::var("POPEF_BENCH_FOLDER").unwrap_or(env!("CARGO_TARGET_TMPDIR").to_owned());
        let folder = tempfile::tempdir_in(folder).unwrap();
        let tensors = (from_env("POPEF_BENCH_MIB", 128) * MIB).div_ceil(TENSOR);
        Bench {
            folder,
            random: recipe::Random::new().bytes(TENSOR),
            tensors,
            rounds: from_env("POPEF_BENCH_ROUNDS", 21),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tensors(&self) {
        let (ours, plain) = (self.path("ours"), self.path("plain"));
        self.compare(
            ("write 16 MiB tensors, not flushed", "write_all", AS_FAST),
            || self.write_tensors(Writer::seekable(new_file(&ours)).unwrap()),
            || self.write_plain(&mut new_file(&plain)),
            &[&ours, &plain],
        );
        self.compare(
            ("write 16 MiB tensors, flushed and renamed", "the same with write_all", AS_FAST),
            || self.write_tensors(Writer::create(&ours).unwrap()),
            || in_place(&plain, |file| self.write_plain(file)),
            &[&ours, &plain],
        );
    }

    /// Small blobs, whose cost is mostly that of their messages.
    fn small(&self) {
        let (ours, plain) = (self.path("ours"), self.path("plain"));
        let tensor_info = TensorInfo::new(DataType::F32, [16]);
        let names = (0..SMALL).map(|index| format!("model/layer.{index}/weights").into());
        let infos: Vec<_> = names.map(|name| TensorDataInfo { name, tensor_info: tensor_info.clone() }).collect();
        let bytes = self.random.repeat(2);
        self.compare(
            ("write 100,000 tensors of 64 bytes", "their bytes in one write", NEARLY_AS_FAST),
            || {
                let mut writer = Writer::create(&ours).unwrap();
                infos.iter().for_each(|info| assert!(writer.write_tensor(info, &[1.5f32; 16]).unwrap().size > 64));
                writer.finish().unwrap();
            },
            || in_place(&plain, |file| file.write_all(&bytes[..SMALL * 200]).unwrap()),
            &[&ours, &plain],
        );
    }

    /// Samples of two feeds. The tensors of a sample lie far apart in the file.
    fn feeds(&self) {
        let (ours, plain) = (self.path("ours"), self.path("plain"));
        let num_tensors = u32::try_from(SMALL).unwrap();
        let image =
            FeedDataInfo { name: "image".into(), tensor_info: TensorInfo::new(DataType::F32, [64]), num_tensors };
        let label = FeedDataInfo { name: "label".into(), tensor_info: TensorInfo::new(DataType::S32, []), num_tensors };
        let bytes = self.random.repeat(2);
        self.compare(
            ("write 100,000 samples of two feeds", "their bytes in one write", NO_GOAL),
            || {
                let mut writer = Writer::create(&ours).unwrap();
                let mut feeds = writer.feeds(&[image.clone(), label.clone()]).unwrap();
                for index in 0..i32::try_from(SMALL).unwrap() {
                    feeds.push(0, &[1.5f32; 64]).unwrap();
                    feeds.push(1, &[index]).unwrap();
                }
                feeds.finish().unwrap();
                writer.finish().unwrap();
            },
            || in_place(&plain, |file| file.write_all(&bytes[..SMALL * 260]).unwrap()),
            &[&ours, &plain],
        );
    }

    fn write_tensors<D: popef::write::Destination>(&self, mut writer: Writer<D>) {
        let tensor_info = TensorInfo::new(DataType::U8, [i64::try_from(TENSOR).unwrap()]);
        for index in 0..self.tensors {
            let info = TensorDataInfo { name: format!("tensor {index}").into(), tensor_info: tensor_info.clone() };
            writer.write_tensor(&info, &self.random).unwrap();
        }
        writer.finish().unwrap();
    }

    fn write_plain(&self, file: &mut File) {
        (0..self.tensors).for_each(|_| file.write_all(&self.random).unwrap());
    }

    /// Verbatim copies, beside other ways to copy a file.
    fn verbatim(&self) {
        let source = self.path("source");
        self.write_tensors(Writer::seekable(new_file(&source)).unwrap());
        self.copying("large tensors", &source);
        let mut writer = Writer::seekable(io::BufWriter::new(new_file(&source))).unwrap();
        let tensor_info = TensorInfo::new(DataType::U8, [64]);
        for index in 0..SMALL {
            let info = TensorDataInfo { name: format!("tensor {index}").into(), tensor_info: tensor_info.clone() };
            writer.write_tensor_bytes(&info, &[7; 64]).unwrap();
        }
        writer.finish().unwrap();
        self.copying("100,000 small tensors", &source);
    }

    fn copying(&self, what: &str, source: &Path) {
        let (ours, plain) = (self.path("ours"), self.path("plain"));
        let model = popef::File::open(source).unwrap();
        // SAFETY: nobody else knows the file, and it is not written to while it is mapped.
        #[expect(unsafe_code, reason = "copies out of a mapping go another way")]
        let mapped = unsafe { popef::File::map(source) }.unwrap();
        let copy_all = |model| copy_blobs(model, Writer::seekable(new_file(&ours)).unwrap());
        let cp = |options: &[&str]| {
            let status = Command::new("cp").args(options).args([source, &*plain]).status();
            assert!(status.is_ok_and(|status| status.success()), "cp failed");
        };
        let both = [&*ours, &*plain];
        let fs_copy = || assert!(fs::copy(source, &plain).unwrap() > 0);
        let work = format!("rewrite {what} by verbatim copies");
        self.compare((&work, "fs::copy", NO_GOAL), || copy_all(&model), fs_copy, &both);
        self.compare((&work, "cp", AS_FAST_AS_CP), || copy_all(&model), || cp(&[]), &both);
        let plainly = || cp(&["--reflink=never"]);
        self.compare((&work, "cp --reflink=never", NO_GOAL), || copy_all(&model), plainly, &both);
        let work_mapped = format!("{work}, mapped");
        self.compare((&work_mapped, "cp --reflink=never", NO_GOAL), || copy_all(&mapped), plainly, &both);
        self.compare(
            (&format!("{work}, flushed and renamed"), "the same with io::copy", NO_GOAL),
            || copy_blobs(&model, Writer::create(&ours).unwrap()),
            || in_place(&plain, |file| assert!(io::copy(&mut File::open(source).unwrap(), file).unwrap() > 0)),
            &both,
        );
    }

    /// An executable that is written piece by piece to memory, as if it came from a file.
    fn compressing(&self) {
        let data = machine_code(from_env("POPEF_BENCH_EXECUTABLE_MIB", 256) * MIB);
        for level in [1, 6] {
            let (packed, plain_len) = (Cell::new(0), Cell::new(0));
            let ours = || {
                let mut writer = Writer::seekable(io::Cursor::new(Vec::with_capacity(data.len()))).unwrap();
                let mut blob = writer.packed_executable("model", Packing::Zlib(level)).unwrap();
                data.chunks(256 << 10).for_each(|piece| blob.write_all(piece).unwrap());
                packed.set(blob.finish().unwrap().size);
                writer.finish().unwrap();
            };
            let plain = || {
                let output = Vec::with_capacity(data.len());
                let mut encoder = ZlibEncoder::new(output, flate2::Compression::new(level));
                data.chunks(256 << 10).for_each(|piece| encoder.write_all(piece).unwrap());
                plain_len.set(encoder.finish().unwrap().len());
            };
            let rounds = self.rounds.div_ceil(7);
            let work = format!("compress an executable of {} MiB, zlib level {level}", data.len() / MIB);
            let times = self.compare_rounds((&work, "flate2 alone", BOTH_PROCESSORS), ours, plain, &[], rounds);
            let [ours, plain] = times.map(|time| data.len() as f64 / 1e6 / time.as_secs_f64());
            let (size, plain_size) =
                (packed.get() as f64 / data.len() as f64, plain_len.get() as f64 / data.len() as f64);
            println!(
                "  {ours:.0} MB/s beside {plain:.0}; to {:.2} % of the bytes beside {:.2} %, {:.4} times as many",
                100. * size,
                100. * plain_size,
                size / plain_size
            );
        }
    }

    /// The peak of memory of writing a small and a large blob of each kind that is streamed.
    fn memory(&self) {
        for (what, packed) in [("opaque", false), ("compressed executable", true)] {
            let [small, medium, large] = [MIB, 64 * MIB, 512 * MIB].map(|len| self.peak_of(packed, len));
            Row {
                work: &format!("peak memory, streamed {what} of 1, 64, 512 MiB"),
                goal: "flat",
                figure: format!("{small}, {medium}, {large} KiB"),
                peer: "itself".into(),
                ratio: ratio(large as f64, medium as f64),
                // The first few blocks take the memory for work in flight between processors.
                met: large <= medium + medium / 10,
            }
            .print();
        }
    }

    fn peak_of(&self, packed: bool, len: usize) -> u64 {
        reset_peak();
        let mut writer = Writer::create(self.path("streamed")).unwrap();
        let mut data = io::repeat(7).take(u64::try_from(len).unwrap());
        if packed {
            let mut blob = writer.packed_executable("model", Packing::Zlib(1)).unwrap();
            io::copy(&mut data, &mut blob).unwrap();
            blob.finish().unwrap();
        } else {
            let mut blob = writer.opaque(&OpaqueInfo::default()).unwrap();
            io::copy(&mut data, &mut blob).unwrap();
            blob.finish().unwrap();
        }
        drop(writer);
        peak()
    }

    fn compare(&self, what: What<'_>, ours: impl Fn(), plain: impl Fn(), written: &[&Path]) {
        self.compare_rounds(what, ours, plain, written, self.rounds);
    }

    fn compare_rounds(
        &self,
        (work, peer, (goal, least)): What<'_>,
        ours: impl Fn(),
        plain: impl Fn(),
        written: &[&Path],
        rounds: usize,
    ) -> [Duration; 2] {
        let mut fastest = [Duration::MAX; 2];
        for round in 0..rounds {
            // They take turns in going first, because the second one works while the disk still writes the bytes of the
            // first.
            for which in [round % 2, (round + 1) % 2] {
                let time = if which == 0 { timed(&ours, written) } else { timed(&plain, written) };
                fastest[which] = fastest[which].min(time);
            }
        }
        let [ours, plain] = fastest.map(|time| time.as_secs_f64() * 1e3);
        Row {
            work,
            goal,
            figure: format!("{} ms", rounded(ours)),
            peer: format!("{peer}, {} ms", rounded(plain)),
            ratio: ratio(plain, ours),
            met: plain >= least * ours,
        }
        .print();
        fastest
    }
}

/// Creates a file as the writer does, with the standard library alone.
fn in_place(path: &Path, write: impl FnOnce(&mut File)) {
    let temporary = path.with_extension("new");
    let mut file = new_file(&temporary);
    write(&mut file);
    file.sync_all().unwrap();
    fs::rename(&temporary, path).unwrap();
    File::open(path.parent().unwrap()).unwrap().sync_all().unwrap();
}

fn copy_blobs<D: popef::write::Destination>(model: &popef::File, mut writer: Writer<D>) {
    writer.copy_all(model.blobs()).unwrap();
    writer.finish().unwrap();
}

/// Times a piece of work. The file of the run before is removed first, so that freeing it is not measured.
fn timed(work: impl Fn(), written: &[&Path]) -> Duration {
    for path in written {
        let _ = fs::remove_file(path);
    }
    let start = Instant::now();
    work();
    start.elapsed()
}

fn new_file(path: &Path) -> File {
    File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap()
}

fn from_env(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |value| value.parse().expect("a number"))
}

/// The code of this program, repeated. Deflate does not look back as far.
fn machine_code(len: usize) -> Vec<u8> {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    program.into_iter().cycle().take(len).collect()
}

/// Linux counts the peak anew after this. On other systems this does nothing.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak of memory of the process, in KiB. 0 if the system does not tell.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
