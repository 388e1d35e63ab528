use popef::types::BlobType;
use serde::Serialize;

use crate::Name;

/// What was packed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Packed {
    /// The size of the file in bytes.
    pub size: u64,
    /// Its blobs, in order.
    pub blobs: Vec<PackedBlob>,
    /// What does not fit its anchor, if it was written all the same.
    pub problems: Vec<String>,
}

/// A blob that was packed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PackedBlob {
    /// Its number in the file.
    pub index: usize,
    /// Its type.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. That of metadata is its executable's.
    #[serde(flatten)]
    pub name: Name,
    /// The size of the blob in bytes.
    pub size: u64,
    /// How it compares with what was extracted.
    pub state: State,
}

/// How a packed blob compares with the one that was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum State {
    /// Nothing shows a change: its files have the times that they got when they were extracted.
    Same,
    /// Its files were written to since then, or say something else.
    Changed,
    /// It was compressed anew, so its bytes are others.
    Compressed,
    /// It was not extracted.
    New,
}
