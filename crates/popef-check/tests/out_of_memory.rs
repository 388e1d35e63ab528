//! A lack of memory for what a file holds is an error, and no abort.
//!
//! A failing allocation that the code does not check ends the process. So each job runs in a process of its own, with a
//! little more memory each time, until it succeeds.

#[path = "../../../popef/tests/common/mod.rs"]
mod common;
mod costs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use costs::worst::decoders::worst_decoders;
use costs::worst::{worst_blobs, worst_files};
use popef::error::ErrorCode;
use popef::model::Sources;
use popef::types::TensorDataInfo;
use popef::{DataType, Error, File, Model, OpenOptions, TensorInfo, Writer};
use popef_check::{CheckOptions, Loader, Report, check};
use popef_payload::pickle::Pickle;

/// An allocator with a limit. Small pieces come out of a reserve. A refusal adds a second reserve, because making the
/// error takes memory, too.
struct Limited {
    held: AtomicUsize,
    limit: AtomicUsize,
    /// The largest size of a small piece.
    small: AtomicUsize,
    reserve: AtomicUsize,
}

/// The number of small pieces in a reserve.
const RESERVE: usize = 4;

#[global_allocator]
static ALLOCATOR: Limited = Limited {
    held: AtomicUsize::new(0),
    limit: AtomicUsize::new(usize::MAX / 2),
    small: AtomicUsize::new(0),
    reserve: AtomicUsize::new(0),
};

#[allow(unsafe_code, reason = "an allocator is unsafe to be; it passes every call on")]
// SAFETY: every call is passed on to the system's allocator as it came, or refused.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let reserve = if layout.size() <= self.small.load(Relaxed) { self.reserve.load(Relaxed) } else { 0 };
        if self.held.fetch_add(layout.size(), Relaxed) + layout.size() > self.limit.load(Relaxed) + reserve {
            self.held.fetch_sub(layout.size(), Relaxed);
            self.reserve.fetch_max(2 * RESERVE * self.small.load(Relaxed), Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        self.held.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Does some work with this many bytes more than are held now.
fn within<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    ALLOCATOR.reserve.store(RESERVE * ALLOCATOR.small.load(Relaxed), Relaxed);
    ALLOCATOR.limit.store(ALLOCATOR.held.load(Relaxed) + bytes, Relaxed);
    let result = work();
    ALLOCATOR.limit.store(usize::MAX / 2, Relaxed);
    result
}

type Job = fn(&Path, &File) -> Result<(), Stop>;

/// Why a job was not done.
#[derive(Debug)]
enum Stop {
    NoMemory,
    /// The file does not fit the job.
    Other,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        if error.code() == ErrorCode::OutOfMemory { Stop::NoMemory } else { Stop::Other }
    }
}

/// The report of the last check that had enough memory.
static REPORT: Mutex<Option<Report>> = Mutex::new(None);

/// The jobs to do with an open file, or with its path.
const JOBS: &[(&str, Job)] = &[
    ("open in parts", |path, _| Ok(File::open(path).map(drop)?)),
    ("open as a stream", |path, _| Ok(OpenOptions::new().stream(std::fs::File::open(path).unwrap()).map(drop)?)),
    ("read all metadata", |_, file| Ok(file.metadata().try_for_each(|metadata| metadata.read().map(drop))?)),
    ("link models", |_, file| Ok(Model::link([file]).map(drop)?)),
    ("find sources", |_, file| Ok(Sources::of([file]).map(drop)?)),
    ("look up a name", |_, file| {
        assert!(file.tensor("no such name").is_none());
        Ok(())
    }),
    ("check", |_, file| {
        let mut options = CheckOptions::new();
        for &loader in Loader::ALL {
            options.loader(loader);
        }
        let report = check([file], options.deep(true));
        let missing = report.skipped.iter().any(|skipped| skipped.why.contains("not enough memory"));
        assert_eq!(missing, !report.is_complete(), "{:?}", report.skipped);
        let blamed = report.findings.iter().find(|finding| finding.message.contains("memory"));
        assert_eq!(blamed, None, "the check blames the file for a lack of memory");
        if missing {
            return Err(Stop::NoMemory);
        }
        *REPORT.lock().unwrap() = Some(report);
        Ok(())
    }),
    ("read all data", |_, file| Ok(file.blobs().try_for_each(|blob| blob.data().read().map(drop))?)),
    ("read all elements", |_, file| {
        for data in file.blobs().filter_map(|blob| blob.as_data()) {
            data.item(0)?.to_slice::<f32>()?;
        }
        Ok(())
    }),
    ("scan pickles", |_, file| {
        file.opaques().try_for_each(|opaque| match Pickle::scan(&opaque.data())? {
            Some(Pickle { fault: Some(fault), .. }) if fault.no_memory => Err(Stop::NoMemory),
            _ => Ok(()),
        })
    }),
    ("unpack", |_, file| {
        file.executables().try_for_each(|executable| {
            let mut unpack = executable.unpack()?;
            let mut piece = [0; 4096];
            while unpack.read(&mut piece).map_err(|error| error.downcast::<Error>().unwrap())? > 0 {}
            Ok(())
        })
    }),
    ("append", |path, _| Ok(Writer::append(path)?.finish().map(drop)?)),
    ("copy all blobs", |path, file| {
        let mut writer = Writer::create(path.with_extension("copy"))?;
        writer.copy_all(file.blobs())?;
        Ok(writer.finish().map(drop)?)
    }),
];

/// Files in which one thing is large, or in which there is much of it.
fn files(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    const KINDS: [&str; 12] = [
        "tensors of defaults",
        "executables of defaults",
        "metadata of defaults",
        "lists of 20,000 anchors of one shape",
        "texts of 300,000 bytes",
        "one list of programs of one index",
        "one list of options that share a text",
        "one anchor of many programs",
        "one name",
        "anchors of one name, a feed of many dimensions",
        "metadata, executables and opaques of one name",
        "a pickle of memos",
    ];
    let numbers: Vec<f32> = (0..len / 4).map(|number| number as f32).collect();
    let tensor_info = TensorInfo::new(DataType::F32, [i64::try_from(numbers.len()).unwrap()]);
    let mut tensor = Vec::new();
    let mut writer = Writer::stream(&mut tensor);
    writer.write_tensor(&TensorDataInfo { name: "large".into(), tensor_info }, &numbers).unwrap();
    writer.finish().unwrap();
    let mut files = vec![("a tensor of many elements", tensor)];
    for (what, blob) in worst_blobs().into_iter().filter(|(what, _)| KINDS.contains(what)) {
        files.push((what, blob.repeat(len / blob.len() + 1)));
    }
    files.extend(
        worst_files().into_iter().filter(|(what, _)| KINDS.contains(what)).map(|(what, make)| (what, make(len))),
    );
    assert_eq!(files.len(), KINDS.len() + 1);
    for kind in ["zlib-6", "gzip-two-members", "lz4-settings"] {
        files.push((kind, common::read(&format!("compressed/{kind}.popef"))));
    }
    let wide = worst_decoders().into_iter().find(|worst| worst.name == "runs of 128 KiB, window of 8 MiB");
    files.extend(wide.map(|worst| (worst.name, (worst.make)(300))));
    files
}

/// The variable that names a job. The test program runs itself again to do the job.
const DO: &str = "POPEF_TEST_JOB";

#[test]
fn child_does_the_job_it_is_told() {
    let Ok(job) = std::env::var(DO) else { return };
    let (what, job) = JOBS.iter().find(|(what, _)| *what == job).unwrap();
    let (small, len) = match *what {
        // Some findings of each rule take memory for any file.
        "check" => (256 << 10, 1 << 20),
        // Buffers and tables take memory for any data.
        "unpack" => (1 << 20, 300_000),
        "append" | "copy all blobs" => (128 << 10, 2 << 20),
        _ => (2 << 10, 300_000),
    };
    ALLOCATOR.small.store(small, Relaxed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mut all_refused = 0;
    // A check of many small blobs takes long and has many findings.
    let takes_long = |name: &str| *what == "check" && (name.ends_with("of defaults") || name.contains("128 KiB"));
    for (name, bytes) in files(len).into_iter().filter(|(name, _)| !takes_long(name)) {
        std::fs::write(&path, &bytes).unwrap();
        // A check that lacks memory without saying so would have other findings.
        let whole = (*what == "check").then(|| {
            job(&path, &OpenOptions::new().damaged(true).open(&path).unwrap()).unwrap();
            REPORT.lock().unwrap().take()
        });
        let mut limit = 0;
        let mut refused = 0;
        loop {
            // The file is opened anew because it keeps its index of names. Data in memory would not be read into
            // memory.
            let mut options = OpenOptions::new();
            let file = match what.starts_with("read all") {
                true => options.damaged(true).open(&path).unwrap(),
                false => options.damaged(true).bytes(bytes.clone()).unwrap(),
            };
            println!("{what}, {name}, {limit} bytes of memory");
            match within(limit, || job(&path, &file)) {
                Err(Stop::NoMemory) => refused += 1,
                Err(Stop::Other) | Ok(()) => break,
            }
            limit += limit / 2 + small;
        }
        assert!(
            REPORT.lock().unwrap().take() == whole.flatten(),
            "{name}: with {limit} bytes of memory a check differs"
        );
        all_refused += refused;
    }
    println!("refused {all_refused} times");
}

#[test]
fn a_lack_of_memory_is_an_error_and_no_abort() {
    let own = std::env::current_exe().unwrap();
    for (what, _) in JOBS {
        let mut command = Command::new(&own);
        // A backtrace of an abort would need memory, too.
        command
            .args(["--exact", "child_does_the_job_it_is_told", "--nocapture"])
            .env(DO, what)
            .env("RUST_BACKTRACE", "0");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let last: Vec<_> = said.lines().rev().take(3).collect();
        assert!(output.status.success(), "{last:?} {}", String::from_utf8_lossy(&output.stderr));
        let refused = said.lines().find_map(|line| line.strip_prefix("refused ")?.strip_suffix(" times")).unwrap();
        // Without memory for an index, looking up a name goes through all names.
        let needs_memory = *what != "look up a name";
        assert_eq!(refused != "0", needs_memory, "{what} was refused {refused} times");
    }
}
