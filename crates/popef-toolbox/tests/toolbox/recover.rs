//! `popef recover`. The official Cap'n Proto library says where blobs end.

use std::fs;

use serde_json::Value;

use crate::common::{Place, hold_golden, testdata};

/// Where the blobs of `interop/executable.popef` end, and the file.
fn ends() -> Vec<usize> {
    let text = fs::read_to_string(testdata().join("interop/executable.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let blobs = document["files"][0]["blobs"].as_array().unwrap().clone();
    let number = |blob: &Value, key: &str| usize::try_from(blob[key].as_u64().unwrap()).unwrap();
    blobs.iter().map(|blob| number(blob, "offset") + number(blob, "size")).collect()
}

#[test]
fn what_is_before_the_damage_is_kept_byte_for_byte() {
    let place = Place::with(&["interop/executable.popef"]);
    let whole = place.read("executable.popef");
    let ends = ends();
    for len in [1649, 2000, 2936, 2944, 3040, 50_000, 66_721, 66_722, 66_730, whole.len() - 1] {
        place.write("cut.popef", &whole[..len]);
        let report =
            place.run(&["recover", "cut.popef", "-o", "new.popef", "--force", "--format", "json"]).good().json();
        let (blobs, end) =
            ends.iter().enumerate().rfind(|(_, end)| **end <= len).map_or((0, 0), |(at, end)| (at + 1, *end));
        assert!(place.read("new.popef") == whole[..end], "{len}");
        assert_eq!(report["keptBlobs"], blobs, "{len}");
        assert_eq!(report["keptBytes"], end, "{len}");
        assert_eq!(report["lostBytes"], len - end, "{len}");
        assert_eq!(report["damage"].is_null(), len == end, "{len}");
        if len != end {
            assert_eq!(report["damage"]["blob"], blobs, "{len}");
        }
        assert!(place.read("cut.popef") == whole[..len]);
    }
}

#[test]
fn damage_in_the_middle_ends_what_is_kept() {
    let place = Place::with(&["interop/executable.popef"]);
    let mut bytes = place.read("executable.popef");
    let end = ends()[0];
    bytes[end + 4..end + 8].fill(0xff);
    place.write("broken.popef", &bytes);
    place.run(&["recover", "--in-place", "broken.popef"]).good();
    assert!(place.read("broken.popef") == bytes[..end]);
    assert_eq!(place.names(), ["broken.popef", "executable.popef"]);
}

#[test]
fn a_pickle_before_the_blobs_is_kept() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch"]);
    let whole = place.read("poptorch25.poptorch");
    place.run(&["recover", "poptorch25.poptorch", "-o", "copy.poptorch"]).good();
    assert!(place.read("copy.poptorch") == whole);
    place.write("cut.poptorch", &whole[..whole.len() - 1]);
    let report = place.run(&["recover", "cut.poptorch", "-o", "new.poptorch", "--format", "json"]).good().json();
    let kept = usize::try_from(report["keptBytes"].as_u64().unwrap()).unwrap();
    assert!(kept > 1000 && place.read("new.poptorch") == whole[..kept], "{report}");
}

#[test]
fn pipes_take_part() {
    let place = Place::with(&["golden/damaged.popef"]);
    let damaged = place.read("damaged.popef");
    let run = place.run_with_input(&["recover", "-", "-o", "-"], &damaged).good();
    assert!(run.out == damaged[..215]);
    assert!(
        run.err.starts_with("-: damaged at blob 2, byte 215: ") && run.err.contains("kept: 2 blobs"),
        "{}",
        run.err
    );
    let run = place.run_with_input(&["recover", "-", "--in-place"], &damaged);
    assert_eq!((run.out.as_slice(), run.status), (b"".as_slice(), 2));
}

#[test]
fn what_is_shown() {
    let files = ["golden/damaged.popef", "golden/natural.popef", "float8/e4m3fnuz.txt", "interop/empty.popef"];
    hold_golden(
        "recover",
        &files,
        &[
            "recover --dry-run damaged.popef",
            "recover damaged.popef -o new.popef",
            "recover damaged.popef -o new.popef",
            "recover damaged.popef -o damaged.popef --force",
            "recover --format json damaged.popef -o new.popef --force",
            "ls new.popef",
            "recover new.popef -o copy.popef",
            "recover --in-place natural.popef",
            "recover empty.popef -o copy.popef --force",
            "recover e4m3fnuz.txt -o copy.popef --force",
            "recover damaged.popef",
            "recover none.popef -o copy.popef",
        ],
    );
}

#[test]
fn nothing_whole_is_an_error_that_leaves_no_file() {
    let place = Place::with(&["interop/executable.popef"]);
    let whole = place.read("executable.popef");
    place.write("cut.popef", &whole[..1000]);
    for args in [&["-o", "new.popef"][..], &["--in-place"], &["--dry-run"]] {
        let run = place.run(&[&["recover", "cut.popef"], args].concat());
        assert_eq!(run.status, 2);
        assert!(run.err.contains("no blob is whole") && run.err.contains("[nothing-whole]"), "{}", run.err);
    }
    assert_eq!(place.names(), ["cut.popef", "executable.popef"]);
    assert!(place.read("cut.popef") == whole[..1000]);
}
