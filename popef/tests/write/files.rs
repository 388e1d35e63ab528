//! Writing files on a real file system: what is refused, what is undone, and what stays.

use crate::common::{popef_files, testdata, writing};

use std::fs;
use std::io::{self, Write};

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{Place, copy_each, in_memory, opaque, tensor};

fn text_behind_path(error: &Error) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn a_dropped_or_discarded_file_leaves_nothing() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("new"), &[1; 1_000_000]).unwrap();
    assert_eq!(place.names(), [".model.popef.popef-new", "model.popef"]);
    drop(writer);
    place.is_as_it_was();

    let mut writer = Writer::append(&place.path).unwrap();
    writer.write_opaque(&opaque("new"), &[1; 1_000_000]).unwrap();
    assert!(fs::metadata(&place.path).unwrap().len() > 100_000);
    writer.discard().unwrap();
    place.is_as_it_was();
}

#[test]
fn a_dropped_blob_is_not_in_the_file() {
    let place = Place::new();
    let mut writer = Writer::append(&place.path).unwrap();
    writer.opaque(&opaque("dropped")).unwrap().write_all(&[1; 1_000_000]).unwrap();
    writer.finish().unwrap();
    place.is_as_it_was();

    let mut writer = Writer::create(&place.path).unwrap();
    writer.opaque(&opaque("dropped")).unwrap().write_all(&[1; 1_000_000]).unwrap();
    let error = writer.write_tensor(&tensor(DataType::F32, &[2]), &[1.0f32]).unwrap_err();
    assert_eq!(error.path(), Some(&*place.path), "{error}");
    writer.finish().unwrap();
    assert!(fs::read(&place.path).unwrap().is_empty());
}

#[test]
fn dropping_a_writer_removes_what_it_appended() {
    let place = Place::new();
    let mut writer = Writer::append(&place.path).unwrap();
    writer.write_opaque(&opaque("new"), &[1; 100_000]).unwrap();
    let error = writer.write_tensor(&tensor(DataType::F32, &[2]), &[1.0f32]).unwrap_err();
    assert_eq!(error.path(), Some(&*place.path), "{error}");
    drop(writer);
    place.is_as_it_was();
}

/// The bytes of an unfinished blob must not read as a blob together with the old bytes behind them.
#[test]
fn an_unfinished_blob_over_old_bytes_does_not_read_as_whole() {
    let feed = FeedDataInfo { name: "feed".into(), tensor_info: TensorInfo::new(DataType::U8, [100]), num_tensors: 3 };
    for several in [false, true] {
        let place = Place::new();
        let file = fs::File::options().write(true).open(&place.path).unwrap();
        let mut writer = Writer::seekable(file).unwrap();
        let left = if several {
            let mut feeds = writer.feeds(std::slice::from_ref(&feed)).unwrap();
            feeds.push_bytes(0, &[1; 100]).unwrap();
            fs::read(&place.path).unwrap()
        } else {
            let mut blob = writer.opaque(&opaque("streamed")).unwrap();
            blob.write_all(&[1; 100]).unwrap();
            fs::read(&place.path).unwrap()
        };
        let error = File::from_bytes(left).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Damaged, Some(0)), "{error}");
    }
}

/// Somebody removes the temporary file, or puts another file there.
#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn a_temporary_file_of_somebody_else_is_left_alone() {
    let place = Place::new();
    let temporary = place.folder.path().join(".model.popef.popef-new");
    for replaced in [false, true] {
        let mut writer = Writer::create(&place.path).unwrap();
        writer.write_opaque(&opaque("new"), b"data").unwrap();
        fs::remove_file(&temporary).unwrap();
        if replaced {
            fs::write(&temporary, "another's").unwrap();
        }
        let error = writer.finish().unwrap_err();
        assert!(error.to_string().contains("its temporary file was removed or replaced by somebody else"), "{error}");
        assert!(fs::read(&place.path).unwrap() == place.bytes);
        assert_eq!(fs::read(&temporary).ok(), replaced.then(|| b"another's".to_vec()));
    }
}

#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn a_file_that_was_removed_or_replaced_is_not_appended_to() {
    for replaced in [false, true] {
        let place = Place::new();
        let mut writer = Writer::append(&place.path).unwrap();
        writer.write_opaque(&opaque("new"), b"data").unwrap();
        fs::remove_file(&place.path).unwrap();
        if replaced {
            fs::write(&place.path, "another's").unwrap();
        }
        assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    }
}

#[test]
fn a_file_can_be_read_while_it_is_appended_to_or_replaced() {
    for replaced in [false, true] {
        let place = Place::new();
        let (created, appended) = match replaced {
            true => (Some(Writer::create(&place.path).unwrap()), None),
            false => (None, Some(Writer::append(&place.path).unwrap())),
        };
        assert!(fs::read(&place.path).unwrap() == place.bytes);
        let file = File::open(&place.path).unwrap();
        let weights = file.tensor("input_parameter").unwrap().elements().unwrap();
        assert_eq!(*weights.to_slice::<f32>().unwrap(), [1.5, -2.25]);
        drop((created, appended));
    }
}

/// The superuser replaces the file of another user.
#[cfg(unix)]
#[test]
fn replacing_a_file_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let place = Place::new();
    if chown(&place.path, Some(12_345), Some(54_321)).is_err() {
        return eprintln!("SKIPPED: this user may not give files away");
    }
    Writer::create(&place.path).unwrap().finish().unwrap();
    let metadata = fs::metadata(&place.path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12_345, 54_321));
}

#[test]
fn elements_are_written_piece_by_piece() {
    let bytes = in_memory(|writer| {
        let mut blob = writer.tensor(&tensor(DataType::F32, &[3])).unwrap();
        blob.write_elements(&[1.5f32, 2.5]).unwrap();
        blob.write_elements(&[-1f32]).unwrap();
        blob.finish().unwrap();
    });
    let file = File::from_bytes(bytes).unwrap();
    let weights = file.tensor("weights").unwrap().elements().unwrap();
    assert_eq!(*weights.to_slice::<f32>().unwrap(), [1.5, 2.5, -1.0]);
}

#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn whoever_has_the_old_file_open_keeps_it() {
    let place = Place::new();
    let opened = File::open(&place.path).unwrap();
    // SAFETY: the file is replaced, and never written to.
    #[expect(unsafe_code, reason = "a mapping is what must stay whole")]
    let mapped = unsafe { File::map(&place.path) }.unwrap();
    let mut writer = Writer::create(&place.path).unwrap();
    copy_each(&mut writer, &opened).unwrap();
    for tensor in mapped.tensors() {
        writer.copy(tensor.blob()).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.size, fs::metadata(&place.path).unwrap().len());
    let tensor = mapped.tensor("input_parameter").unwrap();
    assert_eq!(*tensor.elements().unwrap().to_slice::<f32>().unwrap(), [1.5, -2.25]);
    // A reader in parts goes on with the old file.
    let tensor = opened.tensor("input_parameter").unwrap();
    assert_eq!(*tensor.elements().unwrap().to_slice::<f32>().unwrap(), [1.5, -2.25]);
    assert_eq!(File::open(&place.path).unwrap().len(), mapped.len() + 1);
}

#[cfg(unix)]
#[test]
fn replacing_follows_links_and_keeps_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let place = Place::new();
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = place.folder.path().join("link");
    let linked_link = place.folder.path().join("linked-link");
    symlink("model.popef", &link).unwrap();
    symlink(&link, &linked_link).unwrap();
    Writer::create(&linked_link).unwrap().finish().unwrap();
    let metadata = fs::metadata(&place.path).unwrap();
    assert_eq!((metadata.len(), metadata.mode() & 0o777), (0, 0o640));
    assert!(fs::symlink_metadata(&linked_link).unwrap().is_symlink());

    let dangling = place.folder.path().join("dangling");
    symlink("later.popef", &dangling).unwrap();
    Writer::create(&dangling).unwrap().finish().unwrap();
    assert!(place.folder.path().join("later.popef").exists());
    Writer::append(&linked_link).unwrap().finish().unwrap();

    let circle = place.folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    let error = Writer::create(&circle).unwrap_err();
    assert_eq!(text_behind_path(&error), "cannot look at what is there: too many symbolic links point to each other");
}

#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn replacing_a_file_leaves_its_hard_links_alone() {
    let place = Place::new();
    let other = place.folder.path().join("other.popef");
    fs::hard_link(&place.path, &other).unwrap();
    let source = File::open(&other).unwrap();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.copy(source.blob(0).unwrap()).unwrap();
    writer.finish().unwrap();
    assert!(fs::read(&other).unwrap() == place.bytes);
    assert_eq!(File::open(&place.path).unwrap().len(), 1);
}

#[test]
fn without_overwriting_a_file_that_appears_at_the_end_is_kept() {
    let place = Place::new();
    let mut options = CreateOptions::new();
    options.overwrite(false);
    let error = options.create(&place.path).unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::FileExists, ErrorKind::Exists));
    assert_eq!(text_behind_path(&error), "the file exists, and overwriting was not allowed");
    fs::remove_file(&place.path).unwrap();
    let writer = options.create(&place.path).unwrap();
    fs::write(&place.path, &place.bytes).unwrap();
    assert_eq!(writer.finish().unwrap_err().code(), ErrorCode::FileExists);
    place.is_as_it_was();
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_if_that_is_wanted() {
    let place = Place::new();
    let at = |name: &str| place.folder.path().join(name);
    for (link, target) in [("to-a-file", "model.popef"), ("to-nothing", "new.popef"), ("to-a-folder", ".")] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
        for overwrite in [true, false] {
            let mut options = CreateOptions::new();
            options.overwrite(overwrite).follow_links(false);
            for error in [options.create(at(link)).map(drop).unwrap_err(), options.check(at(link)).unwrap_err()] {
                assert_eq!((error.code(), error.kind()), (ErrorCode::InTheWay, ErrorKind::Exists), "{error}");
                assert_eq!(text_behind_path(&error), "it is a link, and nothing is written through links");
            }
        }
    }
    assert_eq!(fs::read(&place.path).unwrap(), place.bytes);
    Writer::create(at("to-nothing")).unwrap().finish().unwrap();
    assert!(fs::symlink_metadata(at("to-nothing")).unwrap().is_symlink() && at("new.popef").exists());
    CreateOptions::new().follow_links(false).create(at("new.popef")).unwrap().finish().unwrap();
}

#[test]
fn the_longest_file_name_can_be_written_to() {
    let place = Place::new();
    let path = place.folder.path().join("n".repeat(255));
    let writer = Writer::create(&path).unwrap();
    // This is the FNV-1a hash of the name, so that any later program finds the temporary file that was left.
    assert!(place.names().contains(&".c2c977771654d7a9.popef-new".to_owned()), "{:?}", place.names());
    assert_eq!(Writer::create(&path).unwrap_err().kind(), ErrorKind::Busy);
    writer.finish().unwrap();
    assert_eq!(place.names().len(), 2);
}

#[test]
fn only_regular_files_are_replaced() {
    let place = Place::new();
    for error in [Writer::create(place.folder.path()).unwrap_err(), Writer::append(place.folder.path()).unwrap_err()] {
        assert_eq!((error.code(), error.kind()), (ErrorCode::IsFolder, ErrorKind::Unsupported));
        assert!(error.to_string().ends_with("this is a folder"), "{error}");
    }
    let missing = place.folder.path().join("missing/model.popef");
    let error = Writer::create(&missing).unwrap_err();
    let folder = missing.parent().unwrap();
    assert_eq!(text_behind_path(&error), format!("the folder {} does not exist", folder.display()));
    assert_eq!(error.code(), ErrorCode::NoFolder);
    assert!(std::error::Error::source(&error).is_some(), "the system's own error is kept");
    for end in ["missing/", "missing/.", "missing/model.popef/"] {
        let path = place.folder.path().join(end);
        let error = Writer::create(&path).unwrap_err();
        assert!(error.to_string().ends_with("a folder that does not exist"), "{error}");
        assert_eq!(CreateOptions::new().check(&path).unwrap_err().to_string(), error.to_string());
    }
    assert_eq!(place.names(), ["model.popef"]);
    let error = Writer::append(place.folder.path().join("missing")).unwrap_err();
    assert!(error.to_string().contains("cannot open the file to write to it: "), "{error}");
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_second_writer_is_an_error() {
    let place = Place::new();
    let busy = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert_eq!(error.path(), Some(&*place.path));
        assert_eq!(text_behind_path(&error), "the file is being written by somebody else");
    };
    for first_creates in [true, false] {
        let (created, appended) = match first_creates {
            true => (Some(Writer::create(&place.path).unwrap()), None),
            false => (None, Some(Writer::append(&place.path).unwrap())),
        };
        busy(Writer::create(&place.path).unwrap_err());
        busy(Writer::append(&place.path).unwrap_err());
        busy(recover(&place.path).unwrap_err());
        drop((created, appended));
        place.is_as_it_was();
    }
    let new = place.folder.path().join("new.popef");
    let first = Writer::create(&new).unwrap();
    assert_eq!(Writer::create(&new).unwrap_err().kind(), ErrorKind::Busy);
    first.finish().unwrap();
    Writer::create(&new).unwrap().finish().unwrap();
}

#[test]
fn a_file_that_is_being_appended_to_is_not_replaced() {
    let place = Place::new();
    let new = place.folder.path().join("new.popef");
    let mut creating = Writer::create(&new).unwrap();
    creating.write_opaque(&opaque("created"), b"data").unwrap();
    fs::copy(&place.path, &new).unwrap();
    let appending = Writer::append(&new).unwrap();
    assert_eq!(creating.finish().unwrap_err().kind(), ErrorKind::Busy);
    appending.finish().unwrap();
    assert_eq!(place.names(), ["model.popef", "new.popef"]);
}

#[test]
#[cfg_attr(windows, ignore = "Wine cannot take the name of a file that is open")]
fn the_next_writer_removes_the_temporary_file_of_a_killed_one() {
    let place = Place::new();
    let left = place.folder.path().join(".model.popef.popef-new");
    fs::hard_link(&place.path, &left).unwrap();
    drop(Writer::create(&place.path).unwrap());
    place.is_as_it_was();
}

/// A file that no writer left is not removed, and does not prevent writing.
#[cfg(unix)]
#[test]
fn what_is_at_the_name_of_the_temporary_file_blocks_nobody() {
    let place = Place::new();
    let planted = place.folder.path().join(".model.popef.popef-new");
    let plant: [(&str, &dyn Fn()); 4] = [
        ("a folder", &|| fs::create_dir(&planted).unwrap()),
        ("a link", &|| std::os::unix::fs::symlink(&place.path, &planted).unwrap()),
        ("a link to nothing", &|| std::os::unix::fs::symlink("missing", &planted).unwrap()),
        ("a socket", &|| drop(std::os::unix::net::UnixListener::bind(&planted).unwrap())),
    ];
    for (what, plant) in plant {
        plant();
        let mut writer = Writer::create(&place.path).unwrap();
        writer.write_opaque(&opaque(what), b"data").unwrap();
        let temporary: Vec<_> = place.names().into_iter().filter(|name| name.ends_with(".popef-new")).collect();
        assert_eq!(temporary.len(), 2, "{what}: {temporary:?}");
        let second = Writer::create(&place.path).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::Busy, "{what}: the lock of the old file");
        writer.finish().unwrap();
        assert_eq!(File::open(&place.path).unwrap().blob(0).unwrap().name().unwrap().to_string(), what);
        assert_eq!(place.names(), [".model.popef.popef-new", "model.popef"], "{what}");
        let found = fs::symlink_metadata(&planted).unwrap();
        if found.is_dir() { fs::remove_dir(&planted) } else { fs::remove_file(&planted) }.unwrap();
    }
}

#[test]
fn a_damaged_file_is_refused_until_it_is_recovered() {
    for path in popef_files("interop") {
        let bytes = fs::read(&path).unwrap();
        let place = Place::new();
        for cut in [1, 7, 100].into_iter().filter(|&cut| cut < bytes.len()) {
            fs::write(&place.path, &bytes[..bytes.len() - cut]).unwrap();
            let error = Writer::append(&place.path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged);
            assert!(error.to_string().contains("nothing is appended to a damaged file, recover it first"), "{error}");
            assert_eq!(error.path(), Some(&*place.path));
            let recovered = recover(&place.path).unwrap();
            assert_eq!(recovered.damage.unwrap().offset(), Some(recovered.len));
            assert_eq!(recovered.len + recovered.cut, u64::try_from(bytes.len() - cut).unwrap());
            assert_eq!(fs::read(&place.path).unwrap(), bytes[..usize::try_from(recovered.len).unwrap()]);
            let again = recover(&place.path).unwrap();
            assert!(again.cut == 0 && again.damage.is_none() && again.blobs == recovered.blobs);
        }
    }
}

#[test]
fn recovering_does_not_cut_a_file_that_exceeds_limits() {
    let place = Place::new();
    let bytes = fs::read(testdata("broken/amplify-14-anchors.popef")).unwrap();
    fs::write(&place.path, &bytes).unwrap();
    let error = recover(&place.path).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Limit, Some(&*place.path)), "{error}");
    assert!(fs::read(&place.path).unwrap() == bytes);
}

#[test]
fn zeros_behind_the_last_blob_are_an_incomplete_blob() {
    let place = Place::new();
    for zeros in [8, 48, 5000] {
        fs::write(&place.path, [&*place.bytes, &vec![0; zeros]].concat()).unwrap();
        let error = File::open(&place.path).unwrap_err();
        let blobs = OpenOptions::new().damaged(true).open(&place.path).unwrap().len();
        assert_eq!((error.kind(), error.blob()), (ErrorKind::Damaged, Some(blobs)));
        assert!(error.reason().starts_with("the blob is incomplete: its first bytes are zeros"), "{error}");
    }
}

#[test]
fn a_file_cannot_be_appended_to_itself() {
    let place = Place::new();
    let source = File::open(&place.path).unwrap();
    let mut writer = Writer::append(&place.path).unwrap();
    let error = writer.copy(source.blob(0).unwrap()).unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::CopyFromTarget, ErrorKind::Misuse));
    assert!(error.to_string().ends_with("the very file that is being appended to"), "{error}");
    writer.write_opaque(&opaque("new"), b"data").unwrap();
    writer.finish().unwrap();
    // A reader in parts gets an error, because the file is not the one that was opened.
    assert_eq!(source.blob(0).unwrap().data().read().unwrap_err().kind(), ErrorKind::Changed);
}

/// Some of these feeds are gathered in memory, others are not.
#[test]
fn feeds_written_at_once_equal_feeds_written_one_by_one() {
    let feed = |name: &str, size: i64, num_tensors| {
        let tensor_info = TensorInfo::new(DataType::U8, [size]);
        FeedDataInfo { name: name.to_owned().into(), tensor_info, num_tensors }
    };
    let infos = [feed("small", 10, 20_000), feed("large", 70_000, 6), feed("middle", 30_000, 9), feed("none", 5, 0)];
    let size = |feed: usize| usize::try_from(infos[feed].tensor_info.shape[0]).unwrap();
    let tensor = |feed: usize, index: u32| -> Vec<u8> {
        let byte = |at: usize| (at as u32).wrapping_mul(index + 1).to_le_bytes()[1] ^ feed as u8;
        (0..size(feed)).map(byte).collect()
    };
    let at_once = in_memory(|writer| {
        let mut feeds = writer.feeds(&infos).unwrap();
        for index in 0..20_000 {
            for (feed, info) in infos.iter().enumerate().filter(|(_, info)| index < info.num_tensors) {
                assert!(feeds.push_bytes(feed, &tensor(feed, index)).is_ok(), "{}", info.name);
            }
        }
        feeds.finish().unwrap()
    });
    let one_by_one = in_memory(|writer| {
        for (feed, info) in infos.iter().enumerate() {
            let data: Vec<u8> = (0..info.num_tensors).flat_map(|index| tensor(feed, index)).collect();
            writer.write_feed_bytes(info, &data).unwrap();
        }
    });
    assert!(at_once == one_by_one);
}

#[test]
fn a_seekable_destination_keeps_its_old_bytes_and_loses_undone_ones() {
    let place = Place::new();
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&place.path).unwrap();
    io::Seek::seek(&mut file, io::SeekFrom::Start(5)).unwrap();
    let mut writer = Writer::seekable(&mut file).unwrap();
    writer.write_opaque(&opaque("kept"), b"data").unwrap();
    writer.opaque(&opaque("dropped")).unwrap().write_all(&[1; 100_000]).unwrap();
    let written = writer.finish().unwrap();
    let bytes = fs::read(&place.path).unwrap();
    assert_eq!(bytes[..5], place.bytes[..5]);
    assert_eq!(u64::try_from(bytes.len()).unwrap(), 5 + written.size);
    assert_eq!(File::from_bytes(bytes[5..].to_vec()).unwrap().len(), 1);

    // Blobs of a longer file that was there before are gone.
    io::Seek::seek(&mut file, io::SeekFrom::Start(0)).unwrap();
    let written = Writer::seekable(&mut file).unwrap().finish().unwrap();
    assert_eq!(file.metadata().unwrap().len(), written.size);

    // Its buffer is flushed, and its position is after the last blob, although an earlier header was written last.
    let mut buffered = io::BufWriter::new(fs::File::create(&place.path).unwrap());
    let mut writer = Writer::seekable(&mut buffered).unwrap();
    writer.opaque(&opaque("dropped")).unwrap().write_all(&[1; 100_000]).unwrap();
    let mut blob = writer.opaque(&opaque("streamed")).unwrap();
    blob.write_all(b"data").unwrap();
    blob.finish().unwrap();
    let end = writer.finish().unwrap().size;
    assert_eq!(fs::metadata(&place.path).unwrap().len(), end);
    assert_eq!(io::Seek::stream_position(&mut buffered).unwrap(), end);
    drop(buffered);

    let mut borrowed = vec![7; 3];
    let mut memory = io::Cursor::new(&mut borrowed);
    Truncate::truncate(&mut memory, 2).unwrap();
    assert_eq!(borrowed, [7, 7]);

    let mut appending = fs::OpenOptions::new().append(true).open(&place.path).unwrap();
    let mut writer = Writer::seekable(&mut appending).unwrap();
    let mut blob = writer.opaque(&opaque("streamed")).unwrap();
    blob.write_all(b"data").unwrap();
    let error = blob.finish().unwrap_err();
    assert!(error.to_string().contains("was it opened to append?"), "{error}");
}

#[test]
fn unknown_types_and_numbers_are_written_unchanged() {
    let unknown = DataType::from_number(1000);
    let anchor = Anchor {
        name: vec![0xff, 0, b'x'].into(),
        tensor_info: TensorInfo::new(unknown, [i64::MIN]),
        tensor_type: TensorType::from_number(77),
        ..Anchor::default()
    };
    let metadata = Metadata { anchors: vec![anchor], ..Metadata::default() };
    let mut bytes = in_memory(|writer| {
        writer.write_metadata(&metadata).unwrap();
        writer.write_opaque(&opaque("unknown"), b"data").unwrap();
    });
    let file = File::from_bytes(bytes.clone()).unwrap();
    assert_eq!(file.metadata().next().unwrap().read().unwrap(), metadata);
    // The type of the second blob is the first number of its header.
    let at = usize::try_from(file.blob(1).unwrap().offset()).unwrap() + 16;
    bytes[at] = 200;
    let file = File::from_bytes(bytes.clone()).unwrap();
    assert_eq!(file.blob(1).unwrap().blob_type(), BlobType::from_number(200));
    assert!(in_memory(|writer| copy_each(writer, &file).unwrap()) == bytes);
}

#[test]
fn elements_of_every_type_are_written_little_endian() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(elements: &[T], bytes: &[u8]) {
        let info = tensor(T::DATA_TYPE, &[i64::try_from(elements.len()).unwrap()]);
        let file = File::from_bytes(in_memory(|w| w.write_tensor(&info, elements).unwrap())).unwrap();
        let written = file.tensor("weights").unwrap().elements().unwrap();
        assert_eq!(*written.data().read().unwrap(), *bytes);
        assert_eq!(*written.to_slice::<T>().unwrap(), *elements);
    }
    check(&[true, false], &[1, 0]);
    check(&[-2i8], &[0xfe]);
    check(&[254u8], &[0xfe]);
    check(&[F8143::from_bits(0x40)], &[0x40]);
    check(&[F8152::from_bits(0x7f)], &[0x7f]);
    check(&[-2i16], &[0xfe, 0xff]);
    check(&[0x1234u16], &[0x34, 0x12]);
    check(&[half::f16::from_f32(1.0)], &[0x00, 0x3c]);
    check(&[-2i32], &[0xfe, 0xff, 0xff, 0xff]);
    check(&[0x1234_5678u32], &[0x78, 0x56, 0x34, 0x12]);
    check(&[1.0f32], &[0, 0, 0x80, 0x3f]);
    check(&[-2i64], &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    check(&[1u64 << 56], &[0, 0, 0, 0, 0, 0, 0, 1]);
    check(&[1.0f64], &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
}

#[test]
fn written_offsets_are_those_of_the_file() {
    let place = Place::new();
    let mut writer = Writer::append(&place.path).unwrap();
    let first = writer.write_opaque(&opaque("first"), b"data").unwrap();
    let second = writer.write_opaque(&opaque("second"), b"").unwrap();
    let all = writer.finish().unwrap();
    let file = File::open(&place.path).unwrap();
    let blob = |name| *file.opaque(name).unwrap().blob();
    assert_eq!((first.offset, first.size), (blob("first").offset(), blob("first").size()));
    assert_eq!((second.offset, second.size), (blob("second").offset(), blob("second").size()));
    assert_eq!((all.offset, all.offset + all.size), (first.offset, file.size()));
    assert_eq!(usize::try_from(all.offset).unwrap(), place.bytes.len());
}
