//! Sources of the caller and open files: how often they are read, and which errors they give.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use popef::error::ErrorCode;
use popef::read::{File, OpenOptions, ReadAt};
use popef::write::Writer;

use crate::bucket::{Bucket, Object, damaged, many_small, unpacked};
use crate::common;

#[test]
fn a_source_is_read_in_few_large_pieces() {
    let bytes = many_small(7);
    let reads = |options: &OpenOptions| {
        let object = Object::of(&bytes);
        options.source(Bucket(object.clone())).unwrap();
        object.reads.load(Ordering::Relaxed)
    };
    // 1.1 MB are read in pieces of 64, 128 and then 256 KiB.
    assert!(reads(&OpenOptions::new()) <= 8, "{}", reads(&OpenOptions::new()));
    assert_eq!(reads(OpenOptions::new().read_ahead(4 << 20, 0)), 1);
    // Without read-ahead, each header is a read of its own.
    assert!(reads(OpenOptions::new().read_ahead(0, 0)) >= 1000);
}

/// Every third read is interrupted, as signals interrupt system calls.
#[test]
fn an_interrupted_read_of_a_source_is_repeated() {
    struct Interrupted(Bucket);
    impl ReadAt for Interrupted {
        fn size(&self) -> u64 {
            self.0.size()
        }
        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            if (self.0.0.reads.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.read_exact_at(buf, offset)
        }
    }
    let bytes = common::read("interop/compressed-zlib.popef");
    let mut options = damaged();
    options.read_ahead(0, 0);
    let file = options.source(Interrupted(Bucket(Object::of(&bytes)))).unwrap();
    let whole = File::from_bytes(bytes).unwrap();
    for (blob, expected) in file.blobs().zip(whole.blobs()) {
        assert_eq!(blob.data().read().unwrap(), expected.data().read().unwrap());
    }
    let [found, expected] = [&file, &whole].map(|file| unpacked(file.executable("z").unwrap().unpack()));
    assert_eq!(found, expected);
}

#[test]
fn a_failing_source_is_not_reported_as_a_damaged_file() {
    struct Fails;
    impl ReadAt for Fails {
        fn size(&self) -> u64 {
            1000
        }
        fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the token has expired"))
        }
    }
    let error = damaged().source(Fails).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    assert_eq!(error.to_string(), "blob 0, byte 0: cannot read the file: the token has expired");
}

#[test]
fn errors_name_the_source_and_say_that_it_changed() {
    let object = Object::of(&common::read("interop/executable.popef"));
    let file = OpenOptions::new().source(Bucket(object.clone())).unwrap();
    assert_eq!(file.path(), Some(Path::new("s3://models/a.popef")));
    let weights = file.tensor("input_parameter").unwrap();
    let error = weights.elements().unwrap().range(0..9).unwrap_err();
    assert!(error.to_string().starts_with("s3://models/a.popef: blob "), "{error}");

    object.replaced.store(true, Ordering::Relaxed);
    for error in [
        file.check_unchanged().unwrap_err(),
        weights.data().read().unwrap_err(),
        weights.data().copy_to(&mut Vec::new()).unwrap_err(),
        OpenOptions::new().source(Bucket(object.clone())).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::FileChanged, "{error}");
        assert_eq!(error.path(), Some(Path::new("s3://models/a.popef")));
    }
}

/// A source without a size: two of them can have one address.
struct Filled<const BYTE: u8>;

impl<const BYTE: u8> ReadAt for Filled<BYTE> {
    fn size(&self) -> u64 {
        many_small(BYTE).len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        buf.copy_from_slice(&many_small(BYTE)[start..][..buf.len()]);
        Ok(())
    }
}

#[test]
fn blobs_of_zero_sized_sources_are_not_mixed_up() {
    let (sevens, nines) =
        (OpenOptions::new().source(Filled::<7>).unwrap(), OpenOptions::new().source(Filled::<9>).unwrap());
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.copy_all([sevens.blob(0).unwrap(), nines.blob(1).unwrap()]).unwrap();
    writer.finish().unwrap();
    let copy = File::from_bytes(bytes).unwrap();
    let first = |index| copy.blob(index).unwrap().data().as_slice().unwrap()[0];
    assert_eq!((first(0), first(1)), (7, 9));
}

/// Files that are opened by a handle.
#[cfg(target_os = "linux")]
mod open_files {
    use std::fs;
    use std::io::{Seek as _, SeekFrom};
    use std::path::Path;

    use popef::error::ErrorCode;
    use popef::read::{LocalFile, OpenOptions};
    use popef::write::Writer;

    use crate::bucket::many_small;
    use crate::common;

    #[test]
    fn an_open_file_without_a_path_is_read_and_copied_as_one_with_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.popef");
        let bytes = [many_small(7), common::read("interop/executable.popef")].concat();
        fs::write(&path, &bytes).unwrap();
        let mut handle = fs::File::open(&path).unwrap();
        handle.seek(SeekFrom::Start(77)).unwrap();
        let mut kept = handle.try_clone().unwrap();
        fs::remove_file(&path).unwrap();

        let file = OpenOptions::new().file(handle).unwrap();
        assert_eq!(file.path(), None);
        let copy = folder.path().join("copy.popef");
        let mut writer = Writer::create(&copy).unwrap();
        writer.copy_all(file.blobs()).unwrap();
        writer.finish().unwrap();
        assert_eq!(fs::read(&copy).unwrap(), bytes);
        assert_eq!(kept.stream_position().unwrap(), 77, "reading moves the caller's position");
    }

    #[test]
    fn an_open_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let handle = fs::File::open(folder.path()).unwrap();
        assert_eq!(OpenOptions::new().file(handle).unwrap_err().code(), ErrorCode::IsFolder);
    }

    #[test]
    fn an_open_file_has_the_name_that_the_caller_gives_it() {
        let handle = fs::File::open(common::testdata("interop/executable.popef")).unwrap();
        let named = LocalFile::of(handle, Some(Path::new("memory"))).unwrap();
        assert_eq!(OpenOptions::new().source(named).unwrap().path(), Some(Path::new("memory")));
    }
}
