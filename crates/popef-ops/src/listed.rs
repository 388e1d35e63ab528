use popef::Blob;
use popef::types::{BlobType, Text, escape};
use serde::Serialize;

use crate::name::Name;

/// A blob in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its number in its file, from 0 on.
    pub index: usize,
    /// Its type.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name. Metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// Its size in bytes: header, info and data.
    pub size: u64,
}

impl Item {
    pub(crate) fn of(blob: &Blob<'_>) -> Self {
        Item { index: blob.index(), blob_type: blob.blob_type(), name: name_of(blob).into(), size: blob.size() }
    }
}

/// The name shown for a blob. Metadata has the name of its executable.
pub(crate) fn name_of<'b>(blob: &Blob<'b>) -> Text<'b> {
    let of_metadata = || blob.as_metadata().map(|metadata| metadata.executable());
    blob.name().or_else(of_metadata).unwrap_or_default()
}

/// The type and the name of a blob, in words.
pub(crate) fn label(blob: &Blob<'_>) -> String {
    let name = name_of(blob).to_string_lossy().into_owned();
    let name = escape(&name);
    match blob.blob_type() {
        BlobType::PoplarExecutable => format!("executable \"{name}\""),
        BlobType::Metadata => format!("the metadata of executable \"{name}\""),
        BlobType::DataTensor => format!("tensor \"{name}\""),
        BlobType::DataFeed => format!("feed \"{name}\""),
        BlobType::Opaque => format!("opaque blob \"{name}\""),
        other => format!("a blob of type {}", other.number()),
    }
}

/// A list with the count of all items but only the first ones themselves: a file may have millions of blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed<T> {
    /// The number of items.
    pub count: u64,
    /// Their total number of bytes.
    pub bytes: u64,
    /// The first thousand.
    pub first: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { count: 0, bytes: 0, first: Vec::new() }
    }
}

impl<T> Listed<T> {
    /// Maximum number of items that are kept.
    pub const MOST: usize = 1000;

    pub(crate) fn push(&mut self, bytes: u64, item: impl FnOnce() -> T) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.first.len() < Self::MOST {
            self.first.push(item());
        }
    }

    /// The number of items that are not in the list.
    pub fn more(&self) -> u64 {
        self.count.saturating_sub(u64::try_from(self.first.len()).unwrap_or(u64::MAX))
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
