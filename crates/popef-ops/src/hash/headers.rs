//! The digest of the headers of a file. docs/TOOLBOX.md describes its form: do not change one without the other, and not without
//! another [`FORM`].

use popef::{Blob, File};

use super::digest::{Algorithms, Digests, Hasher};
use crate::error::Error;
use crate::work::{PIECE_LEN, bytes_of, len_of, pieces};

/// Begins the form.
const FORM: &[u8] = b"popef-headers-1";

/// The digests of a blob's header and info, which precede its data.
pub(super) fn header_of(blob: &Blob<'_>, algorithms: Algorithms, buffer: &mut Vec<u8>) -> Result<Digests, Error> {
    let header = blob.head_bytes();
    let mut hasher = Hasher::new(algorithms);
    for piece in pieces(0..header.len(), PIECE_LEN) {
        hasher.update(bytes_of(&header, piece, buffer)?);
    }
    Ok(hasher.finish())
}

/// The headers of all blobs, in the order of the file.
pub(super) struct Headers(Hasher);

impl Headers {
    pub(super) fn begin(file: &File, algorithms: Algorithms) -> Self {
        let mut hasher = Hasher::new(algorithms);
        hasher.update(&len_of(FORM).to_le_bytes());
        hasher.update(FORM);
        hasher.update(&u64::try_from(file.len()).unwrap_or(u64::MAX).to_le_bytes());
        Headers(hasher)
    }

    /// Adds the next blob, given the digests of its header.
    pub(super) fn push(&mut self, blob: &Blob<'_>, header: &Digests) {
        self.0.update(&blob.head_bytes().len().to_le_bytes());
        self.0.update_with(header);
        self.0.update(&blob.data().len().to_le_bytes());
    }

    pub(super) fn finish(self) -> Digests {
        self.0.finish()
    }
}
