//! What looks like an address is never shown with its secrets, whatever it is given for.

use crate::common::Place;

const SECRET: &str = "hunter2";

/// Addresses of which no command can do anything, and one of a server that is not there.
const ADDRESSES: [&str; 31] = [
    "ftp://u:hunter2@h/a.popef",
    "gcs://b/a.popef?sig=hunter2",
    "oci://u:hunter2@h/a.popef",
    "oci://u:p hunter2'x@h/a.popef",
    "wasbs://c@u:hunter2@a/k",
    "wasbs://c@a/k?sig=hunter2",
    "http:/u:hunter2@h/a.popef",
    "https:u:hunter2@h/a.popef",
    "https:///u:hunter2@:x/a.popef",
    "https://u:hunter2?hunter2@h:x/a.popef",
    "https://u,v:p,hunter2@:x/a.popef",
    "s3://u:hunter2@b/k",
    "s3:///k?X-Amz-Signature=hunter2",
    "abfs://c@u:hunter2@a/k",
    "hf://u:hunter2@o/n/p",
    "hf://n?token=hunter2",
    "//u:hunter2@h/a.popef",
    "http://u:hunter2@127.0.0.1:1/a.popef?sig=hunter2",
    "https//u:hunter2@h/a.popef",
    "https ://u:hunter2@h/a.popef",
    "https\u{ff1a}\u{ff0f}\u{ff0f}u:hunter2@h/a.popef",
    "https:\u{ff0f}\u{ff0f}u\u{ff1a}hunter2\u{ff20}h/a.popef",
    "u:hunter2@h:/a.popef",
    "u:hunter2@h/a.popef",
    "u:hunter2@h?sig=hunter2",
    "//u:hunter2@h?x=1",
    "abfs:c@a/k?sig=hunter2",
    "http://h/c.popef,http://u:hunter2@h/d.popef",
    "http://h/c.popef http://u:hunter2@h/d.popef",
    "http://h/https://u:hunter2@h/a.popef",
    "s3://b/x/https://u:hunter2@h/a.popef",
];

#[test]
fn no_command_shows_a_secret() {
    let place = Place::with(&["interop/executable.popef", "profile/tiny.report.json"]);
    let file = "executable.popef";
    let commands: &[&[&str]] = &[
        &["URL"],
        &["ls", "URL"],
        &["ls", "-v", "--values", "URL"],
        &["ls", "--format", "URL", file],
        &["ls", "--format", "json", file, "URL"],
        &["ls", "--files-from", "URL"],
        &["ls", "--files-from", "list"],
        &["ls", "--no-such", "URL"],
        &["ls", "--first-request", "URL", file],
        &["dump", "URL"],
        &["dump", "-v", "--format", "json", "URL"],
        &["check", "URL"],
        &["check", "--each", "--deep", "--format", "sarif", "URL"],
        &["check", "--format", "junit", "URL", file],
        &["check", "--format", "github", "URL"],
        &["check", "--format", "json", "URL"],
        &["check", "--policy", "URL", file],
        &["check", "--ignore", "URL", file],
        &["explain", "URL"],
        &["explain", "--format", "json", "URL"],
        &["hash", "URL"],
        &["hash", "--format", "ndjson", "URL"],
        &["verify", "URL"],
        &["verify", "URL", file],
        &["diff", "URL", file],
        &["diff", "--format", "json", file, "URL"],
        &["cat", "URL", "--blob", "0"],
        &["cat", file, "--blob", "URL"],
        &["extract", "URL", "-o", "out"],
        &["extract", file, "-o", "URL"],
        &["split", "URL", "-o", "out"],
        &["split", file, "-o", "URL"],
        &["merge", "URL", file, "-o", "out.popef", "--format", "json"],
        &["merge", file, "-o", "URL"],
        &["merge", file, "-oURL"],
        &["merge", file, "-o", "URL", "--dry-run"],
        &["pack", "--tensors", "URL", "-o", "out.popef"],
        &["pack", "--metadata", "URL", "-o", "out.popef"],
        &["pack", "URL", "-o", "out.popef"],
        &["pack", "--feed", "n=URL", "-o", "out.popef"],
        &["pack", "--tensors", "n=URL", "-o", "out.popef"],
        &["pack", "--executable", "URL", "-o", "out.popef"],
        &["pack", "--opaque", "URL", "-o", "out.popef"],
        &["set", "URL", "--in-place", "--rename", "a=b"],
        &["set", file, "--merge", "URL", "-o", "out.popef"],
        &["set", file, "--tensors", "URL", "-o", "out.popef"],
        &["set", file, "--set", "URL", "-o", "out.popef"],
        &["strip", "URL", "-o", "out.popef"],
        &["compress", "URL", "--output-dir", "out"],
        &["compress", file, "--output-dir", "URL"],
        &["decompress", file, "-o", "URL"],
        &["recover", "URL", "-o", "out.popef"],
        &["profile", "URL"],
        &["profile", "tiny.report.json", "URL"],
        &["profile", "tiny.report.json", "-o", "URL"],
        &["graph", "URL"],
        &["graph", file, "-o", "URL"],
        &["tiles", "model", "URL"],
        &["tiles", "map", "URL"],
        &["tiles", "vars", "URL"],
        &["tiles", "exec", "URL"],
        &["tiles", "plan", "URL"],
        &["report", "URL", file, "-o", "out.html", "--force"],
        &["report", file, "-o", "URL"],
        &["completions", "URL"],
        &["man", "URL"],
        &["verify", "sums"],
    ];
    let before = place.names();
    for (nth, address) in ADDRESSES.into_iter().enumerate() {
        place.write("list", address);
        place.write("sums", format!("{:064}  {address}\n", 0));
        // The first commands get all of them, and the others every fourth, which takes less time.
        for (_, words) in commands.iter().enumerate().filter(|(command, _)| *command < 6 || command % 4 == nth % 4) {
            let line: Vec<String> = words.iter().map(|word| word.replace("URL", address)).collect();
            let run = place.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
            let page = std::fs::read_to_string(place.path("out.html")).unwrap_or_default();
            let said = [run.text(), &run.err, &page].concat();
            assert!(!said.contains(SECRET), "popef {line:?}: {said}");
            assert!(run.status != 0 || words.contains(&"--dry-run"), "popef {line:?}: {said}");
        }
    }
    let mut after = place.names();
    after.retain(|name| !before.contains(name) && name != "list" && name != "sums");
    // The page says what could not be read.
    assert_eq!(after, ["out.html"]);
}

/// A file with such a name is a file.
#[test]
fn a_file_is_not_an_address() {
    let place = Place::with(&["interop/executable.popef"]);
    std::fs::create_dir_all(place.path("ftp:/u:word@h")).unwrap();
    place.write("ftp:/u:word@h/a.popef?b=c", place.read("executable.popef"));
    place.run(&["ls", "ftp:/u:word@h/a.popef?b=c"]).good();
    std::fs::create_dir_all(place.path("epoch:3@best")).unwrap();
    place.run(&["merge", "executable.popef", "-o", "epoch:3@best/new.popef"]).good();
    place.run(&["merge", "executable.popef", "-o", "epoch:3@best.popef"]).good();
    assert!(place.path("epoch:3@best/new.popef").exists() && place.path("epoch:3@best.popef").exists());
}
