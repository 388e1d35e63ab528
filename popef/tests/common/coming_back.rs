//! Values that serialise and come back.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// JSON is a format for people. Of the binary formats, CBOR has the names of fields and the types of values, and
/// postcard has neither.
#[track_caller]
pub fn come_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value, "{json}");
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    assert_eq!(ciborium::from_reader::<T, _>(&*bytes).unwrap(), *value, "{bytes:?}");
    let bytes = postcard::to_stdvec(value).unwrap();
    assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), *value, "{bytes:?}");
}
