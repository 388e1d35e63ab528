//! Tests in which every file operation of writing fails once, in every way, and the result is checked.

#![allow(clippy::arithmetic_side_effects, reason = "a test may stop at the first surprise")]

mod disk;
mod watched;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Contents, Fault, Meanwhile, SimDisk};

use super::append::{append_in, recover_in};
use super::blob::BlobWriter;
use super::blob_copy::BlobCopy;
use super::create::CreateOptions;
use super::destination::Rewind;
use super::feeds::FeedsWriter;
use super::packed::PackedWriter;
use super::packing::Packing;
use super::writer::Writer;
use crate::error::{Error, ErrorCode, ErrorKind};
use crate::read::File;
use crate::types::{DataType, FeedDataInfo, Metadata, OpaqueInfo, TensorDataInfo, TensorInfo};

const TARGET: &str = "folder/model.popef";
const TEMPORARY: &str = "folder/.model.popef.popef-new";
/// More than fits into the buffer.
const LARGE: usize = 140_000;

fn tensor(name: &str, len: usize) -> TensorDataInfo {
    let shape = [i64::try_from(len).unwrap()];
    TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, shape) }
}

fn feed(name: &str) -> FeedDataInfo {
    let tensor_info = TensorInfo::new(DataType::U16, [300]);
    FeedDataInfo { name: name.to_owned().into(), tensor_info, num_tensors: 3 }
}

/// Writes one blob in each possible way, and drops one.
fn write_blobs<D: Rewind>(writer: &mut Writer<D>) -> Result<(), Error> {
    writer.version("x".repeat(600));
    writer.write_opaque(&OpaqueInfo::default(), b"first")?;
    writer.version("");
    writer.write_metadata(&Metadata { engine_options: vec![Default::default(); 200], ..Default::default() })?;
    writer.write_tensor_bytes(&tensor("whole", LARGE), &[7; LARGE])?;
    let mut dropped = writer.tensor(&tensor("dropped", LARGE + 1))?;
    io(dropped.write_all(&[1; LARGE]))?;
    drop(dropped);
    let mut streamed = writer.executable("streamed")?;
    io(streamed.write_all(&[9; LARGE]))?;
    io(streamed.write_all(&[8; 700]))?;
    streamed.finish()?;
    writer.threads(2);
    let mut packed = writer.packed_executable("packed", Packing::Zlib(0))?;
    io(packed.write_all(&[5; 20_000]))?;
    packed.finish()?;
    let mut feeds = writer.feeds(&[feed("one"), feed("two")])?;
    for tensor in 1..=3u16 {
        feeds.push(1, &[tensor * 256; 300])?;
        feeds.push(0, &[tensor; 300])?;
    }
    feeds.finish()?;
    Ok(())
}

/// Writes blobs that own their writer, and discards one. Returns the writer.
fn write_owning<D: Rewind>(writer: Writer<D>) -> Result<Writer<D>, Error> {
    let mut discarded = BlobWriter::owning(writer, |writer| writer.tensor(&tensor("discarded", LARGE + 1)))?;
    io(discarded.write_all(&[1; LARGE]))?;
    let mut packed = PackedWriter::owning(discarded.discard(), |w| w.packed_executable("owning", Packing::Gzip(1)))?;
    io(packed.write_all(&[6; 20_000]))?;
    let (writer, _) = packed.finish()?;
    let mut feeds = FeedsWriter::owning(writer, |writer| writer.feeds(&[feed("owning")]))?;
    (0..3u16).try_for_each(|tensor| feeds.push(0, &[tensor; 300]))?;
    Ok(feeds.finish()?.0)
}

fn io<T>(result: std::io::Result<T>) -> Result<T, Error> {
    result.map_err(|e| e.downcast::<Error>().expect("a blob writer fails with the library's own error"))
}

/// An operation on a disk that must be done completely or not at all.
type Job<'j> = &'j dyn Fn(&SimDisk) -> Result<(), Error>;

fn create(overwrite: bool) -> impl Fn(&SimDisk) -> Result<(), Error> {
    move |disk| {
        let storage = Arc::new(disk.clone());
        let mut writer = CreateOptions::new().overwrite(overwrite).create_in(storage, Path::new(TARGET))?;
        write_blobs(&mut writer)?;
        let boxed = writer.map_destination(|to| Box::new(to) as Box<dyn Rewind>);
        write_owning(boxed)?.finish().map(drop)
    }
}

fn append(disk: &SimDisk) -> Result<(), Error> {
    let mut writer = append_in(disk, Path::new(TARGET))?;
    write_blobs(&mut writer)?;
    write_owning(writer)?.finish().map(drop)
}

/// Copies every blob of a real file, some by the system and some through memory.
fn rewrite(source: &Path) -> impl Fn(&SimDisk) -> Result<(), Error> {
    let source = File::open(source).unwrap();
    move |disk| {
        let mut writer = CreateOptions::new().create_in(Arc::new(disk.clone()), Path::new(TARGET))?;
        source.blobs().take(2).try_for_each(|blob| writer.copy(blob).map(drop))?;
        writer.copy_together(source.blobs().skip(2))?;
        writer.flush()?;
        writer.prepare()?;
        writer.copy_all(source.blobs().map(|blob| BlobCopy::of(&blob).version("edited")).skip(3))?;
        writer.prepare()?;
        writer.finish().map(drop)
    }
}

/// A model of the user guide, followed by a blob that ends in the middle of a sector.
fn old_file() -> Vec<u8> {
    let mut bytes = fs::read("../testdata/interop/executable.popef").unwrap();
    let info = OpaqueInfo { name: "odd".into(), ..Default::default() };
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&info, &[3; 333]).unwrap();
    writer.finish().unwrap();
    bytes
}

fn disk_with(old: Option<&[u8]>) -> Contents {
    old.map(|old| (PathBuf::from(TARGET), old.to_vec())).into_iter().collect()
}

struct Case<'c> {
    before: Contents,
    after: Contents,
    job: Job<'c>,
    what: String,
}

impl<'c> Case<'c> {
    /// Does the job once without a fault. After every success, the disk must be in the same state.
    fn new(before: Contents, job: Job<'c>) -> (Self, usize) {
        let disk = SimDisk::holding(&before);
        job(&disk).unwrap();
        let after = disk.contents();
        assert_eq!(after.keys().collect::<Vec<_>>(), [Path::new(TARGET)], "nothing but the target is left");
        for left in disk.after_power_cut() {
            assert!(left == after, "what finish says is written outlives a power cut");
        }
        (Case { before, after, job, what: String::new() }, disk.steps())
    }

    fn run(&mut self, faults: &[(usize, Fault)]) -> (SimDisk, Result<(), Error>) {
        self.what = format!("{faults:?}, the numbers being those of operations");
        let disk = SimDisk::holding(&self.before);
        faults.iter().for_each(|&(step, fault)| disk.fail_at(step, fault));
        let result = (self.job)(&disk);
        disk.heal();
        (disk, result)
    }

    /// Checks that the result is the old file or the new one, and that the error names all other files that are left.
    fn check(&self, disk: &SimDisk, result: &Result<(), Error>) {
        let (found, what) = (disk.contents(), &self.what);
        let text = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        for stray in found.keys().filter(|path| **path != Path::new(TARGET)) {
            assert!(
                text.contains(&stray.display().to_string()),
                "{what}: {} is left, and not told: {text}",
                stray.display()
            );
        }
        let (file, old, new) = (target(&found), target(&self.before), target(&self.after));
        match result {
            Ok(()) => {
                assert!(file == new, "{what}: a success, but not the new file");
                assert!(old.is_none() || disk.permissions(Path::new(TARGET)).unwrap() == 0o640, "{what}");
            }
            Err(e) if e.to_string().contains("in place") => {
                assert!(file == new, "{what}: not in place: {e}");
                assert!(matches!(e.code(), ErrorCode::FolderNotFlushed | ErrorCode::LeftBehind), "{what}: {e}");
            }
            Err(e) if e.to_string().contains("could not be cut back") => check_tail(file, old, new, what),
            Err(e) => assert!(file == old, "{what}: not the old file: {e}"),
        }
    }
}

fn target(contents: &Contents) -> Option<&Vec<u8>> {
    contents.get(Path::new(TARGET))
}

/// Checks that the file has the old blobs, followed by an incomplete blob, by nothing, or by all new blobs.
fn check_tail(file: Option<&Vec<u8>>, old: Option<&Vec<u8>>, new: Option<&Vec<u8>>, what: &str) {
    let (file, old) = (file.expect("the file is there"), old.expect("there was one"));
    if file == old || Some(file) == new {
        return;
    }
    assert!(file.starts_with(old), "{what}: an old byte changed");
    let disk = SimDisk::holding(&disk_with(Some(file)));
    let error = append_in(&disk, Path::new(TARGET)).expect_err("what is left must not read as whole");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Damaged, Some(len(old))), "{what}: {error}");
    let recovered = recover_in(&disk, Path::new(TARGET)).unwrap();
    assert_eq!((recovered.len, recovered.cut), (len(old), len(file) - len(old)), "{what}");
    assert!(target(&disk.contents()) == Some(old), "{what}: recovering gives the old file");
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap()
}

/// Runs a job with every fault at every operation.
fn at_every_operation(before: Contents, job: Job<'_>, after_crash: impl Fn(&Case<'_>, &Contents)) {
    let (mut case, steps) = Case::new(before, job);
    assert!(steps > 10, "{steps} operations are too few to be all");
    for fault in Fault::ALL {
        // An interrupted or short write is repeated, which makes one operation more.
        for step in 0..=steps {
            let (disk, result) = case.run(&[(step, fault)]);
            match fault {
                Fault::Crash => disk.after_power_cut().iter().for_each(|left| after_crash(&case, left)),
                _ => case.check(&disk, &result),
            }
        }
    }
}

/// Runs a job with several random faults, `POPEF_FAULT_RUNS` times (default 100).
fn at_operations_by_chance(seed: u64, before: Contents, job: Job<'_>, after_crash: impl Fn(&Case<'_>, &Contents)) {
    let (mut case, steps) = Case::new(before, job);
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let runs =
        std::env::var("POPEF_FAULT_RUNS").map_or(100, |runs| runs.parse().expect("POPEF_FAULT_RUNS is a number"));
    for _ in 0..runs {
        let count = 2 + draw(4);
        let faults: Vec<_> = (0..count).map(|_| (draw(steps + 5), Fault::ALL[draw(Fault::ALL.len())])).collect();
        let (disk, result) = case.run(&faults);
        if faults.iter().any(|(_, fault)| *fault == Fault::Crash) {
            disk.after_power_cut().iter().for_each(|left| after_crash(&case, left));
        } else {
            case.check(&disk, &result);
        }
    }
}

/// Checks the state after a crash. The temporary file may exist, though no error names it. The next `create` removes
/// it.
fn old_or_new(case: &Case<'_>, left: &Contents) {
    let (file, what) = (target(left), &case.what);
    assert!(file == target(&case.before) || file == target(&case.after), "{what}: neither the old file nor the new");
    let mut strays = left.keys().filter(|path| **path != Path::new(TARGET));
    let Some(stray) = strays.next() else { return };
    assert_eq!((stray.as_path(), strays.next()), (Path::new(TEMPORARY), None), "{what}");
    let disk = SimDisk::holding(left);
    create(true)(&disk).unwrap_or_else(|e| panic!("{what}: a new start fails: {e}"));
    assert_eq!(disk.contents().len(), 1, "{what}: a new start leaves nothing else");
}

fn old_and_tail(case: &Case<'_>, left: &Contents) {
    check_tail(target(left), target(&case.before), target(&case.after), &case.what);
    assert_eq!(left.len(), 1, "{}", case.what);
}

#[test]
fn creating_a_file_is_whole_or_nothing() {
    at_every_operation(disk_with(None), &create(true), old_or_new);
}

#[test]
fn creating_in_place_of_a_file_is_whole_or_nothing() {
    at_every_operation(disk_with(Some(&old_file())), &create(true), old_or_new);
}

#[test]
fn creating_without_overwriting_is_whole_or_nothing() {
    at_every_operation(disk_with(None), &create(false), old_or_new);
}

#[test]
fn appending_is_whole_or_an_incomplete_tail() {
    at_every_operation(disk_with(Some(&old_file())), &append, old_and_tail);
}

#[test]
fn appending_to_an_empty_file_is_whole_or_an_incomplete_tail() {
    at_every_operation(disk_with(Some(&[])), &append, old_and_tail);
}

#[test]
fn rewriting_is_whole_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.popef");
    let mut bytes = old_file();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&OpaqueInfo::default(), &[4; 200_000]).unwrap();
    writer.finish().unwrap();
    fs::write(&source, bytes).unwrap();
    at_every_operation(disk_with(Some(&old_file())), &rewrite(&source), old_or_new);
}

#[test]
fn recovering_cuts_the_file_or_leaves_it() {
    let old = old_file();
    let damaged = disk_with(Some(&[&*old, &[0; 5000]].concat()));
    let recover = |disk: &SimDisk| recover_in(disk, Path::new(TARGET)).map(drop);
    let (mut case, steps) = Case::new(damaged, &recover);
    assert!(target(&case.after) == Some(&old));
    for (fault, step) in Fault::ALL.into_iter().flat_map(|fault| (0..steps).map(move |step| (fault, step))) {
        let (disk, result) = case.run(&[(step, fault)]);
        let left = disk.after_power_cut();
        assert!(left.iter().all(|left| *left == case.before || *left == case.after), "{}", case.what);
        assert!(result.is_err() || disk.contents() == case.after, "{}", case.what);
    }
}

#[test]
fn several_faults_leave_no_more_than_one() {
    let old = disk_with(Some(&old_file()));
    at_operations_by_chance(1, disk_with(None), &create(false), old_or_new);
    at_operations_by_chance(2, old.clone(), &create(true), old_or_new);
    at_operations_by_chance(3, old, &append, old_and_tail);
}

/// The new file is complete and in place, so this must not look like a failed write.
#[test]
fn a_folder_that_cannot_be_flushed_has_a_code_of_its_own() {
    let job = create(true);
    let (mut case, steps) = Case::new(disk_with(Some(&old_file())), &job);
    let mut errors = (0..steps).filter_map(|step| case.run(&[(step, Fault::NoSpace)]).1.err());
    let error = errors.find(|error| error.code() == ErrorCode::FolderNotFlushed).unwrap();
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn permissions_are_kept() {
    let disk = SimDisk::holding(&disk_with(Some(&old_file())));
    create(true)(&disk).unwrap();
    assert_eq!(disk.permissions(Path::new(TARGET)).unwrap(), 0o640);
}

#[test]
fn a_second_writer_is_refused_until_the_first_ends() {
    let disk = SimDisk::holding(&disk_with(Some(&old_file())));
    let first = append_in(&disk, Path::new(TARGET)).unwrap();
    for second in [&create(true) as Job<'_>, &append] {
        assert_eq!(second(&disk).unwrap_err().kind(), ErrorKind::Busy);
    }
    drop(first);
    append(&disk).unwrap();
}

/// Runs a job with another program acting before each of its operations. After a success, the result must be the new
/// file. Returns the errors with the files that are left.
fn with_somebody_else(before: &Contents, job: Job<'_>, meanwhile: impl Fn() -> Meanwhile) -> Vec<(Error, Contents)> {
    let (case, steps) = Case::new(before.clone(), job);
    let mut refused = Vec::new();
    for step in 0..steps {
        let disk = SimDisk::holding(before);
        disk.before(step, meanwhile());
        match job(&disk) {
            Ok(()) => assert!(disk.contents() == case.after, "before operation {step}"),
            Err(e) => refused.push((e, disk.contents())),
        }
    }
    refused
}

#[test]
fn an_old_file_may_be_removed_by_somebody_else_meanwhile() {
    let disk = SimDisk::holding(&disk_with(Some(&old_file())));
    let mut writer = CreateOptions::new().create_in(Arc::new(disk.clone()), Path::new(TARGET)).unwrap();
    disk.before(disk.steps(), Meanwhile::Remove(TARGET.into()));
    write_blobs(&mut writer).unwrap();
    writer.finish().unwrap();
    assert_eq!(disk.permissions(Path::new(TARGET)).unwrap(), 0o640, "its rights are kept all the same");
    let old = disk_with(Some(&old_file()));
    let refused = with_somebody_else(&old, &create(true), || Meanwhile::Remove(TARGET.into()));
    assert!(refused.is_empty(), "{}", refused[0].0);
}

/// A program without the lock resizes the file. `finish` must then fail, and the file must not be extended by zeros,
/// which could be read as data.
#[test]
fn a_file_resized_by_somebody_else_while_it_is_appended_to_is_no_success() {
    let old = old_file();
    let (case, steps) = Case::new(disk_with(Some(&old)), &append);
    for len in [0, 40, old.len() - 1, old.len(), old.len() + 5, old.len() + 100, 5 << 20] {
        let mut refused = 0;
        let disk = SimDisk::holding(&case.before);
        drop(append_in(&disk, Path::new(TARGET)).unwrap());
        for step in disk.steps()..steps {
            let disk = SimDisk::holding(&case.before);
            disk.before(step, Meanwhile::Resize(TARGET.into(), len));
            let result = append(&disk);
            let left = disk.contents();
            match result {
                // The file had that length already.
                Ok(()) => assert!(left == case.after, "{len}, before operation {step}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Changed, "{len}, before operation {step}: {error}");
                    let left = target(&left).unwrap();
                    let is_theirs = left.len() == len && left.iter().skip(old.len()).all(|&byte| byte == 0);
                    assert!(left.iter().zip(&old).all(|(left, old)| left == old), "{len}, before operation {step}");
                    assert!(is_theirs || left.len() <= len.min(old.len()), "{len}, before operation {step}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 10, "{len}: {refused}");
    }
}

#[test]
fn a_damaged_file_resized_by_somebody_else_is_not_made_longer_by_recovering() {
    let old = old_file();
    let damaged = disk_with(Some(&[&*old, &[0; 5000]].concat()));
    let recover = |disk: &SimDisk| recover_in(disk, Path::new(TARGET)).map(drop);
    let (_, steps) = Case::new(damaged.clone(), &recover);
    for (len, step) in [0, 40, old.len() - 1].into_iter().flat_map(|len| (0..steps).map(move |step| (len, step))) {
        let disk = SimDisk::holding(&damaged);
        disk.before(step, Meanwhile::Resize(TARGET.into(), len));
        let result = recover(&disk);
        let left = disk.contents();
        let left = target(&left).unwrap();
        assert!(left.len() <= len && old.starts_with(left), "{len}, before operation {step}: {result:?}");
    }
}

#[test]
fn what_was_left_may_be_removed_by_somebody_else_meanwhile() {
    let files = Contents::from([(TEMPORARY.into(), vec![1, 2, 3])]);
    let refused = with_somebody_else(&files, &create(true), || Meanwhile::Remove(TEMPORARY.into()));
    assert!(refused.is_empty(), "{}", refused[0].0);
}

#[test]
fn a_file_that_somebody_else_makes_meanwhile_is_not_overwritten() {
    for (error, left) in with_somebody_else(&disk_with(None), &create(false), || Meanwhile::Make(TARGET.into())) {
        assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
        assert!(left == disk_with(Some(&[])), "{error}");
    }
}

#[test]
fn a_temporary_file_that_somebody_else_locked_first_is_theirs() {
    let refused = with_somebody_else(&disk_with(None), &create(true), || Meanwhile::Lock(TEMPORARY.into()));
    let kinds: Vec<_> = refused.iter().map(|(error, _)| error.kind()).collect();
    assert_eq!(kinds, [ErrorKind::Busy], "between making it and locking it");
}

#[test]
fn what_another_kind_of_file_left_is_not_overwritten() {
    let mut files = disk_with(None);
    files.insert(TEMPORARY.into(), vec![1, 2, 3]);
    let disk = SimDisk::holding(&files);
    create(true)(&disk).unwrap();
    assert_eq!(disk.contents().keys().collect::<Vec<_>>(), [Path::new(TARGET)]);
    assert_eq!(BTreeMap::from_iter(disk.contents()).len(), 1);
}
