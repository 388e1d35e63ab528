//! `popef recover`. The official Cap'n Proto library says where blobs end.

use std::fs;

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo};
use serde_json::Value;

use crate::common::{Place, hold_golden, hold_text, testdata};

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
    // What is whole cannot stay in its place there either.
    for input in [&damaged[..], &damaged[..215]] {
        let run = place.run_with_input(&["recover", "-", "--in-place"], input);
        assert_eq!((run.out.as_slice(), run.status), (b"".as_slice(), 2));
    }
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

/// The blobs of a file of six tensors, `whole.popef`. In `broken.popef`, the infos of some of them are overwritten.
fn tensors(place: &Place, damaged: &[usize]) -> Vec<Vec<u8>> {
    let mut writer = popef::Writer::create(place.path("whole.popef")).unwrap();
    for at in 0..6_u8 {
        let info =
            TensorDataInfo { name: format!("weights{at}").into(), tensor_info: TensorInfo::new(DataType::U8, [8]) };
        writer.write_tensor_bytes(&info, &[at; 8]).unwrap();
    }
    writer.finish().unwrap();
    let mut bytes = place.read("whole.popef");
    let file = File::open(place.path("whole.popef")).unwrap();
    let range = |blob: &popef::Blob<'_>| {
        let start = usize::try_from(blob.offset()).unwrap();
        start..start + usize::try_from(blob.size()).unwrap()
    };
    let blobs = file.blobs().map(|blob| bytes[range(&blob)].to_vec()).collect();
    for at in damaged {
        let blob = file.blob(*at).unwrap();
        let info = range(&blob).start + usize::try_from(blob.header_bytes().len()).unwrap();
        bytes[info + 8..info + 16].fill(0xff);
    }
    place.write("broken.popef", bytes);
    blobs
}

#[test]
fn whole_blobs_behind_damaged_infos_are_kept() {
    for damaged in [&[1][..], &[0], &[5], &[0, 1, 4], &[1, 3, 5]] {
        let place = Place::with(&[]);
        let blobs = tensors(&place, damaged);
        let report = place.run(&["recover", "broken.popef", "-o", "new.popef", "--format", "json"]).good().json();
        let kept: Vec<_> = (0..6).filter(|at| !damaged.contains(at)).map(|at| blobs[at].clone()).collect();
        assert!(place.read("new.popef") == kept.concat(), "{damaged:?}");
        let lost = report["lost"]["first"].as_array().unwrap();
        let start = |at: usize| blobs[..at].iter().map(Vec::len).sum::<usize>();
        let told: Vec<_> = lost.iter().map(|lost| (lost["start"].clone(), lost["bytes"].clone())).collect();
        let expected: Vec<_> = damaged.iter().map(|&at| (start(at).into(), blobs[at].len().into())).collect();
        assert_eq!(told, expected);
        assert!(lost.iter().all(|lost| lost["isRest"] == false && lost["damage"]["code"] == "malformed-message"));
        assert_eq!(
            (&report["keptBlobs"], &report["lost"]["count"]),
            (&(6 - damaged.len()).into(), &damaged.len().into())
        );
        let both = report["keptBytes"].as_u64().unwrap() + report["lostBytes"].as_u64().unwrap();
        assert_eq!(both, place.read("whole.popef").len() as u64);
    }
}

/// Only where a header says that a blob begins, and one does.
#[test]
fn nothing_is_searched_for_blobs() {
    let place = Place::with(&[]);
    let blobs = tensors(&place, &[1]);
    let mut bytes = place.read("broken.popef");
    let third = blobs[0].len() + blobs[1].len();
    bytes[third..third + 8].fill(0xff);
    place.write("broken.popef", &bytes);
    let run = place.run(&["recover", "broken.popef", "-o", "new.popef"]).good();
    assert!(place.read("new.popef") == blobs[0]);
    let rest = format!("from byte {third} on, which were not searched for blobs\n");
    assert!(run.text().contains("on, which are blob 1\n") && run.text().ends_with(&rest), "{run:?}");
}

#[test]
fn only_chosen_blobs_are_kept() {
    let place = Place::with(&[]);
    let blobs = tensors(&place, &[1]);
    let recover =
        |file: &str, filter: &str| place.run(&["recover", file, "-o", "new.popef", "--force", "--filter", filter]);
    let run = recover("broken.popef", "*[35]").good();
    assert!(place.read("new.popef") == [&blobs[3][..], &blobs[5]].concat());
    assert!(run.text().contains("kept: 2 blobs, ") && run.text().contains("; 3 blobs not chosen\n"), "{run:?}");
    recover("whole.popef", "*2").good();
    assert!(place.read("new.popef") == blobs[2]);
    for file in ["whole.popef", "broken.popef"] {
        let run = recover(file, "*1x");
        assert!(run.status == 2 && run.err.contains("[nothing-chosen]"), "{run:?}");
    }
    place.run(&["recover", "--in-place", "whole.popef", "--exclude", "*[1-5]"]).good();
    assert!(place.read("whole.popef") == blobs[0]);
}

/// Other commands say what can still be done.
#[test]
fn what_is_shown_of_damaged_infos() {
    let place = Place::with(&[]);
    tensors(&place, &[0, 3]);
    let mut shown = String::new();
    for line in [
        "ls broken.popef",
        "check broken.popef",
        "strip broken.popef --drop feed --dry-run",
        "recover broken.popef --dry-run",
        "recover --dry-run --format json broken.popef",
    ] {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        shown.push_str(&format!(
            "$ popef {line}\n{}---- stderr\n{}---- exit status {}\n",
            run.text(),
            run.err,
            run.status
        ));
    }
    hold_text("recover_infos", &shown);
}

/// The file is whole, so that recover would keep all of it.
#[test]
fn nobody_is_sent_to_recover_for_a_shape() {
    let place = Place::with(&["golden/broken-data.popef"]);
    let run = place.run(&["ls", "broken-data.popef"]);
    let said = [run.text(), &run.err].concat();
    assert!(said.contains("Compile the model with fixed sizes") && said.contains("[shape-too-large]"), "{said}");
    assert!(!said.contains("recover"), "{said}");
}

/// The format forbids them, but files have them, also damaged ones. No command makes them worse, and two of them mend them.
#[test]
fn executables_without_a_name_or_of_one_name_are_kept() {
    for name in ["PE010.popef", "PE105.popef", "PE602.popef"] {
        let place = Place::with(&[]);
        let whole = fs::read(testdata().join("checks").join(name)).unwrap();
        let file = File::from_bytes(whole.clone()).unwrap();
        let last = usize::try_from(file.blob(file.len() - 1).unwrap().offset()).unwrap();
        place.write("whole.popef", &whole);
        place.write("cut.popef", &whole[..whole.len() - 1]);
        for line in ["recover whole.popef -o 1", "merge whole.popef -o 2", "set whole.popef --set-version= -o 3"] {
            place.run(&line.split(' ').collect::<Vec<_>>()).good();
            assert!(place.read(line.split(' ').next_back().unwrap()) == whole, "{name}: {line}");
        }
        place.run(&["recover", "cut.popef", "-o", "4"]).good();
        assert!(place.read("4") == whole[..last], "{name}");
        for line in ["compress whole.popef -o 5", "split whole.popef --by kind -o parts"] {
            place.run(&line.split(' ').collect::<Vec<_>>()).good();
        }
        let piped = place.run(&["compress", "whole.popef", "-o", "-"]).good();
        assert!(piped.out == place.read("5"), "{name}");
    }
    let place = Place::with(&["checks/PE010.popef", "checks/PE105.popef"]);
    let findings = |file: &str| place.run(&["check", file]).text().to_owned();
    place.run(&["set", "PE010.popef", "--rename", "=named", "-o", "named.popef"]).good();
    assert!(findings("PE010.popef").contains("PE010:") && !findings("named.popef").contains("PE010:"));
    let file = File::open(place.path("PE105.popef")).unwrap();
    let second = file.executables().nth(1).unwrap().blob().index().to_string();
    place.run(&["strip", "PE105.popef", "--drop", &second, "-o", "single.popef"]).good();
    assert!(findings("PE105.popef").contains("PE105:") && !findings("single.popef").contains("PE105:"));
    assert_eq!(File::open(place.path("single.popef")).unwrap().len() + 1, file.len());
    // A new name is still checked.
    let unnamed = format!("{}=", file.executables().next().unwrap().name());
    let refused = place.run(&["set", "single.popef", "--rename", &unnamed, "-o", "6"]);
    assert!(refused.status == 2 && refused.err.contains("[wrong-value]"), "{refused:?}");
}

/// There is nothing to keep before it.
#[test]
fn what_is_advised_about_the_first_blob_can_be_done() {
    let place = Place::with(&["interop/executable.popef"]);
    let whole = place.read("executable.popef");
    place.write("cut.popef", &whole[..1000]);
    for format in ["text", "json", "ndjson"] {
        let run = place.run(&["strip", "cut.popef", "--drop", "tensor", "-o", "new", "--format", format]);
        let said = format!("{}{}", run.text(), run.err);
        assert!(said.contains("Copy or export the file again") && !said.contains("before this one"), "{said}");
    }
}
