//! The commands that `popef check` prints mend what it found.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Place, testdata};

const POLICY: &str = "compressed-executables = true\nno-pickles = true\nopaques = [\"popart\"]\n";

/// The findings of a check.
fn findings(place: &Place, file: &str) -> Vec<Value> {
    let run = place.run(&["check", "--policy", "policy.toml", "--format", "json", "--", file]);
    run.json()["findings"].as_array().unwrap().clone()
}

fn count(found: &[Value], rule: &str) -> usize {
    found.iter().filter(|finding| finding["id"] == rule).count()
}

/// Runs what is to be typed into a shell, and returns the new file.
fn typed(place: &Place, command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_popef")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let before: BTreeSet<_> = names(place);
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", command]).env("PATH", path).current_dir(place.path(".")).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    let new: Vec<_> = names(place).difference(&before).cloned().collect();
    assert_eq!(new.len(), 1, "{command}: {new:?}");
    new[0].clone()
}

fn names(place: &Place) -> BTreeSet<String> {
    fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn each_command_that_check_prints_mends_what_it_found() {
    let mut mended = BTreeSet::new();
    // Metadata that can be read, but not written again.
    let broken = testdata().join("broken/anchor-cycle.popef");
    for (nth, path) in crate::common::popef_files("checks").into_iter().chain([broken]).enumerate() {
        let rule = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // Names that a shell, or a command line, could take for something else.
        let name = ["m.popef", "-x", ".popef", "it's $HOME & more.popef", "a\"b`c`.popef"][nth % 5];
        let place = Place::with(&[]);
        fs::copy(&path, place.path(name)).unwrap();
        place.write("policy.toml", POLICY);
        let found = findings(&place, name);
        let commands: BTreeSet<_> = found
            .iter()
            .filter_map(|finding| Some((finding["id"].as_str()?, finding["mend"]["command"].as_str()?)))
            .collect();
        let text = place.run(&["check", "--policy", "policy.toml", "--", name]);
        for (id, command) in commands {
            assert!(text.text().contains(&format!("\n      {command}\n")), "{command}: {}", text.text());
            let old = fs::read(place.path(name)).unwrap();
            let new = typed(&place, command);
            assert_eq!(fs::read(place.path(name)).unwrap(), old, "{command}");
            assert_eq!(count(&findings(&place, &new), id), 0, "{rule}: {command}");
            mended.insert(id.to_owned());
        }
    }
    let expected = [
        "PE001", "PE002", "PE008", "PE009", "PE013", "PE014", "PE108", "PE109", "PE111", "PE201", "PE202", "PE203",
        "PE220", "PE307", "PE506", "PE703", "PE704",
    ];
    let missing: Vec<_> = expected.iter().filter(|rule| !mended.contains(**rule)).collect();
    assert!(missing.is_empty(), "{missing:?} of {mended:?}");
}

#[test]
fn commands_for_several_files_write_several_files() {
    let names = ["a.popef", "a.poptorch", "a", "a.poptorch.popef"];
    for each in [&["--each"][..], &[]] {
        let place = Place::with(&[]);
        let finding = fs::read(testdata().join("checks/PE008.popef")).unwrap();
        names.iter().for_each(|name| place.write(name, &finding));
        let text = place.run(&[&["check"], each, &names].concat());
        let commands: BTreeSet<_> = text.text().lines().filter(|line| line.trim().starts_with("popef set ")).collect();
        let new: BTreeSet<_> = commands.iter().map(|command| typed(&place, command)).collect();
        assert_eq!((commands.len(), new.len()), (names.len(), names.len()), "{commands:?}");
    }
}

/// What is compressed already, and what does not become smaller by it, has no command.
#[test]
fn executables_that_become_smaller_are_compressed() {
    let place = Place::with(&[]);
    place.write("policy.toml", POLICY);
    for (name, byte) in [("zeros.popef", 0), ("odd.popef", 1)] {
        let data: Vec<u8> =
            (0..5000_u64).map(|n| if byte == 0 { 0 } else { ((n * n * 2_654_435_761) >> 13) as u8 }).collect();
        let mut writer = popef::Writer::create(place.path(name)).unwrap();
        writer.write_executable("e", &data).unwrap();
        writer.finish().unwrap();
    }
    let commands = |name: &str| {
        let found = findings(&place, name);
        assert_eq!(count(&found, "PE702"), 1, "{found:?}");
        found.iter().find_map(|finding| Some(finding["mend"]["command"].as_str()?.to_owned()))
    };
    assert_eq!(commands("odd.popef"), None);
    let new = typed(&place, &commands("zeros.popef").unwrap());
    assert_eq!(count(&findings(&place, &new), "PE702"), 0);
}

/// Not even in the command that would keep one of two.
#[test]
fn values_that_look_like_credentials_are_not_printed() {
    let place = Place::with(&["interop/add-clean.popef"]);
    place.write("policy.toml", POLICY);
    let option = |value: &str| serde_json::json!({ "name": "db.password", "value": value });
    let patch = serde_json::json!({ "engineOptions": [option("hunter2"), option("swordfish")] });
    place.write("patch.json", patch.to_string());
    place.run(&["set", "add-clean.popef", "--merge", "patch.json", "--in-place"]).good();
    for format in ["text", "json", "sarif", "github"] {
        let run = place.run(&["check", "add-clean.popef", "--verbose", "--format", format]);
        assert!(run.text().contains("db.password"), "{run:?}");
        assert!(!run.text().contains("hunter2") && !run.text().contains("swordfish"), "{run:?}");
    }
}

#[test]
fn several_commands_write_several_files() {
    let place = Place::with(&[]);
    place.write("policy.toml", POLICY);
    fs::copy(testdata().join("checks/PE703.popef"), place.path("m.popef")).unwrap();
    let found = findings(&place, "m.popef");
    let commands: Vec<_> = found.iter().filter_map(|finding| finding["mend"]["command"].as_str()).collect();
    assert!(commands.len() > 1, "{found:?}");
    let outputs: BTreeSet<_> = commands.iter().map(|command| command.rsplit(' ').next().unwrap()).collect();
    assert_eq!(outputs.len(), commands.len(), "{commands:?}");
    let text = place.run(&["check", "--policy", "policy.toml", "m.popef"]);
    assert!(text.text().contains("Each command begins with this file."), "{}", text.text());
}

#[test]
fn the_list_of_a_folder_can_be_typed_as_it_is_printed() {
    let place = Place::with(&[]);
    let folder = "it's a -folder";
    fs::create_dir(place.path(folder)).unwrap();
    fs::copy(testdata().join("interop/add-clean.popef"), place.path(folder).join("m.popef")).unwrap();
    let run = place.run(&["check", folder, "--each", "--format", "json"]);
    let command = run.err.split("a list of them: ").nth(1).unwrap().lines().next().unwrap();
    assert!(command.ends_with("| popef check --files-from - --each --format json"), "{command}");
    let path = format!(
        "{}:{}",
        Path::new(env!("CARGO_BIN_EXE_popef")).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let output =
        Command::new("bash").args(["-c", command]).env("PATH", path).current_dir(place.path(".")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("m.popef"), "{command}: {output:?}");
    let one = place.run(&["diff", folder, folder]);
    assert!(!one.err.contains("--files-from"), "{one:?}");
}

/// The next command would have another one.
#[cfg(target_os = "linux")]
#[test]
fn standard_input_by_another_name_has_no_command() {
    let place = Place::with(&["checks/PE008.popef"]);
    for name in ["/dev/stdin", "/proc/self/fd/0"] {
        let mut command = place.command();
        command.args(["check", name]).stdin(fs::File::open(place.path("PE008.popef")).unwrap());
        let run = crate::common::finish(&mut command);
        assert!(run.text().contains("PE008") && !run.text().contains("mended"), "{run:?}");
    }
}
