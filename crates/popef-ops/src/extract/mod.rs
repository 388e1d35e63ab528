//! Extracts files: each blob into a file that other programs read, and `index.json`, with which [`pack`](crate::pack)
//! makes the same file again, byte for byte.

mod archive;
mod files;
mod folder;
pub(crate) mod index;
pub(crate) mod names;
mod one;
mod plan;
mod report;
mod true_names;
mod write;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use popef::{Blob, File};

use crate::error::Error;
use crate::output::TargetFolder;
use crate::progress::Progress;
use crate::rights::Most;

use files::Files;
use folder::Folder;
use names::Names;
use plan::Plan;

pub(crate) use index::{Entry, Form, INDEX, Index, Kind, Stored, head};
pub use one::{Npy, OneFile, extract_one};
pub use report::{Extracted, ExtractedBlob, ExtractedFile, ExtractedPart, Note};
pub(crate) use true_names::ExtractedNames;

popef::seam::named! {
    /// How tensors and feeds are written.
    #[derive(Default, Hash)]
    pub enum Arrays {
        /// Each as an `.npy` file.
        #[default]
        Npy = "npy",
        /// All tensors in one `.npz` file, and all feeds in another.
        Npz = "npz",
        /// All tensors in one `.safetensors` file, and all feeds in another.
        Safetensors = "safetensors",
        /// Each as its bytes.
        Raw = "raw",
    }
}

/// What to extract from files, and how.
#[derive(Clone, Copy)]
pub struct ExtractOptions<'o> {
    /// How tensors and feeds are written.
    pub arrays: Arrays,
    /// Whether executables are unpacked. [`pack`](crate::pack) then compresses them again, which gives other bytes.
    pub unpacked: bool,
    /// Which blobs are taken out.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

impl Default for ExtractOptions<'_> {
    fn default() -> Self {
        ExtractOptions { arrays: Arrays::default(), unpacked: false, select: &|_| true }
    }
}

impl fmt::Debug for ExtractOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractOptions")
            .field("arrays", &self.arrays)
            .field("unpacked", &self.unpacked)
            .finish_non_exhaustive()
    }
}

/// Writes the chosen blobs of files into a new folder. The blobs of a single file go into the folder itself, those of
/// several files into a subfolder for each.
///
/// The folder appears when it is complete, and missing parents are made. No name from a file becomes a path, and links
/// are not followed. With [`Overwrite::Never`](crate::Overwrite::Never), the folder must not exist, or be empty.
/// Otherwise an extracted folder is replaced, if nothing else is in it.
///
/// Only users who could open a file can open its extracted files, as for [`Output`](crate::Output).
///
/// `each` is called for each blob in order, during the work.
///
/// ```
/// use popef_ops::extract::{ExtractOptions, extract};
/// use popef_ops::{Overwrite, Silent, TargetFolder};
///
/// # let place = tempfile::tempdir()?;
/// # let folder = place.path().join("model");
/// # let path = place.path().join("model.popef");
/// # let mut writer = popef::Writer::create(&path)?;
/// # let info = popef::types::TensorDataInfo { name: "w".into(), tensor_info: popef::TensorInfo::new(popef::DataType::F32, [1]) };
/// # writer.write_tensor(&info, &[1.5f32])?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let target = TargetFolder::At(&folder, Overwrite::Never);
/// let extracted = extract(&[file], target, &ExtractOptions::default(), &Silent, &mut |_| Ok(()))?;
/// assert_eq!(extracted.files[0].data_size, 4);
/// assert!(folder.join("tensors/w.npy").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract(
    files: &[File],
    target: TargetFolder<'_>,
    options: &ExtractOptions<'_>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(ExtractedBlob) -> Result<(), Error>,
) -> Result<Extracted, Error> {
    // With several files, each has a folder of its own, and the outer one has only names.
    let folder = Folder::of(target, if let [file] = files { Most::of([file]) } else { Most::USUAL })?;
    let mut names = Names::default();
    let mut extracted = Extracted { files: Vec::new() };
    for (input, file) in files.iter().enumerate() {
        let plan = Plan::of(file, options);
        // A dry run reads no data.
        progress.expect(if folder.is_some() { plan.bytes() } else { 0 });
        let mut report = ExtractedFile {
            folder: if files.len() == 1 { String::new() } else { names.of(stem(file).as_encoded_bytes()) },
            left_out: u64::try_from(file.len().saturating_sub(plan.len())).unwrap_or(u64::MAX),
            ..ExtractedFile::default()
        };
        let most = Most::of([file]);
        let path = folder.as_ref().map(|folder| folder.within(&report.folder, most)).transpose()?;
        let to = Files::new(path.as_deref(), time_of(file), most, progress);
        let written = write::write(&plan, input, &to, &mut report, each);
        written.map_err(|error| folder.iter().fold(error, |error, folder| folder.named(error)))?;
        extracted.files.push(report);
    }
    folder.map_or(Ok(()), |folder| progress.ask_to_place().and_then(|()| folder.finish()))?;
    Ok(extracted)
}

fn stem(file: &File) -> &OsStr {
    file.path().and_then(Path::file_stem).unwrap_or_default()
}

/// The time that the files of an extracted file get, in seconds since 1970: that of the file, or now if it came through a pipe.
fn time_of(file: &File) -> u64 {
    let modified = file.path().and_then(|path| path.metadata().ok()?.modified().ok()).unwrap_or_else(SystemTime::now);
    modified.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
