//! Reads metadata as JSON.

use std::io::{BufReader, Read};

use popef::Metadata;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Error as JsonError;

use crate::error::{Code, Error};
use crate::formats::Place;

/// Standard input, as a path.
pub(super) const STDIN: &str = "-";

/// What anchors must have. It is read first and takes no memory, so that a short document of `{}` does not become a long list of
/// anchors that are all defaults.
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
    parsed(&|| Ok(BufReader::new(place.reader()?))).map_err(|error| error.in_file(place.path()))
}

/// The same of a document in memory, which came from standard input.
pub(super) fn metadata_of(json: &[u8]) -> Result<Metadata, Error> {
    parsed(&|| Ok(json)).map_err(|error| error.in_file(STDIN))
}

fn parsed<R: Read>(reader: &dyn Fn() -> Result<R, Error>) -> Result<Metadata, Error> {
    let Skimmed { .. } = serde_json::from_reader(reader()?).map_err(|error| wrong(&error))?;
    serde_json::from_reader(reader()?).map_err(|error| wrong(&error))
}

fn wrong(error: &JsonError) -> Error {
    match error.io_error_kind() {
        Some(kind) => Error::io("read the metadata", kind.into()),
        None => Error::new(Code::BadMetadata, format!("it is no metadata as JSON: {error}")),
    }
}
