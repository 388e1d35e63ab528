//! `popef strip`.

use std::fs;

use popef::File;
use popef::types::{Anchor, BlobType, Metadata, TensorDataInfo, TensorType};

use crate::common::{Place, hold_golden, popef_files, testdata};
use crate::peers::pycapnp_reads;

#[test]
fn what_is_dropped_is_shown() {
    let lines = [
        "strip executable.popef --drop tensor -o small.popef",
        "strip executable.popef --drop executable,opaque --dry-run",
        "strip two-models.popef --drop executable:a --drop metadata:b --drop feed --dry-run",
        "strip two-models.popef --drop any:* --dry-run",
        "strip two-models.popef --drop any --dry-run",
        "strip two-models.popef --drop tensors --dry-run",
        "strip two-models.popef --dry-run",
        "strip two-models.popef --in-place --drop feed",
        "strip two-models.popef --in-place --drop opaque:popt* --format json",
        "strip poptorch25.poptorch --drop prefix -o plain.popef",
        "strip - --in-place --drop feed",
    ];
    let files = ["interop/executable.popef", "interop/two-models.popef", "opaque/poptorch/poptorch25.poptorch"];
    hold_golden("strip", &files, &lines);
}

/// pycapnp reads the same blobs as before, without those that were dropped.
#[test]
fn all_else_stays() {
    let place = Place::with(&[]);
    let mut paths = Vec::new();
    let mut types = Vec::new();
    for input in popef_files("interop") {
        for (number, blob_type) in ["executable", "metadata", "tensor", "feed", "opaque"].into_iter().enumerate() {
            let kinds: Vec<_> = File::open(&input).unwrap().blobs().map(|blob| blob.blob_type().number()).collect();
            let is_dropped = |kind: &u16| usize::from(*kind) == number;
            if kinds.iter().all(is_dropped) || !kinds.iter().any(is_dropped) {
                continue;
            }
            let output = format!("{}-{blob_type}", input.file_name().unwrap().to_str().unwrap());
            place.run(&["strip", input.to_str().unwrap(), "--drop", blob_type, "-o", &output]).good();
            paths.extend([input.clone(), place.path(&output)]);
            types.push(number);
        }
    }
    assert!(types.len() > 15, "{}", types.len());
    let Some(read) = pycapnp_reads(&paths) else { return };
    for (pair, dropped) in read.chunks(2).zip(types) {
        let stays = |blob: &&serde_json::Value| blob["header"]["type"] != dropped;
        let without_offset = |blob: &serde_json::Value| {
            let mut blob = blob.clone();
            blob["offset"].take();
            blob
        };
        let expected: Vec<_> = pair[0].iter().filter(stays).map(without_offset).collect();
        assert_eq!(pair[1].iter().map(without_offset).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn only_names_that_match_are_dropped() {
    let place = Place::with(&["interop/all-types.popef"]);
    let old = File::open(place.path("all-types.popef")).unwrap();
    place
        .run(&["strip", "all-types.popef", "--drop", "tensor:*f*", "--drop", "feed:*s[0-9]*", "-o", "new.popef"])
        .good();
    let new = File::open(place.path("new.popef")).unwrap();
    let names = |file: &File| -> Vec<_> {
        file.blobs().map(|blob| (blob.blob_type(), blob.name().unwrap().to_string())).collect()
    };
    let mut expected = names(&old);
    expected.retain(|(blob_type, name)| match blob_type {
        BlobType::DataTensor => !name.contains('f'),
        _ => !name.as_bytes().windows(2).any(|two| two[0] == b's' && two[1].is_ascii_digit()),
    });
    assert!(expected.len() > 3 && expected.len() + 3 < old.len());
    assert_eq!(names(&new), expected);
}

#[test]
fn warnings_name_what_no_longer_works() {
    let place = Place::with(&[]);
    let part = |part: &str| fs::read(testdata().join(format!("interop/split-{part}.popef"))).unwrap();
    place.write("split.popef", ["executable", "tensors", "feeds"].map(part).concat());
    let model = "executable \"3284579348837926701\"";
    for (drop, words) in [
        ("executable", format!("{model} is dropped, but its metadata")),
        ("metadata", format!("the metadata of {model} is dropped")),
        (
            "tensor",
            format!("1 input of {model} had data that is dropped; whoever runs it must provide it: input_parameter"),
        ),
        ("feed", format!("1 input of {model} had data that is dropped; whoever runs it must provide it: user_input")),
        ("tensor,feed", format!("2 inputs of {model}")),
    ] {
        let run = place.run(&["strip", "split.popef", "--drop", drop, "--dry-run"]).good();
        assert!(run.err.contains(&words), "{words}: {run:?}");
    }
    let both = place.run(&["strip", "split.popef", "--drop", "executable", "--drop", "metadata", "--dry-run"]).good();
    assert_eq!(both.err, "");
}

/// All are counted, and the first by name are told with the names of their inputs.
#[test]
fn many_broken_models_are_listed_in_part() {
    let place = Place::with(&[]);
    let mut writer = popef::Writer::create(place.path("many.popef")).unwrap();
    for model in (0..1500).rev() {
        let anchors = (0..12)
            .map(|at| Anchor { name: format!("input{at}").into(), tensor_type: TensorType::Input, ..Anchor::default() })
            .collect();
        let metadata = Metadata { executable: format!("model{model:04}").into(), anchors, ..Metadata::default() };
        writer.write_metadata(&metadata).unwrap();
    }
    for at in 0..12 {
        let info = TensorDataInfo { name: format!("input{at}").into(), ..TensorDataInfo::default() };
        writer.write_tensor_bytes(&info, &[1]).unwrap();
    }
    writer.finish().unwrap();

    let strip = ["strip", "many.popef", "--drop", "tensor", "--dry-run", "--format", "json"];
    let run = place.run(&strip).good();
    let report: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    let broken = report["broken"].as_array().unwrap();
    assert_eq!((report["brokenCount"].as_u64(), broken.len()), (Some(1500), 1000));
    let names: Vec<_> = (0..10).map(|at| serde_json::json!({"name": format!("input{at}")})).collect();
    for (model, broken) in broken.iter().enumerate() {
        assert_eq!(broken["name"], format!("model{model:04}"));
        assert_eq!((broken["inputsWithoutData"].as_u64(), broken["inputs"].as_array()), (Some(12), Some(&names)));
    }
    assert_eq!(run.err.lines().count(), 1001);
    assert!(run.err.ends_with("and 500 more executables\n"), "{}", run.err.lines().last().unwrap());
}

/// The rest is a plain PopEF file, which an official writer made.
#[test]
fn a_prefix_is_dropped_if_asked_for() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch"]);
    place.run(&["strip", "poptorch25.poptorch", "--drop", "prefix", "-o", "plain.popef"]).good();
    assert!(place.read("plain.popef") == fs::read(testdata().join("interop/split-executable.popef")).unwrap());
    place.run(&["strip", "poptorch25.poptorch", "--drop", "metadata", "-o", "less.poptorch"]).good();
    let pickle = place.read("poptorch25.poptorch").len() - place.read("plain.popef").len();
    assert_eq!(place.read("less.poptorch")[..pickle], place.read("poptorch25.poptorch")[..pickle]);
}

#[test]
#[cfg(unix)]
fn nothing_is_rewritten_without_a_change() {
    use std::os::unix::fs::MetadataExt as _;

    let place = Place::with(&["interop/executable.popef"]);
    let inode = || fs::metadata(place.path("executable.popef")).unwrap().ino();
    let old = inode();
    let run = place.run(&["strip", "--in-place", "executable.popef", "--drop", "feed"]);
    assert_eq!((inode(), run.status), (old, 2));
    assert!(run.err.contains("executable.popef: --drop feed matches nothing [nothing-chosen]"), "{run:?}");
    place.run(&["strip", "--in-place", "executable.popef", "--drop", "tensor"]).good();
    assert_eq!(File::open(place.path("executable.popef")).unwrap().tensors().len(), 0);
}

/// It narrows what is chosen, as in all commands.
#[test]
fn exclude_keeps_what_drop_names() {
    let place = Place::with(&["interop/all-types.popef"]);
    let blobs = |path: &str| -> Vec<(BlobType, String)> {
        let file = File::open(place.path(path)).unwrap();
        file.blobs().map(|blob| (blob.blob_type(), blob.name().unwrap().to_string())).collect()
    };
    let old = blobs("all-types.popef");
    let strip =
        |args: &[&str]| place.run(&[&["strip", "all-types.popef", "-o", "new.popef", "--force"], args].concat());
    let is_f16 = |name: &str| name.to_ascii_lowercase().contains("f16");
    let both = |(blob_type, name): &(BlobType, String)| *blob_type == BlobType::DataTensor && is_f16(name);
    strip(&["--drop", "tensor:*F16*", "-i"]).good();
    let left: Vec<_> = old.iter().filter(|blob| !both(blob)).cloned().collect();
    assert!(left.len() < old.len() && blobs("new.popef") == left, "{left:?}");
    strip(&["--drop", "tensor", "--exclude", "*[fF]16*"]).good();
    let left: Vec<_> = old.iter().filter(|blob| blob.0 != BlobType::DataTensor || both(blob)).cloned().collect();
    assert_eq!(blobs("new.popef"), left);

    let run = strip(&["--drop", "tensor:*f16*", "--exclude", "*F16", "-i"]);
    let words = "--drop tensor:*f16* matches nothing that --exclude does not keep [nothing-chosen]";
    assert!(run.status == 2 && run.err.contains(words), "{run:?}");
}

/// In other commands, they choose what is kept, so they would be taken for the opposite of what they did here.
#[test]
fn filters_of_other_commands_are_refused_with_what_to_use() {
    let place = Place::with(&["interop/all-types.popef"]);
    for (option, value, tip) in [
        ("--filter", "*f16*", "'--drop any:GLOB'"),
        ("--type", "tensor", "'--drop TYPE'"),
        ("-t", "tensor", "'--drop TYPE'"),
    ] {
        let run = place.run(&["strip", "all-types.popef", option, value, "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains(&format!("unexpected argument '{option}'")), "{run:?}");
        assert!(run.err.contains(tip) && place.names() == ["all-types.popef"], "{run:?}");
    }
}
