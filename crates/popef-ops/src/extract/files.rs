//! The files of a folder that is being made.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use popef::Blob;
use popef::read::Data;

use crate::error::Error;
use crate::progress::Progress;
use crate::rights::Most;
use crate::work::{copy, len_of};

/// Data from this length on is copied by the system. For shorter data, opening the file once more would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;
/// The number of bytes copied between two reports of progress, at which the work can stop.
const STEP: u64 = 4 << 20;

/// Where files are made.
pub(super) struct Files<'t> {
    /// `None` if nothing is written.
    path: Option<&'t Path>,
    /// The time of the last change that all files get, in seconds since 1970.
    modified: u64,
    most: Most,
    progress: &'t dyn Progress,
}

impl<'t> Files<'t> {
    /// `most` limits the permissions of all files.
    pub(super) fn new(path: Option<&'t Path>, modified: u64, most: Most, progress: &'t dyn Progress) -> Self {
        Files { path, modified, most, progress }
    }

    /// The time of the last change that all files get, in seconds since 1970.
    pub(super) fn modified(&self) -> u64 {
        self.modified
    }

    /// Makes a file under a free name. If the name is taken meanwhile, even by a link, fails without writing. Returns
    /// the file's length.
    pub(super) fn file(
        &self,
        name: &str,
        contents: impl FnOnce(&mut NewFile<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Some(folder) = self.path else {
            let mut file = NewFile::over(None, self.progress);
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
        let file = create(path, self.most).map_err(|error| Error::io("make the file", error))?;
        let mut file = NewFile::over(Some(file), self.progress);
        contents(&mut file)?;
        file.flush().map_err(|error| Error::io("write the file", error))?;
        if let Some(out) = &file.out {
            let time = UNIX_EPOCH.checked_add(Duration::from_secs(self.modified)).unwrap_or(UNIX_EPOCH);
            out.get_ref().set_modified(time).map_err(|error| Error::io("set the time of the file", error))?;
        }
        Ok(file.len)
    }
}

/// Creates a file, and its folder if that is missing.
fn create(path: &Path, most: Most) -> io::Result<fs::File> {
    let create = || most.limit(fs::OpenOptions::new().write(true).create_new(true)).open(path);
    match (create(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            // Another thread may have made it meanwhile.
            most.folders().create(folder).or_else(|error| match error.kind() {
                ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })?;
            create()
        }
        (file, _) => file,
    }
}

/// A file that is being written.
pub(super) struct NewFile<'t> {
    /// `None` if only the length is wanted.
    out: Option<BufWriter<fs::File>>,
    len: u64,
    progress: &'t dyn Progress,
}

impl<'t> NewFile<'t> {
    /// Writes to the given file from its beginning, or only counts without a file.
    pub(super) fn over(file: Option<fs::File>, progress: &'t dyn Progress) -> Self {
        NewFile { out: file.map(|file| BufWriter::with_capacity(8 << 10, file)), len: 0, progress }
    }

    /// Writes what is left. Returns the number of bytes that the file has, or would have.
    pub(super) fn end(mut self) -> Result<u64, Error> {
        self.flush().map_err(|error| Error::io("write the file", error))?;
        Ok(self.len)
    }

    pub(super) fn progress(&self) -> &'t dyn Progress {
        self.progress
    }

    /// Whether nothing is written.
    pub(super) fn is_trial(&self) -> bool {
        self.out.is_none()
    }

    /// Counts bytes instead of writing them.
    pub(super) fn skip(&mut self, len: u64) {
        self.len = self.len.saturating_add(len);
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
        self.skip(data.len());
        let Some(out) = &mut self.out else { return Ok(()) };
        out.flush()?;
        let mut start = 0;
        while start < data.len() {
            let end = start.saturating_add(STEP).min(data.len());
            data.range(start..end)?.copy_to(out.get_mut()).map_err(Error::of_copy)?;
            self.progress.add(end.saturating_sub(start))?;
            start = end;
        }
        Ok(())
    }

    /// Writes all bytes of a reader.
    pub(super) fn copy(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let progress = self.progress;
        copy(from, self, progress)
    }

    /// Writes the fields of a metadata blob as JSON.
    pub(super) fn metadata(&mut self, blob: &Blob<'_>) -> Result<(), Error> {
        serde_json::to_writer_pretty(&mut *self, &blob.as_metadata()).map_err(io::Error::from)?;
        Ok(self.write_all(b"\n")?)
    }

    /// Writes the unpacked bytes of an executable.
    pub(super) fn unpacked(&mut self, blob: &Blob<'_>) -> Result<(), Error> {
        let Some(executable) = blob.as_executable() else { return Ok(()) };
        if self.is_trial() {
            self.skip(executable.uncompressed_size());
            return Ok(());
        }
        self.copy(&mut executable.unpack()?)
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))?;
        self.skip(len_of(bytes.get(..count).unwrap_or_default()));
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
