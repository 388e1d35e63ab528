//! Types and names that a later version of the format may bring are kept and shown, and are no errors.

use crate::common;

use common::read;
use popef::error::{ErrorCode, ErrorKind};
use popef::types::{BlobType, TensorType};
use popef::{Content, DataType, File};

/// The offset of blob 3 of interop/executable.popef, a tensor. Its header message has 40 bytes.
const TENSOR: usize = 66_722;

#[test]
fn an_unknown_blob_type_keeps_its_number_and_its_bytes() {
    let mut bytes = read("interop/executable.popef");
    assert_eq!(bytes[TENSOR + 16..][..2], 2u16.to_le_bytes());
    bytes[TENSOR + 16..][..2].copy_from_slice(&77u16.to_le_bytes());
    let file = File::from_bytes(bytes).unwrap();

    let blob = file.blob(3).unwrap();
    assert_eq!(blob.blob_type(), BlobType::Other(77));
    assert_eq!(blob.blob_type().to_string(), "BlobType(77)");
    assert!(matches!(blob.content(), Content::Unknown));
    assert_eq!((blob.name(), blob.info_bytes().len()), (None, 0));
    assert_eq!(blob.data().len() + blob.header_bytes().len(), blob.size());
    assert_eq!(file.tensors().count(), 0);
    assert!(file.tensor("input_parameter").is_none());
}

#[test]
fn an_unknown_data_type_keeps_its_number_and_has_no_size() {
    let mut bytes = read("interop/executable.popef");
    // The info message has a word of table, the root pointer, two pointers, and then the data of TensorInfo.
    let data_type = TENSOR + 40 + 8 + 8 + 16;
    let at = bytes[data_type..].windows(2).position(|w| w == 3u16.to_le_bytes()).unwrap() + data_type;
    bytes[at..][..2].copy_from_slice(&99u16.to_le_bytes());
    let file = File::from_bytes(bytes).unwrap();

    let tensor = file.tensor("input_parameter").unwrap();
    assert_eq!(tensor.data_type(), DataType::Other(99));
    assert_eq!(tensor.data_type().to_string(), "DataType(99)");
    assert_eq!(tensor.shape().to_vec(), [2]);
    let errors = [tensor.size_in_bytes().unwrap_err(), tensor.elements().unwrap_err()];
    for error in errors {
        assert_eq!(
            (error.code(), error.kind(), error.blob()),
            (ErrorCode::UnknownDataType, ErrorKind::Unknown, Some(3))
        );
        assert_eq!(error.reason(), "data type 99 is not known, so neither is the size of its elements");
    }
    assert_eq!(tensor.blob().data().len(), 16, "the bytes can be read");
}

#[test]
fn an_unknown_tensor_type_keeps_its_number() {
    let mut bytes = read("interop/replicated.popef");
    let metadata = |bytes: &[u8]| File::from_bytes(bytes.to_vec()).unwrap().metadata().next().unwrap().read().unwrap();
    let outputs = |bytes: &[u8]| metadata(bytes).anchors.iter().filter(|a| a.tensor_type == TensorType::Output).count();
    assert_eq!(outputs(&bytes), 1);
    // The data of an anchor is one word: type, two bits, repeats. Words are counted from the start of the blob.
    const METADATA: usize = 93;
    let word = [2, 0, 1, 0, 1, 0, 0, 0];
    let places: Vec<usize> = (METADATA..bytes.len()).step_by(8).filter(|&at| bytes[at..].starts_with(&word)).collect();
    assert_eq!(places.len(), 1);
    bytes[places[0]] = 9;

    let anchors = metadata(&bytes).anchors;
    let unknown = anchors.iter().find(|anchor| anchor.name == "y").unwrap();
    assert_eq!(unknown.tensor_type, TensorType::Other(9));
    assert_eq!(unknown.tensor_type.to_string(), "TensorType(9)");
}

#[test]
fn a_name_that_is_not_utf_8_keeps_its_bytes() {
    let mut bytes = read("interop/executable.popef");
    let name = bytes[TENSOR..].windows(5).position(|w| w == b"input").unwrap() + TENSOR;
    bytes[name] = 0xff;
    let file = File::from_bytes(bytes).unwrap();
    let tensor = file.tensor(b"\xffnput_parameter").unwrap();
    assert_eq!(tensor.name().as_bytes(), b"\xffnput_parameter");
    assert_eq!(tensor.name().to_string(), "\u{fffd}nput_parameter");
    assert!(tensor.name().to_str().is_err());
    assert!(file.tensor("input_parameter").is_none());
}
