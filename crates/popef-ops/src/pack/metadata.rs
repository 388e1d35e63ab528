//! Reads metadata as JSON.

use std::io::BufReader;

use popef::Metadata;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Error as JsonError;

use crate::error::{Code, Error};
use crate::formats::Place;

/// The required fields of anchors. It is read first and takes no memory, so that a short document of `{}` does not
/// become a long list of default anchors.
#[derive(Deserialize)]
struct Skimmed {
    #[serde(default, rename = "anchors")]
    _anchors: Vec<SkimmedAnchor>,
}

#[derive(Deserialize)]
struct SkimmedAnchor {
    #[serde(rename = "name")]
    _name: IgnoredAny,
    #[serde(rename = "type")]
    _type: IgnoredAny,
    #[serde(rename = "handle")]
    _handle: IgnoredAny,
    #[serde(rename = "tensorInfo")]
    _tensor_info: SkimmedInfo,
}

#[derive(Deserialize)]
struct SkimmedInfo {
    #[serde(rename = "dataType")]
    _data_type: IgnoredAny,
    #[serde(rename = "shape")]
    _shape: IgnoredAny,
}

const _: () = assert!(size_of::<SkimmedAnchor>() == 0);

/// Metadata as JSON, whose memory is a small multiple of its length.
pub(super) fn read_metadata(place: &Place) -> Result<Metadata, Error> {
    let read = || {
        let Skimmed { .. } = parsed(place)?;
        parsed(place)
    };
    read().map_err(|error| error.in_file(place.path()))
}

fn parsed<T: for<'de> Deserialize<'de>>(place: &Place) -> Result<T, Error> {
    serde_json::from_reader(BufReader::new(place.reader()?)).map_err(|error| wrong(&error))
}

fn wrong(error: &JsonError) -> Error {
    match error.io_error_kind() {
        Some(kind) => Error::io("read the metadata", kind.into()),
        None => Error::new(Code::BadMetadata, format!("it is no metadata as JSON: {error}")),
    }
}
