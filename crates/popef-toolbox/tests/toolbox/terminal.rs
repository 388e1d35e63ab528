//! What the tool does on a terminal. Python makes the terminal; without Python this is skipped, but not in CI.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::Place;
use crate::peers::skip;

/// What commands write to a terminal, each with its line feeds alone at the ends of lines.
fn on_terminal(place: &Place, columns: u16, commands: &[&[&str]]) -> Option<Vec<String>> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../popef-dump/tests/terminal.py");
    let mut command = Command::new(python);
    command.arg(script).current_dir(place.path("")).env("NO_COLOR", "1").env("TERM", "xterm");
    command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        skip("there is no Python");
        return None;
    };
    let commands: Vec<_> = commands.iter().map(|args| [&[env!("CARGO_BIN_EXE_popef")], *args].concat()).collect();
    let task = json!({ "commands": commands, "rows": 24, "columns": columns });
    serde_json::to_writer(child.stdin.take().unwrap(), &task).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Bytes can be commands to a terminal. Text that is none is shown.
#[test]
fn binary_data_is_not_written_to_a_terminal() {
    let place = Place::with(&["interop/executable.popef"]);
    let mut bytes = Vec::new();
    let mut writer = popef::Writer::stream(&mut bytes);
    let info = |name: &str| popef::types::OpaqueInfo { name: name.to_owned().into(), executable: "m".into() };
    writer.write_opaque(&info("text"), "größe: 1\n{\"a\": \"b\\\\c\"}\n".as_bytes()).unwrap();
    writer.write_opaque(&info("command"), b"text\x1b[2J").unwrap();
    writer.write_opaque(&info("reversed"), "a\u{202e}b".as_bytes()).unwrap();
    writer.finish().unwrap();
    place.write("opaque.popef", &bytes);
    let commands: &[&[&str]] = &[
        &["cat", "executable.popef", "input_parameter"],
        &["cat", "executable.popef", "--unpacked", "--blob", "2"],
        &["cat", "opaque.popef", "command"],
        &["cat", "opaque.popef", "reversed"],
        &["compress", "executable.popef", "-o", "-"],
        &["merge", "executable.popef", "--output=-"],
        &["set", "executable.popef", "--set", "numIpus=4", "-o-"],
        &["pack", "--executable", "opaque.popef:model", "-o", "-"],
        &["report", "executable.popef", "-o", "-"],
        &["cat", "opaque.popef", "text"],
        &["cat", "executable.popef", "--hex", "input_parameter"],
        &["cat", "executable.popef", "--blob", "1"],
    ];
    let Some(shown) = on_terminal(&place, 200, commands) else { return };
    for text in &shown[..9] {
        assert!(text.contains("is not written to a terminal; add "), "{text:?}");
        assert!(text.contains("> FILE [wrong-arguments]\n"), "{text:?}");
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
    }
    assert!(!shown[8].contains("binary"), "a page is text: {}", shown[8]);
    assert_eq!(shown[9], "größe: 1\n{\"a\": \"b\\\\c\"}\n");
    assert!(shown[10].starts_with("00000000  00 00 c0 3f"), "{}", shown[10]);
    assert!(shown[11].contains("\"ipuVersion\": 2,\n"), "{}", shown[11]);
}

/// Lines of sums are as sha256sum writes them, but no terminal sees the letters of a name that it would obey.
#[test]
fn sums_on_a_terminal_have_names_that_do_nothing() {
    let place = Place::with(&[]);
    let name = "a\u{1b}[31m\u{202e}.txt";
    place.write(name, "text");
    let Some(shown) = on_terminal(&place, 200, &[&["hash", "--sums", name]]) else { return };
    assert!(shown[0].ends_with("  a\\u{1b}[31m\\u{202e}.txt\n"), "{:?}", shown[0]);
    let piped = place.run(&["hash", "--sums", name]).good();
    assert!(piped.text().ends_with(&format!("  {name}\n")), "{piped:?}");
}

/// `popef --help` is made for a screen of 80 columns; the rest is as wide as the terminal.
#[test]
fn help_is_as_wide_as_the_terminal() {
    let place = Place::with(&[]);
    let commands: &[&[&str]] = &[&["cat", "-h"], &["check", "--help"], &["--help"]];
    let Some(shown) = on_terminal(&place, 80, commands) else { return };
    for text in &shown {
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None);
    }
    assert!(shown[2].lines().count() <= 23);
}
