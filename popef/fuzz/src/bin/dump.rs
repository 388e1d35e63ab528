//! Any bytes shown by popef-dump in every way: no panic, valid JSON, and no control characters of the file that a
//! terminal would obey.

#![no_main]

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use popef_fuzz::ways::scratch_file;

const HOW: [&[&str]; 10] = [
    &[],
    &["--all"],
    &["--all", "--values=3", "--verbose"],
    &["--anchors", "--metadata", "--sort=name"],
    &["--user-anchors", "--tensors", "--values=5"],
    &["--execs", "--feeds", "--opaques", "--sort=size"],
    &["--filter=*a*"],
    &["--format=json"],
    &["--format=json", "--values=4", "--verbose"],
    &["--format=ndjson", "--values=2"],
];

/// The output of the tool.
#[derive(Clone, Default)]
struct Shown(Rc<RefCell<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, input)) = input.split_first() else { return };
    let path = scratch_file();
    std::fs::write(&path, popef_fuzz::file(input)).unwrap();
    let how = HOW[usize::from(how) % HOW.len()];
    let mut args = vec!["popef-dump".into(), "--color=never".into()];
    args.extend(how.iter().map(std::ffi::OsString::from));
    args.push(path.into_os_string());

    let shown = Shown::default();
    popef_dump_tool::run_with(args, Box::new(shown.clone()));
    let shown = shown.0.take();
    let text = std::str::from_utf8(&shown).expect("what is shown is UTF-8");
    let obeyed = |letter: char| letter.is_control() && letter != '\n';
    assert!(!text.contains(obeyed), "a control character: {:?}", text.find(obeyed).map(|at| &text[at..]));
    if how.contains(&"--format=json") {
        serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
    }
    if how.contains(&"--format=ndjson") {
        text.lines().for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).expect("it is JSON")));
    }
});
