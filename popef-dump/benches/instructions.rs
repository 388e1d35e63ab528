//! Counts the instructions of the walk, of reading Metadata and of a dump, and holds them to what was recorded:
//! `cargo bench -p popef-dump --bench instructions`.
//!
//! Unlike times, instructions do not depend on the load of the machine, so a test can compare them. Valgrind counts
//! them. A count more than 3 % from that in `instructions.txt`, less or more, is a failure: after a change that is
//! faster, or worth its cost, `POPEF_RENEW=1` records the counts anew. Another compiler makes other code, so its counts
//! are only shown.

#![allow(missing_docs, reason = "a benchmark")]

#[path = "../../popef/benches/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use common::recipe;
use popef::File;
use popef::read::Blobs;

const TOLERANCE: f64 = 0.03;
const DUMP: &str = env!("CARGO_BIN_EXE_popef-dump");

/// The works to count: name, file to read, program and arguments. `None` is this program.
const WORKS: [(&str, &str, Option<&str>, &[&str]); 6] = [
    ("walk in memory, 100,000 tensors", "tensors", None, &["walk"]),
    ("open in parts, 100,000 tensors", "tensors", None, &["open"]),
    ("open and read Metadata of 50,000 anchors", "metadata", None, &["metadata"]),
    ("popef-dump, 100,000 tensors", "tensors", Some(DUMP), &[]),
    ("popef-dump --all, 100,000 tensors", "tensors", Some(DUMP), &["--all"]),
    ("popef-dump --all --format json, 50,000 anchors", "metadata", Some(DUMP), &["--all", "--format", "json"]),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        // A child process does only the work that is counted, and does not make the inputs.
        ["walk", path] => {
            let bytes = std::fs::read(path).unwrap();
            println!("{}", Blobs::new(&bytes).map(|blob| blob.unwrap().size()).sum::<u64>());
        }
        ["open", path] => println!("{}", File::open(path).unwrap().len()),
        ["metadata", path] => {
            let file = File::open(path).unwrap();
            println!("{}", file.metadata().map(|blob| blob.read().unwrap().anchors.len()).sum::<usize>());
        }
        _ if common::only_tested() => {}
        _ => return count_all(),
    }
    ExitCode::SUCCESS
}

fn count_all() -> ExitCode {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("not counted: there is no valgrind here");
        return if std::env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let folder = tempfile::tempdir().unwrap();
    recipe::create(&folder.path().join("tensors"), |writer| recipe::small_tensors(writer, 100_000));
    recipe::create(&folder.path().join("metadata"), |writer| {
        let _ = writer.write_metadata(&recipe::metadata(50_000)).unwrap();
    });
    let program = std::env::current_exe().unwrap();
    // The counts do not depend on each other, so all run at once.
    let counts: Vec<(&str, u64)> = std::thread::scope(|scope| {
        let running = WORKS.map(|(name, file, other, arguments)| {
            let program = other.map_or(&*program, Path::new);
            let file = folder.path().join(file);
            (name, scope.spawn(move || count(program, arguments, &file)))
        });
        running.into_iter().map(|(name, count)| (name, count.join().unwrap())).collect()
    });
    compare(&counts)
}

/// The instructions of a process.
fn count(program: &Path, arguments: &[&str], file: &Path) -> u64 {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut out_file = std::ffi::OsString::from("--callgrind-out-file=");
    out_file.push(out.path());
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(out_file)
        .arg(program)
        .args(arguments)
        .arg(file)
        .output()
        .unwrap();
    assert!(run.status.success() && !run.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    let report = std::fs::read_to_string(out).unwrap();
    let total = report.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    total.unwrap().trim().parse().unwrap()
}

fn compare(counts: &[(&str, u64)]) -> ExitCode {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.txt");
    let compiler = compiler();
    if std::env::var_os("POPEF_RENEW").is_some() {
        let mut record = format!("compiler: {compiler}\n");
        counts.iter().for_each(|(name, count)| writeln!(record, "{name}: {count}").unwrap());
        std::fs::write(&path, record).unwrap();
    }
    let record = std::fs::read_to_string(&path).unwrap();
    let record: BTreeMap<&str, &str> = record.lines().filter_map(|line| line.rsplit_once(": ")).collect();
    let mut strayed = false;
    println!("{:<50} {:>14} {:>14} {:>7}", "millions of instructions", "now", "recorded", "");
    for (name, count) in counts {
        let recorded: f64 = record.get(name).unwrap_or_else(|| panic!("no record of {name}")).parse().unwrap();
        let now = *count as f64;
        let change = now / recorded - 1.0;
        strayed |= change.abs() > TOLERANCE;
        println!("{name:<50} {:>14.1} {:>14.1} {:>+6.1}%", now / 1e6, recorded / 1e6, change * 100.0);
    }
    if record["compiler"] != compiler {
        println!(
            "not held to the record, which is of another compiler: {}, and this is {compiler}",
            record["compiler"]
        );
    } else if strayed {
        println!("more than 3 % away from the record: see the top of {}", file!());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The name and version that the compiler prints, for example `rustc 1.95.0 (59807616e 2026-04-14)`.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let version = Command::new(rustc).arg("-V").output().unwrap();
    String::from_utf8(version.stdout).unwrap().trim().to_owned()
}
