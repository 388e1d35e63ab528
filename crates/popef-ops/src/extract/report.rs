use popef::types::BlobType;
use serde::Serialize;

use crate::Name;

/// What was taken out of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Extracted {
    /// The files, in the order in which they were given.
    pub files: Vec<ExtractedFile>,
}

/// What was taken out of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExtractedFile {
    /// The folder within the output. Empty if there is only one file.
    #[serde(skip)]
    pub folder: String,
    /// How many blobs were taken out.
    pub extracted: u64,
    /// How many blobs were left out.
    pub left_out: u64,
    /// The bytes of data of the blobs that were taken out.
    pub data_size: u64,
    /// The bytes that were written for them.
    pub extracted_size: u64,
    /// The files that do not belong to a blob: the bytes before the first one, if any, and the index.
    pub others: Vec<ExtractedPart>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExtractedPart {
    /// Its path, relative to the file's folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

impl ExtractedFile {
    pub(super) fn add(&mut self, blob: &ExtractedBlob) {
        self.extracted = self.extracted.saturating_add(1);
        self.data_size = self.data_size.saturating_add(blob.data_size);
        self.extracted_size = self.extracted_size.saturating_add(blob.extracted_size);
    }
}

/// A blob that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExtractedBlob {
    /// The number of its file among the files.
    #[serde(skip)]
    pub input: usize,
    /// The number of the blob in its file.
    pub index: usize,
    /// Its type.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. Metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// The file with its data, relative to the file's folder. `None` if only index.json has it.
    pub path: Option<String>,
    /// The name of the array in a file with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The file with the bytes after its tensors, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surplus: Option<ExtractedPart>,
    /// The size of its data in bytes.
    pub data_size: u64,
    /// The bytes that were written for it: its file and its surplus, or its data in a file with several arrays.
    pub extracted_size: u64,
    /// What is special.
    pub notes: Vec<Note>,
}

/// One line per note: its variant, its name, and its words.
macro_rules! notes {
    ($( $variant:ident = $name:literal, $words:literal; )+) => {
        /// A special property of an extracted blob.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Note { $( #[doc = $words] #[serde(rename = $name)] $variant, )+ }

        impl Note {
            /// All notes.
            pub const ALL: &'static [Note] = &[ $( Note::$variant, )+ ];

            /// The text for people, which follows the name of the blob.
            pub fn words(self) -> &'static str {
                match self { $( Note::$variant => $words, )+ }
            }
        }
    };
}

notes! {
    AsBytes = "as-bytes", "8-bit floats, for which the format has no type: written as bytes; index.json has the type";
    AsU8 = "as-u8", "8-bit floats, which numpy does not have: written as U8; popef.dataType.NAME in __metadata__ has the type";
    Raw = "raw", "written as bytes, because its data, shape or type make no array";
    Surplus = "surplus", "bytes after the last tensor are in a file of their own";
    Recompressed = "recompressed", "was compressed; pack compresses it anew, so the packed file has other bytes";
    AsZlib = "as-zlib", "was compressed with zstd or LZ4; pack compresses it with zlib, so the packed file has other bytes";
    TypeLost = "type-lost", "8-bit floats, for which the format has no type: written as bytes, which popef set --tensors takes for them";
    SurplusLeft = "surplus-left-out", "bytes after the last tensor were left out";
    Renamed = "renamed", "the file has another key for it, because its name could lead elsewhere, is hidden, or is another's; popef pack and popef set take that key, KEY, for the name";
    NameKept = "name-kept", "the file has another key for it; popef.name.KEY in __metadata__ has the name";
    FeedLost = "feed-lost", "a feed, which the file does not say: popef pack makes a tensor of it, unless it is given as --feed NAME=FILE";
    Unread = "unread", "metadata that claims more than its bytes can hold: only index.json has it";
}
