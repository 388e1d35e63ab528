//! Processes that are killed or out of space while they write: the old file stays, or the new one is complete.
//!
//! `POPEF_KILLS` sets how often each command is killed. The default is 4.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use popef::types::TensorDataInfo;
use popef::{DataType, TensorInfo, Writer};

use crate::common::{Place, finish};

const SIGKILL: i32 = 9;
const MIB: usize = 1 << 20;

/// A command that replaces `model.popef`.
struct Job {
    args: &'static [&'static str],
    place: Place,
    old: Vec<u8>,
    new: Vec<u8>,
}

/// While it is written, the new file has this name.
const TEMPORARY: &str = ".model.popef.popef-new";

impl Job {
    fn of(args: &'static [&'static str], prepare: fn(&Place)) -> Self {
        let place = Place::with(&[]);
        prepare(&place);
        let old = place.read("model.popef");
        place.run(args).good();
        let new = place.read("model.popef");
        assert!(new != old);
        Job { args, place, old, new }
    }

    fn all() -> [Job; 3] {
        [
            Job::of(&["compress", "--in-place", "model.popef"], large_executable),
            Job::of(&["merge", "one.popef", "two.popef", "-o", "model.popef", "--force"], two_halves),
            Job::of(&["strip", "--in-place", "model.popef", "--drop", "tensor:1"], many_tensors),
        ]
    }

    /// Begins the command with the old file in place.
    fn start(&self) -> Child {
        self.place.write("model.popef", &self.old);
        self.place.command().args(self.args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Begins it, and waits until the new file has so many bytes, or the command has ended.
    fn start_until(&self, len: usize) -> Child {
        let mut child = self.start();
        let written =
            || fs::metadata(self.place.path(TEMPORARY)).is_ok_and(|file| usize::try_from(file.len()).unwrap() >= len);
        while !written() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child
    }

    /// The names of all files but the temporary one.
    fn names(&self) -> Vec<String> {
        self.place.names().into_iter().filter(|name| name != TEMPORARY).collect()
    }
}

/// An executable that is compressed to half its size.
fn large_executable(place: &Place) {
    let mut state = 1_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 60).unwrap()
    };
    let bytes: Vec<u8> = (0..2 * MIB).map(|_| byte()).collect();
    let mut writer = Writer::create(place.path("model.popef")).unwrap();
    writer.write_executable("model", &bytes).unwrap();
    writer.finish().unwrap();
}

fn tensors(place: &Place, file: &str, names: std::ops::Range<u8>, len: usize) {
    let mut writer = Writer::create(place.path(file)).unwrap();
    for name in names {
        let tensor_info = TensorInfo::new(DataType::U8, [i64::try_from(len).unwrap()]);
        let info = TensorDataInfo { name: name.to_string().into(), tensor_info };
        writer.write_tensor_bytes(&info, &vec![name; len]).unwrap();
    }
    writer.finish().unwrap();
}

fn two_halves(place: &Place) {
    tensors(place, "model.popef", 0..1, 1000);
    tensors(place, "one.popef", 1..3, 8 * MIB);
    tensors(place, "two.popef", 3..5, 8 * MIB);
}

fn many_tensors(place: &Place) {
    tensors(place, "model.popef", 0..8, 2 * MIB);
}

fn kills() -> usize {
    std::env::var("POPEF_KILLS").map_or(4, |kills| kills.parse().unwrap())
}

#[test]
fn a_killed_command_leaves_the_old_file_or_the_new_one() {
    for job in Job::all() {
        let names = job.names();
        let mut in_the_middle = 0;
        for kill in 0..kills() {
            let mut child = job.start_until(1 + job.new.len() * kill / kills());
            child.kill().unwrap();
            let status = child.wait().unwrap();
            let found = job.place.read("model.popef");
            assert!(found == job.old || found == job.new, "{:?}: another file is there", job.args);
            assert_eq!(job.names(), names);
            if status.signal() == Some(SIGKILL) && job.place.path(TEMPORARY).exists() {
                in_the_middle += 1;
                assert!(found == job.old);
            }
            // The next run does not mind what is left, and cleans it up.
            job.place.write("model.popef", &job.old);
            job.place.run(job.args).good();
            let again = job.place.read("model.popef");
            assert!(again == job.new, "{:?} {kill}: {} {} {}", job.args, again.len(), job.new.len(), job.old.len());
            assert_eq!(job.place.names(), names);
        }
        println!("{:?}: {in_the_middle} of {} killed in the middle", job.args, kills());
        assert!(in_the_middle > 0, "{:?} was never killed while it wrote", job.args);
    }
}

/// A limit for the size of files stands for a full disk: writing fails in the middle.
#[test]
fn a_full_disk_leaves_the_old_files_and_nothing_else() {
    let limited = |place: &Place, args: &[&str]| {
        let script = "ulimit -f 512; exec \"$0\" \"$@\"";
        let mut command = Command::new("bash");
        command.args(["-c", script, env!("CARGO_BIN_EXE_popef")]).args(args).current_dir(place.path(""));
        let run = finish(&mut command);
        assert!(run.status == 2 && run.err.contains("File too large"), "{args:?}: {run:?}");
    };
    for job in Job::all() {
        job.place.write("model.popef", &job.old);
        let names = job.place.names();
        limited(&job.place, job.args);
        assert!(job.place.read("model.popef") == job.old);
        assert_eq!(job.place.names(), names);
    }
    // Of several files, those that fit are written, and a split is written as a whole or not at all.
    let place = Place::with(&[]);
    many_tensors(&place);
    tensors(&place, "small.popef", 0..3, 1000);
    limited(&place, &["compress", "model.popef", "small.popef", "--output-dir", "out"]);
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
    assert!(place.read("out/small.popef") == place.read("small.popef"));
    limited(&place, &["split", "model.popef", "--max-size", "1", "-o", "parts"]);
    assert!(!place.path("parts").exists());
}

/// What goes to a pipe cannot be taken back, but its loss is reported.
#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error() {
    let place = Place::with(&["interop/executable.popef", "compressed/plain-poplar.popef"]);
    for args in [
        &["merge", "executable.popef", "-o", "-"][..],
        &["compress", "plain-poplar.popef", "-o", "-"],
        &["strip", "executable.popef", "--drop", "tensor", "-o", "-"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command().args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && err.contains("No space left"), "{args:?}: {err}");
    }
}
