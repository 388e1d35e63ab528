//! Any bytes shown and checked by popef-dump in every way: no panic, valid JSON and XML, no control characters of the file that
//! a terminal would obey, and no commands of the file that GitHub would obey.

#![no_main]

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use popef_fuzz::ways::scratch_file;

const HOW: [&[&str]; 16] = [
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
    &["--validate", "--deep", "--verbose"],
    &["--validate", "--deep", "--for=popart,poptorch,tensorflow,triton", "--format=json"],
    &["--validate", "--deep", "--format=ndjson"],
    &["--validate", "--deep", "--format=sarif"],
    &["--validate", "--deep", "--strict", "--format=github"],
    &["--validate", "--deep", "--for=popart,poptorch,tensorflow,triton", "--format=junit"],
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
    match how.iter().find_map(|option| option.strip_prefix("--format=")) {
        Some("json" | "sarif") => assert_json(text),
        Some("ndjson") => text.lines().for_each(assert_json),
        Some("github") => assert_annotations(text),
        Some("junit") => assert_xml(text),
        _ => {}
    }
});

fn assert_json(text: &str) {
    serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
}

/// Each line is an annotation, except for the summary at the end.
fn assert_annotations(text: &str) {
    let lines: Vec<_> = text.lines().collect();
    let (_, annotations) = lines.split_last().expect("there is a summary");
    let levels = ["::error file=", "::error title=", "::notice file=", "::notice title="];
    assert!(annotations.iter().all(|line| levels.iter().any(|level| line.starts_with(level))), "{text}");
}

/// Tags are closed in their order, and values have no character that ends them.
fn assert_xml(text: &str) {
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').expect("a tag ends");
        assert!(!rest.contains('>') && tag.matches('"').count() % 2 == 0, "{piece}");
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(piece.match_indices('&').all(|(at, _)| known.iter().any(|entity| piece[at..].starts_with(entity))));
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if tag.ends_with('/') || tag.starts_with('?') => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
    }
    assert!(text.starts_with("<?xml ") && open.is_empty(), "{open:?}");
}
