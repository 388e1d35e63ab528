//! Keeping the whole blobs of a damaged file.

use std::fmt;
use std::ops::Range;

use popef::error::ErrorKind;
use popef::types::Diagnostic;
use popef::{Blob, File};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::listed::Listed;
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::verify::has_same_head;

/// What to keep of a damaged file.
pub struct RecoverOptions<'o> {
    /// Which of the whole blobs to keep.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

/// Keeps all whole blobs.
impl Default for RecoverOptions<'_> {
    fn default() -> Self {
        RecoverOptions { select: &|_| true }
    }
}

impl fmt::Debug for RecoverOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecoverOptions").finish_non_exhaustive()
    }
}

/// What [`recover`] kept of a file, and what was lost.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recovered {
    /// The number of blobs kept.
    pub kept_blobs: u64,
    /// The number of bytes kept, including those before the first blob.
    pub kept_bytes: u64,
    /// The number of whole blobs left out, because they were not chosen.
    pub left_out_blobs: u64,
    /// The number of bytes lost.
    pub lost_bytes: u64,
    /// The first damage. `None` if the file is whole.
    pub damage: Option<Diagnostic>,
    /// All that was lost, in the order of the file.
    pub lost: Listed<Lost>,
}

/// Bytes of a damaged file that were lost.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Lost {
    /// The first lost byte.
    pub start: u64,
    /// The number of lost bytes.
    pub bytes: u64,
    /// Whether they are all bytes up to the end of the file, which were not searched for blobs. Otherwise they are one
    /// blob.
    pub is_rest: bool,
    /// Why they were lost.
    pub damage: Diagnostic,
}

/// Writes the whole parts of a damaged file: every whole blob that can be found, and the bytes before the first blob.
///
/// The file must have been opened with [`OpenOptions::damaged`](popef::OpenOptions::damaged). After a blob whose info
/// is damaged, the next one begins where the header says, if a blob is there: see [`File::past_damage`]. Blobs are not
/// searched for anywhere else: bytes that look like a blob may be a part of a tensor. The data of blobs is copied
/// unchanged and unchecked.
///
/// A whole file is copied, and the report has no damage. Fails with [`Code::NothingWhole`] if no blob is whole, with
/// [`Code::NothingChosen`] if no whole blob is chosen, and with the library's error if the file is not damaged but
/// cannot be read, for example because a limit is too low.
///
/// ```
/// use popef_ops::recover::{RecoverOptions, recover};
/// use popef_ops::{Overwrite, Silent, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("cut.popef"), folder.path().join("new.popef"));
/// # let mut bytes = Vec::new();
/// # let mut writer = popef::Writer::stream(&mut bytes);
/// # let first = writer.write_executable("first", b"its bytes")?;
/// # writer.write_executable("second", b"its bytes")?;
/// # writer.finish()?;
/// # std::fs::write(&from, &bytes[..bytes.len() - 1])?;
/// let file = popef::OpenOptions::new().damaged(true).open(&from)?;
/// let report = recover(&file, Target::Path(&to, Overwrite::Never), &RecoverOptions::default(), &Silent)?;
/// assert_eq!(report.kept_blobs, 1);
/// assert_eq!(report.damage.unwrap().code, "blob-cut");
/// assert!(popef::File::open(&to)?.damage().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recover(
    file: &File,
    target: Target<'_>,
    options: &RecoverOptions<'_>,
    progress: &dyn Progress,
) -> Result<Recovered, Error> {
    let mut lost = Listed::default();
    let whole = whole_of(file, &mut lost)?;
    let chosen = || whole.blobs().filter(|blob| (options.select)(blob));
    let (kept_blobs, bytes) = chosen()
        .fold((0_u64, 0_u64), |(count, bytes), blob| (count.saturating_add(1), bytes.saturating_add(blob.size())));
    let left_out_blobs = u64::try_from(whole.len()).unwrap_or(u64::MAX).saturating_sub(kept_blobs);
    if kept_blobs == 0 && left_out_blobs > 0 {
        return Err(in_file(file, Error::new(Code::NothingChosen, "none of the whole blobs is chosen")));
    }
    progress.expect(file.prefix().len().saturating_add(bytes));
    let mut output = Output::begin(target, [file], progress)?;
    output.prefix_of(file)?;
    output.copy_all(chosen())?;
    output.check_blobs(chosen(), has_same_head)?;
    let kept_bytes = output.finish()?.size;
    let damage = file.damage().map(popef::Error::describe);
    Ok(Recovered { kept_blobs, kept_bytes, left_out_blobs, lost_bytes: lost.bytes, damage, lost })
}

/// The file with all its whole blobs.
fn whole_of(file: &File, lost: &mut Listed<Lost>) -> Result<File, Error> {
    let Some(damage) = file.damage() else { return Ok(file.clone()) };
    if damage.kind() != ErrorKind::Damaged {
        return Err(damage.clone().into());
    }
    let mut end = 0;
    let whole = file.past_damage(&mut |error| {
        if let Some(range) = error.blob_range() {
            end = range.end;
            lost.add(range, false, &error);
        }
    })?;
    if whole.is_empty() {
        let message = format!("no blob is whole, so there is nothing to keep: {}", damage.reason());
        return Err(in_file(file, Error::new(Code::NothingWhole, message)));
    }
    if let Some(damage) = whole.damage() {
        lost.add(whole.end().max(end)..whole.size(), true, damage);
    }
    Ok(whole)
}

fn in_file(file: &File, error: Error) -> Error {
    match file.path() {
        Some(path) => error.in_file(path),
        None => error,
    }
}

impl Listed<Lost> {
    fn add(&mut self, range: Range<u64>, is_rest: bool, why: &popef::Error) {
        let bytes = range.end.saturating_sub(range.start);
        self.push(bytes, || Lost { start: range.start, bytes, is_rest, damage: why.describe() });
    }
}
