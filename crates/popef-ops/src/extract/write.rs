//! Writes what was planned.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use popef::Blob;
use popef::read::Data;

use super::archive;
use super::index::{Entry, Form, INDEX, Stored};
use super::plan::{Item, Plan, whole};
use crate::error::Error;
use crate::formats::npy_header;
use crate::progress::Progress;
use crate::work::{copy, in_order};

/// Data from this length on is copied by the system. For shorter data, opening the file once more would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;
/// How much is copied until the progress is told, and the work can stop.
const STEP: u64 = 32 << 20;

impl Plan<'_> {
    /// Writes all files into a folder, which is empty.
    pub(super) fn write(&self, folder: &Path, progress: &dyn Progress) -> Result<(), Error> {
        let target = Target { folder, modified: time(self.index.modified), progress };
        for name in self.folders() {
            let path = folder.join(name);
            fs::create_dir(&path).map_err(|error| Error::io("make the folder", error).in_file(path))?;
        }
        if let Some(prefix) = &self.index.prefix {
            target.write(prefix, |file| file.data(&self.file.prefix()))?;
        }
        archive::write(self, &target)?;
        let blobs = self.items.iter().zip(&self.index.blobs);
        in_order(blobs, |_, (item, entry)| self.write_blob(item, entry, &target), |()| Ok(()))?;
        target.write(INDEX, |file| Ok(self.index.write(file)?))
    }

    /// The folders that the files are in.
    fn folders(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = Vec::new();
        for entry in &self.index.blobs {
            let files = entry.data.as_ref().map(|data| &*data.file).into_iter().chain(entry.surplus.as_deref());
            for (folder, _) in files.filter_map(|file| file.split_once('/')) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }

    fn write_blob(&self, item: &Item, entry: &Entry, target: &Target<'_>) -> Result<(), Error> {
        let Some(blob) = self.file.blob(item.blob) else { return Ok(()) };
        let data = blob.data();
        if let Some(Stored { file, form, .. }) = &entry.data {
            match form {
                // These were written together.
                Form::Npz | Form::Safetensors => {}
                Form::Json => target.write(file, |file| metadata(&blob, file))?,
                Form::Raw if entry.compress.is_some() => target.write(file, |file| unpacked(&blob, file))?,
                Form::Raw => target.write(file, |file| file.data(&data))?,
                Form::Npy => target.write(file, |file| {
                    let whole = blob.as_data().and_then(|data| whole(&data));
                    let header = whole.and_then(|(info, _)| npy_header(&info)).unwrap_or_default();
                    file.write_all(&header)?;
                    file.data(&data.range(0..item.len)?)
                })?,
            }
        }
        match &entry.surplus {
            Some(surplus) => target.write(surplus, |file| file.data(&data.range(item.len..data.len())?)),
            None => Ok(()),
        }
    }
}

fn metadata(blob: &Blob<'_>, file: &mut NewFile<'_>) -> Result<(), Error> {
    let Some(metadata) = blob.as_metadata() else { return Ok(()) };
    serde_json::to_writer_pretty(&mut *file, &metadata.read()?).map_err(io::Error::from)?;
    Ok(file.write_all(b"\n")?)
}

fn unpacked(blob: &Blob<'_>, file: &mut NewFile<'_>) -> Result<(), Error> {
    let Some(executable) = blob.as_executable() else { return Ok(()) };
    file.copy(&mut executable.unpack()?)
}

fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH)
}

/// Where files are made.
pub(super) struct Target<'t> {
    folder: &'t Path,
    modified: SystemTime,
    progress: &'t dyn Progress,
}

impl Target<'_> {
    /// Makes a file. There is none of its name, and if one appears, also a link, it is not written to.
    pub(super) fn write(
        &self,
        name: &str,
        contents: impl FnOnce(&mut NewFile<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.folder.join(name);
        self.write_to(&path, contents).map_err(|error| error.in_file(path))
    }

    fn write_to(
        &self,
        path: &PathBuf,
        contents: impl FnOnce(&mut NewFile<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|error| Error::io("make the file", error))?;
        let mut file = NewFile { out: BufWriter::with_capacity(8 << 10, file), progress: self.progress };
        contents(&mut file)?;
        let file = file.out.into_inner().map_err(|error| Error::io("write the file", error.into_error()))?;
        file.set_modified(self.modified).map_err(|error| Error::io("set the time of the file", error))
    }
}

/// A file that is being written.
pub(super) struct NewFile<'t> {
    out: BufWriter<fs::File>,
    progress: &'t dyn Progress,
}

impl<'t> NewFile<'t> {
    pub(super) fn progress(&self) -> &'t dyn Progress {
        self.progress
    }

    /// Writes all of some data.
    pub(super) fn data(&mut self, data: &Data<'_>) -> Result<(), Error> {
        if data.len() < BY_THE_SYSTEM {
            self.out.write_all(&data.read()?)?;
            return self.progress.add(data.len());
        }
        if data.as_slice().is_some() {
            return self.copy(&mut data.reader());
        }
        self.out.flush()?;
        let mut start = 0;
        while start < data.len() {
            let end = start.saturating_add(STEP).min(data.len());
            data.range(start..end)?.copy_to(self.out.get_mut())?;
            self.progress.add(end.saturating_sub(start))?;
            start = end;
        }
        Ok(())
    }

    /// Writes all that a reader gives.
    pub(super) fn copy(&mut self, from: &mut dyn io::Read) -> Result<(), Error> {
        let progress = self.progress;
        copy(from, self, progress)
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl io::Seek for NewFile<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}
