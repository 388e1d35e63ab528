use popef::DataType;
use popef::read::Compression;
use popef::types::BlobType;
use serde::Serialize;

use crate::Name;
use crate::findings::NewFinding;

/// What was packed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Packed {
    /// The size of the file in bytes.
    pub size: u64,
    /// The number of blobs. In the document, this key has the blobs themselves.
    #[serde(skip)]
    pub blobs: u64,
    /// The number of blobs without a change since they were extracted.
    pub same: u64,
    /// The number of blobs that were changed since they were extracted.
    pub changed: u64,
    /// The number of blobs that were compressed.
    pub compressed: u64,
    /// The number of blobs that compression would have enlarged.
    pub would_grow: u64,
    /// The number of blobs that were not extracted.
    pub new: u64,
    /// Data that does not fit its anchor but was written because that was allowed: at most the first thousand.
    pub problems: Vec<String>,
    /// The number of problems.
    pub problem_count: u64,
    /// Data that is valid but hardly intended, such as a feed that ends within a call: at most the first thousand.
    pub warnings: Vec<String>,
    /// The number of warnings.
    pub warning_count: u64,
    /// Files in the folders that were not packed, because no `index.json` names them and they are not another input: at
    /// most the first thousand.
    pub left_out: Vec<LeftBehind>,
    /// The number of these files.
    pub left_out_count: u64,
    /// The errors and warnings that the library's checks find in the new file in addition to the problems and warnings
    /// above. `None` if the file could not be read back.
    pub new_findings: Option<Vec<NewFinding>>,
}

impl Packed {
    pub(super) fn add(&mut self, blob: &PackedBlob) {
        let count = match blob.state {
            State::Same => &mut self.same,
            State::Changed => &mut self.changed,
            State::Compressed => &mut self.compressed,
            State::WouldGrow => &mut self.would_grow,
            State::New => &mut self.new,
        };
        *count = count.saturating_add(1);
        self.blobs = self.blobs.saturating_add(1);
    }
}

/// A file in a folder, or an array in such a file, that was not packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LeftBehind {
    /// The file.
    pub file: String,
    /// The array, if the rest of the file was packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
}

/// A blob that was packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PackedBlob {
    /// Its number in the file.
    pub index: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. Metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// The size of the blob in bytes.
    pub size: u64,
    /// Its state compared with the extracted blob.
    pub state: State,
    /// How the executable was compressed before, if it is compressed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Compression>,
    /// How the executable was compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Compression>,
    /// The type of its anchor, if it is an array of bytes that stands for 8-bit floats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_as: Option<DataType>,
}

/// A packed blob's state compared with the extracted blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum State {
    /// No sign of a change: its files have the times that they got when they were extracted.
    Same,
    /// Its files were written since then, or differ from the index.
    Changed,
    /// It was compressed, perhaps again, so its bytes differ.
    Compressed,
    /// It was to be compressed, but would not have become smaller, so it is unchanged.
    WouldGrow,
    /// It was not extracted.
    New,
}
