//! The digests of one blob, from its data as it is read once.

use std::io::{self, Read};

use popef::read::{Limits, Unpack};
use popef::types::Diagnostic;
use popef::{Blob, Content};

use super::HashOptions;
use super::content::content_of;
use super::digest::{Algorithms, Digests, Hasher};
use super::headers::header_of;
use crate::error::Error;
use crate::progress::Progress;
use crate::work::{PIECE, fault, fill, len_of};

/// The digests of a blob, and why its content has none, if it should have one.
#[derive(Default)]
pub(super) struct BlobDigests {
    pub(super) data: Digests,
    pub(super) content: Digests,
    /// The digest of its header and info.
    pub(super) header: Digests,
    pub(super) error: Option<Box<Diagnostic>>,
}

/// Computes the digests of a blob from a reader of its stored data. If the data is damaged, the reader is still read to
/// its end.
pub(super) fn hash_blob(
    blob: &Blob<'_>,
    options: &HashOptions<'_>,
    stored: &mut (dyn Read + Send),
    buffer: &mut Vec<u8>,
    progress: &dyn Progress,
) -> Result<BlobDigests, Error> {
    buffer.resize(PIECE, 0);
    let found = BlobDigests::begin(blob, options, buffer)?;
    let mut stream = Stream { from: stored, hasher: Hasher::new(options.algorithms), progress };
    let packed = blob.as_executable().filter(|executable| executable.is_compressed() && options.content);
    let bytes = match packed {
        Some(executable) => stream.unpack(executable.uncompressed_size(), options.algorithms, buffer)?,
        None => Ok(stream.read_content(blob, buffer)?),
    };
    stream.read(u64::MAX, buffer)?;
    found.finish(blob, options, stream.hasher.finish(), bytes)
}

impl BlobDigests {
    /// Begins with the digests of the header, which is read before the data.
    pub(super) fn begin(blob: &Blob<'_>, options: &HashOptions<'_>, buffer: &mut Vec<u8>) -> Result<Self, Error> {
        let mut found = BlobDigests::default();
        if options.headers {
            found.header = header_of(blob, options.algorithms, buffer)?;
        }
        Ok(found)
    }

    /// Adds the digests of the data and, if that is not damaged, those of the content, given its length and digests.
    pub(super) fn finish(
        mut self,
        blob: &Blob<'_>,
        options: &HashOptions<'_>,
        data: Digests,
        bytes: Result<(u64, Digests), Error>,
    ) -> Result<Self, Error> {
        if options.data {
            self.data = data;
        }
        if options.content {
            match bytes.and_then(|(len, bytes)| Ok(content_of(blob, options.algorithms, len, bytes)?)) {
                Ok(content) => self.content = content,
                Err(error) => self.error = Some(Box::new(fault(&error).map(popef::Error::describe).ok_or(error)?)),
            }
        }
        Ok(self)
    }
}

/// Returns how many of a blob's bytes are its content, if these are the first bytes of its data. `None` for metadata,
/// whose content is not in its data, and for compressed executables.
pub(super) fn content_len(blob: &Blob<'_>) -> Option<u64> {
    match blob.content() {
        Content::Metadata(_) => None,
        Content::Executable(executable) if executable.is_compressed() => None,
        _ => {
            let surplus = blob.as_data().map_or(0, |tensors| tensors.surplus());
            Some(blob.data().len().saturating_sub(surplus))
        }
    }
}

/// Data that is hashed while it is read.
struct Stream<'s> {
    from: &'s mut (dyn Read + Send),
    hasher: Hasher,
    progress: &'s dyn Progress,
}

impl Stream<'_> {
    /// Reads at most `len` bytes.
    fn read(&mut self, len: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let mut left = len;
        loop {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let piece = fill(self.from, buffer.get_mut(..most).unwrap_or_default())?;
            if piece.is_empty() {
                return Ok(());
            }
            left = left.saturating_sub(len_of(piece));
            self.progress.add(len_of(piece))?;
            self.hasher.update(piece);
        }
    }

    /// Reads the part of the data that is the blob's content. Returns its length and digests.
    fn read_content(&mut self, blob: &Blob<'_>, buffer: &mut [u8]) -> Result<(u64, Digests), Error> {
        let len = content_len(blob).unwrap_or_default();
        self.read(len, buffer)?;
        Ok((len, self.hasher.clone().finish()))
    }

    /// Unpacks a compressed executable. The outer error is one of reading, and the inner one damage of the data.
    fn unpack(
        &mut self,
        size: u64,
        algorithms: Algorithms,
        buffer: &mut [u8],
    ) -> Result<Result<(u64, Digests), Error>, Error> {
        let mut failure = None;
        let tee = Tee { stream: self, failure: &mut failure };
        let unpacked = unpacked(tee, size, algorithms, buffer);
        failure.map_or(Ok(unpacked), Err)
    }
}

fn unpacked(
    packed: impl Read + Send,
    size: u64,
    algorithms: Algorithms,
    buffer: &mut [u8],
) -> Result<(u64, Digests), Error> {
    let mut unpack = Unpack::from_reader(packed, size, &Limits::default())?;
    let mut hasher = Hasher::new(algorithms);
    loop {
        let piece = fill(&mut unpack, buffer)?;
        if piece.is_empty() {
            return Ok((size, hasher.finish()));
        }
        hasher.update(piece);
    }
}

/// Hashes what a decoder reads. Keeps an error of reading, because decoders wrap it in their own ways.
struct Tee<'t, 's> {
    stream: &'t mut Stream<'s>,
    failure: &'t mut Option<Error>,
}

impl Read for Tee<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.from.read(buf).map_err(|error| Error::io("read the data", error));
        let len = read.and_then(|len| {
            self.stream.progress.add(u64::try_from(len).unwrap_or(u64::MAX))?;
            Ok(len)
        });
        match len {
            Ok(len) => {
                self.stream.hasher.update(buf.get(..len).unwrap_or_default());
                Ok(len)
            }
            Err(error) => {
                *self.failure = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }
}
