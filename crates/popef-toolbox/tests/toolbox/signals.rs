//! Ctrl-C and SIGTERM leave the old file, no new one, and no rubbish.

#![cfg(unix)]

use std::fs::OpenOptions;
use std::process::{Child, Command, Stdio};

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo};

use crate::common::Place;
use crate::signal::{ctrl_c, heard, signal, status};

/// More than any machine compresses until the signal comes, and almost nothing on disk.
const LEN: u64 = 64 << 30;

const SMALL: u64 = 0x1234;

/// Writes a file with one executable of zeros, which take no room on disk.
fn large(place: &Place, name: &str) {
    let mut bytes = Vec::new();
    let mut writer = popef::Writer::stream(&mut bytes);
    writer.write_executable("model", &[0; SMALL as usize]).unwrap();
    writer.finish().unwrap();
    enlarge(bytes, place, name);
}

/// The same with one tensor.
fn large_tensor(place: &Place, name: &str) {
    let mut bytes = Vec::new();
    let mut writer = popef::Writer::stream(&mut bytes);
    let tensor_info = TensorInfo::new(DataType::U8, [SMALL as i64]);
    let info = TensorDataInfo { name: "zeros".into(), tensor_info };
    writer.write_tensor(&info, &[0u8; SMALL as usize]).unwrap();
    writer.finish().unwrap();
    enlarge(bytes, place, name);
}

/// Makes the data of a file's one blob larger.
fn enlarge(mut bytes: Vec<u8>, place: &Place, name: &str) {
    let data = usize::try_from(File::from_bytes(bytes.clone()).unwrap().blob(0).unwrap().data_offset()).unwrap();
    bytes.truncate(data);
    // The lengths of the data, and of info and data together, become those of much more data.
    for word in bytes.chunks_exact_mut(8) {
        let value = u64::from_le_bytes(word.try_into().unwrap());
        if (SMALL..SMALL + 0x100).contains(&value) {
            word.copy_from_slice(&(value - SMALL + LEN).to_le_bytes());
        }
    }
    place.write(name, &bytes);
    OpenOptions::new().write(true).open(place.path(name)).unwrap().set_len(data as u64 + LEN).unwrap();
    assert_eq!(File::open(place.path(name)).unwrap().blob(0).unwrap().data().len(), LEN);
}

/// Starts a command, and waits until it has begun to write.
fn begun(place: &Place, args: &[&str], temporary: &str) -> Child {
    let mut child = place.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&mut child, place, temporary);
    child
}

fn wait_for(child: &mut Child, place: &Place, file: &str) {
    while !place.path(file).exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
        std::thread::yield_now();
    }
}

#[test]
fn what_is_half_done_is_removed() {
    for (name, args, temporary) in [
        (ctrl_c(), &["compress", "large.popef", "-o", "new.popef"][..], ".new.popef.popef-new"),
        ("TERM", &["compress", "large.popef", "--in-place"], ".large.popef.popef-new"),
        (heard("HUP", 1), &["compress", "large.popef", "-o", "old.popef", "--force"], ".old.popef.popef-new"),
    ] {
        let place = Place::with(&[]);
        large(&place, "large.popef");
        place.write("old.popef", "the old file");
        let child = begun(&place, args, temporary);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), status(name), "{name}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "popef compress: stopped; no file was left half done\n");
        assert_eq!(place.names(), ["large.popef", "old.popef"], "{name}");
        assert_eq!(place.read("old.popef"), b"the old file");
        assert_eq!(File::open(place.path("large.popef")).unwrap().blob(0).unwrap().data().len(), LEN);
    }
}

#[test]
fn folders_that_were_made_for_it_are_removed() {
    let place = Place::with(&[]);
    large(&place, "large.popef");
    let args = ["compress", "large.popef", "--output-dir", "new/folder"];
    let child = begun(&place, &args, "new/folder/.large.popef.popef-new");
    signal(&child, ctrl_c());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), place.names()), (status(ctrl_c()), vec!["large.popef".to_owned()]));
}

#[test]
fn a_page_that_is_half_done_is_removed() {
    let place = Place::with(&[]);
    large_tensor(&place, "large.popef");
    place.write("page.html", "the old page");
    let mut command = place.command();
    command.args(["report", "large.popef", "--values", "-o", "page.html", "--force"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It is made once before the checks, to see whether it can be, and again when signals are heard. Then the page's head is
    // written, before the values are read.
    let temporary = format!(".page.html.{}-0.popef-new", child.id());
    wait_for(&mut child, &place, &temporary);
    while std::fs::metadata(place.path(&temporary)).map_or(0, |found| found.len()) == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
        std::thread::yield_now();
    }
    signal(&child, ctrl_c());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), status(ctrl_c()), "{output:?}");
    assert_eq!((place.names().len(), place.read("page.html")), (2, b"the old page".to_vec()));
}

/// Of several files, those that were done before the signal stay done.
#[test]
fn files_that_were_done_before_stay_done() {
    let place = Place::with(&["compressed/plain-poplar.popef"]);
    large(&place, "large.popef");
    let args = ["compress", "plain-poplar.popef", "large.popef", "plain-poplar.popef", "--in-place"];
    let run = place.run(&args);
    assert!(run.status == 2 && run.err.contains("two of the inputs would be written"), "{run:?}");
    let child =
        begun(&place, &["compress", "plain-poplar.popef", "large.popef", "--in-place"], ".large.popef.popef-new");
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), status("TERM"));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("stopped at large.popef; this file and those after it were not changed"), "{err}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("plain-poplar.popef: 3.6 KiB -> "));
    assert_eq!(place.names(), ["large.popef", "plain-poplar.popef"]);
    assert!(File::open(place.path("plain-poplar.popef")).unwrap().executable("model").unwrap().is_compressed());
    assert_eq!(File::open(place.path("large.popef")).unwrap().blob(0).unwrap().data().len(), LEN);
}

/// `nohup` makes a program ignore the end of its terminal.
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let place = Place::with(&[]);
    large(&place, "large.popef");
    let script = "trap '' HUP; exec \"$0\" compress large.popef -o new.popef";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(place.command().get_program()).current_dir(place.path(""));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&mut child, &place, ".new.popef.popef-new");
    signal(&child, "HUP");
    // The first of two other signals would find the work stopped already.
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), status("TERM"));
    assert_eq!(place.names(), ["large.popef"]);
}

/// Nothing is left behind by a command that only reads, so a signal ends it as it ends any program.
#[test]
fn a_command_that_only_reads_ends_at_once() {
    use std::os::unix::process::ExitStatusExt as _;
    let place = Place::with(&[]);
    // It waits for standard input, and no data is coming.
    let mut child = place.command().args(["ls", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    signal(&child, ctrl_c());
    assert_eq!(child.wait().unwrap().signal(), Some(if ctrl_c() == "INT" { 2 } else { 15 }));
    drop(stdin);
}

/// A read that waits is ended too.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_waits_for_its_input_is_stopped() {
    let place = Place::with(&[]);
    for args in [&["hash", "-"][..], &["hash", "--sums", "-"], &["hash", "/dev/stdin"]] {
        let mut child = place
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Until the tool hears it, the signal would end it in any case.
        let status_of = format!("/proc/{}/status", child.id());
        let hears = || {
            let status = std::fs::read_to_string(&status_of).unwrap_or_default();
            let caught =
                status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim).unwrap_or_default();
            u64::from_str_radix(caught, 16).unwrap_or_default() >> 14 & 1 == 1
        };
        while !hears() {
            assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
            std::thread::yield_now();
        }
        signal(&child, "TERM");
        // To wait for it would close its standard input.
        let stdin = child.stdin.take();
        let code = child.wait().unwrap().code();
        drop(stdin);
        assert_eq!(code, status("TERM"), "{args:?}");
    }
}
