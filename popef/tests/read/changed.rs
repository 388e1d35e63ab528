//! A file that changes while it is open gives an error of its own kind, never wrong data, never a signal.

use crate::common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use common::testdata;
use popef::error::ErrorKind;
use popef::types::{Anchor, Metadata};
use popef::{File, Writer};

fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(testdata(name), &path).unwrap();
    (folder, path)
}

/// Every access to data fails in the same way.
fn assert_changed(file: &File, path: &std::path::Path) {
    let tensor = file.tensor("input_parameter").unwrap();
    let executable = file.executables().next().unwrap();
    let elements = tensor.elements().unwrap();
    let mut unpacked = Vec::new();
    let from_reader = executable.unpack().unwrap().read_to_end(&mut unpacked).unwrap_err();
    let errors = [
        elements.to_slice::<f32>().unwrap_err(),
        elements.convert_into(&mut [0.0; 2]).unwrap_err(),
        elements.values().unwrap().find_map(Result::err).unwrap(),
        tensor.blob().data().read().unwrap_err(),
        from_reader.downcast::<popef::Error>().unwrap(),
        executable.poplar_header().unwrap_err(),
        file.check_unchanged().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        assert_eq!(error.path(), Some(path));
        assert!(error.reason().starts_with("the file was changed by somebody else after it was opened"), "{error}");
    }
    // What was read on opening is still there.
    assert_eq!(tensor.name(), "input_parameter");
    assert_eq!(file.len(), 4);
}

#[test]
fn shortening_an_open_file_is_an_error() {
    let (_folder, path) = copy("interop/executable.popef");
    let file = File::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(3000).unwrap();
    assert_changed(&file, &path);
}

#[test]
fn lengthening_an_open_file_is_an_error() {
    let (_folder, path) = copy("interop/executable.popef");
    let file = File::open(&path).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert_changed(&file, &path);
}

#[test]
fn overwriting_an_open_file_is_an_error() {
    let (_folder, path) = copy("interop/executable.popef");
    let file = File::open(&path).unwrap();
    let len = fs::metadata(&path).unwrap().len();
    fs::write(&path, vec![0xaa; usize::try_from(len).unwrap()]).unwrap();
    assert_changed(&file, &path);
}

#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn a_file_replaced_by_another_is_still_read_as_it_was() {
    let (folder, path) = copy("interop/executable.popef");
    let file = File::open(&path).unwrap();
    let other = folder.path().join("other");
    fs::write(&other, b"something else").unwrap();
    fs::rename(&other, &path).unwrap();
    let weights = file.tensor("input_parameter").unwrap().elements().unwrap();
    assert_eq!(*weights.to_slice::<f32>().unwrap(), [1.5, -2.25]);
    file.check_unchanged().unwrap();
}

/// Other systems tell only the time of writing, which can be set back.
#[cfg(unix)]
#[test]
fn a_change_whose_time_was_set_back_is_seen() {
    let (_folder, path) = copy("interop/executable.popef");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let file = File::open(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
    (&writer).write_all(&vec![0xaa; bytes.len()]).unwrap();
    writer.set_modified(before).unwrap();
    assert_changed(&file, &path);
}

/// Giving the file one more name is no change of it, but it must not hide one.
#[test]
fn overwriting_a_file_that_got_another_name_is_an_error() {
    let (folder, path) = copy("interop/executable.popef");
    let file = File::open(&path).unwrap();
    fs::hard_link(&path, folder.path().join("another name")).unwrap();
    file.check_unchanged().unwrap();
    let len = fs::metadata(&path).unwrap().len();
    fs::write(&path, vec![0xaa; usize::try_from(len).unwrap()]).unwrap();
    assert_changed(&file, &path);
}

/// A change of names may change the time by which such a change is seen, but only once.
#[cfg(unix)]
#[test]
fn a_change_whose_time_was_set_back_is_seen_in_a_file_that_got_another_name() {
    let (folder, path) = copy("interop/executable.popef");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let file = File::open(&path).unwrap();
    fs::hard_link(&path, folder.path().join("another name")).unwrap();
    file.check_unchanged().unwrap();
    let bytes = fs::read(&path).unwrap();
    let writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
    (&writer).write_all(&vec![0xaa; bytes.len()]).unwrap();
    writer.set_modified(before).unwrap();
    assert_changed(&file, &path);
}

/// The 40,000 stored bytes of a block do not fit into the decoder's buffer, so that it has to read on.
#[test]
fn changing_a_file_while_it_is_unpacked_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let block = |last: u8| [&[last, 0x40, 0x9c, 0xbf, 0x63], [7; 40_000].as_slice()].concat();
    let gzip = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff".as_slice(), &block(0), &block(1)].concat();
    let zlib = [b"\x78\x9c".as_slice(), &block(0), &block(1)].concat();
    for data in [gzip, zlib] {
        fs::write(&path, common::raw::executable(80_000, &data)).unwrap();
        let file = File::open(&path).unwrap();
        let mut unpack = file.executables().next().unwrap().unpack().unwrap();
        unpack.read_exact(&mut [0; 1000]).unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
        let error = std::io::copy(&mut unpack, &mut std::io::sink()).unwrap_err();
        assert_eq!(error.downcast::<popef::Error>().unwrap().kind(), ErrorKind::Changed);
        assert!(unpack.read(&mut [0]).is_err(), "reading on after an error must not look like the end");
    }
}

/// The file is shortened and restored all the time. Each try to read it gives all of it or an error.
#[test]
fn a_file_that_changes_all_the_time_gives_right_data_or_an_error() {
    let (_folder, path) = copy("interop/executable.popef");
    let whole = fs::read(&path).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            for round in 0..300u64 {
                file.set_len(round * 199 % whole.len() as u64).unwrap();
                fs::write(&path, &whole).unwrap();
            }
        });
        while !writer.is_finished() {
            let Ok(file) = File::open(&path) else { continue };
            for blob in file.blobs() {
                if let Ok(data) = blob.data().read() {
                    let start = usize::try_from(blob.data_offset()).unwrap();
                    assert!(*data == whole[start..][..data.len()], "wrong data was given as right");
                }
            }
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn folders_and_missing_files_are_errors_that_name_the_path() {
    use popef::error::ErrorCode;
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), "/dev/null".into(), "/dev/zero".into()] {
        let error = File::open(&path).unwrap_err();
        let code = if path.is_dir() { ErrorCode::IsFolder } else { ErrorCode::NotRegularFile };
        assert_eq!((error.code(), error.path()), (code, Some(path.as_path())), "{error}");
        assert!(error.reason().ends_with("it is not a regular file"), "{error}");
    }
    let missing = folder.path().join("missing.popef");
    let error = File::open(&missing).unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::NotFound, ErrorKind::Io));
    assert!(error.to_string().contains("missing.popef: cannot open the file: "), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

/// Metadata whose message is too long to stay in memory is the same however its file is opened. If the file was changed since,
/// reading it again is an error.
#[test]
fn long_metadata_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let anchor = |index: u32| Anchor { name: format!("layer.{index}").into(), repeats: index, ..Anchor::default() };
    let written =
        Metadata { executable: "model".into(), anchors: (0..5000).map(anchor).collect(), ..Metadata::default() };
    let mut writer = Writer::create(&path).unwrap();
    writer.version("2.5");
    writer.write_executable("model", b"its bytes").unwrap();
    writer.write_metadata(&written).unwrap();
    writer.finish().unwrap();

    let bytes = fs::read(&path).unwrap();
    let [on_disk, in_memory] = [File::open(&path).unwrap(), File::from_bytes(bytes.clone()).unwrap()];
    let streamed = File::from_stream(&*bytes).unwrap();
    for file in [&on_disk, &in_memory, &streamed] {
        let metadata = file.metadata().next().unwrap();
        let blob = metadata.blob();
        assert_eq!(metadata.read().unwrap(), written);
        assert_eq!((metadata.executable(), blob.version()), ("model".into(), "2.5".into()));
        assert!(blob.has_usual_head().unwrap());
        let start = usize::try_from(blob.offset()).unwrap();
        assert_eq!(*blob.head_bytes().read().unwrap(), bytes[start..]);
        #[cfg(feature = "serde")]
        assert_eq!(serde_json::to_value(metadata).unwrap(), serde_json::to_value(&written).unwrap());
    }

    let metadata = on_disk.metadata().next().unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert_eq!(metadata.read().unwrap_err().kind(), ErrorKind::Changed);
    assert_eq!(metadata.blob().has_usual_head().unwrap_err().kind(), ErrorKind::Changed);
    #[cfg(feature = "serde")]
    assert!(serde_json::to_value(metadata).unwrap_err().to_string().contains("the file was changed"));
    assert_eq!(metadata.executable(), "model");
}
