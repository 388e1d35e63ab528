//! The manifests that files are compared with: see [`Manifest`].

mod keys;
mod parse;
mod rows;
mod source;

use std::fs;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use popef::read::LocalFile;

use super::digest::{Algorithms, Digest, Digests};
use super::report::PrefixHash;
use super::sums::{SumsLine, parse_sums};
use crate::error::{Code, Error};
use crate::name::FilePath;
use crate::work::{len_of, temporary};
use source::Source;

pub(super) use rows::{Row, Rows, digest_of, order_of};

/// What files are compared with.
///
/// A manifest is JSON in one of two forms, or lines of `sha256sum` or `b3sum`:
///
/// - one [`ManifestLine`](super::ManifestLine) per line;
/// - a document with `files`, an array of objects: the members of the line of a file, with `blobs` as an array of
///   [`BlobHash`](super::BlobHash).
///
/// Digests that are missing are not compared. Several manifests may follow each other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Manifest {
    /// JSON.
    Entries(Vec<ManifestEntry>),
    /// Lines of `sha256sum` or `b3sum`.
    Sums(Vec<SumsLine>),
}

/// A file in a manifest. Its blobs stay in the manifest, and are read when they are compared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The path of the file, relative to the working folder.
    pub path: FilePath,
    /// Digest of all bytes of the file.
    pub whole: Digests,
    /// Content digest of the file.
    pub content: Digests,
    /// Digest of all blob headers, in file order.
    pub headers: Digests,
    /// The digests of the bytes before the first blob.
    pub prefix: Option<PrefixHash>,
    /// The number of blobs with digests.
    pub blobs: u64,
    /// Whether these are all blobs of the file.
    pub complete: bool,
    pub(super) rows: KeptRows,
    pub(super) text: Arc<LocalFile>,
}

/// Where the blobs of a file are in a manifest, and what is known about them.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptRows {
    /// Where the first one begins.
    pub(super) start: u64,
    /// The digest of all their keys, which shows whether a file has the same blobs in the same order.
    pub(super) order: Digest,
    /// The algorithms with a digest of any blob's data.
    pub(super) data: Algorithms,
    /// The algorithms with a digest of any blob's content.
    pub(super) content: Algorithms,
}

impl Manifest {
    /// Maximum number of bytes that are read of a manifest other than JSON.
    const MOST_SUMS: u64 = 256 << 20;
    /// Maximum number of bytes that are read of a manifest from a pipe.
    const MOST_PIPED: u64 = 16 << 30;

    /// Opens a manifest. Anything other than a manifest is an error.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::of(LocalFile::open(path)?).map_err(|error| error.in_file(path))
    }

    /// Reads a manifest that is not in a file. It is copied to a temporary file, because it may be larger than memory.
    pub fn read(from: &mut dyn Read) -> Result<Self, Error> {
        let mut copy = temporary()?;
        let copied = io::copy(&mut from.take(Self::MOST_PIPED.saturating_add(1)), &mut copy);
        if copied.map_err(|error| Error::io("read the manifest", error))? > Self::MOST_PIPED {
            return Err(bad(format!("the manifest has more than {} bytes", Self::MOST_PIPED)));
        }
        Self::of_copy(copy)
    }

    fn of_copy(mut copy: fs::File) -> Result<Self, Error> {
        copy.seek(SeekFrom::Start(0)).map_err(|error| Error::io("read the manifest", error))?;
        Self::of(LocalFile::of(copy, None)?)
    }

    fn of(text: LocalFile) -> Result<Self, Error> {
        let text = Arc::new(text);
        let mut source = Source::new(&text);
        if source.peek_behind_whitespace()? == Some(b'{') {
            return Ok(Manifest::Entries(parse::entries(&text)?));
        }
        let mut lines = Vec::new();
        let read = Source::new(&text).take(Self::MOST_SUMS.saturating_add(1)).read_to_end(&mut lines);
        read.map_err(|error| Error::io("read the manifest", error))?;
        if len_of(&lines) > Self::MOST_SUMS {
            return Err(bad(format!("the manifest has more than {} bytes", Self::MOST_SUMS)));
        }
        Ok(Manifest::Sums(parse_sums(&lines)?))
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(Code::BadManifest, message)
}
