//! `popef diff`.

use std::path::Path;

use popef::types::{FeedDataInfo, TensorDataInfo};
use popef::{DataType, TensorInfo, Writer};

use crate::common::{Place, hold_golden, testdata};
use crate::peers::{pycapnp_reads, python};

#[test]
fn what_differs_is_shown() {
    let files = [
        "interop/executable.popef",
        "interop/split-executable.popef",
        "interop/two-models.popef",
        "interop/replicated.popef",
        "golden/hostile-names.popef",
        "golden/damaged.popef",
        "compressed/zlib-1.popef",
        "compressed/lz4.popef",
        "compressed/plain-poplar.popef",
        "opaque/poptorch/poptorch25.poptorch",
    ];
    let commands = [
        "diff executable.popef executable.popef",
        "diff split-executable.popef executable.popef",
        "diff --brief split-executable.popef executable.popef",
        "diff --type metadata replicated.popef executable.popef",
        "diff two-models.popef hostile-names.popef",
        "diff zlib-1.popef lz4.popef",
        "diff --exact zlib-1.popef lz4.popef",
        "diff poptorch25.poptorch split-executable.popef",
        "diff --brief --exact poptorch25.poptorch split-executable.popef",
        "diff lz4.popef plain-poplar.popef",
        "diff --format json split-executable.popef executable.popef",
        "diff --format ndjson split-executable.popef executable.popef",
        "diff damaged.popef executable.popef",
        "diff executable.popef no-such-file.popef",
        "diff - -",
        "diff -q two-models.popef executable.popef",
        "diff --atol -1 two-models.popef executable.popef",
    ];
    hold_golden("diff", &files, &commands);
}

#[test]
fn bytes_behind_a_tensor_are_called_so() {
    let place = Place::with(&["checks/PE008.popef"]);
    let file = popef::File::open(place.path("PE008.popef")).unwrap();
    let tensors = file.blobs().filter_map(|blob| blob.as_data()).find(|data| data.surplus() > 0).unwrap();
    let (surplus, len) = (tensors.surplus(), tensors.data().len());
    let end = tensors.blob().offset() + tensors.blob().size();
    let mut bytes = place.read("PE008.popef");
    bytes[usize::try_from(end).unwrap() - 1] ^= 1;
    place.write("other.popef", bytes);
    let same = place.run(&["diff", "PE008.popef", "other.popef"]).good();
    let note = "\nnote: 1 byte that means nothing here differs (after tensors, or in messages); --exact says where\n";
    assert!(same.text().ends_with(note), "{same:?}");
    let run = place.run(&["diff", "--exact", "PE008.popef", "other.popef"]);
    let unit = if surplus == 1 { "byte" } else { "bytes" };
    let first = len - 1;
    let words = format!("    {surplus} {unit} after the tensor data, 1 differ, first at {first} of the data\n");
    assert!(run.status == 1 && run.text().contains(&words), "{words}: {run:?}");
    let json = place.run(&["diff", "--exact", "--format", "json", "PE008.popef", "other.popef"]).json();
    let expected =
        serde_json::json!({"a": surplus, "b": surplus, "first": first, "different": 1, "behindTensors": true});
    assert_eq!(json["blobs"][0]["bytes"], expected);
}

#[test]
fn fields_of_a_later_version_that_differ_are_counted() {
    let place = Place::with(&["later/tensor.popef", "interop/executable.popef"]);
    let ignored =
        |a: &str, b: &str| place.run(&["diff", "--format", "json", a, b]).good().json()["ignoredBytes"].clone();
    place.run(&["merge", "tensor.popef", "-o", "same.popef"]).good();
    assert_eq!(ignored("tensor.popef", "same.popef"), 0);
    // The last field of the info, a text.
    let mut bytes = place.read("tensor.popef");
    let comment = b"later version";
    let at = bytes.windows(comment.len()).position(|window| window == comment).unwrap();
    bytes[at..at + 5].copy_from_slice(b"LATER");
    place.write("other.popef", bytes);
    assert_eq!(ignored("tensor.popef", "other.popef"), 5);
    place.run(&["compress", "executable.popef", "-o", "small.popef"]).good();
    assert_eq!(ignored("executable.popef", "small.popef"), 0, "compression has a meaning");
}

#[test]
fn standard_input_is_one_of_the_two() {
    let place = Place::with(&["interop/executable.popef", "interop/two-models.popef"]);
    let bytes = place.read("executable.popef");
    for (args, status) in [(["diff", "-", "executable.popef"], 0), (["diff", "two-models.popef", "-"], 1)] {
        assert_eq!(place.run_with_input(&args, &bytes).status, status, "{args:?}");
    }
}

/// A file with a tensor of each data type and a feed, all of zeros. Python fills it.
fn write_zeros(place: &Place) {
    let mut writer = Writer::create(place.path("zeros.popef")).unwrap();
    for data_type in DataType::ALL {
        let tensor_info = TensorInfo::new(*data_type, [7, 11, 13]);
        let bytes = vec![0; 7 * 11 * 13 * data_type.size().unwrap() as usize];
        writer.write_tensor_bytes(&TensorDataInfo { name: data_type.to_string().into(), tensor_info }, &bytes).unwrap();
    }
    let tensor_info = TensorInfo::new(DataType::F32, [3, 100]);
    let info = FeedDataInfo { name: "feed".into(), tensor_info, num_tensors: 9 };
    writer.write_feed_bytes(&info, &[0; 9 * 3 * 100 * 4]).unwrap();
    writer.finish().unwrap();
}

/// Random elements of each type, also NaN and infinities, and several tolerances.
#[test]
fn values_differ_as_numpy_says() {
    let place = Place::with(&[]);
    write_zeros(&place);
    let args = [Path::new(env!("CARGO_BIN_EXE_popef")), &place.path(""), &testdata().join("float8")];
    let Some(compared) = python(include_str!("diff_values.py"), &["numpy"], &args) else { return };
    assert!(compared.trim().parse::<u32>().unwrap() >= 200, "{compared}");
}

/// Each pair of files that the official library wrote, compared with what that library reads.
#[test]
fn files_differ_as_the_official_library_says() {
    let place = Place::with(&[]);
    let mut files: Vec<_> =
        std::fs::read_dir(testdata().join("interop")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "popef"));
    files.extend(
        ["zlib-1", "zlib-9", "gzip", "plain-poplar", "zlib-poplar"]
            .map(|name| testdata().join(format!("compressed/{name}.popef"))),
    );
    files.sort();
    let Some(read) = pycapnp_reads(&files) else { return };
    let lines: Vec<String> = read.iter().map(|blobs| serde_json::to_string(blobs).unwrap()).collect();
    place.write("read.jsonl", lines.join("\n"));
    let verdicts = python(include_str!("diff_files.py"), &[], &[place.path("read.jsonl")]).unwrap();
    let mut verdicts = verdicts.chars();
    for a in &files {
        for b in &files {
            let status = place.run(&["diff", "-q", a.to_str().unwrap(), b.to_str().unwrap()]).status;
            let expected = verdicts.next().unwrap();
            assert_eq!(status.to_string(), expected.to_string(), "{} and {}", a.display(), b.display());
        }
    }
}
