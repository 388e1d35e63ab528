//! What a manifest holds.

use std::io::Read;
use std::path::Path;

use popef::types::{BlobType, ErrorInfo, Text};
use serde::{Deserialize, Serialize};

use super::digest::Digests;
use super::sums::{SumsLine, parse_sums};
use crate::error::{Code, Error};
use crate::name::{FilePath, Name};
use crate::work::len_of;

/// A file in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "EntryKeys")]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The path of the file, relative to the working folder.
    #[serde(flatten)]
    pub path: FilePath,
    /// Its digests.
    #[serde(flatten)]
    pub hash: FileHash,
}

impl ManifestEntry {
    /// An entry for a path.
    pub fn new(path: &Path, hash: FileHash) -> Self {
        ManifestEntry { path: path.into(), hash }
    }
}

/// The keys of an entry. Reading a flattened structure would take much more memory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryKeys {
    path: String,
    path_bytes: Option<String>,
    size: u64,
    #[serde(default)]
    whole: Digests,
    #[serde(default)]
    content: Digests,
    #[serde(default)]
    prefix: Option<PrefixHash>,
    #[serde(default)]
    blobs: Vec<BlobHash>,
}

impl TryFrom<EntryKeys> for ManifestEntry {
    type Error = &'static str;

    fn try_from(keys: EntryKeys) -> Result<Self, &'static str> {
        let EntryKeys { path, path_bytes, size, whole, content, prefix, blobs } = keys;
        let path =
            FilePath::of_keys(path, path_bytes.as_deref()).ok_or("pathBytes has two hex digits for each byte")?;
        Ok(ManifestEntry { path, hash: FileHash { size, whole, content, prefix, blobs } })
    }
}

/// The digests of a file and of its blobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileHash {
    /// The size of the file in bytes.
    pub size: u64,
    /// Of all bytes of the file. Empty unless asked for.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub whole: Digests,
    /// Of what the file means. Empty if it was not asked for or a blob has none.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// What comes before the first blob, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixHash>,
    /// The blobs, in the order of the file.
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
#[serde(rename_all = "camelCase", try_from = "BlobKeys")]
#[non_exhaustive]
pub struct BlobHash {
    /// The type of the blob.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. That of metadata is its executable's.
    #[serde(flatten)]
    pub name: Name,
    /// The executable that an opaque blob belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<Text<'static>>,
    /// The size of its data as stored.
    pub data_size: u64,
    /// Of the data as it is stored. Empty unless asked for.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub data: Digests,
    /// Of what the blob means. Empty if it was not asked for or cannot be computed.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub content: Digests,
    /// Why there is no digest of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}

/// The keys of a blob. An error that kept a content from being hashed is not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlobKeys {
    #[serde(rename = "type")]
    blob_type: BlobType,
    name: String,
    name_bytes: Option<String>,
    executable: Option<Text<'static>>,
    data_size: u64,
    #[serde(default)]
    data: Digests,
    #[serde(default)]
    content: Digests,
}

impl TryFrom<BlobKeys> for BlobHash {
    type Error = &'static str;

    fn try_from(keys: BlobKeys) -> Result<Self, &'static str> {
        let BlobKeys { blob_type, name, name_bytes, executable, data_size, data, content } = keys;
        let name = Name::of_keys(name, name_bytes.as_deref()).ok_or("nameBytes has two hex digits for each byte")?;
        Ok(BlobHash { blob_type, name, executable, data_size, data, content, error: None })
    }
}

/// What a file is compared with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Manifest {
    /// The JSON of `popef hash`: one document, or a line for each file.
    Entries(Vec<ManifestEntry>),
    /// Lines of `sha256sum` or `b3sum`.
    Sums(Vec<SumsLine>),
}

impl Manifest {
    /// The size of the largest manifest that is read.
    pub const LIMIT: u64 = 256 << 20;

    /// Reads a manifest. It may be anything: what is none is an error.
    pub fn read(from: &mut dyn Read) -> Result<Self, Error> {
        let mut text = Vec::new();
        from.take(Self::LIMIT.saturating_add(1))
            .read_to_end(&mut text)
            .map_err(|error| Error::io("read the manifest", error))?;
        if len_of(&text) > Self::LIMIT {
            return Err(Error::new(Code::BadManifest, format!("the manifest has more than {} bytes", Self::LIMIT)));
        }
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self, Error> {
        if !text.trim_ascii_start().starts_with(b"{") {
            return Ok(Manifest::Sums(parse_sums(text)?));
        }
        #[derive(Deserialize)]
        struct Document {
            files: Vec<ManifestEntry>,
        }
        let wrong = |error| Error::new(Code::BadManifest, format!("this is no manifest: {error}"));
        let mut documents = serde_json::Deserializer::from_slice(text).into_iter::<Document>();
        let of_document = match documents.next() {
            Some(Ok(Document { mut files })) => {
                // Several manifests, one behind the other.
                for document in documents {
                    files.extend(document.map_err(wrong)?.files);
                }
                return Ok(Manifest::Entries(files));
            }
            first => first.and_then(Result::err),
        };
        let lines: Result<_, _> = serde_json::Deserializer::from_slice(text).into_iter::<ManifestEntry>().collect();
        // If it has no lines, the document is what is wrong.
        let of_document = of_document.filter(|error| !error.to_string().contains("missing field `files`"));
        lines.map(Manifest::Entries).map_err(|error| wrong(of_document.unwrap_or(error)))
    }
}
