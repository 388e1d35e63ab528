//! The type and the name of a blob, by which errors refer to it.

use std::fmt;

use super::problem::WriteProblem;
use crate::error::Problem;
use crate::read::Blob;
use crate::types::{BlobType, InfoRef, Text, escape};

#[derive(Clone, Debug)]
pub(super) struct Label<'n> {
    pub(super) blob_type: BlobType,
    pub(super) name: Text<'n>,
}

/// A placeholder for no blob.
impl Default for Label<'_> {
    fn default() -> Self {
        Label { blob_type: BlobType::Other(u16::MAX), name: Text::default() }
    }
}

impl<'n> Label<'n> {
    pub(super) fn of(info: InfoRef<'n>) -> Self {
        Label { blob_type: info.blob_type(), name: info.name().by_ref() }
    }

    pub(super) fn of_blob(blob: &Blob<'n>) -> Self {
        let executable = || blob.as_metadata().map(|metadata| metadata.executable());
        Label { blob_type: blob.blob_type(), name: blob.name().or_else(executable).unwrap_or_default() }
    }

    /// Copies the name if it is borrowed. Fails if there is no memory for it.
    pub(super) fn try_to_own(self) -> Result<Label<'static>, Problem> {
        Ok(Label { blob_type: self.blob_type, name: self.name.try_to_own()? })
    }

    /// The name of an executable, which must be unique in a file. `None` for other blobs.
    pub(super) fn executable(&self) -> Option<&Text<'n>> {
        (self.blob_type == BlobType::PoplarExecutable).then_some(&self.name)
    }

    /// The escaped name, because it may come from an untrusted file.
    fn shown_name(&self) -> String {
        escape(&self.name.to_string_lossy()).into_owned()
    }

    pub(super) fn duplicate(&self) -> WriteProblem {
        WriteProblem::DuplicateExecutable { name: self.shown_name() }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.blob_type {
            BlobType::PoplarExecutable => "executable",
            BlobType::Metadata => "the metadata of executable",
            BlobType::DataTensor => "tensor",
            BlobType::DataFeed => "feed",
            BlobType::Opaque => "opaque blob",
            BlobType::Other(_) => "the blob",
        };
        write!(f, "{kind} {}", self.shown_name())
    }
}
