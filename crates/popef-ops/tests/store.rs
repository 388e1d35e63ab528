//! A file that goes to a place which takes it as a whole.

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use popef::File;
use popef::error::ErrorCode;
use popef_ops::{CompressOptions, Error, MergeOptions, Progress, Silent, Store, Target, compress, merge};

/// What a place got.
#[derive(Default)]
struct Shelf {
    files: Mutex<Vec<Vec<u8>>>,
    is_full: bool,
}

impl Store for &Shelf {
    fn check(&self, _: &[&Path]) -> Result<(), Error> {
        if self.is_full { Err(Error::new(ErrorCode::FileExists, "the shelf is full")) } else { Ok(()) }
    }

    fn put(self: Box<Self>, mut file: fs::File) -> Result<(), Error> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        self.files.lock().unwrap().push(bytes);
        Ok(())
    }
}

/// Stops after some bytes.
struct StopsAfter(Mutex<u64>);

impl Progress for StopsAfter {
    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        let mut left = self.0.lock().unwrap();
        *left = left.saturating_sub(bytes);
        if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn interop(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/interop").join(name)
}

#[test]
fn it_gets_the_file_that_a_path_gets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.popef");
    let file = File::open(interop("executable.popef")).unwrap();
    let shelf = Shelf::default();
    let options = CompressOptions::default();
    let target = Target::Path(&path, popef_ops::Overwrite::Never);
    compress(&file, target, &options, &Silent, &mut |_| Ok(())).unwrap();
    compress(&file, Target::Store(Box::new(&shelf)), &options, &Silent, &mut |_| Ok(())).unwrap();
    assert_eq!(*shelf.files.lock().unwrap(), [fs::read(&path).unwrap()]);
}

#[test]
fn it_gets_nothing_if_it_refuses_or_the_work_is_stopped() {
    let files = ["split-executable.popef", "split-tensors.popef"].map(|name| File::open(interop(name)).unwrap());
    let full = Shelf { is_full: true, ..Shelf::default() };
    let error = merge(&files, Target::Store(Box::new(&full)), &MergeOptions::default(), &Silent).unwrap_err();
    assert_eq!(error.to_string(), "the shelf is full");
    let shelf = Shelf::default();
    let stops = StopsAfter(Mutex::new(1));
    let error = merge(&files, Target::Store(Box::new(&shelf)), &MergeOptions::default(), &stops).unwrap_err();
    assert!(error.is_stop(), "{error}");
    assert_eq!((full.files.into_inner().unwrap().len(), shelf.files.into_inner().unwrap().len()), (0, 0));
}
