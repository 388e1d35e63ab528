//! `Unpack::from_reader`: compressed data that comes from a reader of the caller.

use std::io::{self, Read};

use popef::error::ErrorCode;
use popef::read::{ExecutableBlob, File, Limits, Unpack};

use crate::bucket::{Random, damaged, unpacked};
use crate::common::{self, popef_files};

/// A reader that gives its bytes in odd pieces.
struct Dribble<'a>(&'a [u8], Random);

impl Read for Dribble<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = 1 + self.1.below(700);
        let len = buf.len().min(most);
        self.0.read(&mut buf[..len])
    }
}

#[test]
fn unpacking_a_reader_gives_what_unpacking_the_blob_gives() {
    let limits = Limits::default();
    let mut compared = 0;
    for path in popef_files("compressed").into_iter().chain(popef_files("interop")).chain(popef_files("broken")) {
        let file = damaged().open(&path).unwrap();
        for executable in file.executables().filter(ExecutableBlob::is_compressed) {
            let (data, size) = (executable.data().read().unwrap(), executable.uncompressed_size());
            let (bytes, error) = unpacked(executable.unpack());
            // How many bytes a reader has left is not counted.
            let surplus = |error: &str| error.find("bytes follow the end").unwrap_or_default();
            let expected = (bytes, error.map(|error| error[surplus(&error)..].to_owned()));
            let found = unpacked(Unpack::from_reader(Dribble(&data, Random(4)), size, &limits));
            assert_eq!(found, expected, "{path:?}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} compressed executables");
    let error = Unpack::from_reader(io::empty(), 10, &limits).unwrap_err();
    assert_eq!(error.code(), ErrorCode::CompressedDataMissing);
    let error = Unpack::from_reader(&b"what is this?"[..], 10, &limits).unwrap_err();
    assert_eq!((error.code(), error.blob()), (ErrorCode::UnknownCompression, None));
}

#[test]
fn unpacking_an_endless_reader_stops_behind_the_compressed_data() {
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let executable = file.executable("z").unwrap();
    let data = executable.data().read().unwrap();
    let endless = data.chain(io::repeat(0));
    let (bytes, error) = unpacked(Unpack::from_reader(endless, executable.uncompressed_size(), &Limits::default()));
    assert_eq!(bytes.len() as u64, executable.uncompressed_size());
    assert!(error.unwrap().starts_with("bytes follow the end of the compressed data"));
}

#[test]
fn a_failing_reader_is_not_reported_as_damaged_data() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let data = file.executable("z").unwrap().data().read().unwrap();
    for len in [0, 30] {
        let (_, error) = unpacked(Unpack::from_reader(data[..len].chain(Fails), 1 << 20, &Limits::default()));
        assert_eq!(error.unwrap(), "cannot read the compressed data: connection reset");
    }
}

/// The second error has a kind after which no loop tries again.
#[test]
fn reading_on_after_an_error_gives_it_again() {
    struct WouldBlock;
    impl Read for WouldBlock {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let data = file.executable("z").unwrap().data().read().unwrap();
    let mut unpack = Unpack::from_reader(data[..30].chain(WouldBlock), 1 << 20, &Limits::default()).unwrap();
    let first = io::copy(&mut unpack, &mut io::sink()).unwrap_err();
    assert_eq!(first.kind(), io::ErrorKind::WouldBlock);
    let again = unpack.read(&mut [0; 10]).unwrap_err();
    assert_eq!((again.kind(), again.to_string()), (io::ErrorKind::Other, first.to_string()));
}
