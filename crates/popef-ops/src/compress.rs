//! Compresses and decompresses executables.

use std::fmt;

use popef::read::{Compression, ExecutableBlob};
use popef::write::Packing;
use popef::{Blob, File};
use serde::Serialize;

use crate::error::Error;
use crate::name::Name;
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::verify::{Told, same_bytes, same_head, wrong};

/// How executables are compressed or decompressed.
pub struct RepackOptions<'o> {
    /// How to compress them. `None` decompresses them.
    pub packing: Option<Packing>,
    /// Whether executables that are compressed already are compressed again. Otherwise they stay as they are.
    pub again: bool,
    /// How many threads compress. 0 is one per processor.
    pub threads: usize,
    /// Which executables are changed. The others stay as they are.
    pub select: &'o dyn Fn(&Blob<'_>) -> bool,
    /// Whether no file is written if nothing changes. Otherwise it is a copy.
    pub only_changes: bool,
}

/// Compresses with the default packing all executables that are not compressed.
impl Default for RepackOptions<'_> {
    fn default() -> Self {
        RepackOptions {
            packing: Some(Packing::default()),
            again: false,
            threads: 0,
            select: &|_| true,
            only_changes: false,
        }
    }
}

impl fmt::Debug for RepackOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepackOptions")
            .field("packing", &self.packing)
            .field("again", &self.again)
            .field("threads", &self.threads)
            .field("only_changes", &self.only_changes)
            .finish_non_exhaustive()
    }
}

/// What became of a file whose executables were compressed or decompressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repacked {
    /// Whether a file was written. If the target is nowhere: whether one would be.
    pub written: bool,
    /// The old size of the file.
    pub before: u64,
    /// The new size of the file.
    pub after: u64,
    /// The chosen executables, in file order.
    pub executables: Vec<RepackedExecutable>,
}

impl Repacked {
    /// Whether any executable was changed.
    pub fn is_changed(&self) -> bool {
        self.executables.iter().any(|executable| executable.outcome.is_change())
    }
}

/// What became of an executable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepackedExecutable {
    /// The number of its blob in the file, from 0 on.
    pub blob: usize,
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// The size of its unpacked bytes.
    pub unpacked: u64,
    /// The size of its blob before.
    pub before: u64,
    /// The size of its blob now.
    pub after: u64,
    /// The format in which its data was compressed, if it was, and if the format is known.
    pub was: Option<Compression>,
    /// The format in which its data is compressed now.
    pub now: Option<Compression>,
    /// What was done.
    pub outcome: RepackOutcome,
}

/// What was done with an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RepackOutcome {
    /// It was compressed.
    Compressed,
    /// It was decompressed.
    Decompressed,
    /// It was compressed already, and stays as it is.
    AlreadyCompressed,
    /// It is not compressed, and stays as it is.
    NotCompressed,
    /// Compressed, it would not be smaller. It stays as it is.
    WouldGrow,
}

impl RepackOutcome {
    /// Whether its data was changed.
    pub fn is_change(self) -> bool {
        matches!(self, RepackOutcome::Compressed | RepackOutcome::Decompressed)
    }
}

/// Compresses or decompresses the executables of a file. Everything else is copied: all other blobs, their order, versions, the
/// fields of a later version of the format, and what comes before the first blob.
///
/// Before the new file appears, its executables are unpacked and compared with those of the old one.
///
/// ```
/// use popef_ops::{Overwrite, RepackOptions, Silent, Target, repack};
///
/// # let folder = tempfile::tempdir()?;
/// # let (path, small) = (folder.path().join("model.popef"), folder.path().join("small.popef"));
/// # let mut writer = popef::Writer::create(&path)?;
/// # writer.write_executable("model", &[0; 10_000])?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let done = repack(&file, Target::Path(&small, Overwrite::Never), &RepackOptions::default(), &Silent)?;
/// assert_eq!(done.executables[0].unpacked, 10_000);
/// assert!(done.executables[0].after < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn repack(
    file: &File,
    target: Target<'_>,
    options: &RepackOptions<'_>,
    progress: &dyn Progress,
) -> Result<Repacked, Error> {
    let chosen = file.executables().filter(|executable| (options.select)(executable.blob()));
    let mut executables: Vec<_> = chosen.map(|executable| planned(&executable, options)).collect();
    let unchanged = |executables| Repacked { written: false, before: file.size(), after: file.size(), executables };
    let any_change = |executables: &[RepackedExecutable]| executables.iter().any(|one| one.outcome.is_change());
    if options.only_changes && !any_change(&executables) {
        return Ok(unchanged(executables));
    }
    let reads_back = matches!(target, Target::Path(..));
    let mut output = Output::begin(target, [file], progress)?;
    output.threads(options.threads);
    expect(file, &executables, reads_back, progress);
    output.prefix_of(file)?;
    write(file, &mut output, &mut executables, options, progress)?;
    if options.only_changes && !any_change(&executables) {
        return Ok(unchanged(executables));
    }
    let written = output.finish_checked(|new| verify(file, new, &executables, progress))?;
    Ok(Repacked { written: true, before: file.size(), after: written.size, executables })
}

/// What is to be done with an executable.
fn planned(executable: &ExecutableBlob<'_>, options: &RepackOptions<'_>) -> RepackedExecutable {
    let outcome = match (options.packing, executable.is_compressed()) {
        (Some(_), true) if !options.again => RepackOutcome::AlreadyCompressed,
        (Some(_), _) => RepackOutcome::Compressed,
        (None, true) => RepackOutcome::Decompressed,
        (None, false) => RepackOutcome::NotCompressed,
    };
    // The format of data that stays as it is may be unknown.
    let was = executable.compression().ok().flatten();
    let before = executable.blob().size();
    RepackedExecutable {
        blob: executable.blob().index(),
        name: executable.name().into(),
        unpacked: executable.uncompressed_size(),
        before,
        after: before,
        was,
        now: was,
        outcome,
    }
}

/// Says how much is read and written: all copies once, the bytes of changed executables once, and twice if they are read back.
fn expect(file: &File, executables: &[RepackedExecutable], reads_back: bool, progress: &dyn Progress) {
    let mut expected = file.size();
    for one in executables.iter().filter(|one| one.outcome.is_change()) {
        let times = if reads_back { 2 } else { 1 };
        expected = expected.saturating_sub(one.before).saturating_add(one.unpacked.saturating_mul(times));
    }
    progress.expect(expected);
}

fn write(
    file: &File,
    output: &mut Output<'_>,
    executables: &mut [RepackedExecutable],
    options: &RepackOptions<'_>,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let mut copied = 0;
    for one in executables.iter_mut().filter(|one| one.outcome.is_change()) {
        let Some(executable) = file.blob(one.blob).and_then(|blob| blob.as_executable()) else { continue };
        copy_range(file, output, copied, one.blob)?;
        copied = one.blob;
        rewrite(&executable, output, one, options, progress)?;
        if one.outcome.is_change() {
            copied = copied.saturating_add(1);
        }
    }
    copy_range(file, output, copied, file.len())
}

fn copy_range(file: &File, output: &mut Output<'_>, start: usize, end: usize) -> Result<(), Error> {
    output.copy_all(file.blobs().skip(start).take(end.saturating_sub(start)))?;
    Ok(())
}

/// Writes an executable anew, unless it would grow.
fn rewrite(
    executable: &ExecutableBlob<'_>,
    output: &mut Output<'_>,
    one: &mut RepackedExecutable,
    options: &RepackOptions<'_>,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let mut data = Told { from: executable.unpack()?, progress };
    let Some(packing) = options.packing else {
        let written = output.unpacked(executable, &mut data)?;
        (one.after, one.now) = (written.size, None);
        return Ok(());
    };
    let format = format_of(packing);
    // Another format is asked for because it can be read, so it may be larger than the old one.
    let in_same_way = one.was.is_none_or(|was| was == format);
    let below = if in_same_way { executable.data().len() } else { one.unpacked };
    match output.repacked(executable, packing, &mut data, below)? {
        None => one.outcome = RepackOutcome::WouldGrow,
        Some(written) => {
            progress.expect(written.size);
            (one.after, one.now) = (written.size, Some(format));
        }
    }
    Ok(())
}

fn format_of(packing: Packing) -> Compression {
    match packing {
        Packing::Gzip(_) => Compression::Gzip,
        _ => Compression::Zlib,
    }
}

/// Fails if the new file does not have the same blobs, or if a changed executable unpacks to other bytes.
fn verify(old: &File, new: &File, executables: &[RepackedExecutable], progress: &dyn Progress) -> Result<(), Error> {
    let mut changed = executables.iter().filter(|one| one.outcome.is_change()).map(|one| one.blob).peekable();
    if let Some(blob) = old.blob(new.len()).or_else(|| new.blob(old.len())) {
        return Err(wrong(&blob));
    }
    for (old, new) in old.blobs().zip(new.blobs()) {
        match changed.next_if_eq(&old.index()) {
            None => same_head(&old, &new)?,
            Some(_) => same_executable(&old, &new, progress)?,
        }
    }
    Ok(())
}

fn same_executable(old: &Blob<'_>, new: &Blob<'_>, progress: &dyn Progress) -> Result<(), Error> {
    let (Some(one), Some(other)) = (old.as_executable(), new.as_executable()) else { return Err(wrong(old)) };
    let same_head = one.name() == other.name()
        && old.version() == new.version()
        && one.uncompressed_size() == other.uncompressed_size();
    match same_head && same_bytes(&mut one.unpack()?, &mut other.unpack()?, progress)? {
        true => Ok(()),
        false => Err(wrong(old)),
    }
}
