//! Processes that are killed while they write, and processes that write one file at the same time.
//!
//! `POPEF_KILLS` sets the number of kills. The default is 200.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use popef::error::ErrorKind;
use popef::types::OpaqueInfo;
use popef::{Error, File, OpenOptions, Writer};

const SIGKILL: i32 = 9;

/// The variables that give a child process its job and its file.
const JOB: &str = "POPEF_TEST_JOB";
const FILE: &str = "POPEF_TEST_FILE";

/// The child processes run this. It does nothing in the test itself.
#[test]
fn child() {
    let (Ok(job), Some(path)) = (env::var(JOB), env::var_os(FILE)) else { return };
    println!("\nready");
    for round in (0..=u8::MAX).cycle() {
        let written = match job.as_str() {
            "create" => create(Path::new(&path), round),
            _ => append(Path::new(&path), round),
        };
        match written {
            Ok(()) => println!("done"),
            Err(e) if e.kind() == ErrorKind::Busy => println!("busy"),
            Err(e) => panic!("{e}"),
        }
    }
}

/// All data of a file has the same byte. The name of a blob says its length.
fn create(path: &Path, round: u8) -> Result<(), Error> {
    let mut writer = Writer::create(path)?;
    (0..3).try_for_each(|_| write_blob(&mut writer, round, 200_000))?;
    writer.finish().map(drop)
}

fn append(path: &Path, round: u8) -> Result<(), Error> {
    let mut writer = Writer::append(path)?;
    (0..2).try_for_each(|_| write_blob(&mut writer, round, 70_000))?;
    writer.finish().map(drop)
}

fn write_blob<D: popef::write::Rewind>(writer: &mut Writer<D>, byte: u8, len: usize) -> Result<(), Error> {
    let mut blob = writer.opaque(&OpaqueInfo { name: format!("{byte} {len}").into(), ..Default::default() })?;
    for part in vec![byte; len].chunks(4000) {
        blob.write_all(part).map_err(|e| e.downcast::<Error>().unwrap())?;
    }
    blob.finish().map(drop)
}

/// Each blob has the data that its name says.
fn check_blobs(file: &File) {
    for opaque in file.opaques() {
        let name = opaque.name().to_string();
        let (byte, len) = name.split_once(' ').unwrap();
        let data = opaque.data().read().unwrap();
        assert_eq!(data.len(), len.parse::<usize>().unwrap());
        assert!(data.iter().all(|found| *found == byte.parse::<u8>().unwrap()), "blob {name} is mixed");
    }
}

fn start(job: &str, path: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "kills::child", "--nocapture", "--test-threads=1"]).env(JOB, job).env(FILE, path);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    wait_for(&mut output, "ready");
    (child, output)
}

fn wait_for(output: &mut impl BufRead, word: &str) {
    let mut line = String::new();
    while line.trim_end() != word {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the child ended without saying {word}");
    }
}

/// Kills a child after a time that depends on `index`. Returns how often it had said "done".
fn killed(job: &str, path: &Path, index: u32) -> usize {
    let (mut child, mut output) = start(job, path);
    let until = Instant::now() + Duration::from_micros(u64::from(index.wrapping_mul(2_654_435_761) >> 18));
    while Instant::now() < until {
        thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "the child failed before it was killed");
    let mut said = String::new();
    output.read_to_string(&mut said).unwrap();
    said.lines().filter(|line| *line == "done").count()
}

fn kills() -> u32 {
    env::var("POPEF_KILLS").map_or(200, |kills| kills.parse().expect("POPEF_KILLS is a number"))
}

#[test]
fn a_killed_writer_leaves_the_old_file_or_the_new_one() {
    if env::var_os(JOB).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mut left = 0;
    for index in 0..kills() / 2 {
        let done = killed("create", &path, index);
        if done > 0 || path.exists() {
            let file = File::open(&path).unwrap();
            assert_eq!(file.len(), 3);
            check_blobs(&file);
        }
        for entry in fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name();
            left += usize::from(name == ".model.popef.popef-new");
            assert!(name == "model.popef" || name == ".model.popef.popef-new", "{} is left", name.display());
        }
    }
    println!("{left} of {} kills came while a file was being written", kills() / 2);
    create(&path, 1).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the next writer does not remove what was left");
}

#[test]
fn a_killed_append_leaves_the_old_blobs() {
    if env::var_os(JOB).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::write(&path, []).unwrap();
    let mut tails = 0;
    for index in 0..kills().div_ceil(2) {
        let before = fs::read(&path).unwrap();
        let done = killed("append", &path, index);
        assert!(fs::read(&path).unwrap().starts_with(&before), "an old byte changed");
        let file = OpenOptions::new().damaged(true).open(&path).unwrap();
        let old = u64::try_from(before.len()).unwrap();
        let added = file.opaques().filter(|opaque| opaque.blob().offset() >= old).count();
        assert!(added >= 2 * done && added % 2 == 0, "{added} blobs were added in {done} rounds of 2");
        check_blobs(&file);
        if let Some(damage) = file.damage() {
            assert_eq!((damage.kind(), damage.offset()), (ErrorKind::Damaged, Some(file.end())));
            tails += 1;
        }
        drop(file);
        // The file is cut to keep it short, and recovered to be whole.
        let recovered = popef::write::recover(&path).unwrap();
        if recovered.len > 1_000_000 {
            fs::write(&path, []).unwrap();
        }
    }
    println!("{tails} of {} kills left an incomplete tail", kills().div_ceil(2));
}

#[test]
fn two_processes_that_write_one_file_do_not_mix_their_blobs() {
    if env::var_os(JOB).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (job, file) in [("create", "created.popef"), ("append", "appended.popef")] {
        let path = folder.path().join(file);
        fs::write(&path, []).unwrap();
        let mut children = [start(job, &path), start(job, &path)];
        for (_, output) in &mut children {
            (0..5).for_each(|_| wait_for(output, "done"));
        }
        for (child, _) in &mut children {
            child.kill().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "a child failed");
        }
        if job == "append" {
            popef::write::recover(&path).unwrap();
        }
        let file = File::open(&path).unwrap();
        assert!(file.len() >= 3);
        check_blobs(&file);
    }
}
