//! Digests of files, of their blobs, and of what they mean: see [`hash`].

mod blob;
mod content;
mod digest;
mod manifest;
mod sums;
mod tree;
mod verify;
mod whole;

use blake3::hazmat::ChainingValue;
use popef::read::Data;
use popef::{Blob, File};

use crate::diff::canonical_order;
use crate::error::Error;
use crate::progress::Progress;
use crate::work::{Load, Scratch, Task, Tasks, bytes_of, in_order, len_of};
use blob::{content_len, finished, hash_blob};
use content::content_of_file;
use tree::Tree;

pub use digest::{Algorithms, Digest, Digests, NotADigest};
pub use manifest::{BlobHash, FileHash, Manifest, ManifestEntry, PrefixHash};
pub use sums::{SumsLine, parse_sums, sums_line};
pub use verify::{BlobVerdict, Verification, WrongBlob, verify};
pub use whole::{hash_bytes, hash_path};

/// Which digests are wanted. What is not wanted is not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashOptions {
    /// By which algorithms.
    pub algorithms: Algorithms,
    /// Of all bytes of the file. By SHA-256, this is as much work as all blobs together, and cannot be divided. It is done beside
    /// the blobs, and each byte is still read only once.
    pub whole: bool,
    /// Of the data of each blob as it is stored.
    pub data: bool,
    /// Of what each blob and the file means. Costs hardly anything beside `data`, except for compressed executables, which are
    /// unpacked, and for tensors that other bytes follow.
    pub content: bool,
}

/// Says which blobs are wanted.
pub type Chosen<'c> = dyn Fn(&Blob<'_>) -> bool + Sync + 'c;

/// SHA-256 of the data and the content of blobs.
impl Default for HashOptions {
    fn default() -> Self {
        HashOptions { algorithms: Algorithms::SHA256, whole: false, data: true, content: true }
    }
}

/// Computes the digests of a file and of its blobs.
///
/// The digests of the content do not depend on order, compression, versions, the encoding of messages and bytes behind tensors:
/// two files with the same are the same for [`diff`](crate::diff::diff). If an executable cannot be unpacked, it and the file
/// have no digest of their content. The file has none either if not all blobs are `chosen`.
///
/// The blobs are hashed on all processors, and large ones by BLAKE3 in pieces.
///
/// ```
/// use popef_ops::hash::{HashOptions, hash};
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
/// let [plain, packed] = [&plain, &packed].map(|file| hash(file, &HashOptions::default(), &|_| true, &Silent));
/// let (plain, packed) = (plain?, packed?);
/// assert_ne!(plain.blobs[0].data, packed.blobs[0].data);
/// assert_eq!(plain.content, packed.content);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hash(
    file: &File,
    options: &HashOptions,
    chosen: &Chosen<'_>,
    progress: &dyn Progress,
) -> Result<FileHash, Error> {
    progress.expect(file.size());
    let (whole, prefix, blobs) = match options.whole {
        true => whole::with_blobs(file, options, chosen, progress)?,
        false => {
            let prefix = hash_bytes(&mut file.prefix().reader(), options.algorithms, progress)?;
            (Digests::default(), prefix, blobs_of(file, options, chosen, progress)?)
        }
    };
    let prefix_len = file.prefix().len();
    let has_content = options.content && blobs.len() == file.len();
    let content = if has_content { content(file, options, (prefix_len, prefix), &blobs) } else { Digests::default() };
    let prefix = (prefix_len > 0).then_some(PrefixHash { size: prefix_len, data: prefix });
    Ok(FileHash { size: file.size(), whole, content, prefix, blobs })
}

/// The digests of what the file means. None if a blob has none.
fn content(file: &File, options: &HashOptions, prefix: (u64, Digests), blobs: &[BlobHash]) -> Digests {
    let order = canonical_order(file);
    let contents: Vec<&Digests> = order.iter().filter_map(|&index| Some(&blobs.get(index)?.content)).collect();
    content_of_file(options.algorithms, prefix, &contents).unwrap_or_default()
}

/// The blobs of a file, each read on its own.
fn blobs_of(
    file: &File,
    options: &HashOptions,
    chosen: &Chosen<'_>,
    progress: &dyn Progress,
) -> Result<Vec<BlobHash>, Error> {
    let mut hashes = Vec::new();
    let mut tree = Tree::default();
    in_order(
        Tasks::new(file.blobs().filter(|blob| chosen(blob)), |blob| load(blob, options)),
        |scratch, task| make(scratch, task, options, progress),
        |made| {
            match made {
                Made::Several(blobs) => hashes.extend(blobs),
                Made::Piece(piece) => tree.push(piece),
                Made::End(blob) => {
                    let blake3 = std::mem::take(&mut tree).finish();
                    let data = Digests { sha256: None, blake3 };
                    hashes.push(finished(&blob, options, data, Ok((blob.data().len(), data)))?);
                }
            }
            Ok(())
        },
    )?;
    Ok(hashes)
}

/// Only BLAKE3 can be computed in pieces, and only one digest of the same bytes.
fn load<'f>(blob: &Blob<'f>, options: &HashOptions) -> Load<Data<'f>> {
    let data = blob.data();
    match options.algorithms {
        Algorithms::BLAKE3 if content_len(blob) == Some(data.len()) => Load::Pieces(data, data.len()),
        _ => Load::Whole(data.len()),
    }
}

fn make<'f>(
    Scratch([buffer, _]): &mut Scratch,
    task: Task<Blob<'f>, Data<'f>>,
    options: &HashOptions,
    progress: &dyn Progress,
) -> Result<Made<'f>, Error> {
    Ok(match task {
        Task::Several(blobs) => {
            let hash = |blob: Blob<'f>| hash_blob(&blob, options, &mut blob.data().reader(), buffer, progress);
            Made::Several(blobs.into_iter().map(hash).collect::<Result<_, _>>()?)
        }
        Task::Piece(data, range) => {
            let bytes = bytes_of(&data, range.clone(), buffer)?;
            progress.add(len_of(bytes))?;
            Made::Piece(tree::piece(range.start, bytes))
        }
        Task::End(blob) => Made::End(Box::new(blob)),
    })
}

/// What became of a task.
enum Made<'f> {
    Several(Vec<BlobHash>),
    Piece(ChainingValue),
    End(Box<Blob<'f>>),
}
