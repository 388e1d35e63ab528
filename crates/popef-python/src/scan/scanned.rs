//! What is found out about one file, on a thread that does not have the interpreter's lock.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use popef::error::ErrorKind;
use popef::read::Compression;
use popef::types::{BlobType, Diagnostic};
use popef::{Error, File, OpenOptions};
use popef_check::{CheckOptions, Finding, Report, check_with_progress};
use popef_open::{Foreign, StreamData};
use popef_ops::Progress;
use popef_ops::hash::{Algorithms, BlobHash, Digest, Digests, HashOptions, hash, hash_path};

/// The results that are wanted beyond headers.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Whether only sums of the blobs are needed.
    pub(super) per_file: bool,
    pub(super) check: Option<CheckOptions>,
    pub(super) hash: Option<Hashing>,
    pub(super) compression: bool,
}

/// Which digests are needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    pub(super) algorithms: Algorithms,
    pub(super) whole: bool,
    pub(super) data: bool,
    pub(super) content: bool,
}

/// An error as it is put into records.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) path: PathBuf,
    pub(super) described: Box<Diagnostic>,
    /// The error itself, if it says all.
    pub(super) error: Option<Arc<popef_ops::Error>>,
}

impl Fault {
    pub(super) fn described(described: Diagnostic, path: &Path) -> Self {
        Fault { path: path.to_owned(), described: Box::new(described), error: None }
    }

    pub(super) fn of(error: &Error, path: &Path) -> Self {
        Fault { error: Some(Arc::new(error.clone().into())), ..Fault::described(error.describe(), path) }
    }

    fn of_operation(error: popef_ops::Error, path: &Path) -> Self {
        let error = error.in_file(path);
        Fault { path: path.to_owned(), described: Box::new(error.describe()), error: Some(Arc::new(error)) }
    }

    /// The fault of a file that is plainly something else.
    fn with_foreign(self, foreign: Option<&Foreign>) -> Self {
        let Some(foreign) = foreign else { return self };
        let described = foreign.describe(&self.path, |instead| Some(format!("popef ls {instead}")));
        Fault::described(described, &self.path)
    }
}

/// The number of blobs of each type in a file, and the size of their data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) blobs: u64,
    pub(super) executables: u64,
    pub(super) metadata: u64,
    pub(super) tensors: u64,
    pub(super) feeds: u64,
    pub(super) opaques: u64,
    pub(super) data_size: u64,
}

impl Counts {
    fn of(file: &File) -> Self {
        let mut counts = Counts::default();
        for blob in file.blobs() {
            counts.blobs = counts.blobs.saturating_add(1);
            counts.data_size = counts.data_size.saturating_add(blob.data().len());
            let count = match blob.blob_type() {
                BlobType::PoplarExecutable => &mut counts.executables,
                BlobType::Metadata => &mut counts.metadata,
                BlobType::DataTensor => &mut counts.tensors,
                BlobType::DataFeed => &mut counts.feeds,
                BlobType::Opaque => &mut counts.opaques,
                _ => continue,
            };
            *count = count.saturating_add(1);
        }
        counts
    }
}

/// The findings of a check of one file.
pub(super) struct Checked {
    /// In the order of their blobs, and those about the whole file, or about a blob that cannot be read, at the end.
    findings: Vec<Finding>,
    pub(super) is_complete: bool,
}

impl Checked {
    fn new(file: &Result<File, Error>, options: &CheckOptions, stop: &AtomicBool) -> Self {
        let report = check_with_progress([file], options, &mut |_| Until(stop).advance(0));
        Checked::of(report, file.as_ref().map_or(0, File::len))
    }

    fn of(report: Report, blobs: usize) -> Self {
        let is_complete = !report.skipped.iter().any(|skipped| skipped.failed);
        let mut findings = report.findings;
        findings.iter_mut().for_each(|finding| finding.blob = finding.blob.filter(|&blob| blob < blobs));
        findings.sort_by_key(|finding| finding.blob.unwrap_or(usize::MAX));
        Checked { findings, is_complete }
    }

    pub(super) fn all(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings about a blob, or those that are not about a blob.
    pub(super) fn about(&self, blob: Option<usize>) -> &[Finding] {
        let key = |finding: &Finding| finding.blob.unwrap_or(usize::MAX);
        let wanted = blob.unwrap_or(usize::MAX);
        let start = self.findings.partition_point(|finding| key(finding) < wanted);
        let rest = self.findings.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|finding| key(finding) <= wanted)).unwrap_or_default()
    }
}

/// The digests of a file.
#[derive(Default)]
pub(super) struct Hashes {
    pub(super) whole: Option<Digest>,
    pub(super) content: Option<Digest>,
    /// Empty if only sums are needed.
    pub(super) blobs: Vec<BlobHashes>,
}

/// The digests of a blob.
pub(super) struct BlobHashes {
    pub(super) data: Option<Digest>,
    pub(super) content: Option<Digest>,
    /// Why the content has no digest.
    pub(super) error: Option<Box<Diagnostic>>,
}

impl From<BlobHash> for BlobHashes {
    fn from(hash: BlobHash) -> Self {
        BlobHashes { data: digest(hash.data), content: digest(hash.content), error: hash.error.map(Box::new) }
    }
}

/// The only digest that was computed.
fn digest(digests: Digests) -> Option<Digest> {
    digests.sha256.or(digests.blake3)
}

impl Hashes {
    fn of(
        file: &File,
        path: &Path,
        wanted: &Wanted,
        hashing: Hashing,
        stop: &AtomicBool,
    ) -> Result<Self, popef_ops::Error> {
        let Hashing { algorithms, whole, data, content } = hashing;
        if whole && !data && !content {
            let whole = hash_path(path, algorithms, &Until(stop))?;
            return Ok(Hashes { whole: digest(whole), ..Hashes::default() });
        }
        let options = HashOptions { algorithms, whole, data, content, headers: false, select: &|_| true };
        let mut blobs = Vec::new();
        let hash = hash(file, &options, &Until(stop), &mut |blob| {
            if !wanted.per_file {
                blobs.push(blob.into());
            }
            Ok(())
        })?;
        Ok(Hashes { whole: digest(hash.whole), content: digest(hash.content), blobs })
    }
}

/// A file, as far as it could be read.
#[derive(Default)]
pub(super) struct Scanned {
    pub(super) path: PathBuf,
    /// `None` if it could not be opened, or if only sums are needed.
    pub(super) file: Option<File>,
    pub(super) size: Option<u64>,
    pub(super) prefix_size: Option<u64>,
    pub(super) counts: Option<Counts>,
    pub(super) checked: Option<Checked>,
    pub(super) hashes: Option<Hashes>,
    /// The formats of compressed executables.
    pub(super) compressions: BTreeMap<usize, Result<Option<Compression>, Error>>,
    /// Why the file could not be read to its end.
    pub(super) fault: Option<Fault>,
}

impl Scanned {
    /// Opens a file and finds out what is wanted. Most errors are part of the result.
    pub(super) fn new(path: PathBuf, wanted: &Wanted, stop: &AtomicBool) -> Self {
        let (file, foreign) = open(&path);
        let error = file.as_ref().map_or_else(Some, File::damage);
        let mut scanned = Scanned {
            fault: error.map(|error| Fault::of(error, &path).with_foreign(foreign.as_ref())),
            checked: wanted.check.as_ref().map(|options| Checked::new(&file, options, stop)),
            path,
            ..Scanned::default()
        };
        if let Ok(file) = file {
            scanned.look_into(file, wanted, stop);
        }
        scanned
    }

    /// A folder whose files cannot be listed.
    pub(super) fn unlisted(folder: PathBuf, error: io::Error) -> Self {
        let error = popef_ops::Error::io("list the folder", error);
        Scanned { fault: Some(Fault::of_operation(error, &folder)), path: folder, ..Scanned::default() }
    }

    fn look_into(&mut self, file: File, wanted: &Wanted, stop: &AtomicBool) {
        self.size = Some(file.size());
        self.prefix_size = Some(file.prefix().len());
        if let Some(hashing) = wanted.hash {
            self.hash(&file, wanted, hashing, stop);
        }
        if wanted.per_file {
            self.counts = Some(Counts::of(&file));
            return;
        }
        if wanted.compression {
            let compressed = file.executables().filter(popef::read::ExecutableBlob::is_compressed);
            self.compressions =
                compressed.map(|executable| (executable.blob().index(), executable.compression())).collect();
        }
        self.file = Some(file);
    }

    fn hash(&mut self, file: &File, wanted: &Wanted, hashing: Hashing, stop: &AtomicBool) {
        if hashing.whole && file.damage().is_some() {
            // A damaged file's blobs are not the whole file.
            return;
        }
        let hashes = Hashes::of(file, &self.path, wanted, hashing, stop);
        let unchanged =
            hashes.and_then(|hashes| file.check_unchanged().map(|()| hashes).map_err(popef_ops::Error::from));
        match unchanged {
            Ok(hashes) => self.hashes = Some(hashes),
            Err(error) => {
                self.fault.get_or_insert(Fault::of_operation(error, &self.path));
            }
        }
    }

    /// About how many blobs are kept in memory.
    pub(super) fn weight(&self) -> usize {
        self.file.as_ref().map_or(0, File::len).saturating_add(1)
    }
}

fn open(path: &Path) -> (Result<File, Error>, Option<Foreign>) {
    let file = OpenOptions::new().damaged(true).after_pickle(true).open(path);
    let is_at_start = |damage: &Error| damage.kind() == ErrorKind::Damaged && damage.blob() == Some(0);
    let is_foreign = file.as_ref().is_ok_and(|file| file.damage().is_some_and(is_at_start));
    // The file was a regular one, so it is not standard input even if its name is `-`.
    let foreign = is_foreign.then(|| popef_open::open(&Path::new(".").join(path), StreamData::Skip).foreign);
    (file, foreign.flatten())
}

/// Lets work go on until the scan is given up.
struct Until<'s>(&'s AtomicBool);

impl Progress for Until<'_> {
    fn advance(&self, _bytes: u64) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
