//! Reads everything in a file, and checks what must hold for any bytes.
//!
//! The fuzz targets and the tests over broken files use it.

use std::io::Read;

use popef::read::{Blobs, Element, Elements, MetadataBlob};
use popef::types::{F8143, F8152};
use popef::{Blob, Content, DataType, Error, File};

/// The number of elements of a blob, or tensors of a feed, that are looked at. A feed of tensors without elements can
/// claim four billion.
const ENOUGH: usize = 300;
/// The number of bytes of an executable that are unpacked.
const ENOUGH_UNPACKED: u64 = 1 << 20;

/// Reads everything in an open file of this many bytes. Nothing may panic or contradict itself.
pub fn everything(file: &File, size: u64) {
    let mut end = 0;
    for (index, blob) in file.blobs().enumerate() {
        assert_eq!((blob.index(), blob.offset()), (index, end), "blobs do not follow each other");
        end += blob.size();
        blob_whole(&blob);
        by_name(file, &blob);
    }
    assert_eq!(end, file.end());
    assert!(end <= file.size() && file.size() <= size);
    assert_eq!(file.blobs().len(), file.len());
    assert_eq!(file.is_empty(), file.blobs().next().is_none());
    assert!(file.blob(file.len()).is_none());
    if let Some(damage) = file.damage() {
        assert_eq!(damage.blob(), Some(file.len()), "{damage}");
        damage_told(damage, size);
        assert!(damage.offset() >= Some(end), "{damage}");
        past_damage(file);
    }
}

/// Whole blobs and damaged ones follow each other up to the place where no blob is found.
fn past_damage(file: &File) {
    let mut parts = Vec::new();
    let found = file.past_damage(&mut |error| parts.extend(error.blob_range().map(|range| (range.start, range.end))));
    // A stream cannot be read again.
    let Ok(found) = found else { return };
    parts.extend(found.blobs().map(|blob| (blob.offset(), blob.offset() + blob.size())));
    parts.sort();
    let start = file.prefix().len();
    let end = parts.iter().fold(start, |end, &(from, to)| {
        assert!(from == end && to > from, "{parts:?}");
        to
    });
    assert!(found.len() >= file.len() && end >= file.end());
    assert_eq!(found.end(), found.blobs().last().map_or(start, |blob| blob.offset() + blob.size()));
    match found.damage() {
        Some(damage) => assert!(damage.blob() == Some(parts.len()) && damage.offset() >= Some(end), "{damage}"),
        None => assert_eq!(end, file.size()),
    }
}

/// Walks over bytes. A walk gives blobs, then at most one error, then nothing.
pub fn walk(bytes: &[u8]) {
    let mut blobs = Blobs::new(bytes);
    let mut end = 0;
    while let Some(blob) = blobs.next() {
        match blob {
            Ok(blob) => {
                assert_eq!(blob.offset(), end);
                end += blob.size();
                blob_whole(&blob);
            }
            Err(error) => {
                damage_told(&error, bytes.len() as u64);
                assert!(blobs.next().is_none(), "the walk goes on after an error");
                return;
            }
        }
    }
    assert_eq!(end, bytes.len() as u64, "the walk ended without an error before the end");
    assert!(blobs.next().is_none());
}

/// Damage has a place and a readable reason.
fn damage_told(error: &Error, size: u64) {
    let offset = error.offset().expect("an error in the bytes has an offset");
    assert!(error.blob().is_some(), "{error}");
    assert!(offset <= size, "{error}: outside the file");
    let reason = error.reason();
    assert!(!reason.is_empty() && !reason.contains(char::is_control) && !reason.ends_with('.'), "{reason:?}");
}

fn blob_whole(blob: &Blob<'_>) {
    let (header, info, data) = (blob.header_bytes().len(), blob.info_bytes().len(), blob.data());
    assert_eq!(header + info + data.len(), blob.size());
    assert_eq!(blob.offset() + header + info, blob.data_offset());
    assert!(header >= 16, "a header of {header} bytes has no size");
    std::hint::black_box(blob.version().to_string_lossy());
    let mut last = [0];
    if let Some(at) = data.len().checked_sub(1) {
        drop(data.read_at(at, &mut last));
    }
    assert!(data.read_at(data.len(), &mut last).is_err(), "a byte behind the data was read");
    content(blob);
}

fn content(blob: &Blob<'_>) {
    match blob.content() {
        Content::Executable(executable) => {
            drop(executable.poplar_header());
            let Ok(unpack) = executable.unpack() else { return };
            let mut unpack = unpack.take(ENOUGH_UNPACKED);
            let unpacked = std::io::copy(&mut unpack, &mut std::io::sink());
            if let Ok(unpacked) = unpacked {
                assert_eq!(unpacked, executable.uncompressed_size().min(ENOUGH_UNPACKED));
            }
        }
        Content::Metadata(metadata) => metadata_read(&metadata),
        Content::Tensor(tensor) => {
            assert_eq!(tensor.shape().iter().count(), tensor.shape().len());
            assert_eq!(tensor.info().tensor_info.size_in_bytes().ok(), tensor.size_in_bytes().ok());
            if let Ok(elements) = tensor.elements() {
                elements_whole(&elements, tensor.size_in_bytes().unwrap());
                assert_eq!(elements.data().len() + tensor.surplus(), tensor.blob().data().len());
            }
        }
        Content::Feed(feed) => {
            assert_eq!(feed.info().num_tensors, feed.num_tensors());
            let mut items = feed.items();
            let mut taken = 0;
            while taken < ENOUGH
                && let Some(item) = items.next()
            {
                taken += 1;
                match item {
                    Ok(elements) => elements_whole(&elements, feed.size_in_bytes().unwrap()),
                    Err(_) => assert!(items.next().is_none(), "the items go on after an error"),
                }
            }
            assert!(feed.item(feed.num_tensors()).is_err());
            std::hint::black_box(feed.surplus());
        }
        Content::Opaque(opaque) => {
            let info = opaque.info();
            assert_eq!((info.name, info.executable), (opaque.name(), opaque.executable()));
        }
        _ => assert!(blob.name().is_none() && blob.info_bytes().is_empty()),
    }
}

fn metadata_read(blob: &MetadataBlob<'_>) {
    match blob.read() {
        Ok(metadata) => assert_eq!(metadata.executable, blob.executable()),
        // Opening found that it can be read, but not how much memory it takes.
        Err(error) => assert_eq!(error.kind(), popef::error::ErrorKind::Limit, "{error}"),
    }
}

fn elements_whole(elements: &Elements<'_>, size: u64) {
    assert_eq!(elements.is_empty(), matches!(elements.len(), 0), "{elements:?}");
    assert_eq!(elements.data().len(), size);
    let each = elements.data_type().size().expect("a type with a size");
    assert_eq!(elements.len() * each, size);
    if size <= 1 << 16 {
        match elements.data_type() {
            DataType::Bool => typed::<bool>(elements),
            DataType::S8 => typed::<i8>(elements),
            DataType::U8 => typed::<u8>(elements),
            DataType::S16 => typed::<i16>(elements),
            DataType::U16 => typed::<u16>(elements),
            DataType::S32 => typed::<i32>(elements),
            DataType::U32 => typed::<u32>(elements),
            DataType::S64 => typed::<i64>(elements),
            DataType::U64 => typed::<u64>(elements),
            DataType::F16 => typed::<half::f16>(elements),
            DataType::F32 => typed::<f32>(elements),
            DataType::F64 => typed::<f64>(elements),
            DataType::F8143 => typed::<F8143>(elements),
            DataType::F8152 => typed::<F8152>(elements),
            _ => assert!(elements.to_slice::<u8>().is_err()),
        }
    }
    if let Ok(values) = elements.values() {
        let given = values.take(ENOUGH).take_while(Result::is_ok).count();
        let all = elements.len().min(ENOUGH as u64);
        assert!(given as u64 == all || (given as u64) < all && may_fail(elements), "{given} of {all}");
        let mut buffer = [0.0; ENOUGH];
        let converted = elements.range(0..all).unwrap().convert_into(&mut buffer).map(|converted| converted.len());
        assert!(converted.as_ref().map_or_else(|_| may_fail(elements), |&len| len as u64 == all), "{converted:?}");
    }
}

fn typed<T: Element>(elements: &Elements<'_>) {
    match elements.to_slice::<T>() {
        Ok(slice) => assert_eq!(slice.len() as u64, elements.len()),
        Err(error) => assert!(may_fail(elements), "{error}"),
    }
}

/// A bool can be neither 0 nor 1, and data of a file or a stream can be gone. Numbers in memory cannot fail.
fn may_fail(elements: &Elements<'_>) -> bool {
    elements.data_type() == DataType::Bool || elements.data().as_slice().is_none()
}

/// The name of a blob finds that blob, or an earlier one of the same name.
fn by_name(file: &File, blob: &Blob<'_>) {
    let Some(name) = blob.name() else { return };
    let name = name.as_bytes();
    let found = match blob.content() {
        Content::Executable(_) => file.executable(name).map(|found| *found.blob()),
        Content::Tensor(_) => file.tensor(name).map(|found| *found.blob()),
        Content::Feed(_) => file.feed(name).map(|found| *found.blob()),
        Content::Opaque(_) => file.opaque(name).map(|found| *found.blob()),
        _ => None,
    };
    let found = found.expect("the name of a blob finds nothing");
    assert!(found.index() <= blob.index() && found.blob_type() == blob.blob_type());
    assert_eq!(found.name().unwrap().as_bytes(), name);
}
