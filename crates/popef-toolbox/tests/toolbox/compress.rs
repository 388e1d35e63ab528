//! `popef compress` and `popef decompress`.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::process::Stdio;

use popef::read::Compression;
use popef::types::{FeedDataInfo, OpaqueInfo};
use popef::{DataType, File, TensorInfo, Writer};

use crate::common::{Place, Run, hold_golden, made, popef_files, testdata};
use crate::peers::{pycapnp_reads, without_places};

/// A model as the frameworks write it: opaque blob, executable, metadata, and several feeds.
fn with_feeds(place: &Place, name: &str) {
    let mut writer = Writer::create(place.path(name)).unwrap();
    writer.write_opaque(&OpaqueInfo { name: "popart".into(), executable: "model".into() }, b"opaque").unwrap();
    let first = FeedDataInfo { name: "first".into(), tensor_info: TensorInfo::new(DataType::U8, [3]), num_tensors: 2 };
    writer.write_feed_bytes(&first, b"abcdef").unwrap();
    writer.write_executable("model", &b"the same again, ".repeat(1000)).unwrap();
    for name in ["second", "third"] {
        let info = FeedDataInfo { name: name.into(), ..first.clone() };
        writer.write_feed_bytes(&info, name.as_bytes().repeat(2).get(..6).unwrap()).unwrap();
    }
    writer.write_executable("other", &[7; 5000]).unwrap();
    writer.finish().unwrap();
}

/// The types and names of all blobs, in order.
fn blobs(place: &Place, name: &str) -> Vec<String> {
    let file = File::open(place.path(name)).unwrap();
    file.blobs().map(|blob| format!("{:?} {}", blob.blob_type(), blob.name().unwrap_or_default())).collect()
}

fn compression(place: &Place, name: &str, executable: &str) -> Option<Compression> {
    File::open(place.path(name)).unwrap().executable(executable).unwrap().compression().unwrap()
}

#[test]
fn what_is_done_is_shown() {
    let files = [
        "compressed/plain-poplar.popef",
        "compressed/zstd.popef",
        "interop/two-models.popef",
        "interop/split-feeds.popef",
    ];
    let lines = [
        "compress --dry-run plain-poplar.popef zstd.popef",
        "compress plain-poplar.popef -o small.popef",
        "compress plain-poplar.popef -o small.popef",
        "compress --compression gzip:9 --recompress zstd.popef small.popef --output-dir out",
        "compress --in-place two-models.popef split-feeds.popef missing.popef",
        "compress --format json small.popef --dry-run --recompress",
        "decompress zstd.popef --in-place",
        "decompress zstd.popef small.popef --output-dir plain --format ndjson",
        "compress plain-poplar.popef zstd.popef -o one.popef",
        "compress out/small.popef small.popef --output-dir again",
        "compress --compression zstd small.popef --dry-run",
        "compress --in-place -",
    ];
    hold_golden("compress", &files, &lines);
}

/// The public script that people used had seven faults. A test for each.
mod the_old_script {
    use super::*;

    /// A bare `except` hid them.
    #[test]
    fn hid_errors() {
        let place = Place::with(&["interop/executable.popef"]);
        with_feeds(&place, "good.popef");
        let whole = place.read("executable.popef");
        place.write("cut.popef", &whole[..whole.len() - 1]);
        place.write("text.popef", "this is no model");
        let run = place.run(&["compress", "--in-place", "cut.popef", "text.popef", "missing.popef", "good.popef"]);
        assert_eq!(run.status, 2);
        for words in ["cut.popef: blob 3", "text.popef: ", "missing.popef: cannot open", "[not-found]"] {
            assert!(run.err.contains(words), "{words} is not in {}", run.err);
        }
        assert_eq!(place.read("cut.popef"), whole[..whole.len() - 1]);
        assert_eq!(place.read("text.popef"), b"this is no model");
        assert_eq!(compression(&place, "good.popef", "model"), Some(Compression::Zlib));
        assert_eq!(place.names(), ["cut.popef", "executable.popef", "good.popef", "text.popef"]);
    }

    #[test]
    fn took_a_list_with_commas() {
        let place = Place::with(&[]);
        with_feeds(&place, "one,two.popef");
        with_feeds(&place, "three.popef");
        place.run(&["compress", "--in-place", "one,two.popef", "three.popef"]).good();
        for name in ["one,two.popef", "three.popef"] {
            assert_eq!(compression(&place, name, "model"), Some(Compression::Zlib));
        }
        // A name with a comma is one name.
        let run = place.run(&["compress", "--in-place", "three.popef,three.popef"]);
        assert!(run.status == 2 && run.err.contains("three.popef,three.popef: cannot open"), "{run:?}");
    }

    /// `x.popef_compressed.popef`
    #[test]
    fn made_up_names_of_outputs() {
        let place = Place::with(&[]);
        with_feeds(&place, "model.popef");
        place.run(&["compress", "model.popef", "-o", "asked.for"]).good();
        place.run(&["compress", "model.popef", "--output-dir", "folder"]).good();
        place.run(&["compress", "--in-place", "model.popef"]).good();
        assert_eq!(place.names(), ["asked.for", "folder", "model.popef"]);
        assert_eq!(fs::read_dir(place.path("folder")).unwrap().count(), 1);
        for name in ["asked.for", "folder/model.popef"] {
            assert_eq!(place.read(name), place.read("model.popef"));
        }
        // Without a word about where the file goes, none is made.
        assert_eq!(place.run(&["compress", "model.popef"]).status, 2);
        assert_eq!(place.names(), ["asked.for", "folder", "model.popef"]);
    }

    #[test]
    fn broke_on_a_feed() {
        let place = Place::with(&[]);
        let info = FeedDataInfo { name: "in".into(), tensor_info: TensorInfo::new(DataType::F32, [2]), num_tensors: 3 };
        let mut writer = Writer::create(place.path("model.popef")).unwrap();
        writer.write_executable("model", &b"the same again, ".repeat(1000)).unwrap();
        writer.write_feed_bytes(&info, &[7; 24]).unwrap();
        writer.finish().unwrap();
        for args in [&["-o", "new.popef"][..], &["--compression", "gzip:9", "--in-place"]] {
            place.run(&[&["compress", "model.popef"], args].concat()).good();
        }
        for name in ["new.popef", "model.popef"] {
            let file = File::open(place.path(name)).unwrap();
            let feed = file.feed("in").unwrap();
            assert_eq!((feed.num_tensors(), feed.shape().to_vec()), (3, vec![2]));
            assert_eq!(*feed.blob().data().read().unwrap(), [7; 24]);
            assert!(file.executable("model").unwrap().is_compressed());
        }
    }

    #[test]
    fn lost_the_order_of_blobs() {
        let place = Place::with(&[]);
        with_feeds(&place, "model.popef");
        let order = blobs(&place, "model.popef");
        assert_eq!(order.len(), 6);
        place.run(&["compress", "model.popef", "-o", "small.popef"]).good();
        assert_eq!(blobs(&place, "small.popef"), order);
        place.run(&["decompress", "small.popef", "-o", "again.popef"]).good();
        assert!(place.read("again.popef") == place.read("model.popef"));
    }

    /// It wrote all of them into one blob, of which the last was left.
    #[test]
    fn lost_all_but_one_of_several_feeds() {
        let place = Place::with(&[]);
        with_feeds(&place, "model.popef");
        place.run(&["compress", "model.popef", "-o", "small.popef"]).good();
        let small = File::open(place.path("small.popef")).unwrap();
        assert_eq!(small.feeds().count(), 3);
        for (name, data) in [("first", b"abcdef"), ("second", b"second"), ("third", b"thirdt")] {
            assert_eq!(*small.feed(name).unwrap().blob().data().read().unwrap(), *data);
        }
    }

    /// It neither compared what it wrote with what was there, nor told of sizes.
    #[test]
    fn neither_verified_nor_reported_sizes() {
        let place = Place::with(&[]);
        with_feeds(&place, "model.popef");
        let run = place.run(&["compress", "model.popef", "-o", "small.popef", "--format", "json"]).good();
        let report = &run.json()["files"][0];
        assert_eq!(report["sizeBefore"], place.read("model.popef").len());
        assert_eq!(report["sizeAfter"], place.read("small.popef").len());
        let small = File::open(place.path("small.popef")).unwrap();
        for (at, name) in ["model", "other"].into_iter().enumerate() {
            let (executable, shown) = (small.executable(name).unwrap(), &report["executables"][at]);
            assert_eq!(shown["sizeAfter"], executable.blob().size());
            assert_eq!(shown["unpackedSize"], executable.uncompressed_size());
        }
        if cfg!(not(unix)) {
            return;
        }
        let found = (0..50).find_map(|_| compressed_on_a_bad_disk());
        let run = found.expect("the new file was complete before a byte of it could be changed");
        let codes = ["[not-verified]", "[compressed-data-damaged]"];
        assert!(run.status == 2 && codes.iter().any(|code| run.err.contains(code)), "{run:?}");
    }

    /// Compresses a file in place while a byte of the new file changes on the disk. `None` if it changed too late to be seen.
    /// Otherwise the old file has stayed.
    fn compressed_on_a_bad_disk() -> Option<Run> {
        const PLACE: u64 = 1 << 19;
        let place = Place::with(&[]);
        let mut state = 1_u64;
        let byte = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u8::try_from(state >> 60).unwrap()
        };
        let data: Vec<u8> = (0..3 << 20).map(byte).collect();
        let mut writer = Writer::create(place.path("model.popef")).unwrap();
        writer.write_executable("model", &data).unwrap();
        writer.finish().unwrap();
        let old = place.read("model.popef");
        let mut command = place.command();
        command.args(["compress", "--in-place", "model.popef"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let new = place.path(".model.popef.popef-new");
        while child.try_wait().unwrap().is_none() {
            if fs::metadata(&new).is_ok_and(|new| new.len() > PLACE) {
                // The file may have been put in its place meanwhile.
                let _ = fs::OpenOptions::new().write(true).open(&new).and_then(|mut file| {
                    file.seek(SeekFrom::Start(PLACE - 8))?;
                    file.write_all(&[0x55; 8])
                });
            }
        }
        let run = made(child.wait_with_output().unwrap());
        if run.status == 0 {
            return None;
        }
        assert!(place.read("model.popef") == old);
        assert_eq!(place.names(), ["model.popef"]);
        Some(run)
    }
}

/// Python's zlib unpacks what was compressed, and pycapnp reads all other fields.
#[test]
fn others_read_what_is_compressed() {
    let place = Place::with(&[]);
    with_feeds(&place, "model.popef");
    fs::copy(testdata().join("interop/many-anchors.popef"), place.path("anchors.popef")).unwrap();
    fs::copy(testdata().join("compressed/plain-poplar.popef"), place.path("poplar.popef")).unwrap();
    let inputs = ["model.popef", "anchors.popef", "poplar.popef"];
    let mut paths: Vec<PathBuf> = inputs.iter().map(|input| place.path(input)).collect();
    for packing in ["zlib:1", "zlib:9", "gzip:6"] {
        let args = [&["compress", "--compression", packing, "--output-dir", packing], &inputs[..]].concat();
        place.run(&args).good();
        paths.extend(inputs.iter().map(|input| place.path(packing).join(input)));
    }
    let Some(read) = pycapnp_reads(&paths) else { return };
    let (old, new) = read.split_at(inputs.len());
    assert_eq!(new.len(), 9);
    for (at, new) in new.iter().enumerate() {
        let old = &old[at % inputs.len()];
        assert_eq!(without_places(new), without_places(old), "{}", paths[inputs.len() + at].display());
    }
    let sizes: Vec<_> = paths.iter().map(|path| fs::metadata(path).unwrap().len()).collect();
    assert!(sizes[3] < sizes[0] / 5 && sizes[5] < sizes[2], "{sizes:?}");
}

/// Every file whose executables are not compressed comes back byte for byte.
#[test]
fn decompressing_undoes_compressing() {
    let place = Place::with(&[]);
    let mut inputs = popef_files("interop");
    inputs.push(testdata().join("compressed/plain-poplar.popef"));
    inputs.push(testdata().join("later/unpacked.popef"));
    inputs.push(testdata().join("elements/elements.popef"));
    inputs.retain(|path| File::open(path).unwrap().executables().all(|executable| !executable.is_compressed()));
    assert!(inputs.len() > 9);
    for input in inputs {
        fs::copy(&input, place.path("model.popef")).unwrap();
        place.run(&["compress", "--compression", "zlib:9", "model.popef", "-o", "small.popef"]).good();
        place.run(&["decompress", "small.popef", "-o", "again.popef"]).good();
        assert!(place.read("again.popef") == fs::read(&input).unwrap(), "{}", input.display());
        fs::remove_file(place.path("small.popef")).unwrap();
        fs::remove_file(place.path("again.popef")).unwrap();
    }
}

/// Other programs compressed them.
#[test]
fn all_formats_are_decompressed() {
    let place = Place::with(&[]);
    let payload = fs::read(testdata().join("compressed/payload.bin")).unwrap();
    let mut seen = 0;
    for input in popef_files("compressed") {
        place.run(&["decompress", input.to_str().unwrap(), "-o", "plain.popef", "--force"]).good();
        let (old, plain) = (File::open(&input).unwrap(), File::open(place.path("plain.popef")).unwrap());
        assert_eq!(plain.len(), old.len());
        for (old, plain) in old.executables().zip(plain.executables()) {
            assert!(!plain.is_compressed());
            assert_eq!((plain.name(), plain.data().len()), (old.name(), old.uncompressed_size()));
            if old.uncompressed_size() == 100_000 && old.name() == "model" {
                assert!(*plain.data().read().unwrap() == payload);
                seen += 1;
            }
        }
    }
    assert!(seen > 12, "{seen}");
}

/// pycapnp wrote both files.
#[test]
fn fields_of_a_later_version_stay() {
    let place = Place::with(&["later/compressed.popef"]);
    place.run(&["decompress", "compressed.popef", "-o", "plain.popef"]).good();
    assert!(place.read("plain.popef") == fs::read(testdata().join("later/unpacked.popef")).unwrap());
}

#[test]
fn what_is_compressed_already_changes_only_if_asked_for() {
    let place = Place::with(&["compressed/zstd.popef", "compressed/zlib-1.popef"]);
    let old = place.read("zstd.popef");
    for args in [&["--in-place"][..], &["--in-place", "--compression", "gzip"]] {
        let run = place.run(&[&["compress", "zstd.popef"], args].concat()).good();
        assert!(run.text().contains("zstd already"), "{run:?}");
        assert!(place.read("zstd.popef") == old);
    }
    place.run(&["compress", "--in-place", "--recompress", "zstd.popef"]).good();
    assert_eq!(compression(&place, "zstd.popef", "model"), Some(Compression::Zlib));
    // The smaller of two in one format stays.
    let run = place.run(&["compress", "--in-place", "--recompress", "--compression", "zlib:9", "zlib-1.popef"]).good();
    assert!(run.text().contains("zlib:9"), "{run:?}");
    let best = place.read("zlib-1.popef");
    let run = place.run(&["compress", "--in-place", "--recompress", "--compression", "zlib:1", "zlib-1.popef"]).good();
    assert!(run.text().contains("would not become smaller"), "{run:?}");
    assert!(place.read("zlib-1.popef") == best);
}

/// A file that does not change is not even touched.
#[test]
#[cfg(unix)]
fn nothing_is_rewritten_without_a_change() {
    use std::os::unix::fs::MetadataExt as _;

    let place =
        Place::with(&["interop/split-feeds.popef", "interop/two-models.popef", "interop/compressed-zlib.popef"]);
    for name in place.names() {
        let inode = || fs::metadata(place.path(&name)).unwrap().ino();
        let old = inode();
        place.run(&["compress", "--in-place", &name]).good();
        assert_eq!(inode(), old, "{name}");
    }
}

#[test]
fn a_pipe_gets_the_same_file() {
    let place = Place::with(&["interop/two-models.popef"]);
    with_feeds(&place, "model.popef");
    for name in ["model.popef", "two-models.popef"] {
        place.run(&["compress", name, "-o", "small.popef", "--force"]).good();
        let run = place.run_with_input(&["compress", "-", "-o", "-"], &place.read(name)).good();
        assert!(run.out == place.read("small.popef"), "{name}");
        assert!(run.err.contains("EXECUTABLE"), "{}", run.err);
    }
    let run = place.run(&["decompress", "small.popef", "-o", "-"]).good();
    assert!(run.out == place.read("two-models.popef"));
}

#[test]
fn any_number_of_threads_gives_the_same_file() {
    let place = Place::with(&["compressed/plain-poplar.popef"]);
    for threads in ["1", "3"] {
        place.run(&["compress", "--threads", threads, "plain-poplar.popef", "-o", threads]).good();
    }
    assert!(place.read("1") == place.read("3"));
}

#[test]
fn only_chosen_executables_change() {
    let place = Place::with(&[]);
    with_feeds(&place, "model.popef");
    place.run(&["compress", "--in-place", "--filter", "oth*", "model.popef"]).good();
    assert_eq!(compression(&place, "model.popef", "model"), None);
    assert_eq!(compression(&place, "model.popef", "other"), Some(Compression::Zlib));
}

#[test]
fn a_pickle_before_popef_stays() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch"]);
    let old = place.read("poptorch25.poptorch");
    let pickle = old.len() - fs::read(testdata().join("interop/split-executable.popef")).unwrap().len();
    place.run(&["compress", "poptorch25.poptorch", "-o", "copy.poptorch"]).good();
    assert_eq!(place.read("copy.poptorch")[..pickle], old[..pickle]);
    assert_eq!(place.run(&["decompress", "copy.poptorch", "-o", "-"]).good().out, old);
}

/// Somebody else may have put links into the folder of the new files.
#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link_in_a_folder() {
    let place = Place::with(&["compressed/plain-poplar.popef", "compressed/zstd.popef"]);
    fs::create_dir(place.path("out")).unwrap();
    place.write("mine.popef", "mine");
    for (command, input) in [("compress", "plain-poplar.popef"), ("decompress", "zstd.popef")] {
        let link = place.path("out").join(input);
        for target in ["../new.popef", "../mine.popef"] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            for more in [&[][..], &["--force"], &["--dry-run"]] {
                let run = place.run(&[&[command, input, "--output-dir", "out"], more].concat());
                let words = format!(
                    "out/{input}: it is a link, and nothing is written through links [in-the-way]\n\
                     popef {command}: Choose another path.\n"
                );
                assert!(run.status == 2 && run.err.ends_with(&words), "{run:?}");
            }
            fs::remove_file(&link).unwrap();
        }
    }
    assert_eq!(place.names(), ["mine.popef", "out", "plain-poplar.popef", "zstd.popef"]);
    assert_eq!(place.read("mine.popef"), b"mine");
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 0);
    // A link that a user names leads to the file that is meant.
    std::os::unix::fs::symlink("new.popef", place.path("named.popef")).unwrap();
    place.run(&["compress", "plain-poplar.popef", "-o", "named.popef"]).good();
    assert!(fs::symlink_metadata(place.path("new.popef")).unwrap().is_file());
}

#[test]
fn folders_that_were_made_for_nothing_are_removed() {
    let place = Place::with(&["compressed/plain-poplar.popef"]);
    let whole = place.read("plain-poplar.popef");
    place.write("cut.popef", &whole[..whole.len() - 1]);
    for args in [
        &["compress", "cut.popef", "--output-dir", "new/folder"][..],
        &["compress", "cut.popef", "missing.popef", "--output-dir", "new/folder"],
        &["decompress", "cut.popef", "--output-dir", "new/folder/"],
        &["compress", "cut.popef", "--output-dir", "cut.popef/folder"],
        &["split", "cut.popef", "--by", "kind", "-o", "new/folder"],
    ] {
        assert_eq!(place.run(args).status, 2, "{args:?}");
        assert_eq!(place.names(), ["cut.popef", "plain-poplar.popef"], "{args:?}");
    }
    place.run(&["compress", "plain-poplar.popef", "--output-dir", "new/folder", "--dry-run"]).good();
    assert_eq!(place.names().len(), 2);
    let run = place.run(&["compress", "cut.popef", "plain-poplar.popef", "--output-dir", "new/folder"]);
    assert_eq!((run.status, fs::read_dir(place.path("new/folder")).unwrap().count()), (2, 1));
}

/// A dry run says the sizes that a real one gives, and leaves nothing.
#[test]
fn a_dry_run_tells_the_truth() {
    let place = Place::with(&["compressed/plain-poplar.popef"]);
    with_feeds(&place, "model.popef");
    for name in place.names() {
        let report = |args: &[&str]| {
            let args = [&["compress", &name, "--format", "json"], args].concat();
            let mut report = place.run(&args).good().json()["files"][0].take();
            report["output"].take();
            report
        };
        let dry = report(&["--dry-run"]);
        assert!(!place.path("small.popef").exists());
        assert_eq!(report(&["-o", "small.popef", "--force"]), dry);
        assert_eq!(dry["sizeAfter"], place.read("small.popef").len());
        fs::remove_file(place.path("small.popef")).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_replaced_file_keeps_its_rights() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let place = Place::with(&[]);
    with_feeds(&place, "model.popef");
    fs::set_permissions(place.path("model.popef"), fs::Permissions::from_mode(0o604)).unwrap();
    place.run(&["compress", "--in-place", "model.popef"]).good();
    assert_eq!(fs::metadata(place.path("model.popef")).unwrap().mode() & 0o7777, 0o604);
    assert_eq!(compression(&place, "model.popef", "model"), Some(Compression::Zlib));
}

#[test]
fn a_folder_without_a_file_does_not_stay() {
    let place = Place::with(&[]);
    place.write("broken.popef", "not a model");
    for command in ["compress", "decompress"] {
        let run = place.run(&[command, "broken.popef", "--output-dir", "new"]);
        assert_eq!((run.status, place.names()), (2, vec!["broken.popef".to_owned()]), "{run:?}");
        fs::create_dir(place.path("old")).unwrap();
        place.run(&[command, "broken.popef", "--output-dir", "old"]);
        fs::remove_dir(place.path("old")).expect("it was there before");
    }
}
