//! `popef merge`.

use std::fs;

use popef::types::{FeedDataInfo, OpaqueInfo, TensorDataInfo};
use popef::write::{BlobCopy, Packing};
use popef::{DataType, File, TensorInfo, Writer};

use crate::common::{Place, finish, hold_golden, testdata};
use crate::peers::{pycapnp_reads, without_places};

/// A check in CI must not pass because of a typing mistake.
#[test]
fn a_filter_that_nothing_matches_is_an_error() {
    let place = Place::with(&["interop/executable.popef"]);
    let wrong = ["--filter", "input_paramter"];
    for args in [
        &["merge", "executable.popef", "-o", "new.popef"][..],
        &["extract", "executable.popef", "-o", "new"],
        &["diff", "-q", "executable.popef", "executable.popef"],
    ] {
        let run = place.run(&[args, &wrong].concat());
        assert_eq!((run.status, run.text()), (2, ""), "{run:?}");
        assert!(
            run.err.contains("nothing matches --filter input_paramter") && run.err.contains(" [nothing-chosen]"),
            "{run:?}"
        );
        assert_eq!(place.names(), ["executable.popef"]);
    }
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let place = Place::with(&["interop/executable.popef"]);
    let bytes = place.read("executable.popef");
    place.run_with_input(&["merge", "-", "-o", "copy.popef"], &bytes).good();
    assert_eq!(place.read("copy.popef"), bytes);
    // Standard input that is a file need not be copied. What was read of it before does not count.
    let line = "(head -c 8 >/dev/null; \"$0\" merge - -o late.popef) < executable.popef";
    let program = env!("CARGO_BIN_EXE_popef");
    let run =
        |line: &str| finish(std::process::Command::new("bash").args(["-c", line, program]).current_dir(place.path("")));
    let late = run(line);
    assert_eq!(late.status, 2, "{late:?}");
    assert!(late.err.contains("standard input: blob 0, byte 0: "), "{late:?}");
    assert_eq!(run("\"$0\" merge - -o same.popef < executable.popef").status, 0);
    assert_eq!(place.read("same.popef"), bytes);
}

#[test]
fn files_become_one() {
    let place = Place::with(&["interop/split-executable.popef", "interop/split-tensors.popef"]);
    place.run(&["merge", "split-executable.popef", "split-tensors.popef", "-o", "whole.popef"]).good();
    assert_eq!(
        place.read("whole.popef"),
        [place.read("split-executable.popef"), place.read("split-tensors.popef")].concat()
    );
}

/// A file with one tensor.
fn tensor(place: &Place, file: &str, name: &str, data: &[u8; 4]) {
    let info = TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, [4]) };
    let mut writer = Writer::create(place.path(file)).unwrap();
    writer.write_tensor_bytes(&info, data).unwrap();
    writer.finish().unwrap();
}

fn data(place: &Place, file: &str) -> Vec<Vec<u8>> {
    File::open(place.path(file)).unwrap().blobs().map(|blob| blob.data().read().unwrap().into_owned()).collect()
}

#[test]
fn what_is_merged_is_shown() {
    let files = [
        "interop/add-clean.popef",
        "interop/executable.popef",
        "interop/split-tensors.popef",
        "interop/split-feeds.popef",
    ];
    let lines = [
        "merge split-tensors.popef split-feeds.popef split-tensors.popef -o data.popef",
        "merge split-tensors.popef split-feeds.popef -o data.popef",
        "merge split-tensors.popef split-feeds.popef -o split-feeds.popef --force",
        "merge add-clean.popef executable.popef --dry-run",
        "merge add-clean.popef executable.popef --dry-run --keep first",
        "merge add-clean.popef executable.popef --dry-run --keep last",
        "merge add-clean.popef executable.popef --dry-run --keep all --format json",
        "merge add-clean.popef executable.popef --dry-run --type tensor --exclude input_parameter",
        "merge data.popef missing.popef -o x.popef",
        "merge data.popef --keep both -o x.popef",
    ];
    hold_golden("merge", &files, &lines);
}

/// Which of two blobs with one name is kept, and that it keeps its place.
#[test]
fn conflicts_are_refused_or_resolved_as_asked() {
    let place = Place::with(&[]);
    for (file, data) in [("1", b"old "), ("2", b"new "), ("3", b"old "), ("4", b"last")] {
        tensor(&place, file, "w", data);
    }
    tensor(&place, "other", "v", b"else");
    let merge = |files: &[&str], keep: &[&str]| place.run(&[&["merge", "-o", "out", "--force"], keep, files].concat());
    let run = merge(&["1", "other", "2"], &[]);
    assert!(
        run.status == 2 && run.err.contains("tensor \"w\" is in 1 (blob 0), and with other content in 2 (blob 0)"),
        "{run:?}"
    );
    assert!(!place.path("out").exists());
    for (keep, expected) in [
        ("first", &[b"old ", b"else"][..]),
        ("last", &[b"else", b"last"]),
        ("all", &[b"old ", b"else", b"new ", b"old ", b"last"]),
    ] {
        merge(&["1", "other", "2", "3", "4"], &["--keep", keep]).good();
        assert_eq!(data(&place, "out"), expected, "{keep}");
    }
}

/// A blob is written once if its type, name and content are those of another, and only then.
#[test]
fn duplicates_are_found_by_content() {
    let place = Place::with(&["interop/two-models.popef"]);
    tensor(&place, "a", "w", b"same");
    tensor(&place, "b", "w", b"same");
    tensor(&place, "c", "v", b"same");
    place.run(&["merge", "a", "b", "c", "a", "-o", "out"]).good();
    assert_eq!(data(&place, "out").len(), 2);

    // Another type makes another blob, and another version another content.
    let info = FeedDataInfo { name: "w".into(), tensor_info: TensorInfo::new(DataType::U8, [4]), num_tensors: 1 };
    let mut writer = Writer::create(place.path("feed")).unwrap();
    writer.write_feed_bytes(&info, b"same").unwrap();
    writer.finish().unwrap();
    place.run(&["merge", "a", "feed", "-o", "both"]).good();
    assert_eq!(data(&place, "both").len(), 2);
    let mut writer = Writer::create(place.path("versioned")).unwrap();
    writer.copy(BlobCopy::of(&File::open(place.path("a")).unwrap().blob(0).unwrap()).version("2")).unwrap();
    writer.finish().unwrap();
    assert_eq!(place.run(&["merge", "a", "versioned", "-o", "versions"]).status, 2);

    // Two opaque blobs with one name belong to two executables.
    place.run(&["merge", "two-models.popef", "two-models.popef", "-o", "models"]).good();
    assert!(place.read("models") == place.read("two-models.popef"));
    let mut writer = Writer::create(place.path("opaque")).unwrap();
    for executable in ["a", "b", "c"] {
        let info = OpaqueInfo { name: "popart".into(), executable: executable.into() };
        writer.write_opaque(&info, executable.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    place.run(&["merge", "opaque", "opaque", "-o", "opaques"]).good();
    assert!(place.read("opaques") == place.read("opaque"));
}

/// A cached and a fresh model differ only in how they are stored.
#[test]
fn executables_can_count_as_equal_by_what_they_unpack_to() {
    let place = Place::with(&["compressed/zlib-9.popef", "compressed/zstd.popef", "compressed/lz4.popef"]);
    let files = ["zstd.popef", "zlib-9.popef", "lz4.popef"];
    let run = place.run(&[&["merge", "-o", "out"], &files[..]].concat());
    assert!(run.status == 2 && run.err.contains("executable \"model\" is in zstd.popef"), "{run:?}");
    let run = place.run(&[&["merge", "-o", "out", "--keep", "all"], &files[..]].concat());
    assert_eq!(run.status, 2, "two executables cannot have one name: {run:?}");
    place.run(&["merge", "-o", "all", "--keep", "all", "zstd.popef", "zstd.popef"]).good();
    assert_eq!(File::open(place.path("all")).unwrap().executables().len(), 1);
    place.run(&[&["merge", "-o", "out", "--unpacked"], &files[..]].concat()).good();
    assert!(place.read("out") == place.read("zstd.popef"));

    // The time in the header of gzip data differs, and its length does not.
    let mut later = fs::read(testdata().join("compressed/gzip.popef")).unwrap();
    place.write("gzip.popef", &later);
    later[88 + 4] ^= 1;
    place.write("later.popef", &later);
    assert_eq!(place.run(&["merge", "-o", "gzips", "gzip.popef", "later.popef"]).status, 2);
    place.run(&["merge", "-o", "gzips", "--unpacked", "gzip.popef", "later.popef"]).good();
    assert!(place.read("gzips") == place.read("gzip.popef"));

    let mut writer = Writer::create(place.path("other.popef")).unwrap();
    writer.write_packed_executable("model", &[1; 100_000], Packing::default()).unwrap();
    writer.finish().unwrap();
    let run = place.run(&["merge", "-o", "other", "--unpacked", "zstd.popef", "other.popef"]);
    assert!(run.status == 2 && run.err.contains("other content"), "{run:?}");
}

#[test]
fn a_pickle_is_kept_in_front_or_refused() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch", "interop/split-tensors.popef"]);
    let (model, weights) = (place.read("poptorch25.poptorch"), place.read("split-tensors.popef"));
    place.run(&["merge", "poptorch25.poptorch", "split-tensors.popef", "-o", "whole.poptorch"]).good();
    assert!(place.read("whole.poptorch") == [&model[..], &weights].concat());
    let wrong = ["merge", "split-tensors.popef", "poptorch25.poptorch", "-o", "out"];
    let run = place.run(&wrong);
    assert!(run.status == 2 && run.err.contains("come before PopEF in it"), "{run:?}");
    place.run(&[&wrong[..], &["--drop-prefix"]].concat()).good();
    let plain = fs::read(testdata().join("interop/split-executable.popef")).unwrap();
    assert!(place.read("out") == [&weights[..], &plain].concat());
}

#[test]
fn no_input_is_replaced_by_another_name() {
    let place = Place::with(&["interop/split-tensors.popef", "interop/split-feeds.popef"]);
    fs::hard_link(place.path("split-feeds.popef"), place.path("same")).unwrap();
    let old = place.read("same");
    for output in ["same", "./same", "split-feeds.popef"] {
        let run = place.run(&["merge", "split-tensors.popef", "split-feeds.popef", "-o", output, "--force"]);
        assert!(run.status == 2 && run.err.contains("[output-is-input]"), "{run:?}");
    }
    assert_eq!(place.read("same"), old);
}

/// pycapnp reads from the whole what it reads from the parts.
#[test]
fn the_official_library_reads_all_of_it() {
    let place = Place::with(&[]);
    let inputs = ["split-executable", "split-tensors", "split-feeds", "many-anchors", "all-types", "replicated"];
    let inputs = inputs.map(|input| testdata().join("interop").join(input).with_extension("popef"));
    let args: Vec<&str> = inputs.iter().map(|input| input.to_str().unwrap()).collect();
    place.run(&[&["merge", "-o", "whole.popef"], &args[..]].concat()).good();
    let Some(read) = pycapnp_reads(&[&inputs[..], &[place.path("whole.popef")]].concat()) else { return };
    let (whole, parts) = read.split_last().unwrap();
    assert_eq!(without_places(whole), without_places(&parts.concat()));
}

/// PopART skips a file with two of its models, and says nothing.
#[test]
fn what_the_checks_find_in_the_new_file_is_told_or_refused() {
    let place = Place::with(&["checks/as-popart.popef", "checks/PE101.popef", "checks/PE114.popef"]);
    let line = ["set", "as-popart.popef", "--rename", "12345=678", "-o", "other.popef"];
    place.run(&line).good();
    for (files, rule) in [(["as-popart.popef", "other.popef"], "PE601"), (["PE101.popef", "PE101.popef"], "PE101")] {
        let line = ["merge", files[0], files[1], "--keep", "all", "-o", "new.popef"];
        let told = place.run(&[&line[..], &["--force"]].concat()).good();
        assert!(told.err.contains(&format!("the checks find now: error {rule}: ")), "{told:?}");
        let refused = place.run(&[&line[..], &["--force", "--strict"]].concat());
        assert!(refused.status == 2 && refused.err.contains(rule), "{refused:?}");
        let piped = place.run(&["merge", files[0], files[1], "--keep", "all", "--strict", "-o", "-"]);
        assert!(piped.status == 2 && piped.out.is_empty() && piped.err.contains("--strict needs a file"), "{piped:?}");
    }
    let fine = place.run(&["merge", "as-popart.popef", "-o", "fine.popef", "--strict"]).good();
    assert_eq!(fine.err, "");
}
