//! Splitting when the system does not let all parts into their places.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo, Writer};
use popef_ops::{CompressOptions, Overwrite, Progress, SplitBy, SplitOptions, Target, TargetFolder, compress, split};

/// Puts a folder at the place of the second part, once this many bytes are written.
struct InTheWay<'p>(&'p Path, u64, AtomicU64);

impl Progress for InTheWay<'_> {
    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        let InTheWay(path, size, before) = self;
        if before.fetch_add(bytes, SeqCst) + bytes == *size {
            std::fs::create_dir(path).unwrap();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn what_is_in_the_way_of_one_part_keeps_all_from_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mut writer = Writer::create(&path).unwrap();
    writer.write_executable("model", b"its bytes").unwrap();
    let tensor_info = TensorInfo::new(DataType::U8, [1]);
    writer.write_tensor(&TensorDataInfo { name: "w".into(), tensor_info }, &[1u8]).unwrap();
    writer.finish().unwrap();
    let file = File::open(&path).unwrap();

    for exists in [false, true] {
        let parts = folder.path().join(format!("parts-{exists}"));
        std::fs::create_dir(&parts).unwrap();
        let [first, second] = ["executables", "tensors"].map(|kind| parts.join(format!("model-{kind}.popef")));
        if exists {
            std::fs::write(&first, "old").unwrap();
        }
        let options = SplitOptions { by: SplitBy::Kind, stem: "model".as_ref(), ..SplitOptions::default() };
        let target = TargetFolder::At(&parts, if exists { Overwrite::Others } else { Overwrite::Never });
        split(&file, target, &options, &InTheWay(&second, file.size(), AtomicU64::new(0))).unwrap_err();
        assert_eq!(first.exists(), exists, "what is new is removed");
        if exists {
            assert_eq!(
                std::fs::read(&first).unwrap(),
                b"old",
                "what is in the way is found before anything is replaced"
            );
        }
        assert!(second.is_dir());
        assert_eq!(std::fs::read_dir(&parts).unwrap().count(), 1 + usize::from(exists), "there is no rubbish");
    }
}

/// Stops the work at once.
struct Stop;

impl Progress for Stop {
    fn advance(&self, _bytes: u64) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// A file with an executable alone.
fn model(path: &Path) -> File {
    let mut writer = Writer::create(path).unwrap();
    writer.write_executable("model", b"its bytes").unwrap();
    writer.finish().unwrap();
    File::open(path).unwrap()
}

#[test]
fn folders_that_were_made_go_when_the_work_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = model(&at("model.popef"));
    std::fs::create_dir(at("old")).unwrap();
    for (parts, top) in [("new/and/more", "new"), ("new/../other/more/", "other"), ("old/new", "old/new")] {
        let path = at(parts);
        let target = TargetFolder::At(&path, Overwrite::Never);
        assert!(split(&file, target, &SplitOptions::default(), &Stop).unwrap_err().is_stop());
        assert!(!at(top).exists(), "{parts}");
        let options = CompressOptions::default();
        let target = Target::In(target, "model.popef".as_ref());
        assert!(compress(&file, target, &options, &Stop, &mut |_| Ok(())).unwrap_err().is_stop());
        assert!(!at(top).exists() && !at("new").exists(), "{parts}");
    }
    assert!(at("old").is_dir(), "it was there before");
    for name in ["../out.popef", "a/../out.popef", "/out.popef", "..", ""] {
        let target = Target::In(TargetFolder::At(folder.path(), Overwrite::Others), name.as_ref());
        assert_eq!(target.check([]).unwrap_err().code(), "wrong-arguments", "{name}");
        compress(&file, target, &CompressOptions::default(), &popef_ops::Silent, &mut |_| Ok(())).unwrap_err();
    }
    let path = at("new/and/more");
    let target = Target::In(TargetFolder::At(&path, Overwrite::Never), "model.popef".as_ref());
    compress(&file, target, &CompressOptions::default(), &popef_ops::Silent, &mut |_| Ok(())).unwrap();
    assert_eq!(File::open(path.join("model.popef")).unwrap().len(), 1);
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_nowhere_is_no_folder_for_parts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = model(&at("model.popef"));
    std::os::unix::fs::symlink(at("nowhere"), at("parts")).unwrap();
    for parts in [at("parts"), at("parts").join("inner")] {
        for target in [TargetFolder::At(&parts, Overwrite::Others), TargetFolder::Trial(&parts, Overwrite::Others)] {
            let error = split(&file, target, &SplitOptions::default(), &popef_ops::Silent).unwrap_err();
            let is_told = ["it is a link", "not a directory"].iter().any(|why| error.to_string().contains(why));
            assert!(is_told, "{target:?}: {error}");
        }
    }
    assert!(!at("nowhere").exists());
}
