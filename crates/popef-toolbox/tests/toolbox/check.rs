//! `popef check`: formats and files of what it found. `popef-dump` has the tests of each format.

use std::fs;

use crate::common::{Place, Run};

/// Two files: one with a warning, and one with an error.
fn place() -> Place {
    Place::with(&["checks/PE108.popef", "checks/PE101.popef"])
}

const FILES: [&str; 3] = ["--each", "PE108.popef", "PE101.popef"];

fn check(place: &Place, options: &[&str]) -> Run {
    place.run(&[&["check"], options, &FILES].concat())
}

/// A CI system wants several formats, and the files may be large.
#[test]
fn several_formats_are_written_from_one_read() {
    let place = place();
    let to_files =
        ["--format", "sarif=a.sarif", "--format", "junit=b.xml", "--format=github", "--format", "ndjson=c d.txt"];
    let run = check(&place, &to_files);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    for (format, file) in [("sarif", "a.sarif"), ("junit", "b.xml"), ("ndjson", "c d.txt")] {
        let alone = check(&place, &["--format", format]);
        assert!(!alone.out.is_empty() && place.read(file) == alone.out, "{format}");
    }
    assert_eq!(run.out, check(&place, &["--format", "github"]).out);
    // One read: of a pipe that gives its bytes once, all have all.
    let bytes = place.read("PE101.popef");
    let line = ["check", "--format", "json=1.json", "--format", "text", "-"];
    let run = place.run_with_input(&line, &bytes);
    assert!(run.text().contains("error PE101"), "{run:?}");
    assert!(String::from_utf8(place.read("1.json")).unwrap().contains("PE101"));
    // Without a format on standard output, nothing is printed there.
    let run = check(&place, &["--format", "text=only.txt"]);
    assert_eq!((run.out.as_slice(), run.status), (&b""[..], 1));
    assert!(String::from_utf8(place.read("only.txt")).unwrap().contains("failed: 1 error, 1 warning"));
}

#[test]
fn the_only_format_goes_to_the_output_file() {
    let place = place();
    let run = check(&place, &["--format", "sarif", "-o", "new.sarif"]);
    assert_eq!((run.out.as_slice(), run.status), (&b""[..], 1));
    assert_eq!(place.read("new.sarif"), check(&place, &["--format", "sarif"]).out);
    assert_eq!(check(&place, &["-o", "new.txt"]).status, 1);
    assert_eq!(place.read("new.txt"), check(&place, &[]).out);
    assert_eq!(check(&place, &["-o", "-"]).out, check(&place, &[]).out);
}

#[test]
fn two_formats_for_one_place_are_an_error() {
    let place = place();
    for (options, said) in [
        (&["--format", "sarif", "--format", "junit"][..], "only one format goes to standard output"),
        (&["--format", "sarif=-", "--format", "junit"], "only one format goes to standard output"),
        (&["--format", "sarif", "--format", "junit", "-o", "new"], "only one format goes to standard output"),
        (&["--format", "sarif=new", "--format", "junit=new"], "two formats would be written to new"),
        (&["--format", "sarif=new", "-o", "new2"], "each has one"),
        (&["--format", "sarif="], "the name is empty"),
        (&["--format", "sarrif=new"], "sarif"),
        (&["--format", "sarif", "--force"], "--force is for findings that go to a file"),
        (&["--format", "sarif=new", "-q"], "--quiet is for --format text and github"),
    ] {
        let run = check(&place, options);
        assert!(run.status == 2 && run.err.contains(said) && run.out.is_empty(), "{options:?}: {run:?}");
    }
    assert_eq!(place.names(), ["PE101.popef", "PE108.popef"]);
}

/// Nothing is lost by a mistyped name.
#[test]
fn a_file_is_replaced_only_by_force_and_an_input_never() {
    let place = place();
    place.write("old", "text");
    let refused = check(&place, &["--format", "json=old"]);
    assert!(refused.status == 2 && refused.out.is_empty(), "{refused:?}");
    assert_eq!(place.read("old"), b"text");
    assert_eq!(check(&place, &["--format", "json=old", "--force"]).status, 1);
    assert_eq!(place.read("old"), check(&place, &["--format", "json"]).out);
    let input = place.read("PE101.popef");
    assert_eq!(check(&place, &["-o", "PE101.popef", "--force"]).status, 2);
    assert_eq!(place.read("PE101.popef"), input);
    fs::write(place.path("policy.toml"), "").unwrap();
    assert_eq!(check(&place, &["--policy", "policy.toml", "-o", "policy.toml", "--force"]).status, 2);
    assert_eq!(place.read("policy.toml"), b"");
}

/// What the next call would have to replace. A file that is not PopEF is a finding, which is kept, and so is what was found in others.
#[test]
fn findings_of_nothing_are_not_written() {
    let place = place();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("text", "no PopEF file at all, but a text");
    for (files, status, is_written) in [
        ("no.popef", 2, false),
        ("folder", 2, false),
        ("--each folder no.popef", 2, false),
        ("no.popef PE108.popef", 2, true),
        ("text", 1, true),
    ] {
        let run = place.run(&["check -o new", files].join(" ").split(' ').collect::<Vec<_>>());
        assert_eq!((run.status, fs::remove_file(place.path("new")).is_ok()), (status, is_written), "{files}: {run:?}");
        assert!(is_written || [" [not-", " [is-folder]"].iter().any(|code| run.err.contains(code)), "{run:?}");
    }
}

/// Each run of each file would have the same notices, and there is nothing to do about them.
#[test]
fn annotations_say_what_was_left_out_only_if_that_is_wanted() {
    let place = place();
    let not_checked = |run: Run| run.text().matches("title=not checked::").count();
    assert_eq!(not_checked(check(&place, &["--format", "github"])), 0);
    assert!(not_checked(check(&place, &["--format", "github", "-v"])) > 0);
    // What failed is an error, and always told.
    let missing = place.run(&["check", "--format", "github", "missing.popef"]);
    assert!(
        missing.status == 2 && missing.text().contains("::error file=missing.popef,title=not checked::"),
        "{missing:?}"
    );
}

/// What nobody could look at may be dangerous, so the tool says so as the library does.
#[test]
fn text_and_random_bytes_in_place_of_an_executable_are_noted_by_a_deep_check() {
    let place = Place::with(&["checks/PE410.popef"]);
    let run = place.run(&["check", "--deep", "PE410.popef"]);
    assert!(run.status == 0 && run.text().contains("note PE410"), "{run:?}");
    place.write("policy.toml", "[rules]\nPE410 = \"error\"\n");
    assert_eq!(place.run(&["check", "--deep", "--policy", "policy.toml", "PE410.popef"]).status, 1);
}
