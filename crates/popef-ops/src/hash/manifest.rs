//! What a manifest holds.

use std::path::Path;

use popef::types::{BlobType, ErrorInfo, Text};
use serde::{Deserialize, Serialize};

use super::digest::Digests;
use crate::name::Name;

/// A file in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The path of the file, relative to the working folder. It need not be UTF-8.
    pub path: Text<'static>,
    /// Its digests.
    #[serde(flatten)]
    pub hash: FileHash,
}

impl ManifestEntry {
    /// An entry for a path.
    pub fn new(path: &Path, hash: FileHash) -> Self {
        ManifestEntry { path: Text::from(path.as_os_str().as_encoded_bytes()).into_owned(), hash }
    }
}

/// The digests of a file and of its blobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileHash {
    /// The size of the file in bytes.
    pub size: u64,
    /// Of all bytes of the file. Empty unless asked for.
    #[serde(default, skip_serializing_if = "Digests::is_empty")]
    pub whole: Digests,
    /// Of what the file means. Empty if it was not asked for or a blob has none.
    #[serde(default, skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// What comes before the first blob, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixHash>,
    /// The blobs, in the order of the file.
    #[serde(default)]
    pub blobs: Vec<BlobHash>,
}

/// The digests of the bytes before the first blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PrefixHash {
    /// How many bytes there are.
    pub size: u64,
    /// Of these bytes.
    pub data: Digests,
}

/// The digests of a blob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobHash {
    /// The type of the blob.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. That of metadata is its executable's.
    #[serde(flatten)]
    pub name: Name,
    /// The executable that an opaque blob belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<Text<'static>>,
    /// The size of its data as stored.
    pub data_size: u64,
    /// Of the data as it is stored. Empty unless asked for.
    #[serde(default, skip_serializing_if = "Digests::is_empty")]
    pub data: Digests,
    /// Of what the blob means. Empty if it was not asked for or cannot be computed.
    #[serde(default, skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// Why there is no digest of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}
