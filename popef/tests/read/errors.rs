//! Error codes: each happens, becomes the right error of `std::io`, and has its name.

use crate::common::{testdata, writing};

use std::collections::HashSet;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::ops::ControlFlow;

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{opaque, tensor};

/// The expected code, the expected kind in `std::io`, and the error.
type Case = (ErrorCode, io::ErrorKind, Error);

/// The codes that no test here can make happen, with their kinds in `std::io`. None: the kind of the system's own
/// error.
const NOT_HERE: &[(ErrorCode, Option<io::ErrorKind>)] = &[
    // This happens on machines of 32 bits only.
    (ErrorCode::AddressSpace, Some(io::ErrorKind::OutOfMemory)),
    // The smallest such file has 100 GB.
    (ErrorCode::TooManyBlobs, Some(io::ErrorKind::FileTooLarge)),
    // That many files do not fit into memory.
    (ErrorCode::TooManyFiles, Some(io::ErrorKind::InvalidInput)),
    // tests/read/compressed.rs makes it happen in a build without the features.
    (ErrorCode::CompressionNotBuilt, Some(io::ErrorKind::Unsupported)),
    // The tests of popef-payload make these happen.
    (ErrorCode::PayloadCut, Some(io::ErrorKind::UnexpectedEof)),
    (ErrorCode::PayloadMalformed, Some(io::ErrorKind::InvalidData)),
    (ErrorCode::PayloadTooLarge, Some(io::ErrorKind::FileTooLarge)),
    (ErrorCode::PayloadNotBuilt, Some(io::ErrorKind::Unsupported)),
    // src/write/faults makes it happen on a disk that fails.
    (ErrorCode::FolderNotFlushed, None),
    // Only Unix has links that any user can make.
    #[cfg(not(unix))]
    (ErrorCode::InTheWay, Some(io::ErrorKind::AlreadyExists)),
    // Elsewhere nobody can take the name of a file that is open, and devices have no paths.
    #[cfg(not(unix))]
    (ErrorCode::LeftBehind, None),
    #[cfg(not(unix))]
    (ErrorCode::NotRegularFile, Some(io::ErrorKind::Unsupported)),
    #[cfg(not(unix))]
    (ErrorCode::NotReplaceable, Some(io::ErrorKind::Unsupported)),
    // On Windows a file that is appended to cannot be resized by others.
    #[cfg(windows)]
    (ErrorCode::FileResized, Some(io::ErrorKind::Other)),
];

#[test]
fn each_code_happens_and_becomes_the_right_error_of_std_io() {
    let happened: Vec<_> = [of_files(), of_limits(), of_the_system(), of_reading(), of_writing(), of_blobs_to_write()]
        .into_iter()
        .flatten()
        .collect();
    for (code, io_kind, error) in &happened {
        assert_eq!(error.code(), *code, "{error}");
        assert_eq!(code.io_kind().unwrap_or(*io_kind), *io_kind, "{error}");
        let in_io = io::Error::from(error.clone());
        assert_eq!(in_io.kind(), *io_kind, "{error}");
        assert_eq!(in_io.to_string(), error.to_string());
        assert_eq!(in_io.downcast::<Error>().unwrap().code(), *code);
    }
    NOT_HERE.iter().for_each(|(code, io_kind)| assert_eq!(code.io_kind(), *io_kind, "{code}"));
    let happened = happened.iter().map(|(code, ..)| code).chain(NOT_HERE.iter().map(|(code, _)| code));
    let happened: HashSet<_> = happened.collect();
    let missing: Vec<_> = ErrorCode::ALL.iter().filter(|code| !happened.contains(code)).collect();
    assert!(missing.is_empty(), "no test makes these happen: {missing:?}");
}

fn of_files() -> Vec<Case> {
    use ErrorCode::*;
    use io::ErrorKind::{InvalidData, UnexpectedEof, Unsupported};
    let files = [
        (HeaderCut, UnexpectedEof, "header-1-byte"),
        (BlobCut, UnexpectedEof, "size-one-more"),
        (BlobUnwritten, InvalidData, "header-no-words"),
        (BlobTooSmall, InvalidData, "size-0"),
        (TooManySegments, InvalidData, "no-popef-file"),
        (HeaderTooLong, InvalidData, "segment-2-32-words"),
        (InfoPastEnd, InvalidData, "info-2-32-words"),
        (MalformedMessage, InvalidData, "header-root-list"),
        (NegativeDimension, InvalidData, "shape-negative"),
        (ShapeTooLarge, InvalidData, "shape-product-wraps"),
        (DataTooShort, InvalidData, "data-short"),
        (NotBool, InvalidData, "bool-of-2"),
        (CompressedDataMissing, InvalidData, "compressed-no-data"),
        (CompressedDataDamaged, InvalidData, "zlib-early"),
        (CompressedDataSurplus, InvalidData, "zlib-late"),
        (UnpackedTooShort, InvalidData, "bomb-says-10-gib"),
        (UnpackedTooLong, InvalidData, "bomb-zlib-1-mib"),
        (UnknownDataType, Unsupported, "type-unknown"),
        (UnknownCompression, Unsupported, "zlib-dictionary"),
    ];
    let pickle = File::open(testdata("opaque/poptorch/poptorch34-noexport.pickle")).unwrap_err();
    let mut files: Vec<Case> = files.map(|(code, io_kind, name)| (code, io_kind, broken(name))).into();
    files.push((PickleFirst, InvalidData, pickle));
    files
}

fn of_limits() -> Vec<Case> {
    let beyond = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        OpenOptions::new().limits(limits).open(testdata("interop/executable.popef")).unwrap_err()
    };
    let errors = [
        (ErrorCode::InfoTooLong, beyond(|limits| limits.info_bytes = 1000)),
        (ErrorCode::TooDeep, beyond(|limits| limits.nesting = 2)),
        (ErrorCode::TooManyVisits, broken("list-2-29-of-nothing")),
        (ErrorCode::TooManyElements, broken("amplify-14-anchors")),
        (ErrorCode::MetadataTooLarge, broken("amplify-1000-words")),
        (ErrorCode::WindowTooLarge, broken("zstd-window-2-41")),
    ];
    errors.map(|(code, error)| (code, io::ErrorKind::FileTooLarge, error)).into()
}

/// The error of opening a file of testdata/broken, or of reading its last blob.
fn broken(name: &str) -> Error {
    let file = match File::open(testdata("broken").join(name).with_extension("popef")) {
        Ok(file) => file,
        Err(error) => return error,
    };
    let read = |blob: &Blob<'_>| match blob.content() {
        Content::Executable(executable) => match io::copy(&mut executable.unpack()?, &mut io::sink()) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.downcast().unwrap()),
        },
        Content::Metadata(metadata) => metadata.read().map(drop),
        Content::Tensor(tensor) => tensor.elements()?.values()?.try_for_each(|value| value.map(drop)),
        _ => Ok(()),
    };
    read(&file.blobs().last().unwrap()).unwrap_err()
}

fn of_the_system() -> Vec<Case> {
    use io::ErrorKind::*;
    let kinds = [
        (ErrorCode::NotFound, NotFound),
        (ErrorCode::PermissionDenied, PermissionDenied),
        (ErrorCode::StorageFull, StorageFull),
        (ErrorCode::StorageFull, QuotaExceeded),
        (ErrorCode::OutOfMemory, OutOfMemory),
        (ErrorCode::Io, ConnectionReset),
        (ErrorCode::Io, Other),
    ];
    kinds.map(|(code, kind)| (code, kind, File::from_stream(Failing(kind)).unwrap_err())).into()
}

/// A stream that fails.
struct Failing(io::ErrorKind);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn of_reading() -> Vec<Case> {
    use io::ErrorKind::{InvalidInput, IsADirectory, Other, Unsupported};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(testdata("interop/all-types.popef"), &path).unwrap();
    let file = File::open(&path).unwrap();
    let f8 = file.tensor("t_f8").unwrap().elements().unwrap();
    let feeds = File::open(testdata("elements/elements.popef")).unwrap();
    let feed = feeds.feed("f32 feed").unwrap();
    let item = feed.item(0).unwrap();
    let stream = File::from_stream(&*fs::read(&path).unwrap()).unwrap();
    let data_of_stream = stream.tensor("t_f8").unwrap().blob().data().read().unwrap_err();
    let mut cases = vec![
        (ErrorCode::WrongElementType, InvalidInput, f8.to_slice::<f32>().unwrap_err()),
        (ErrorCode::NotNumeric, InvalidInput, f8.values().unwrap_err()),
        (ErrorCode::NoSuchItem, InvalidInput, feed.item(3).unwrap_err()),
        (ErrorCode::NoSuchBytes, InvalidInput, f8.data().range(0..1000).unwrap_err()),
        (ErrorCode::NoSuchElements, InvalidInput, f8.range(0..1000).unwrap_err()),
        (ErrorCode::BufferTooSmall, InvalidInput, item.convert_into(&mut [0.0]).unwrap_err()),
        (ErrorCode::DataNotKept, Unsupported, data_of_stream),
        (ErrorCode::IsFolder, IsADirectory, File::open(folder.path()).unwrap_err()),
    ];
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    cases.push((ErrorCode::FileChanged, Other, f8.data().read().unwrap_err()));
    cases
}

fn of_writing() -> Vec<Case> {
    use io::ErrorKind::{AlreadyExists, InvalidInput, NotFound, Other, ResourceBusy};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(testdata("interop/executable.popef"), &path).unwrap();
    let mut stream = Writer::stream(Vec::new());
    stream.sized_opaque(&opaque("half"), 9).unwrap().write_all(b"half").unwrap();
    let mut failed = Writer::stream(Failing(io::ErrorKind::BrokenPipe));
    failed.write_opaque(&opaque("lost"), b"").unwrap_err();

    let source = File::open(&path).unwrap();
    let of_metadata = BlobCopy::of(&source.blob(1).unwrap());
    let mut stopped = Writer::nowhere().watched(|_| ControlFlow::Break(()));
    let mut late = Writer::nowhere();
    late.write_opaque(&opaque("first"), b"").unwrap();
    let mut writer = Writer::append(&path).unwrap();
    let exists = CreateOptions::new().overwrite(false).create(&path).unwrap_err();
    let cases = vec![
        (ErrorCode::FileBusy, ResourceBusy, Writer::append(&path).unwrap_err()),
        (ErrorCode::FileExists, AlreadyExists, exists),
        (ErrorCode::StreamBroken, Other, stream.write_opaque(&opaque("next"), b"").unwrap_err()),
        (ErrorCode::WriterFailed, Other, failed.write_opaque(&opaque("next"), b"").unwrap_err()),
        (ErrorCode::NotFound, NotFound, Writer::create("").unwrap_err()),
        (ErrorCode::NoFolder, NotFound, Writer::create(folder.path().join("missing/new.popef")).unwrap_err()),
        (ErrorCode::CopyFromTarget, InvalidInput, writer.copy(source.blob(0).unwrap()).unwrap_err()),
        (ErrorCode::WrongInfo, InvalidInput, writer.copy(of_metadata.clone().info(&opaque("notes"))).unwrap_err()),
        (ErrorCode::NoName, InvalidInput, writer.copy(of_metadata.name("named")).unwrap_err()),
        (ErrorCode::Stopped, Other, stopped.write_opaque(&opaque("new"), b"").unwrap_err()),
        (ErrorCode::PrefixTooLate, InvalidInput, late.write_prefix(&source.prefix()).unwrap_err()),
    ];
    #[cfg(unix)]
    let cases = {
        let link = folder.path().join("link.popef");
        std::os::unix::fs::symlink("elsewhere.popef", &link).unwrap();
        let error = CreateOptions::new().follow_links(false).create(link).unwrap_err();
        let taken = Writer::create(folder.path().join("taken.popef")).unwrap();
        let temporary = folder.path().join(".taken.popef.popef-new");
        fs::remove_file(&temporary).unwrap();
        fs::create_dir(&temporary).unwrap();
        let kind = fs::remove_file(temporary).unwrap_err().kind();
        [
            cases,
            vec![
                (ErrorCode::InTheWay, AlreadyExists, error),
                (ErrorCode::LeftBehind, kind, taken.discard().unwrap_err()),
                (ErrorCode::NotRegularFile, io::ErrorKind::Unsupported, File::open("/dev/null").unwrap_err()),
                (ErrorCode::NotReplaceable, io::ErrorKind::Unsupported, Writer::create("/dev/null").unwrap_err()),
            ],
        ]
        .concat()
    };
    #[cfg(not(windows))]
    let cases = {
        writer.write_opaque(&opaque("new"), b"").unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        [cases, vec![(ErrorCode::FileResized, Other, writer.finish().unwrap_err())]].concat()
    };
    cases
}

fn of_blobs_to_write() -> Vec<Case> {
    let mut bytes = Cursor::new(Vec::new());
    let w = &mut Writer::seekable(&mut bytes).unwrap();
    w.write_executable("model", b"").unwrap();
    let tensor_info = TensorInfo::new(DataType::S32, [2]);
    let feed = FeedDataInfo { name: "labels".into(), tensor_info, num_tensors: 0 };
    let missing = FeedDataInfo { num_tensors: 1, ..feed.clone() };
    let half = w.sized_opaque(&opaque("half"), 9).unwrap().finish().unwrap_err();
    let too_long = Writer::stream(io::sink()).version("1".repeat(1 << 20)).write_opaque(&opaque("o"), b"");
    let mut feeds = w.feeds(&[feed]).unwrap();
    let no_such_feed = feeds.push(1, &[1, 2]).unwrap_err();
    let feed_full = feeds.push(0, &[1, 2]).unwrap_err();
    drop(feeds);
    let errors = [
        (ErrorCode::ExecutableUnnamed, w.write_executable("", b"").unwrap_err()),
        (ErrorCode::DuplicateExecutable, w.write_executable("model", b"").unwrap_err()),
        (ErrorCode::NoSuchLevel, w.write_packed_executable("other", b"", Packing::Gzip(10)).unwrap_err()),
        (ErrorCode::WrongElementType, w.write_tensor(&tensor(DataType::F32, &[2]), &[1u32; 2]).unwrap_err()),
        (ErrorCode::WrongDataLength, w.write_tensor(&tensor(DataType::F32, &[2]), &[1.5f32]).unwrap_err()),
        (ErrorCode::ImpossibleShape, w.write_tensor_bytes(&tensor(DataType::U8, &[-1]), &[]).unwrap_err()),
        (ErrorCode::BlobUnfinished, half),
        (ErrorCode::MessageTooLong, too_long.unwrap_err()),
        (ErrorCode::NoSuchFeed, no_such_feed),
        (ErrorCode::FeedFull, feed_full),
        (ErrorCode::FeedsUnfinished, w.feeds(&[missing]).unwrap().finish().unwrap_err()),
        (ErrorCode::IndexUnfinished, OpenOptions::new().indexer(100).finish().unwrap_err()),
    ];
    errors.map(|(code, error)| (code, io::ErrorKind::InvalidInput, error)).into()
}

#[test]
fn codes_and_kinds_have_the_names_of_their_variants_and_parse() {
    for &code in ErrorCode::ALL {
        assert_eq!(code.as_str(), words_of(&format!("{code:?}")).join("-"));
        assert_eq!((code.to_string().as_str(), code.as_str().parse()), (code.as_str(), Ok(code)));
    }
    for &kind in ErrorKind::ALL {
        assert_eq!(kind.as_str(), first_letter_small(&format!("{kind:?}")));
        assert_eq!((kind.to_string().as_str(), kind.as_str().parse()), (kind.as_str(), Ok(kind)));
    }
    let error = "Blob-Cut".parse::<ErrorCode>().unwrap_err();
    assert_eq!(error.to_string(), "\"Blob-Cut\" is not an error code that this version knows");
    assert!("".parse::<ErrorKind>().is_err());
}

fn words_of(name: &str) -> Vec<String> {
    let starts: Vec<_> = name.match_indices(char::is_uppercase).map(|(at, _)| at).chain([name.len()]).collect();
    starts.windows(2).map(|word| name[word[0]..word[1]].to_lowercase()).collect()
}

fn first_letter_small(name: &str) -> String {
    name[..1].to_lowercase() + &name[1..]
}

#[cfg(feature = "serde")]
#[test]
fn codes_and_kinds_serialise_by_their_names() {
    let values = (ErrorCode::BlobCut, ErrorKind::OutOfRange);
    let text = serde_json::to_string(&values).unwrap();
    assert_eq!(text, r#"["blob-cut","outOfRange"]"#);
    assert_eq!(serde_json::from_str::<(ErrorCode, ErrorKind)>(&text).unwrap(), values);
    let error = serde_json::from_str::<ErrorCode>(r#""blob""#).unwrap_err();
    assert!(error.to_string().starts_with("\"blob\" is not an error code"), "{error}");
}
