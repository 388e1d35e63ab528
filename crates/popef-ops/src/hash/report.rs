//! What hashing a file gives.

use popef::types::{BlobType, Diagnostic, Text};
use popef::{Blob, Content};
use serde::{Deserialize, Serialize};

use super::blob::BlobDigests;
use super::digest::Digests;
use crate::diff::{Key, key};
use crate::name::{FilePath, InFile, Name};

/// The digests of a blob.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobHash {
    /// The blob's number in the file, counted from 0.
    pub index: usize,
    /// The type of the blob.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. Metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// The executable that an opaque blob belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<Text<'static>>,
    /// The size of its data as stored.
    pub data_size: u64,
    /// Digest of the data as stored. Empty if it was not requested.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub data: Digests,
    /// Content digest of the blob. Empty if it was not requested or cannot be computed.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// Why the content has no digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Diagnostic>,
}

impl BlobHash {
    pub(super) fn new(blob: &Blob<'_>, BlobDigests { data, content, error, .. }: BlobDigests) -> Self {
        let (blob_type, name, executable) = key(blob);
        BlobHash {
            index: blob.index(),
            blob_type,
            name: name.into(),
            executable: matches!(blob.content(), Content::Opaque(_)).then(|| executable.into_owned()),
            data_size: blob.data().len(),
            data,
            content,
            error: error.map(|error| *error),
        }
    }
}

impl BlobHash {
    pub(super) fn key(&self) -> Key<'_> {
        let executable = self.executable.as_ref().map(Text::by_ref).unwrap_or_default();
        (self.blob_type, self.name.text().by_ref(), executable)
    }
}

/// The digests of a file as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileHash {
    /// The size of the file in bytes.
    pub size: u64,
    /// How many blobs were hashed.
    pub blobs: u64,
    /// The number of blobs without a content digest, because they are damaged.
    pub damaged: u64,
    /// Whether these are all blobs of the file.
    pub complete: bool,
    /// The digests of the bytes before the first blob, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixHash>,
    /// Content digest of the file. Empty if it was not requested, or if a blob has none.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// Digest of all blob headers, in file order. Empty if it was not requested, together with `whole`, or if not all
    /// blobs were hashed.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub headers: Digests,
    /// Digest of all bytes of the file. Empty if it was not requested.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub whole: Digests,
}

/// The digests of the bytes before the first blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PrefixHash {
    /// The number of bytes.
    pub size: u64,
    /// Digest of these bytes.
    pub data: Digests,
}

/// A line of a manifest: see [`Manifest`](super::Manifest).
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[non_exhaustive]
pub enum ManifestLine<'l> {
    /// A blob. The lines of all blobs of a file come before that of the file.
    Blob {
        /// The path of the file.
        #[serde(flatten)]
        file: &'l InFile,
        /// The digests of the blob.
        #[serde(flatten)]
        blob: &'l BlobHash,
    },
    /// A file.
    File {
        /// Its path.
        #[serde(flatten)]
        path: &'l FilePath,
        /// Its digests.
        #[serde(flatten)]
        hash: &'l FileHash,
    },
}
