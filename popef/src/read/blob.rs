use std::fmt;

use super::at::At;
use super::data::{Data, InSource};
use super::names::Key;
use super::source::Backing;
use super::walk::Place;
use crate::error::{Error, Problem};
use crate::limits::Limits;
use crate::types::{BlobType, Text};
use crate::wire::{Head, InfoFields, Span};

/// One blob of a file: its header, its info and the place of its data. A `Blob` is cheap to copy, and getting one reads
/// no data.
#[derive(Clone, Copy)]
pub struct Blob<'a> {
    place: Place,
    pub(super) head: Head,
    /// The header and info messages.
    bytes: &'a [u8],
    data: Data<'a>,
    /// The source of the file. A mapped file has one too.
    source: Option<&'a Backing>,
    limits: Limits,
}

impl<'a> Blob<'a> {
    pub(super) fn new(
        place: Place,
        head: Head,
        bytes: &'a [u8],
        data: Data<'a>,
        source: Option<&'a Backing>,
        limits: Limits,
    ) -> Self {
        Blob { place, head, bytes, data, source, limits }
    }

    /// Returns the blob's number in the file, counted from 0.
    pub fn index(&self) -> usize {
        self.place.index
    }

    /// Returns the offset of the blob in the file.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Returns the size of the blob in bytes: header, info and data.
    pub fn size(&self) -> u64 {
        self.head.size
    }

    /// Returns the version of the format that the blob was written for. Empty in most files.
    pub fn version(&self) -> Text<'a> {
        self.text(self.head.version)
    }

    /// Returns the type of the blob.
    pub fn blob_type(&self) -> BlobType {
        self.head.blob_type()
    }

    /// Returns the blob's name. Executables, tensors, feeds and opaque blobs have one.
    pub fn name(&self) -> Option<Text<'a>> {
        self.head.name().map(|name| self.text(name))
    }

    /// Returns the name by which a key finds the blob, if it does.
    pub(crate) fn named_by(&self, key: Key) -> Option<&'a [u8]> {
        if key.blob_type() != self.blob_type() {
            return None;
        }
        match (key, self.head.info) {
            (Key::Name(_), _) => self.head.name().map(|name| self.span(name)),
            (Key::Executable(_), InfoFields::Metadata { executable, .. } | InfoFields::Opaque { executable, .. }) => {
                Some(self.span(executable))
            }
            (Key::Executable(_), _) => None,
        }
    }

    /// Returns the bytes of the header message, as they are in the file.
    pub fn header_bytes(&self) -> &'a [u8] {
        self.split_head().0
    }

    /// Returns the bytes of the info message, as they are in the file. Empty for an unknown blob type.
    pub fn info_bytes(&self) -> &'a [u8] {
        self.split_head().1
    }

    /// Returns the offset of the data in the file.
    pub fn data_offset(&self) -> u64 {
        self.offset().saturating_add(self.head.len.into())
    }

    /// Returns the data: everything after header and info. For an unknown blob type, everything after the header.
    pub fn data(&self) -> Data<'a> {
        self.data
    }

    /// Returns the place of the data in the file's source. A mapped file has a source too.
    pub(crate) fn in_source(&self) -> Option<InSource<'a>> {
        Some(InSource::new(self.source?, self.index(), self.data_offset()))
    }

    /// Returns whether the files of both blobs are read from the same source.
    pub(crate) fn is_in_source_of(&self, other: &Blob<'_>) -> bool {
        matches!((self.source, other.source), (Some(own), Some(other)) if std::ptr::eq(own, other))
    }

    fn split_head(&self) -> (&'a [u8], &'a [u8]) {
        let header_len = usize::try_from(self.head.header_len).unwrap_or(usize::MAX);
        self.bytes.split_at_checked(header_len).unwrap_or_default()
    }

    pub(super) fn span(&self, span: Span) -> &'a [u8] {
        span.of_head(self.bytes)
    }

    pub(super) fn text(&self, span: Span) -> Text<'a> {
        Text::from(self.span(span))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The place of a byte of the file, for errors about this blob.
    pub(super) fn at(&self, offset: u64) -> At<'a> {
        At::new(self.index(), offset, self.source.and_then(Backing::name))
    }

    /// Makes an error of a problem with this blob, at a byte of the file.
    pub(crate) fn error(&self, problem: impl Into<Problem>, offset: u64) -> Error {
        self.at(offset).error(problem)
    }

    /// The offset of the info message in the file.
    pub(super) fn info_offset(&self) -> u64 {
        self.offset().saturating_add(self.head.header_len.into())
    }
}

impl fmt::Debug for Blob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("index", &self.index())
            .field("offset", &self.offset())
            .field("size", &self.size())
            .field("version", &self.version())
            .field("blob_type", &self.blob_type())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
