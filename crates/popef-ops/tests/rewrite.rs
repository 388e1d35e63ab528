//! Files that are compressed, merged, split and stripped: what cannot be made to happen with the tool alone.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use popef::read::ReadAt;
use popef::write::Packing;
use popef::{File, OpenOptions, Writer};
use popef_ops::{
    CompressOptions, DecompressOptions, Error, Keep, MergeOptions, Output, Overwrite, Progress, Recompressed, Silent,
    SplitBy, SplitOptions, StripOptions, Target, TargetFolder, compress, decompress, merge, split, strip,
};
use proptest::prelude::*;

#[path = "../../../popef/tests/common/writing/models.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod models;

/// Does something once this many bytes were read or written.
struct After<F> {
    bytes: u64,
    seen: AtomicU64,
    act: F,
}

impl<F: Fn() -> ControlFlow<()> + Sync> After<F> {
    fn of(bytes: u64, act: F) -> Self {
        After { bytes, seen: AtomicU64::new(0), act }
    }
}

impl<F: Fn() -> ControlFlow<()> + Sync> Progress for After<F> {
    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        let before = self.seen.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes >= self.bytes { (self.act)() } else { ControlFlow::Continue(()) }
    }
}

/// Bytes with one that reads differently later: a bad disk, or memory.
struct Bad {
    bytes: Vec<u8>,
    wrong: Arc<AtomicU64>,
}

impl ReadAt for Bad {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        buf.copy_from_slice(&self.bytes[start..start + buf.len()]);
        let wrong = usize::try_from(self.wrong.load(Ordering::Relaxed)).unwrap();
        if let Some(byte) = wrong.checked_sub(start).and_then(|at| buf.get_mut(at)) {
            *byte ^= 1;
        }
        Ok(())
    }
}

const NOTHING: u64 = u64::MAX;
const LEN: usize = 100_000;

fn compressed(
    file: &File,
    target: Target<'_>,
    options: &CompressOptions<'_>,
    progress: &dyn Progress,
) -> Result<Recompressed, Error> {
    compress(file, target, options, progress, &mut |_| Ok(()))
}

fn decompressed(file: &File, target: Target<'_>, progress: &dyn Progress) -> Result<Recompressed, Error> {
    decompress(file, target, &DecompressOptions::default(), progress, &mut |_| Ok(()))
}

fn executable() -> Vec<u8> {
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    writer.write_executable("model", &vec![3; LEN]).unwrap();
    writer.into_inner().unwrap().into_inner()
}

/// The old script compared nothing. Here, a new file whose executable is not that of the old one never appears.
#[test]
fn an_executable_that_reads_back_differently_never_replaces_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let bytes = executable();
    fs::write(&path, &bytes).unwrap();
    for wrong in [bytes.len() - LEN, bytes.len() - LEN / 2, bytes.len() - 1].map(|at| at as u64) {
        let place = Arc::new(AtomicU64::new(NOTHING));
        let bad = Bad { bytes: bytes.clone(), wrong: place.clone() };
        let file = OpenOptions::new().source(bad).unwrap();
        // All of the data was read, and was compressed right.
        let progress = After::of(LEN as u64, || {
            place.store(wrong, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        let target = Target::Path(&path, Overwrite::Inputs);
        let error = compressed(&file, target, &CompressOptions::default(), &progress).unwrap_err();
        assert_eq!(error.code(), "not-verified");
        assert!(error.to_string().contains("executable \"model\" does not read back"), "{error}");
        assert!(fs::read(&path).unwrap() == bytes);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let file = File::open(&path).unwrap();
    let done = compressed(&file, Target::Path(&path, Overwrite::Inputs), &CompressOptions::default(), &Silent).unwrap();
    assert!(done.written && fs::metadata(&path).unwrap().len() < 1000);
}

/// Bytes that read differently the second time.
struct Fickle {
    bytes: Vec<u8>,
    place: u64,
    reads: AtomicU64,
}

impl ReadAt for Fickle {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        buf.copy_from_slice(&self.bytes[start..start + buf.len()]);
        if let Some(byte) = self.place.checked_sub(offset).and_then(|at| buf.get_mut(usize::try_from(at).unwrap())) {
            *byte ^= u8::from(self.reads.fetch_add(1, Ordering::Relaxed) == 1);
        }
        Ok(())
    }
}

/// The output for a large executable is compared on another thread, while the rest is compressed.
#[test]
fn a_large_executable_that_reads_back_differently_is_discarded() {
    const LARGE: usize = 3 << 19;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.popef");
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    let data: Vec<u8> = (0..LARGE).map(|at| ((at * at) >> 7) as u8).collect();
    writer.write_executable("model", &data).unwrap();
    let plain = writer.into_inner().unwrap().into_inner();
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    writer.write_packed_executable("model", &data, Packing::Zlib(1)).unwrap();
    let packed = writer.into_inner().unwrap().into_inner();
    let fickle = |bytes: &[u8], back: usize| {
        let source = Fickle { bytes: bytes.to_vec(), place: (bytes.len() - back) as u64, reads: AtomicU64::new(0) };
        OpenOptions::new().source(source).unwrap()
    };
    let hold = |error: Error| {
        assert!(["not-verified", "compressed-data-damaged"].contains(&error.code()), "{error:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    };
    for threads in [1, 2, 16] {
        let options = CompressOptions { threads, ..CompressOptions::default() };
        for back in [LARGE, LARGE / 2, 1] {
            let target = Target::Path(&path, Overwrite::Never);
            hold(compressed(&fickle(&plain, back), target, &options, &Silent).unwrap_err());
            // Nothing goes into a pipe before it was compared.
            let mut piped = Vec::new();
            let target = Target::Stream(Box::new(&mut piped));
            hold(compressed(&fickle(&plain, back), target, &options, &Silent).unwrap_err());
            assert!(piped.is_empty());
        }
        let file = File::from_bytes(plain.clone()).unwrap();
        compressed(&file, Target::Path(&path, Overwrite::Never), &options, &Silent).unwrap();
        assert_eq!(File::open(&path).unwrap().executable("model").unwrap().uncompressed_size(), LARGE as u64);
        fs::remove_file(&path).unwrap();
    }
    for back in [packed.len() / 2, 1] {
        hold(decompressed(&fickle(&packed, back), Target::Path(&path, Overwrite::Never), &Silent).unwrap_err());
    }
    decompressed(&File::from_bytes(packed).unwrap(), Target::Path(&path, Overwrite::Never), &Silent).unwrap();
    assert_eq!(fs::read(&path).unwrap(), plain);
}

/// The parts are put in their places one after the other. If one cannot be, those before it go again.
#[test]
fn no_part_is_left_if_another_cannot_be_put_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    for name in ["a", "b", "c"] {
        writer.write_executable(name, name.as_bytes()).unwrap();
    }
    let file = File::from_bytes(writer.into_inner().unwrap().into_inner()).unwrap();
    let parts = folder.path().join("parts");
    let options = SplitOptions { by: SplitBy::Size(1), stem: "model".as_ref(), ..SplitOptions::default() };
    let target = TargetFolder::At(&parts, Overwrite::Never);
    // Another program makes a file of the same name while the parts are written.
    let progress = After::of(file.size(), || {
        fs::write(parts.join("model-3.popef"), "mine").unwrap();
        ControlFlow::Continue(())
    });
    let error = split(&file, target, &options, &progress).unwrap_err();
    assert_eq!(error.code(), "file-exists");
    let names: Vec<_> = fs::read_dir(&parts).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["model-3.popef"]);
    assert_eq!(fs::read(parts.join("model-3.popef")).unwrap(), b"mine");
    fs::remove_dir_all(&parts).unwrap();

    // Stopped at any byte, it leaves nothing, not even the folder.
    for bytes in [1, file.size() / 2, file.size()] {
        let error = split(&file, target, &options, &After::of(bytes, || ControlFlow::Break(()))).unwrap_err();
        assert!(error.is_stop());
        assert!(!parts.exists());
    }
    assert_eq!(split(&file, target, &options, &Silent).unwrap().parts.len(), 3);
}

/// Each is compared with a few, and not with all others, which would take minutes.
#[test]
fn many_blobs_of_one_name_take_no_longer() {
    let info = popef::types::TensorDataInfo {
        name: "w".into(),
        tensor_info: popef::TensorInfo::new(popef::DataType::U32, [1]),
    };
    let file = |numbers: &mut dyn Iterator<Item = u32>| {
        let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
        numbers.for_each(|number| _ = writer.write_tensor(&info, &[number]).unwrap());
        File::from_bytes(writer.into_inner().unwrap().into_inner()).unwrap()
    };
    let [up, same, down] = [file(&mut (0..20_000)), file(&mut (0..20_000)), file(&mut (0..20_000).rev())];
    let merged = merge(&[up.clone(), same], Target::Nowhere, &MergeOptions::default(), &Silent).unwrap();
    assert_eq!((merged.blobs, merged.duplicates.count), (20_000, 20_000));
    let options = MergeOptions { keep: Keep::First, ..MergeOptions::default() };
    let merged = merge(&[up, down], Target::Nowhere, &options, &Silent).unwrap();
    assert_eq!(merged.blobs, 20_000);
}

/// Blobs of one file are neither lost nor refused, and only blobs that another file also has are left out.
#[test]
fn only_blobs_of_different_files_are_compared() {
    let info = |name: &str| popef::types::OpaqueInfo { name: name.to_owned().into(), executable: "model".into() };
    let file = |contents: &[&str]| {
        let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
        contents.iter().for_each(|content| _ = writer.write_opaque(&info("o"), content.as_bytes()).unwrap());
        File::from_bytes(writer.into_inner().unwrap().into_inner()).unwrap()
    };
    let merged = |inputs: &[&[&str]], keep| {
        let files: Vec<_> = inputs.iter().map(|contents| file(contents)).collect();
        let mut bytes = Vec::new();
        let options = MergeOptions { keep, ..MergeOptions::default() };
        merge(&files, Target::Stream(Box::new(&mut bytes)), &options, &Silent)
            .map_err(|error| error.code().to_owned())?;
        let text = |blob: popef::Blob<'_>| String::from_utf8(blob.data().read().unwrap().into_owned()).unwrap();
        Ok::<_, String>(File::from_bytes(bytes).unwrap().blobs().map(text).collect::<Vec<_>>().concat())
    };
    let conflict = || Err("conflict".to_owned());
    let ok = |contents: &str| Ok(contents.to_owned());
    for (inputs, neither, first, last, all) in [
        (&[&["a", "b", "a"][..]][..], ok("aba"), ok("aba"), ok("aba"), ok("aba")),
        (&[&["a", "b", "a"], &["a", "b", "a"]], ok("aba"), ok("aba"), ok("aba"), ok("abaaba")),
        (&[&["a", "b"], &["b"]], ok("ab"), ok("ab"), ok("ab"), ok("abb")),
        (&[&["b"], &["a", "b"]], ok("ba"), ok("ba"), ok("ab"), ok("bab")),
        (&[&["a"], &["a", "a"]], ok("aa"), ok("aa"), ok("aa"), ok("aaa")),
        (&[&["a", "b"], &["b", "c"]], conflict(), ok("ab"), ok("bc"), ok("abbc")),
        (&[&["a"], &["b", "c"], &["a"]], conflict(), ok("a"), ok("a"), ok("abca")),
    ] {
        for (keep, expected) in [(Keep::Neither, neither), (Keep::First, first), (Keep::Last, last), (Keep::All, all)] {
            assert_eq!(merged(inputs, keep), expected, "{inputs:?} {keep:?}");
        }
    }
}

fn written(blobs: &[models::Planned]) -> Vec<u8> {
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    blobs.iter().for_each(|blob| _ = blob.write(&mut writer));
    writer.into_inner().unwrap().into_inner()
}

/// All blobs, byte for byte, in any order.
fn blobs_of(file: &File) -> BTreeSet<Vec<u8>> {
    in_order(file).into_iter().collect()
}

/// All blobs, byte for byte.
fn in_order(file: &File) -> Vec<Vec<u8>> {
    let whole = |blob: popef::Blob<'_>| [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat();
    file.blobs().map(whole).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Random models come through everything that is done to them.
    #[test]
    fn random_models_lose_nothing(planned in models::blobs(true), most in 1..2000_u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let bytes = written(&planned);
        fs::write(path("model"), &bytes).unwrap();
        let file = File::open(path("model")).unwrap();

        // Decompressed and compressed, it is the same when it is decompressed again.
        decompressed(&file, Target::Path(&path("plain"), Overwrite::Never), &Silent).unwrap();
        let plain = File::open(path("plain")).unwrap();
        let gzip = CompressOptions { packing: Packing::Gzip(1), ..CompressOptions::default() };
        compressed(&plain, Target::Path(&path("small"), Overwrite::Never), &gzip, &Silent).unwrap();
        let small = File::open(path("small")).unwrap();
        prop_assert!(small.size() <= plain.size());
        decompressed(&small, Target::Path(&path("again"), Overwrite::Never), &Silent).unwrap();
        prop_assert!(fs::read(path("again")).unwrap() == fs::read(path("plain")).unwrap());

        // Split in any way and merged, it has the same blobs.
        for (at, by) in [SplitBy::Kind, SplitBy::Model, SplitBy::Size(most)].into_iter().enumerate() {
            let parts = path(&format!("parts {at}"));
            let target = TargetFolder::At(&parts, Overwrite::Never);
            let split = split(&file, target, &SplitOptions { by, stem: "m".as_ref(), ..SplitOptions::default() }, &Silent).unwrap();
            let opened: Vec<File> = split
                .parts
                .iter()
                .map(|part| File::open(PathBuf::from(part.path.to_string())).unwrap())
                .collect();
            let merged = path(&format!("merged {at}"));
            let is_by_size = matches!(by, SplitBy::Size(_));
            let keep = if is_by_size { Keep::All } else { Keep::Neither };
            let options = MergeOptions { keep, ..MergeOptions::default() };
            merge(&opened, Target::Path(&merged, Overwrite::Never), &options, &Silent).unwrap();
            let (mut merged, mut blobs) = (in_order(&File::open(&merged).unwrap()), in_order(&file));
            if !is_by_size {
                merged.sort();
                blobs.sort();
            }
            prop_assert!(merged == blobs);
        }

        // What is dropped and what stays are together the whole.
        let odd = |blob: &popef::Blob<'_>| blob.index() % 2 == 1;
        let mut seen = 0;
        for (name, rest) in [("odd", true), ("even", false)] {
            let drop = |blob: &popef::Blob<'_>| odd(blob) == rest;
            let options = StripOptions { drop: &drop, drop_prefix: false, only_changes: false };
            match strip(&file, Target::Path(&path(name), Overwrite::Never), &options, &Silent) {
                Ok(stripped) => {
                    let left = blobs_of(&File::open(path(name)).unwrap());
                    prop_assert!(left.is_subset(&blobs_of(&file)));
                    seen += stripped.kept;
                }
                Err(error) => prop_assert_eq!(error.code(), "nothing-left"),
            }
        }
        prop_assert_eq!(seen, file.len() as u64);
    }
}

#[test]
fn a_trial_fails_as_the_real_thing_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut writer = Writer::create(at("input.popef")).unwrap();
    writer.write_executable("model", b"its bytes").unwrap();
    writer.finish().unwrap();
    fs::write(at("other.popef"), "something else").unwrap();
    fs::create_dir(at("folder")).unwrap();
    let file = File::open(at("input.popef")).unwrap();
    let listed = || {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let mut entries: Vec<_> = entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().len())).collect();
        entries.sort();
        entries
    };
    let before = listed();
    let all = [Overwrite::Never, Overwrite::Others, Overwrite::Inputs];
    let mut failures = 0;
    for name in ["new.popef", "other.popef", "input.popef", "folder", "missing/new.popef", "other.popef/new.popef"] {
        for overwrite in all {
            let error = |target| merge(slice::from_ref(&file), target, &MergeOptions::default(), &Silent).err();
            let trial = error(Target::Trial(&at(name), overwrite)).map(|error| error.to_string());
            assert_eq!(listed(), before, "{name} {overwrite:?}");
            let begun = Output::begin(Target::Path(&at(name), overwrite), [&file], &Silent).map(drop);
            assert_eq!(trial, begun.err().map(|error| error.to_string()), "{name} {overwrite:?}");
            failures += usize::from(trial.is_some());
        }
    }
    // Two for what exists, one each for the folder, the missing one and the file in place of one, and one input.
    assert_eq!(failures, 3 * 3 + 1 + 2);
}
