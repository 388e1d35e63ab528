//! Handles: blobs that keep their file.

use std::fs;
use std::io::{self, Read};

use popef::error::Error;
use popef::read::Unpack;
use popef::types::BlobType;

use crate::bucket::{Bucket, Object, damaged, unpacked};
use crate::common::{self, popef_files};

#[test]
fn a_handle_outlives_its_file_and_goes_to_another_thread() {
    fn owned<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let path = common::testdata("interop/compressed-zlib.popef");
    let bytes = fs::read(&path).unwrap();
    let ways = [damaged().open(&path), damaged().bytes(bytes.clone()), damaged().source(Bucket(Object::of(&bytes)))];
    for file in ways.map(Result::unwrap) {
        let executable = file.executable("z").unwrap();
        let (data, whole) = (executable.data().read().unwrap().into_owned(), unpacked(executable.unpack()));
        let handle = owned(file.handle(executable.blob().index()).unwrap());
        let other = file.blobs().find(|blob| blob.blob_type() != BlobType::PoplarExecutable);
        assert!(other.is_none_or(|other| file.handle(other.index()).unwrap().unpack().is_none()));
        drop(file);
        let (mut reader, unpack) = (owned(handle.reader()), owned(handle.unpack().unwrap().unwrap()));
        drop(handle);
        let mut found = Vec::new();
        let reading = std::thread::spawn(move || reader.read_to_end(&mut found).map(|_| found));
        assert_eq!(reading.join().unwrap().unwrap(), data);
        assert_eq!(unpacked(Ok(unpack)), whole);
    }
}

#[test]
fn errors_of_handles_name_the_file() {
    let (mut named, mut damaged_ones) = (0, 0);
    for path in popef_files("broken") {
        let file = damaged().open(&path).unwrap();
        for executable in file.executables() {
            let handle = file.handle(executable.blob().index()).unwrap();
            let unpack = |unpack: Result<Unpack<'_>, Error>| -> Option<Error> {
                let mut unpack = match unpack {
                    Ok(unpack) => unpack,
                    Err(error) => return Some(error),
                };
                io::copy(&mut unpack, &mut io::sink()).err().map(|error| error.downcast().unwrap())
            };
            let (borrowed, kept) = (unpack(executable.unpack()), unpack(handle.unpack().unwrap()));
            assert_eq!(borrowed.as_ref().map(Error::to_string), kept.as_ref().map(Error::to_string));
            damaged_ones += usize::from(kept.is_some());
            named += usize::from(kept.is_some_and(|error| error.path() == Some(&*path)));
        }
    }
    assert!(damaged_ones > 5 && named == damaged_ones, "{named} of {damaged_ones}");
}
