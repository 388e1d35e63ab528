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
    /// How many blobs it has. The document has the blobs themselves under this name.
    #[serde(skip)]
    pub blobs: u64,
    /// How many of them show no change since they were extracted.
    pub same: u64,
    /// How many were changed since they were extracted.
    pub changed: u64,
    /// How many were compressed.
    pub compressed: u64,
    /// How many would have grown if they had been compressed.
    pub would_grow: u64,
    /// How many were not extracted.
    pub new: u64,
    /// What does not fit its anchor, if it was written all the same: at most the first thousand.
    pub problems: Vec<String>,
    /// How many problems there are.
    pub problem_count: u64,
    /// What fits, but is hardly meant, such as a feed that ends within a call: at most the first thousand.
    pub warnings: Vec<String>,
    /// How many warnings there are.
    pub warning_count: u64,
    /// What is in the folders but was not packed, because no `index.json` names it, and it is no other input: at most the first
    /// thousand.
    pub left_out: Vec<LeftBehind>,
    /// How many of these there are.
    pub left_out_count: u64,
    /// The errors and warnings that the library's checks find in the new file besides the problems and warnings above. `None` if it
    /// could not be read back.
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
    /// Its name. That of metadata is its executable's.
    #[serde(flatten)]
    pub name: Name,
    /// The size of the blob in bytes.
    pub size: u64,
    /// How it compares with what was extracted.
    pub state: State,
    /// How the executable was compressed before, if it is compressed anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Compression>,
    /// How the executable was compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Compression>,
    /// The type of its anchor, if it is an array of bytes that was taken as 8-bit floats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_as: Option<DataType>,
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
    /// It was compressed, perhaps anew, so its bytes are others.
    Compressed,
    /// It was to be compressed, but would not have become smaller, so it is as it was.
    WouldGrow,
    /// It was not extracted.
    New,
}
