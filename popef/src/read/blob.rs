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
    texts: Texts<'a>,
    /// All bytes of the blob.
    whole: Data<'a>,
    /// The source of the file. A mapped file has one too.
    source: Option<&'a Backing>,
    limits: Limits,
}

/// The bytes in which the spans of a head are places.
#[derive(Clone, Copy)]
pub(super) enum Texts<'a> {
    /// The header and info messages.
    Messages(&'a [u8]),
    /// Copies of the texts alone.
    Copies(&'a [u8]),
}

impl<'a> Texts<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Texts::Messages(bytes) | Texts::Copies(bytes) => bytes,
        }
    }
}

impl<'a> Blob<'a> {
    pub(super) fn new(
        place: Place,
        head: Head,
        texts: Texts<'a>,
        whole: Data<'a>,
        source: Option<&'a Backing>,
        limits: Limits,
    ) -> Self {
        Blob { place, head, texts, whole, source, limits }
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
    #[doc(hidden)]
    pub fn named_by(&self, key: Key) -> Option<&'a [u8]> {
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

    /// Returns the header message, as it is in the file.
    ///
    /// What it says was read when the file was opened. If the bytes of the file are not in memory, those of the message are
    /// read when they are requested, like [data](Self::data).
    pub fn header_bytes(&self) -> Data<'a> {
        self.head_bytes().part(0, self.head.header_len.into())
    }

    /// Returns the info message, as it is in the file. Empty for an unknown blob type.
    ///
    /// It is read like the [header](Self::header_bytes).
    pub fn info_bytes(&self) -> Data<'a> {
        self.head_bytes().part(self.head.header_len, u64::MAX)
    }

    /// Returns the [header](Self::header_bytes) and the [info](Self::info_bytes), which follow each other.
    pub fn head_bytes(&self) -> Data<'a> {
        match self.texts {
            Texts::Messages(bytes) => Data::in_memory(bytes),
            Texts::Copies(_) => self.whole.part(0, self.head.len.into()),
        }
    }

    /// Returns the offset of the data in the file.
    pub fn data_offset(&self) -> u64 {
        self.offset().saturating_add(self.head.len.into())
    }

    /// Returns the data: everything after header and info. For an unknown blob type, everything after the header.
    pub fn data(&self) -> Data<'a> {
        self.whole.part(self.head.len, u64::MAX)
    }

    /// Returns the place of the data in the file's source. A mapped file has a source too.
    pub(crate) fn in_source(&self) -> Option<InSource<'a>> {
        Some(InSource::new(self.source?, self.index(), self.data_offset()))
    }

    /// Returns whether the files of both blobs are read from the same source.
    pub(crate) fn is_in_source_of(&self, other: &Blob<'_>) -> bool {
        matches!((self.source, other.source), (Some(own), Some(other)) if std::ptr::eq(own, other))
    }

    pub(super) fn span(&self, span: Span) -> &'a [u8] {
        span.of_head(self.texts.bytes())
    }

    pub(super) fn text(&self, span: Span) -> Text<'a> {
        Text::from(self.span(span))
    }

    /// Returns whether both are the same blob of the same opened file, or of clones of it.
    ///
    /// ```
    /// let [one, other] = [(); 2].map(|()| popef::File::open("examples/data/executable.popef").unwrap());
    /// let blob = one.blob(1).expect("the file has it");
    /// assert!(blob.is_same_blob(&one.clone().blob(1).unwrap()));
    /// assert!(!blob.is_same_blob(&other.blob(1).unwrap()));
    /// ```
    pub fn is_same_blob(&self, other: &Blob<'_>) -> bool {
        let is_same_file = match (self.source, other.source) {
            (Some(own), Some(other)) => std::ptr::eq(own, other),
            (None, None) => std::ptr::eq(self.texts.bytes(), other.texts.bytes()),
            _ => false,
        };
        is_same_file && self.index() == other.index()
    }

    /// Returns the limits of the file that the blob is in.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The place of a byte of the file, for errors about this blob.
    pub(super) fn at(&self, offset: u64) -> At<'a> {
        At::new(self.index(), offset, self.source.and_then(Backing::name))
    }

    /// Makes an error of a problem with this blob, at a byte of the file.
    #[doc(hidden)]
    pub fn error(&self, problem: impl Into<Problem>, offset: u64) -> Error {
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
