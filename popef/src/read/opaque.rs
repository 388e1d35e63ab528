use super::blob::Blob;
use super::data::Data;
use crate::types::{OpaqueInfo, Text};
use crate::wire::Span;

/// A blob that only the framework that wrote it can read.
#[derive(Clone, Copy, Debug)]
pub struct OpaqueBlob<'a> {
    blob: Blob<'a>,
    name: Span,
    executable: Span,
}

impl<'a> OpaqueBlob<'a> {
    pub(super) fn new(blob: Blob<'a>, name: Span, executable: Span) -> Self {
        OpaqueBlob { blob, name, executable }
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns the blob's name, usually that of the framework that wrote it.
    pub fn name(&self) -> Text<'a> {
        self.blob.text(self.name)
    }

    /// Returns the name of the executable that the blob belongs to.
    pub fn executable(&self) -> Text<'a> {
        self.blob.text(self.executable)
    }

    /// Returns the name and the executable as an owned value.
    pub fn info(&self) -> OpaqueInfo {
        OpaqueInfo { name: self.name().into_owned(), executable: self.executable().into_owned() }
    }

    /// Returns the framework's bytes.
    pub fn data(&self) -> Data<'a> {
        self.blob.data()
    }
}
