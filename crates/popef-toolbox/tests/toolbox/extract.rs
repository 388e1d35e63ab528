//! `popef extract`.

use std::fs;

use crate::common::{Place, hold_golden};

#[test]
fn what_is_extracted_is_shown() {
    let lines = [
        "extract executable.popef --dry-run",
        "extract executable.popef -o model",
        "extract executable.popef -o model",
        "extract executable.popef split-tensors.popef -o both -t tensor",
        "extract executable.popef -o -",
        "extract executable.popef -o model --force --format json",
    ];
    hold_golden("extract", &["interop/executable.popef", "interop/split-tensors.popef"], &lines);
}

#[test]
fn nothing_is_written_through_a_link_or_over_what_is_there() {
    let place = Place::with(&["interop/executable.popef"]);
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes", "mine");
    for (args, words) in [
        (&["extract", "executable.popef", "-o", "mine"][..], "is not empty"),
        (&["extract", "executable.popef", "-o", "mine", "--force"], "has no index.json"),
        (&["extract", "executable.popef", "-o", "executable.popef", "--force"], "not a folder"),
    ] {
        let run = place.run(args);
        assert!(run.status == 2 && run.err.contains(words), "{run:?}");
    }
    #[cfg(unix)]
    {
        fs::create_dir(place.path("target")).unwrap();
        std::os::unix::fs::symlink("target", place.path("link")).unwrap();
        let run = place.run(&["extract", "executable.popef", "-o", "link", "--force"]);
        assert!(run.status == 2 && run.err.contains("it is a link"), "{run:?}");
        assert_eq!(fs::read_dir(place.path("target")).unwrap().count(), 0);
    }
    assert_eq!(place.read("mine/notes"), b"mine");
    let names: &[&str] =
        if cfg!(unix) { &["executable.popef", "link", "mine", "target"] } else { &["executable.popef", "mine"] };
    assert_eq!(place.names(), names);
}
