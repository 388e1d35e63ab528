//! Keeping what is whole of a damaged file.

use popef::File;
use popef::error::ErrorKind;
use serde::Serialize;

use crate::error::{Code, Error};
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::verify::has_same_head;

/// What [`recover`] kept of a file, and what it did not.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recovered {
    /// How many blobs were kept.
    pub kept_blobs: usize,
    /// How many bytes were kept: all before the damage, also what comes before the first blob.
    pub kept_bytes: u64,
    /// How many bytes were not kept: all from the damage on.
    pub lost_bytes: u64,
    /// The damage. `None` if the file is whole.
    pub damage: Option<Damage>,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Damage {
    /// The index of the first blob that cannot be read.
    pub blob: Option<usize>,
    /// The byte in the file.
    pub offset: Option<u64>,
    /// The library's code for it.
    pub code: &'static str,
    /// What is wrong, in words.
    pub message: String,
}

/// Writes what is whole of a damaged file: every blob before the damage, and what comes before the first blob.
///
/// The file must have been opened with [`OpenOptions::damaged`](popef::OpenOptions::damaged). Blobs after the damage are not
/// searched for: nothing says where they begin, and what looks like a blob may be a part of a tensor. The data of blobs is
/// copied as it is, and not checked.
///
/// A whole file is copied, and the report has no damage. Fails with [`Code::NothingWhole`] if the first blob is damaged already,
/// and with the library's error if the file is not damaged but cannot be read, for example because a limit is too low.
///
/// ```
/// use popef_ops::recover::recover;
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
/// let report = recover(&file, Target::Path(&to, Overwrite::Never), &Silent)?;
/// assert_eq!(report.kept_blobs, 1);
/// assert_eq!(report.damage.unwrap().code, "blob-cut");
/// assert!(popef::File::open(&to)?.damage().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recover(file: &File, target: Target<'_>, progress: &dyn Progress) -> Result<Recovered, Error> {
    if let Some(damage) = file.damage() {
        if damage.kind() != ErrorKind::Damaged {
            return Err(damage.clone().into());
        }
        if file.is_empty() {
            let message = format!("no blob is whole, so there is nothing to keep: {}", damage.reason());
            let error = Error::new(Code::NothingWhole, message);
            return Err(match file.path() {
                Some(path) => error.in_file(path),
                None => error,
            });
        }
    }
    progress.expect(file.end());
    let mut output = Output::begin(target, [file], progress)?;
    output.prefix_of(file)?;
    output.copy_all(file.blobs())?;
    output.check_blobs(file.blobs(), has_same_head)?;
    output.finish()?;
    Ok(Recovered {
        kept_blobs: file.len(),
        kept_bytes: file.end(),
        lost_bytes: file.size().saturating_sub(file.end()),
        damage: file.damage().map(Damage::of),
    })
}

impl Damage {
    fn of(error: &popef::Error) -> Self {
        Damage { blob: error.blob(), offset: error.offset(), code: error.code().as_str(), message: error.reason() }
    }
}
