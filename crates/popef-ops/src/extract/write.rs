//! Writes what was planned.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use popef::Blob;
use popef::read::Data;

use super::archive;
use super::index::{Form, INDEX, write_begin, write_end};
use super::plan::{PREFIX, Plan, Planned, whole};
use super::report::{ExtractedBlob, ExtractedFile};
use crate::error::Error;
use crate::formats::npy_header;
use crate::listed::name_of;
use crate::progress::Progress;
use crate::work::{copy, in_order, len_of};

/// Data from this length on is copied by the system. For shorter data, opening the file once more would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;
/// How much is copied until the progress is told, and the work can stop.
const STEP: u64 = 32 << 20;

/// Is told of each blob that was taken out.
pub(super) type Each<'e> = &'e mut dyn FnMut(ExtractedBlob) -> Result<(), Error>;

/// A blob that is written: its line of the index, and what is reported of it.
struct Done {
    line: Vec<u8>,
    row: ExtractedBlob,
}

/// Writes all files of a plan into a folder, which is empty. Sums them up in the report.
pub(super) fn write(
    plan: &Plan<'_>,
    input: usize,
    folder: &Folder<'_>,
    report: &mut ExtractedFile,
    each: Each<'_>,
) -> Result<(), Error> {
    let prefix = plan.file().prefix();
    if !prefix.is_empty() {
        folder.file(PREFIX, |file| file.data(&prefix))?;
    }
    archive::write(plan, folder)?;
    folder
        .file(INDEX, |index| {
            write_begin(index, folder.modified, (!prefix.is_empty()).then_some(PREFIX))?;
            let done = |_: &mut _, blob: Blob<'_>| {
                let planned = plan.planned(&blob);
                let extracted_size = folder.blob(&blob, &planned)?;
                let mut line = Vec::new();
                serde_json::to_writer(&mut line, &planned.entry).map_err(io::Error::from)?;
                Ok(Done { line, row: row(input, &blob, planned, extracted_size) })
            };
            in_order(plan.blobs(), done, |Done { line, row }| {
                index.write_all(if report.extracted == 0 { b"\n" } else { b",\n" })?;
                index.write_all(&line)?;
                report.add(&row);
                each(row)
            })?;
            Ok(write_end(index)?)
        })
        .map(drop)
}

fn row(input: usize, blob: &Blob<'_>, planned: Planned, extracted_size: u64) -> ExtractedBlob {
    let (path, key) = planned.entry.data.map_or((None, None), |data| (Some(data.file), data.key));
    ExtractedBlob {
        input,
        index: blob.index(),
        blob_type: blob.blob_type(),
        name: name_of(blob).into(),
        path,
        key,
        data_size: blob.data().len(),
        extracted_size,
        notes: planned.notes,
    }
}

/// Where files are made.
pub(super) struct Folder<'t> {
    /// None if nothing is written.
    path: Option<&'t Path>,
    /// When all files say that they were changed, in seconds since 1970.
    modified: u64,
    progress: &'t dyn Progress,
}

impl<'t> Folder<'t> {
    pub(super) fn new(path: Option<&'t Path>, modified: u64, progress: &'t dyn Progress) -> Self {
        Folder { path, modified, progress }
    }

    /// Writes what a blob has for itself. Returns the number of bytes, with those that are in an archive.
    fn blob(&self, blob: &Blob<'_>, planned: &Planned) -> Result<u64, Error> {
        let (entry, data) = (&planned.entry, blob.data());
        let mut written = match &entry.data {
            None => 0,
            Some(stored) => match stored.form {
                Form::Npz | Form::Safetensors => planned.len,
                Form::Json => self.file(&stored.file, |file| metadata(planned, file))?,
                Form::Raw if entry.compress.is_some() => self.file(&stored.file, |file| unpacked(blob, file))?,
                Form::Raw => self.file(&stored.file, |file| file.data(&data))?,
                Form::Npy => self.file(&stored.file, |file| {
                    let whole = blob.as_data().and_then(|data| whole(&data));
                    file.write_all(&whole.and_then(|(info, _)| npy_header(&info)).unwrap_or_default())?;
                    file.data(&data.range(0..planned.len)?)
                })?,
            },
        };
        if let Some(surplus) = &entry.surplus {
            let surplus = self.file(surplus, |file| file.data(&data.range(planned.len..data.len())?))?;
            written = written.saturating_add(surplus);
        }
        Ok(written)
    }

    /// Makes a file. There is none of its name, and if one appears, also a link, it is not written to. Returns its length.
    pub(super) fn file(
        &self,
        name: &str,
        contents: impl FnOnce(&mut NewFile<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Some(folder) = self.path else {
            let mut file = NewFile { out: None, len: 0, progress: self.progress };
            contents(&mut file)?;
            return Ok(file.len);
        };
        let path = folder.join(name);
        self.write_to(&path, contents).map_err(|error| error.in_file(path))
    }

    fn write_to(
        &self,
        path: &Path,
        contents: impl FnOnce(&mut NewFile<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let file = create(path).map_err(|error| Error::io("make the file", error))?;
        let out = Some(BufWriter::with_capacity(8 << 10, file));
        let mut file = NewFile { out, len: 0, progress: self.progress };
        contents(&mut file)?;
        let len = file.len;
        if let Some(out) = file.out {
            let file = out.into_inner().map_err(|error| Error::io("write the file", error.into_error()))?;
            let time = UNIX_EPOCH.checked_add(Duration::from_secs(self.modified)).unwrap_or(UNIX_EPOCH);
            file.set_modified(time).map_err(|error| Error::io("set the time of the file", error))?;
        }
        Ok(len)
    }
}

/// Creates a file, and the folder that it is in if that is missing.
fn create(path: &Path) -> io::Result<fs::File> {
    let create = || fs::OpenOptions::new().write(true).create_new(true).open(path);
    match (create(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            // Another thread may have made it meanwhile.
            fs::create_dir(folder).or_else(|error| match error.kind() {
                ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })?;
            create()
        }
        (file, _) => file,
    }
}

fn metadata(planned: &Planned, file: &mut NewFile<'_>) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *file, &planned.metadata).map_err(io::Error::from)?;
    Ok(file.write_all(b"\n")?)
}

fn unpacked(blob: &Blob<'_>, file: &mut NewFile<'_>) -> Result<(), Error> {
    let Some(executable) = blob.as_executable() else { return Ok(()) };
    if file.is_trial() {
        file.len = file.len.saturating_add(executable.uncompressed_size());
        return Ok(());
    }
    file.copy(&mut executable.unpack()?)
}

/// A file that is being written.
pub(super) struct NewFile<'t> {
    /// None if only the length is wanted.
    out: Option<BufWriter<fs::File>>,
    len: u64,
    progress: &'t dyn Progress,
}

impl<'t> NewFile<'t> {
    pub(super) fn progress(&self) -> &'t dyn Progress {
        self.progress
    }

    /// Whether nothing is written.
    pub(super) fn is_trial(&self) -> bool {
        self.out.is_none()
    }

    /// Writes all of some data.
    pub(super) fn data(&mut self, data: &Data<'_>) -> Result<(), Error> {
        if data.len() < BY_THE_SYSTEM && !self.is_trial() {
            self.write_all(&data.read()?)?;
            return self.progress.add(data.len());
        }
        if data.as_slice().is_some() && !self.is_trial() {
            return self.copy(&mut data.reader());
        }
        self.len = self.len.saturating_add(data.len());
        let Some(out) = &mut self.out else { return Ok(()) };
        out.flush()?;
        let mut start = 0;
        while start < data.len() {
            let end = start.saturating_add(STEP).min(data.len());
            data.range(start..end)?.copy_to(out.get_mut())?;
            self.progress.add(end.saturating_sub(start))?;
            start = end;
        }
        Ok(())
    }

    /// Writes all that a reader gives.
    fn copy(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let progress = self.progress;
        copy(from, self, progress)
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))?;
        self.len = self.len.saturating_add(len_of(bytes.get(..count).unwrap_or_default()));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl io::Seek for NewFile<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.out.as_mut().map_or(Ok(0), |out| out.seek(to))
    }
}
