//! Compresses and decompresses executables.

use std::fmt;

use popef::read::{Compression, ExecutableBlob};
use popef::write::{Packing, Written};
use popef::{Blob, File};
use serde::Serialize;

use crate::error::Error;
use crate::name::Name;
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::verify::has_same_head;

/// How executables are compressed.
pub struct CompressOptions<'o> {
    /// The format and the level.
    pub packing: Packing,
    /// Whether executables that are compressed already are compressed again. Otherwise they stay as they are.
    pub again: bool,
    /// Maximum number of threads that compress, up to 8. 0 means one per processor. One more thread reads the output
    /// back and compares it, unless this is 1.
    pub threads: usize,
    /// Which executables are compressed. The others stay as they are.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
    /// Whether no file is written if nothing changes. Otherwise a copy is written.
    pub only_changes: bool,
}

/// Compresses with the default packing all executables that are not compressed.
impl Default for CompressOptions<'_> {
    fn default() -> Self {
        CompressOptions {
            packing: Packing::default(),
            again: false,
            threads: 0,
            select: &|_| true,
            only_changes: false,
        }
    }
}

impl fmt::Debug for CompressOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressOptions")
            .field("packing", &self.packing)
            .field("again", &self.again)
            .field("threads", &self.threads)
            .field("only_changes", &self.only_changes)
            .finish_non_exhaustive()
    }
}

/// Which executables are decompressed.
pub struct DecompressOptions<'o> {
    /// Which executables are decompressed. The others stay as they are.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
    /// Whether no file is written if nothing changes. Otherwise a copy is written.
    pub only_changes: bool,
}

/// Decompresses all executables.
impl Default for DecompressOptions<'_> {
    fn default() -> Self {
        DecompressOptions { select: &|_| true, only_changes: false }
    }
}

impl fmt::Debug for DecompressOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecompressOptions").field("only_changes", &self.only_changes).finish_non_exhaustive()
    }
}

/// The result for a file whose executables were compressed or decompressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recompressed {
    /// Whether a file was written. If the target is nowhere: whether one would be.
    pub written: bool,
    /// The old size of the file.
    pub size_before: u64,
    /// The new size of the file.
    pub size_after: u64,
    /// How many executables were chosen.
    pub chosen: u64,
    /// How many of them were changed.
    pub changed: u64,
}

/// What became of one executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecompressedExecutable {
    /// The number of its blob in the file, from 0 on.
    pub index: usize,
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// The size of its unpacked bytes.
    pub unpacked_size: u64,
    /// The size of its blob before.
    pub size_before: u64,
    /// The size of its blob now.
    pub size_after: u64,
    /// The format in which its data was compressed. `None` if it was not compressed, or if the format is unknown.
    pub was: Option<Compression>,
    /// The format in which its data is compressed now.
    pub now: Option<Compression>,
    /// What was done.
    pub outcome: CompressionOutcome,
}

/// The outcome for an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CompressionOutcome {
    /// It was compressed.
    Compressed,
    /// It was decompressed.
    Decompressed,
    /// It was already compressed, and stays as it is.
    AlreadyCompressed,
    /// It is not compressed, and stays as it is.
    NotCompressed,
    /// It would not become smaller, and stays as it is.
    WouldGrow,
}

impl CompressionOutcome {
    /// Whether its data was changed.
    pub fn is_change(self) -> bool {
        matches!(self, CompressionOutcome::Compressed | CompressionOutcome::Decompressed)
    }
}

/// Called for each chosen executable, in file order, once it is written.
pub type EachExecutable<'e> = &'e mut dyn FnMut(RecompressedExecutable) -> Result<(), Error>;

/// Compresses the executables of a file. Everything else is copied: all other blobs, their order, versions, the fields of a later
/// version of the format, and what comes before the first blob.
///
/// The output is read back, unpacked and compared with the old executable, while the rest is still being compressed.
/// The new file appears only if all of it is right.
///
/// ```
/// use popef_ops::{CompressOptions, Overwrite, Silent, Target, compress};
///
/// # let folder = tempfile::tempdir()?;
/// # let (path, small) = (folder.path().join("model.popef"), folder.path().join("small.popef"));
/// # let mut writer = popef::Writer::create(&path)?;
/// # writer.write_executable("model", &[0; 10_000])?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let target = Target::Path(&small, Overwrite::Never);
/// let report = compress(&file, target, &CompressOptions::default(), &Silent, &mut |executable| {
///     assert_eq!(executable.unpacked_size, 10_000);
///     assert!(executable.size_after < 200);
///     Ok(())
/// })?;
/// assert!(report.size_after < report.size_before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compress(
    file: &File,
    target: Target<'_>,
    options: &CompressOptions<'_>,
    progress: &dyn Progress,
    each: EachExecutable<'_>,
) -> Result<Recompressed, Error> {
    let CompressOptions { packing, again, threads, select, only_changes } = *options;
    Work { file, to: To::Compressed { packing, again }, threads, select, only_changes, progress }.run(target, each)
}

/// Decompresses the executables of a file, as [`compress`] compresses them.
///
/// ```
/// use popef_ops::{DecompressOptions, Silent, Target, decompress};
///
/// # let mut writer = popef::Writer::seekable(std::io::Cursor::new(Vec::new()))?;
/// # writer.write_packed_executable("model", &[0; 10_000], Default::default())?;
/// # let file = popef::File::from_bytes(writer.into_inner()?.into_inner())?;
/// let report = decompress(&file, Target::Nowhere, &DecompressOptions::default(), &Silent, &mut |_| Ok(()))?;
/// assert!(report.size_after > 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decompress(
    file: &File,
    target: Target<'_>,
    options: &DecompressOptions<'_>,
    progress: &dyn Progress,
    each: EachExecutable<'_>,
) -> Result<Recompressed, Error> {
    let DecompressOptions { select, only_changes } = *options;
    Work { file, to: To::Plain, threads: 0, select, only_changes, progress }.run(target, each)
}

/// What executables become.
#[derive(Clone, Copy)]
enum To {
    Compressed { packing: Packing, again: bool },
    Plain,
}

impl To {
    fn packing(self) -> Option<Packing> {
        match self {
            To::Compressed { packing, .. } => Some(packing),
            To::Plain => None,
        }
    }

    /// What to do with an executable.
    fn outcome(self, executable: &ExecutableBlob<'_>) -> CompressionOutcome {
        match (self, executable.is_compressed()) {
            (To::Compressed { again: false, .. }, true) => CompressionOutcome::AlreadyCompressed,
            (To::Compressed { .. }, _) => CompressionOutcome::Compressed,
            (To::Plain, true) => CompressionOutcome::Decompressed,
            (To::Plain, false) => CompressionOutcome::NotCompressed,
        }
    }
}

struct Work<'w> {
    file: &'w File,
    to: To,
    threads: usize,
    select: &'w (dyn Fn(&Blob<'_>) -> bool + Sync),
    only_changes: bool,
    progress: &'w dyn Progress,
}

impl<'w> Work<'w> {
    fn run(&self, target: Target<'_>, each: EachExecutable<'_>) -> Result<Recompressed, Error> {
        let size = self.file.size();
        let mut report = Recompressed { written: false, size_before: size, size_after: size, chosen: 0, changed: 0 };
        if self.only_changes && !self.chosen().any(|executable| self.to.outcome(&executable).is_change()) {
            self.chosen().try_for_each(|executable| {
                report.chosen = report.chosen.saturating_add(1);
                each(self.planned(&executable))
            })?;
            return Ok(report);
        }
        let mut output = Output::begin(target, [self.file], self.progress)?;
        output.threads(self.threads);
        self.expect(&output);
        output.prefix_of(self.file)?;
        let changed = self.write(&mut output, &mut report, each)?;
        if self.only_changes && changed.is_empty() {
            return Ok(report);
        }
        self.check(&mut output, &changed)?;
        let written = output.finish()?;
        Ok(Recompressed { written: true, size_after: written.size, ..report })
    }

    fn chosen(&self) -> impl Iterator<Item = ExecutableBlob<'w>> {
        self.file.executables().filter(|executable| (self.select)(executable.blob()))
    }

    fn planned(&self, executable: &ExecutableBlob<'_>) -> RecompressedExecutable {
        // The format of data that stays as it is may be unknown.
        let was = executable.compression().ok().flatten();
        let size = executable.blob().size();
        RecompressedExecutable {
            index: executable.blob().index(),
            name: executable.name().into(),
            unpacked_size: executable.uncompressed_size(),
            size_before: size,
            size_after: size,
            was,
            now: was,
            outcome: self.to.outcome(executable),
        }
    }

    /// Announces the bytes to read and write: those that are copied, and those of changed executables.
    fn expect(&self, output: &Output<'_>) {
        let mut expected = self.file.size();
        for executable in self.chosen().filter(|executable| self.to.outcome(executable).is_change()) {
            let told = output.told_of(&executable, self.to.packing());
            expected = expected.saturating_sub(executable.blob().size()).saturating_add(told);
        }
        self.progress.expect(expected);
    }

    /// Writes all blobs. Returns which executables were changed, and where they are now.
    fn write(
        &self,
        output: &mut Output<'_>,
        report: &mut Recompressed,
        each: EachExecutable<'_>,
    ) -> Result<Vec<Changed>, Error> {
        let (mut copied, mut changed) = (0, Vec::new());
        for executable in self.chosen() {
            let mut one = self.planned(&executable);
            if one.outcome.is_change() {
                self.copy_range(output, copied, one.index)?;
                copied = one.index;
                if let Some(written) = self.rewrite(&executable, output, &mut one)? {
                    changed.push(Changed { index: one.index, written });
                    copied = copied.saturating_add(1);
                    report.changed = report.changed.saturating_add(1);
                }
            }
            report.chosen = report.chosen.saturating_add(1);
            each(one)?;
        }
        self.copy_range(output, copied, self.file.len())?;
        Ok(changed)
    }

    fn copy_range(&self, output: &mut Output<'_>, start: usize, end: usize) -> Result<(), Error> {
        output.copy_all(self.file.blobs().skip(start).take(end.saturating_sub(start)))?;
        Ok(())
    }

    /// Writes an executable anew, unless it would grow.
    fn rewrite(
        &self,
        executable: &ExecutableBlob<'_>,
        output: &mut Output<'_>,
        one: &mut RecompressedExecutable,
    ) -> Result<Option<Written>, Error> {
        let written = match self.to {
            To::Plain => Some(output.unpacked(executable)?),
            To::Compressed { packing, .. } => {
                // The user wants another format so that it can be read, so it may be larger than the old one.
                let in_same_way = one.was.is_none_or(|was| was == format_of(packing));
                let below = if in_same_way { executable.data().len() } else { one.unpacked_size };
                output.repacked(executable, packing, below)?
            }
        };
        match &written {
            Some(written) => (one.size_after, one.now) = (written.size, self.to.packing().map(format_of)),
            None => {
                one.outcome = CompressionOutcome::WouldGrow;
                self.progress.expect(one.size_before);
            }
        }
        Ok(written)
    }

    /// Fails if the new file does not have the same blobs, or if a changed executable is not where it was compared.
    fn check(&self, output: &mut Output<'_>, changed: &[Changed]) -> Result<(), Error> {
        let mut changed = changed.iter().peekable();
        let compressed = self.to.packing().is_some();
        output.check_blobs(self.file.blobs(), |old, new| match changed.next_if(|one| one.index == old.index()) {
            None => has_same_head(old, new),
            Some(one) => Ok(one.is_at(new) && is_same_executable(old, new, compressed)),
        })
    }
}

/// An executable that was changed, and its new place.
struct Changed {
    index: usize,
    written: Written,
}

impl Changed {
    fn is_at(&self, new: &Blob<'_>) -> bool {
        new.offset() == self.written.offset && new.size() == self.written.size
    }
}

fn is_same_executable(old: &Blob<'_>, new: &Blob<'_>, compressed: bool) -> bool {
    let (Some(one), Some(other)) = (old.as_executable(), new.as_executable()) else { return false };
    one.name() == other.name()
        && old.version() == new.version()
        && one.uncompressed_size() == other.uncompressed_size()
        && other.is_compressed() == compressed
}

fn format_of(packing: Packing) -> Compression {
    match packing {
        Packing::Gzip(_) => Compression::Gzip,
        _ => Compression::Zlib,
    }
}
