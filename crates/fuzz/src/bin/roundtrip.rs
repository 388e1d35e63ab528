//! The writer accepts what the reader gives. The blobs of any file are copied, copied under other names, written anew
//! from their values, and read again.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use popef::error::ErrorCode;
use popef::write::{BlobCopy, Destination, Written};
use popef::{Blob, Content, Error, File, OpenOptions, Writer};
use popef_fuzz::everything::everything;

fuzz_target!(|input: &[u8]| {
    let bytes = popef_fuzz::file(input);
    let read = OpenOptions::new().damaged(true).bytes(bytes.clone()).unwrap();

    let mut copied = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut copied).unwrap();
    let taken: Vec<_> = read.blobs().filter(|blob| kept(&writer.copy(blob), blob)).collect();
    writer.finish().unwrap();
    let copied = copied.into_inner();
    let expected: Vec<u8> = taken.iter().flat_map(|blob| bytes_of(&bytes, blob)).copied().collect();
    assert!(copied == expected, "a copy differs");

    check_edited(&read);

    let mut anew = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut anew).unwrap();
    let taken: Vec<_> = read.blobs().filter(|blob| kept(&write(&mut writer, blob), blob)).collect();
    writer.finish().unwrap();
    let anew = anew.into_inner();
    let size = anew.len() as u64;
    let again = File::from_bytes(anew.clone()).unwrap();
    everything(&again, size);
    assert_eq!(again.len(), taken.len());
    for (new, old) in again.blobs().zip(&taken) {
        assert_eq!(values(&new), values(old));
        assert_eq!(new.data().read().unwrap(), old.data().read().unwrap());
    }

    // A writer to a stream writes the same bytes.
    let mut streamed = Vec::new();
    let mut writer = Writer::stream(&mut streamed);
    for blob in &taken {
        write(&mut writer, blob).unwrap();
    }
    writer.finish().unwrap();
    assert!(streamed == anew, "a stream differs");
});

/// Copies every blob with another version and another name. Nothing else of it may change.
fn check_edited(read: &File) {
    let mut writer = Writer::seekable(Cursor::new(Vec::new())).unwrap();
    let taken: Vec<_> = read.blobs().filter(|blob| edited(&mut writer, blob)).collect();
    let bytes = writer.into_inner().unwrap().into_inner();
    let size = bytes.len() as u64;
    let again = File::from_bytes(bytes).unwrap();
    everything(&again, size);
    assert_eq!(again.len(), taken.len());
    for (new, old) in again.blobs().zip(&taken) {
        assert_eq!(new.version(), "edited");
        assert_eq!(new.name(), old.name().map(|_| new_name(old).into()));
        assert_eq!(new.data().read().unwrap(), old.data().read().unwrap());
        match (new.as_data(), old.as_data()) {
            (Some(new), Some(old)) => {
                assert_eq!((new.tensor_info(), new.num_tensors()), (old.tensor_info(), old.num_tensors()));
            }
            (None, None) => assert_eq!(new.blob_type(), old.blob_type()),
            pair => panic!("{pair:?}"),
        }
    }
}

fn new_name(blob: &Blob<'_>) -> String {
    format!("the new name of blob {}", blob.index())
}

/// Whether a blob was written. A message with parts that no reader looks at may be refused.
fn edited<D: Destination>(writer: &mut Writer<D>, blob: &Blob<'_>) -> bool {
    let copy = BlobCopy::of(blob).version("edited");
    let copy = if blob.name().is_some() { copy.name(new_name(blob)) } else { copy };
    match writer.copy(copy) {
        Ok(_) => true,
        Err(error) => {
            let code = error.code();
            assert!(
                matches!(code, ErrorCode::MalformedMessage | ErrorCode::TooDeep | ErrorCode::TooManyVisits),
                "{error}"
            );
            false
        }
    }
}

fn bytes_of<'b>(file: &'b [u8], blob: &Blob<'_>) -> &'b [u8] {
    &file[blob.offset() as usize..][..blob.size() as usize]
}

/// Whether a blob was written. An executable whose name is empty or taken may be refused.
fn kept(written: &Result<Written, Error>, blob: &Blob<'_>) -> bool {
    match written {
        Ok(_) => true,
        Err(error) => {
            assert!(matches!(error.code(), ErrorCode::ExecutableUnnamed | ErrorCode::DuplicateExecutable), "{error}");
            assert!(matches!(blob.content(), Content::Executable(_)), "{error}");
            false
        }
    }
}

/// Writes a blob from its values, or copies it if a writer does not accept them.
fn write<D: Destination>(writer: &mut Writer<D>, blob: &Blob<'_>) -> Result<Written, Error> {
    writer.version(blob.version().into_owned());
    let data = blob.data().read()?;
    match blob.content() {
        Content::Executable(executable) if !executable.is_compressed() => {
            writer.write_executable(executable.name(), &data)
        }
        Content::Metadata(metadata) => match metadata.read() {
            Ok(values) if data.is_empty() => writer.write_metadata(&values),
            _ => writer.copy(blob),
        },
        Content::Tensor(tensor) if tensor.size_in_bytes().is_ok_and(|size| size == data.len() as u64) => {
            writer.write_tensor_bytes(&tensor.info(), &data)
        }
        Content::Feed(feed) if whole(&feed) => writer.write_feed_bytes(&feed.info(), &data),
        Content::Opaque(opaque) => writer.write_opaque(&opaque.info(), &data),
        _ => writer.copy(blob),
    }
}

fn whole(feed: &popef::read::FeedBlob<'_>) -> bool {
    let needed = feed.size_in_bytes().ok().and_then(|size| size.checked_mul(feed.num_tensors().into()));
    needed == Some(feed.data().len())
}

/// Everything that a blob says, except its place.
fn values(blob: &Blob<'_>) -> String {
    let what = match blob.content() {
        Content::Executable(executable) => format!("{:?}", executable.info()),
        Content::Metadata(metadata) => format!("{:?}", metadata.read().map_err(|error| error.kind())),
        Content::Tensor(tensor) => format!("{:?}", tensor.info()),
        Content::Feed(feed) => format!("{:?}", feed.info()),
        Content::Opaque(opaque) => format!("{:?}", opaque.info()),
        _ => format!("{:?}", blob.header_bytes().read()),
    };
    format!("{:?} {:?} {what}", blob.blob_type(), blob.version())
}
