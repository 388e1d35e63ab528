//! Digests of files, of their blobs, and of their content: see [`hash`].

mod blob;
mod content;
mod digest;
mod headers;
mod manifest;
mod report;
mod sums;
mod tree;
mod verify;
mod whole;

use std::fmt;

use blake3::hazmat::ChainingValue;
use popef::read::Data;
use popef::{Blob, File};

use crate::error::Error;
use crate::progress::{Progress, Silent};
use crate::work::{Load, PIECE_LEN, Scratch, Task, Tasks, bytes_of, len_of, pieces, rows_in_order};
use blob::{BlobDigests, content_len, hash_blob};
use content::Contents;
use headers::Headers;
use tree::{Piece, Tree};

pub use digest::{Algorithms, Digest, Digests, NotADigest};
pub use manifest::{Manifest, ManifestEntry};
pub use report::{BlobHash, FileHash, ManifestLine, PrefixHash};
pub use sums::{SumsLine, parse_sums, sums_line};
pub use verify::{BlobVerdict, SelectNamed, Verification, VerifyOptions, WrongBlob, verify};
pub use whole::{hash_bytes, hash_path};

/// Which digests to compute. Others are not computed.
#[derive(Clone, Copy)]
pub struct HashOptions<'o> {
    /// The algorithms to use.
    pub algorithms: Algorithms,
    /// Digest of all bytes of the file. With SHA-256, this is as much work as all blobs together, and cannot be
    /// divided. It runs besides the blobs, and each byte is still read only once.
    pub whole: bool,
    /// Digest of each blob's data as stored.
    pub data: bool,
    /// Content digest of each blob and of the file. Costs hardly anything in addition to `data`, except for compressed
    /// executables, which are unpacked, and for tensors that other bytes follow.
    pub content: bool,
    /// Digest of all blob headers, in file order. Together with `data`, it covers all bytes of a file without hashing
    /// any twice. Not computed together with `whole`.
    pub headers: bool,
    /// Which blobs are hashed.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

/// SHA-256 of the data and the content of all blobs, and of their headers.
impl Default for HashOptions<'_> {
    fn default() -> Self {
        let (algorithms, select) = (Algorithms::SHA256, &|_: &Blob<'_>| true);
        HashOptions { algorithms, whole: false, data: true, content: true, headers: true, select }
    }
}

impl fmt::Debug for HashOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashOptions")
            .field("algorithms", &self.algorithms)
            .field("whole", &self.whole)
            .field("data", &self.data)
            .field("content", &self.content)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// Computes the digests of a file and of its blobs.
///
/// The content digests do not depend on order, compression, versions, the encoding of messages and bytes after tensors:
/// two files with the same digests are the same for [`diff`](crate::diff::diff). If an executable cannot be unpacked,
/// it and the file have no content digest. If only some blobs are selected, the file has no content digest, and no
/// digest of its headers.
///
/// `each` is called with the digests of each blob, in file order. Memory for the content digest of the file is 36 bytes
/// per blob, or 68 for both algorithms.
///
/// The blobs are hashed on all processors, and large ones with BLAKE3 in pieces.
///
/// ```
/// use popef_ops::hash::{BlobHash, HashOptions, hash};
/// use popef_ops::Silent;
///
/// # let bytes = |packing: Option<popef::write::Packing>| {
/// #     let mut writer = popef::Writer::seekable(std::io::Cursor::new(Vec::new()))?;
/// #     match packing {
/// #         None => writer.write_executable("model", &[7; 1000])?,
/// #         Some(packing) => writer.write_packed_executable("model", &[7; 1000], packing)?,
/// #     };
/// #     Ok::<_, popef::Error>(writer.into_inner()?.into_inner())
/// # };
/// # let plain = popef::File::from_bytes(bytes(None)?)?;
/// # let packed = popef::File::from_bytes(bytes(Some(popef::write::Packing::default()))?)?;
/// let mut blobs: Vec<BlobHash> = Vec::new();
/// let mut keep = |blob| {
///     blobs.push(blob);
///     Ok(())
/// };
/// let plain = hash(&plain, &HashOptions::default(), &Silent, &mut keep)?;
/// let packed = hash(&packed, &HashOptions::default(), &Silent, &mut keep)?;
/// assert_ne!(blobs[0].data, blobs[1].data);
/// assert_eq!(plain.content, packed.content);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hash(
    file: &File,
    options: &HashOptions<'_>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(BlobHash) -> Result<(), Error>,
) -> Result<FileHash, Error> {
    let options = &HashOptions { headers: options.headers && !options.whole, ..*options };
    progress.expect(expected(file, options));
    let prefix =
        hash_bytes(&mut file.prefix().reader(), options.algorithms, if options.whole { &Silent } else { progress })?;
    let (mut blobs, mut damaged) = (0u64, 0u64);
    let mut contents = Contents::with_room(options.algorithms, if options.content { file.len() } else { 0 });
    let mut headers = options.headers.then(|| Headers::begin(file, options.algorithms));
    let mut take = |blob: Blob<'_>, digests: BlobDigests| {
        if let Some(headers) = &mut headers {
            headers.push(&blob, &digests.header);
        }
        blobs = blobs.saturating_add(1);
        damaged = damaged.saturating_add(digests.error.is_some().into());
        if options.content {
            contents.push(blob.index(), &digests.content);
        }
        each(BlobHash::new(&blob, digests))
    };
    let whole = if options.whole {
        whole::with_blobs(file, options, progress, &mut take)?
    } else {
        blobs_of(file, options, progress, &mut take).map(|()| Digests::default())?
    };
    let prefix_len = file.prefix().len();
    let content = if options.content {
        contents.finish(file, options.algorithms, (prefix_len, prefix))
    } else {
        Digests::default()
    };
    let prefix = (prefix_len > 0).then_some(PrefixHash { size: prefix_len, data: prefix });
    let complete = blobs == u64::try_from(file.len()).unwrap_or(u64::MAX);
    let headers = headers.filter(|_| complete).map(Headers::finish).unwrap_or_default();
    Ok(FileHash { size: file.size(), blobs, damaged, complete, prefix, content, headers, whole })
}

/// The number of bytes that are read.
fn expected(file: &File, options: &HashOptions<'_>) -> u64 {
    let chosen = || file.blobs().filter(|blob| (options.select)(blob)).map(|blob| blob.data().len());
    if options.whole { file.end() } else { chosen().fold(file.prefix().len(), u64::saturating_add) }
}

/// Receives the digests of one blob after the other.
type Take<'t> = dyn FnMut(Blob<'_>, BlobDigests) -> Result<(), Error> + 't;

/// The blobs of a file, each read on its own.
fn blobs_of(file: &File, options: &HashOptions<'_>, progress: &dyn Progress, take: &mut Take<'_>) -> Result<(), Error> {
    let mut tree = Tree::default();
    rows_in_order(
        Tasks::new(file.blobs().filter(|blob| (options.select)(blob)), |blob| load(blob, options)),
        |scratch, task| make(scratch, task, options, progress),
        Made::rows,
        |made| {
            match made {
                Made::Several(blobs) => blobs.into_iter().try_for_each(|(blob, digests)| take(blob, digests))?,
                Made::Piece(piece) => tree.push(piece),
                Made::End(blob) => {
                    let blake3 = std::mem::take(&mut tree).finish();
                    let data = Digests { sha256: None, blake3 };
                    let found = BlobDigests::begin(&blob, options, &mut Vec::new())?;
                    take(*blob, found.finish(&blob, options, data, Ok((blob.data().len(), data)))?)?;
                }
            }
            Ok(())
        },
    )
}

/// Only BLAKE3 can be computed in pieces, and only one digest of the same bytes.
fn load<'f>(blob: &Blob<'f>, options: &HashOptions<'_>) -> Load<Data<'f>> {
    let data = blob.data();
    match options.algorithms {
        Algorithms::BLAKE3 if content_len(blob) == Some(data.len()) => Load::Pieces(data, data.len()),
        _ => Load::Whole(data.len()),
    }
}

fn make<'f>(
    Scratch([buffer, _]): &mut Scratch,
    task: Task<Blob<'f>, Data<'f>>,
    options: &HashOptions<'_>,
    progress: &dyn Progress,
) -> Result<Made<'f>, Error> {
    Ok(match task {
        Task::Several(blobs) => {
            let hash =
                |blob: Blob<'f>| Ok((blob, hash_blob(&blob, options, &mut blob.data().reader(), buffer, progress)?));
            Made::Several(blobs.into_iter().map(hash).collect::<Result<_, Error>>()?)
        }
        Task::Piece(data, range) => {
            let mut piece = Piece::at(range.start);
            for range in pieces(range, PIECE_LEN) {
                let bytes = bytes_of(&data, range, buffer)?;
                progress.add(len_of(bytes))?;
                piece.update(bytes);
            }
            Made::Piece(piece.finish())
        }
        Task::End(blob) => Made::End(Box::new(blob)),
    })
}

/// What became of a task.
enum Made<'f> {
    Several(Vec<(Blob<'f>, BlobDigests)>),
    Piece(ChainingValue),
    End(Box<Blob<'f>>),
}

impl Made<'_> {
    fn rows(&self) -> usize {
        match self {
            Made::Several(blobs) => blobs.len(),
            Made::Piece(_) | Made::End(_) => 0,
        }
    }
}
