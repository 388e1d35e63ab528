//! Takes files apart: each blob into a file that other programs read, and `index.json`, by which [`pack`](crate::pack) makes
//! the same file again, byte for byte.

mod archive;
mod folder;
pub(crate) mod index;
pub(crate) mod names;
mod plan;
mod report;
mod write;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use popef::{Blob, File};

use crate::error::Error;
use crate::progress::Progress;

use folder::Folder;
use names::Names;
use plan::Plan;

pub use folder::Replace;
pub(crate) use index::{Entry, Form, INDEX, Index, Kind, Stored, head};
pub use report::{Extracted, ExtractedBlob, ExtractedFile, Note};

/// How tensors and feeds are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arrays {
    /// Each as an `.npy` file.
    #[default]
    Npy,
    /// All tensors in one `.npz` file, and all feeds in another.
    Npz,
    /// All tensors in one `.safetensors` file, and all feeds in another.
    Safetensors,
    /// Each as its bytes.
    Raw,
}

/// What is taken out of files, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtractOptions {
    arrays: Arrays,
    unpacked: bool,
}

impl ExtractOptions {
    /// Tensors as `.npy` files, and executables as they are.
    pub fn new() -> Self {
        ExtractOptions::default()
    }

    /// Sets how tensors and feeds are written.
    pub fn arrays(&mut self, arrays: Arrays) -> &mut Self {
        self.arrays = arrays;
        self
    }

    /// Sets whether executables are unpacked. [`pack`](crate::pack) then compresses them anew, which gives other bytes.
    pub fn unpacked(&mut self, unpacked: bool) -> &mut Self {
        self.unpacked = unpacked;
        self
    }

    /// Writes the chosen blobs of files into a new folder. One file's blobs go into the folder itself, those of several
    /// files into a folder for each within it.
    ///
    /// The folder appears when it is complete. No name from a file becomes a path, and nothing is written through a link.
    ///
    /// ```
    /// use popef_ops::Silent;
    /// use popef_ops::extract::{ExtractOptions, Replace};
    ///
    /// # let place = tempfile::tempdir()?;
    /// # let folder = place.path().join("model");
    /// # let path = place.path().join("model.popef");
    /// # let mut writer = popef::Writer::create(&path)?;
    /// # let info = popef::types::TensorDataInfo { name: "w".into(), tensor_info: popef::TensorInfo::new(popef::DataType::F32, [1]) };
    /// # writer.write_tensor(&info, &[1.5f32])?;
    /// # writer.finish()?;
    /// let file = popef::File::open(&path)?;
    /// ExtractOptions::new().extract(&[file], |_| true, &folder, Replace::Never, &Silent)?;
    /// assert!(folder.join("tensors/w.npy").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extract(
        &self,
        files: &[File],
        choose: impl Fn(&Blob<'_>) -> bool,
        to: &Path,
        replace: Replace,
        progress: &dyn Progress,
    ) -> Result<Extracted, Error> {
        let folder = Folder::begin(to, replace)?;
        let plans = self.plans(files, &choose);
        plans.iter().for_each(|plan| progress.expect(plan.bytes()));
        for plan in &plans {
            plan.write(&folder.of(&plan.folder)?, progress).map_err(|error| folder.named(error))?;
        }
        let extracted = report(&plans);
        folder.finish()?;
        Ok(extracted)
    }

    /// What [`extract`](Self::extract) would write.
    pub fn preview(&self, files: &[File], choose: impl Fn(&Blob<'_>) -> bool) -> Extracted {
        report(&self.plans(files, &choose))
    }

    fn plans<'f>(&self, files: &'f [File], choose: &dyn Fn(&Blob<'_>) -> bool) -> Vec<Plan<'f>> {
        let mut folders = Names::default();
        let plan = |file: &'f File| {
            let folder = match files {
                [_] => String::new(),
                _ => folders.of(file.path().and_then(Path::file_stem).unwrap_or_default().as_encoded_bytes()),
            };
            Plan::of(file, folder, choose, *self)
        };
        files.iter().map(plan).collect()
    }
}

fn report(plans: &[Plan<'_>]) -> Extracted {
    Extracted { files: plans.iter().map(Plan::report).collect() }
}

/// The time that the files of an extracted file get, in seconds since 1970: that of the file, or now if it came through a pipe.
fn time_of(file: &File) -> u64 {
    let modified = file.path().and_then(|path| path.metadata().ok()?.modified().ok()).unwrap_or_else(SystemTime::now);
    modified.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
