//! `popef split`, and `popef merge` of its parts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use popef::types::{Anchor, OpaqueInfo, TensorDataInfo};
use popef::{DataType, File, Metadata, OpenOptions, TensorInfo, Writer};

use crate::common::{Place, hold_golden, popef_files, testdata};
use crate::peers::{pycapnp_reads, without_places};

fn tensor(name: &str) -> TensorDataInfo {
    TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, [4]) }
}

/// Three models that share a tensor, and blobs of none. The names of the models are hostile, and differ only in case.
fn models(place: &Place) -> Vec<u8> {
    let mut writer = Writer::create(place.path("models.popef")).unwrap();
    for (name, tensors) in [("../Up", ["shared", "one"]), ("../up", ["shared", "two"]), ("/etc/passwd", ["three", "3"])]
    {
        let anchor = |name: &&str| Anchor { name: (*name).to_owned().into(), ..Anchor::default() };
        let anchors = tensors.iter().map(anchor).collect();
        writer.write_opaque(&OpaqueInfo { name: "popart".into(), executable: name.into() }, name.as_bytes()).unwrap();
        writer.write_executable(name, name.as_bytes()).unwrap();
        writer.write_metadata(&Metadata { executable: name.into(), anchors, ..Metadata::default() }).unwrap();
    }
    for name in ["one", "shared", "two", "three", "of no model"] {
        writer.write_tensor_bytes(&tensor(name), name.repeat(4).as_bytes().get(..4).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    place.read("models.popef")
}

/// All blobs of a file, whatever their order.
fn blobs(bytes: Vec<u8>) -> BTreeSet<Vec<u8>> {
    in_order(bytes).into_iter().collect()
}

/// All blobs of a file.
fn in_order(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let file = File::from_bytes(bytes).unwrap();
    let whole = |blob: popef::Blob<'_>| [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat();
    file.blobs().map(whole).collect()
}

#[test]
fn what_is_split_is_shown() {
    let lines = [
        "split two-models.popef --by model -o models",
        "split two-models.popef --by model -o models",
        "split two-models.popef --by kind -o kinds --stem m --format json",
        "split all-types.popef --max-size 1KiB -o parts",
        "split all-types.popef --by size --max-size 130 --dry-run",
        "split empty.popef --by kind -o nothing",
        "split two-models.popef --by size -o x",
        "split two-models.popef --by kind --max-size 1K -o x",
        "split two-models.popef --by kind --stem ../x -o x",
        "split two-models.popef --max-size 1.5G -o x",
    ];
    hold_golden("split", &["interop/two-models.popef", "interop/all-types.popef", "interop/empty.popef"], &lines);
}

/// pycapnp wrote the three files, of which the whole is made here by putting one behind the other.
#[test]
fn kinds_become_the_files_of_the_official_library() {
    let place = Place::with(&[]);
    let parts = ["executable", "tensors", "feeds"];
    let part = |part: &str| fs::read(testdata().join(format!("interop/split-{part}.popef"))).unwrap();
    place.write("split.popef", parts.map(part).concat());
    place.run(&["split", "split.popef", "--by", "kind", "-o", "."]).good();
    assert!(place.read("split-executables.popef") == part("executable"));
    assert!(place.read("split-tensors.popef") == part("tensors"));
    assert!(place.read("split-feeds.popef") == part("feeds"));
    assert_eq!(place.names().len(), 4);
}

#[test]
fn parts_of_a_size_are_the_file_in_pieces() {
    let place = Place::with(&["interop/all-types.popef"]);
    let whole = place.read("all-types.popef");
    let largest = File::from_bytes(whole.clone()).unwrap().blobs().map(|blob| blob.size()).max().unwrap();
    for most in [1, 200, 1000, whole.len() - 1, whole.len(), 1 << 40] {
        place.run(&["split", "all-types.popef", "--max-size", &most.to_string(), "-o", "parts"]).good();
        let mut names: Vec<_> = fs::read_dir(place.path("parts")).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let parts: Vec<_> = names.iter().map(|path| fs::read(path).unwrap()).collect();
        assert!(parts.concat() == whole, "{most}");
        for part in &parts {
            let blobs = File::from_bytes(part.clone()).unwrap().len();
            assert!(part.len() <= most || (blobs == 1 && u64::try_from(part.len()).unwrap() <= largest), "{most}");
        }
        // Two parts that follow each other would not have fitted into one.
        assert!(parts.windows(2).all(|pair| pair.concat().len() > most), "{most}");
        fs::remove_dir_all(place.path("parts")).unwrap();
    }
}

#[test]
fn each_model_gets_what_is_its_own() {
    let place = Place::with(&[]);
    let whole = models(&place);
    let run = place.run(&["split", "models.popef", "--by", "model", "-o", "parts"]).good();
    assert!(run.text().contains("in several parts") && run.text().contains("tensor  shared"), "{run:?}");
    let mut names: Vec<_> = fs::read_dir(place.path("parts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["models-_._Up.popef", "models-_._up~2.popef", "models-_etc_passwd.popef", "models-rest.popef"]);
    let tensors = |name: &str| {
        let file = File::open(place.path("parts").join(name)).unwrap();
        let names: Vec<_> = file.tensors().map(|tensor| tensor.name().to_string()).collect();
        (file.len(), names.join(" "))
    };
    assert_eq!(tensors(&names[0]), (5, "one shared".to_owned()));
    assert_eq!(tensors(&names[1]), (5, "shared two".to_owned()));
    assert_eq!(tensors(&names[2]), (4, "three".to_owned()));
    assert_eq!(tensors(&names[3]), (1, "of no model".to_owned()));

    let parts: Vec<_> = names.iter().map(|name| format!("parts/{name}")).collect();
    let args: Vec<&str> = ["merge", "-o", "again.popef"].into_iter().chain(parts.iter().map(String::as_str)).collect();
    let run = place.run(&args).good();
    assert!(run.text().contains("1 blob"), "{run:?}");
    assert_eq!(blobs(place.read("again.popef")), blobs(whole));
}

/// All files of testdata that are whole and have blobs. A file with an executable without a name, or with that of another one,
/// cannot be written.
fn whole_files() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![testdata()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if is_whole(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 200, "{}", files.len());
    files
}

fn is_whole(path: &Path) -> bool {
    let is_popef = path.extension().is_some_and(|ending| ending == "popef" || ending == "poptorch");
    is_popef
        && OpenOptions::new().after_pickle(true).open(path).is_ok_and(|file| {
            let names: Vec<_> = file.executables().map(|executable| executable.name().to_string()).collect();
            let is_unlike_others = |(at, name): (usize, &String)| !name.is_empty() && !names[..at].contains(name);
            !file.is_empty() && names.iter().enumerate().all(is_unlike_others)
        })
}

/// Splits a file, merges the parts, and returns what that makes.
fn split_and_merged(place: &Place, input: &Path, by: &[&str], keep: &[&str]) -> Vec<u8> {
    place.run(&[&["split", input.to_str().unwrap(), "-o", "parts"], by].concat()).good();
    let parts = fs::read_dir(place.path("parts")).unwrap().map(|entry| entry.unwrap().path());
    let mut parts: Vec<_> = parts.map(|path| path.to_str().unwrap().to_owned()).collect();
    parts.sort();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    place.run(&[&["merge", "-o", "merged.popef", "--force"], keep, &parts[..]].concat()).good();
    fs::remove_dir_all(place.path("parts")).unwrap();
    place.read("merged.popef")
}

/// Byte for byte, with the blobs in their order.
#[test]
fn parts_of_a_size_merge_to_the_same_file_again() {
    let place = Place::with(&[]);
    for input in whole_files() {
        let whole = fs::read(&input).unwrap();
        let most = (whole.len() / 40).max(100).to_string();
        let merged = split_and_merged(&place, &input, &["--max-size", &most], &["--keep", "all"]);
        assert!(merged == whole, "{}", input.display());
    }
}

/// A file alone, and with itself, is as it was.
#[test]
fn nothing_that_is_together_in_one_file_is_lost() {
    let place = Place::with(&[]);
    for input in &whole_files() {
        let path = input.to_str().unwrap();
        let whole = fs::read(input).unwrap();
        place.run(&["merge", path, "-o", "merged.popef", "--force"]).good();
        assert!(place.read("merged.popef") == whole, "{path}");
    }
    let elements = testdata().join("elements/elements.popef");
    let twice = [elements.to_str().unwrap(), elements.to_str().unwrap()];
    place.run(&[&["merge", "-o", "twice.popef"], &twice[..]].concat()).good();
    assert!(place.read("twice.popef") == fs::read(&elements).unwrap());
}

/// In whatever way a file is split, its parts merge to a file that says the same.
#[test]
fn parts_merge_to_the_same_again() {
    let place = Place::with(&[]);
    let mut read = Vec::new();
    let sorted = |bytes: Vec<u8>| {
        let mut blobs = in_order(bytes);
        blobs.sort();
        blobs
    };
    let interop = popef_files("interop").into_iter().filter(|path| !path.ends_with("empty.popef"));
    for input in interop.chain([testdata().join("elements/elements.popef")]) {
        for by in ["kind", "model"] {
            let merged = format!("{}{by}.popef", input.file_name().unwrap().to_str().unwrap());
            place.write(&merged, split_and_merged(&place, &input, &["--by", by], &[]));
            assert_eq!(sorted(place.read(&merged)), sorted(fs::read(&input).unwrap()), "{merged}");
            read.extend([input.clone(), place.path(&merged)]);
        }
    }
    let Some(read) = pycapnp_reads(&read) else { return };
    for pair in read.chunks(2) {
        let sorted = |blobs: &[serde_json::Value]| {
            let mut blobs: Vec<_> = without_places(blobs).iter().map(ToString::to_string).collect();
            blobs.sort();
            blobs
        };
        assert_eq!(sorted(&pair[0]), sorted(&pair[1]));
    }
}

#[test]
fn a_pickle_goes_into_the_first_part() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch"]);
    place.run(&["split", "poptorch25.poptorch", "--max-size", "1", "-o", "parts"]).good();
    let mut parts: Vec<_> = fs::read_dir(place.path("parts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.sort();
    let parts: Vec<_> = parts.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(parts.len() > 1 && parts.concat() == place.read("poptorch25.poptorch"));
}

#[test]
fn nothing_is_left_of_a_split_that_fails() {
    let place = Place::with(&["interop/two-models.popef"]);
    let args = ["split", "two-models.popef", "--by", "model", "-o"];
    let with = |more: &[&'static str]| [&args[..], more].concat();

    fs::create_dir(place.path("parts")).unwrap();
    place.write("parts/two-models-b.popef", "mine");
    let run = place.run(&with(&["parts"]));
    assert!(run.status == 2 && run.err.contains("two-models-b.popef: the file exists"), "{run:?}");
    assert_eq!(place.names(), ["parts", "two-models.popef"]);
    assert_eq!(fs::read_dir(place.path("parts")).unwrap().count(), 1);
    place.run(&with(&["parts", "--force"])).good();
    assert_eq!(fs::read_dir(place.path("parts")).unwrap().count(), 3);

    // The input is one of the outputs.
    fs::copy(place.path("two-models.popef"), place.path("parts/two-models-a.popef")).unwrap();
    let run = place.run(&[
        "split",
        "parts/two-models-a.popef",
        "--by",
        "kind",
        "--stem",
        "two-models",
        "-o",
        "parts",
        "--force",
    ]);
    assert_eq!(run.status, 0, "{run:?}");
    let run = place.run(&[
        "split",
        "parts/two-models-executables.popef",
        "--by",
        "kind",
        "--stem",
        "two-models",
        "-o",
        "parts",
        "--force",
    ]);
    assert!(run.status == 2 && run.err.contains("same file as the input"), "{run:?}");
}

/// They would be merged with the new parts.
#[test]
fn parts_of_an_earlier_split_are_told() {
    let place = Place::with(&["interop/two-models.popef"]);
    let split = |more: &[&str]| place.run(&[&["split", "two-models.popef", "-o", "parts"], more].concat()).good();
    assert_eq!(split(&["--max-size", "1"]).err, "");
    let old = fs::read_dir(place.path("parts")).unwrap().count();
    // These are no parts.
    for name in ["parts/two-models.popef", "parts/two-models-1.txt", "parts/other-1.popef"] {
        place.write(name, "");
    }
    fs::create_dir(place.path("parts/two-models-folder.popef")).unwrap();
    for more in [&["--max-size", "1GB", "--force", "--dry-run"][..], &["--max-size", "1GB", "--force"]] {
        let run = split(more);
        let others = old - 2;
        let words = format!(
            "popef split: warning: parts/two-models-2.popef and {others} other files have names of parts, but are not parts: if an \
             earlier split left them, remove them before popef merge includes them\n"
        );
        assert_eq!(run.err, words);
        let report = split(&[more, &["--format", "json"]].concat()).json();
        assert_eq!(report["leftOver"]["count"], old - 1);
        assert_eq!(report["leftOver"]["first"][0]["path"], "parts/two-models-2.popef");
    }
    for left in 2..old {
        fs::remove_file(place.path(format!("parts/two-models-{left}.popef"))).unwrap();
    }
    let words = format!(
        "popef split: warning: parts/two-models-{old}.popef has the name of a part, but is not one: if an earlier split left it, \
         remove it before popef merge includes it\n"
    );
    assert_eq!(split(&["--max-size", "1GB", "--force"]).err, words);
}

/// A dry run fails as the real run does, and writes nothing.
#[test]
fn a_dry_run_says_what_is_in_the_way() {
    let place = Place::with(&["interop/two-models.popef"]);
    fs::create_dir(place.path("parts")).unwrap();
    place.write("parts/two-models-b.popef", "mine");
    place.write("file", "");
    for (folder, words) in [("parts", "two-models-b.popef: the file exists"), ("file/parts", "cannot make the folder")]
    {
        let args = ["split", "two-models.popef", "--by", "model", "-o", folder];
        let [dry, real] = [&["--dry-run"][..], &[]].map(|more| place.run(&[&args[..], more].concat()));
        assert!(dry.status == 2 && dry.err.contains(words), "{dry:?}");
        assert_eq!(dry.err, real.err);
    }
    for more in [&["-o", "parts", "--force"][..], &["-o", "new/folder"]] {
        let args = ["split", "two-models.popef", "--by", "model", "--dry-run"];
        place.run(&[&args[..], more].concat()).good();
    }
    assert_eq!(place.names(), ["file", "parts", "two-models.popef"]);
    assert_eq!(fs::read_dir(place.path("parts")).unwrap().count(), 1);
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_links() {
    let place = Place::with(&["interop/two-models.popef"]);
    fs::create_dir(place.path("parts")).unwrap();
    for target in ["../outside", "../two-models.popef"] {
        std::os::unix::fs::symlink(target, place.path("parts/two-models-rest.popef")).unwrap();
        for force in [&[][..], &["--force"]] {
            let run = place.run(&[&["split", "two-models.popef", "--by", "model", "-o", "parts"], force].concat());
            assert!(run.status == 2 && run.err.contains("it is a link"), "{run:?}");
        }
        fs::remove_file(place.path("parts/two-models-rest.popef")).unwrap();
    }
    // The folder itself may be one.
    for (link, target) in [("link", "parts"), ("dangling", "missing")] {
        std::os::unix::fs::symlink(target, place.path(link)).unwrap();
        for folder in [link, &format!("{link}/")] {
            for command in [
                "split two-models.popef --by model",
                "split two-models.popef --by model --dry-run",
                "extract two-models.popef",
                "compress two-models.popef",
                "decompress two-models.popef --dry-run",
            ] {
                let option = if command.contains("compress") { "--output-dir" } else { "-o" };
                let args: Vec<_> = command.split(' ').chain([option, folder]).collect();
                let run = place.run(&args);
                assert!(
                    run.status == 2 && run.err.contains(&format!("{folder}: it is a link, and nothing is written")),
                    "{run:?}"
                );
            }
        }
        fs::remove_file(place.path(link)).unwrap();
    }
    assert_eq!(place.names(), ["parts", "two-models.popef"]);
    assert_eq!(fs::read_dir(place.path("parts")).unwrap().count(), 0);
}

#[test]
fn too_many_parts_are_refused_before_anything_is_written() {
    let place = Place::with(&[]);
    let mut writer = Writer::create(place.path("many.popef")).unwrap();
    (0..401).for_each(|at| _ = writer.write_tensor_bytes(&tensor(&at.to_string()), b"data").unwrap());
    writer.finish().unwrap();
    let run = place.run(&["split", "many.popef", "--max-size", "1", "-o", "parts"]);
    assert!(run.status == 2 && run.err.contains("more than 400 parts"), "{run:?}");
    assert_eq!(place.names(), ["many.popef"]);
}

#[test]
fn only_chosen_blobs_are_split() {
    let place = Place::with(&[]);
    let whole = models(&place);
    let chosen: Vec<_> = {
        let file = File::from_bytes(whole).unwrap();
        let whole =
            |blob: popef::Blob<'_>| [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat();
        file.tensors().filter(|tensor| tensor.name() != "three").map(|tensor| whole(*tensor.blob())).collect()
    };
    let filter = ["--type", "tensor", "--exclude", "three"];
    for (by, files) in [(&["--max-size", "1"][..], 4), (&["--by", "kind"], 1), (&["--by", "model"], 3)] {
        place.run(&[&["split", "models.popef", "-o", "parts"], by, &filter].concat()).good();
        let mut parts: Vec<_> = fs::read_dir(place.path("parts")).unwrap().map(|entry| entry.unwrap().path()).collect();
        parts.sort();
        assert_eq!(parts.len(), files, "{parts:?}");
        let found: BTreeSet<_> = parts.iter().flat_map(|part| blobs(fs::read(part).unwrap())).collect();
        assert_eq!(found, chosen.iter().cloned().collect());
        fs::remove_dir_all(place.path("parts")).unwrap();
    }
    let run = place.run(&["split", "models.popef", "--by", "kind", "-o", "parts", "--filter", "none"]);
    assert!(run.status == 2 && run.err.contains("[nothing-chosen]"), "{run:?}");
    assert!(!place.path("parts").exists());
}

#[cfg(unix)]
#[test]
fn of_a_private_file_the_folder_is_private_too() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&["interop/executable.popef"]);
    fs::set_permissions(place.path("executable.popef"), fs::Permissions::from_mode(0o600)).unwrap();
    place.run(&["split", "executable.popef", "--by", "kind", "-o", "parts"]).good();
    let mode = fs::metadata(place.path("parts")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
