use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use popef::error::ErrorCode;
use popef::write::keep_rights;

use crate::error::Error;
use crate::folders::{Made, check_target_folder};
use crate::output::Overwrite;
use crate::rights::Most;

/// A file that is not PopEF, such as a report, which appears at its path only when it is complete.
///
/// It is written next to its path and put there by [`finish`](PlainFile::finish). If it is dropped before that, an old
/// file stays as it was. Links are followed as by [`Target::Path`](crate::Target::Path). It keeps the permissions of the file that it replaces, with its access control list. Only
/// users who could open all files that a new file is made from can open it, as for [`Output`](crate::Output).
///
/// ```
/// use std::io::Write as _;
///
/// use popef_ops::{Overwrite, PlainFile};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report.txt");
/// let mut file = PlainFile::create(&path, Overwrite::Never, [])?;
/// file.write_all(b"all is well")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"all is well");
/// assert_eq!(PlainFile::create(&path, Overwrite::Never, []).unwrap_err().code(), "file-exists");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PlainFile {
    file: File,
    /// The path as it was given, for errors.
    path: PathBuf,
    /// The path, with symbolic links resolved.
    target: PathBuf,
    /// `None` once it is in its place.
    temporary: Option<PathBuf>,
    may_replace: bool,
    /// The file that is replaced.
    old: Option<File>,
    /// The folders that were made for it.
    made: Option<Made>,
}

impl PlainFile {
    /// Begins a file. `inputs` are the files that are read for it. An input is replaced only if [`Overwrite::Inputs`]
    /// allows it.
    pub fn create<'f>(
        path: &Path,
        overwrite: Overwrite,
        inputs: impl IntoIterator<Item = &'f popef::File>,
    ) -> Result<Self, Error> {
        PlainFile::of_sources(path, overwrite, None::<&Path>, inputs)
    }

    /// Does the same for a file that is also made from sources other than PopEF files.
    pub fn of_sources<'f>(
        path: &Path,
        overwrite: Overwrite,
        sources: impl IntoIterator<Item: AsRef<Path>>,
        inputs: impl IntoIterator<Item = &'f popef::File>,
    ) -> Result<Self, Error> {
        let (sources, inputs): (Vec<_>, Vec<_>) = (sources.into_iter().collect(), inputs.into_iter().collect());
        let target = PlainFile::check(path, overwrite, &sources, inputs.iter().copied())?;
        let most = sources.iter().fold(Most::of(inputs), Most::and_at);
        PlainFile::begin(path, target, overwrite, most)
    }

    /// Begins a file of this name in a folder, as [`Target::In`](crate::Target::In) does: a missing folder is made, and
    /// nothing is written through a link.
    pub fn in_folder(folder: &Path, name: &str, overwrite: Overwrite) -> Result<Self, Error> {
        check_target_folder(folder)?;
        let made = Made::make(folder, Most::USUAL)?;
        let path = folder.join(name);
        let target = overwrite.options().follow_links(false).check(&path)?;
        let mut file = PlainFile::begin(&path, target, overwrite, Most::USUAL)?;
        file.made = Some(made);
        Ok(file)
    }

    /// Fails as [`of_sources`](Self::of_sources) would because of what is at the path: a file that must not be
    /// replaced, something other than a file, or a missing folder. Makes nothing, so it does not check whether the file
    /// can be written. Returns the path of the file, with links resolved.
    pub fn check<'f>(
        path: &Path,
        overwrite: Overwrite,
        sources: impl IntoIterator<Item: AsRef<Path>>,
        inputs: impl IntoIterator<Item = &'f popef::File>,
    ) -> Result<PathBuf, Error> {
        overwrite.check_inputs(path, inputs)?;
        overwrite.check_sources(path, sources)?;
        Ok(overwrite.options().check(path)?)
    }

    /// `target` is the path with links resolved.
    fn begin(path: &Path, target: PathBuf, overwrite: Overwrite, most: Most) -> Result<Self, Error> {
        let begun = || {
            let old = match File::open(&target) {
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                old => Some(old?),
            };
            // Until it has the old one's permissions, only its owner can open it.
            let (file, temporary) = create_beside(&target, if old.is_some() { Most::OWNER } else { most })?;
            Ok((old, file, temporary))
        };
        let (old, file, temporary) = begun().map_err(|error| failed("write the file", error, path))?;
        let may_replace = overwrite != Overwrite::Never;
        Ok(PlainFile { file, path: path.to_owned(), target, temporary: Some(temporary), may_replace, old, made: None })
    }

    /// Another handle of the file, which writes where this one does.
    pub(crate) fn handle(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|error| failed("write the file", error, &self.path))
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        self.place().map_err(|error| failed("put the file in its place", error, &self.path))
    }

    fn place(&mut self) -> io::Result<()> {
        if let Some(old) = &self.old {
            keep_rights(old, &self.file)?;
        }
        self.file.sync_all()?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if self.may_replace {
            fs::rename(temporary, &self.target)?;
            self.temporary = None;
            return Ok(());
        }
        // Unlike a rename, a link fails if a file has appeared there meanwhile. Dropping this removes the other name.
        fs::hard_link(temporary, &self.target)
    }
}

fn failed(doing: &'static str, error: io::Error, path: &Path) -> Error {
    let error = match error.kind() {
        ErrorKind::AlreadyExists => {
            Error::new(ErrorCode::FileExists, "the file exists, and overwriting was not allowed")
        }
        _ => Error::io(doing, error),
    };
    error.in_file(path)
}

impl Write for PlainFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PlainFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // A failure here cannot be reported. The file's name says what it is.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Creates a file next to a path.
fn create_beside(target: &Path, most: Most) -> io::Result<(File, PathBuf)> {
    const MOST_TRIES: u32 = 16;
    let name = target.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path has no name"))?;
    let mut options = OpenOptions::new();
    most.limit(options.write(true).create_new(true));
    let mut result = Err(io::Error::from(ErrorKind::AlreadyExists));
    for nth in 0..MOST_TRIES {
        let mut beside = OsString::from(".");
        // File systems take names of up to 255 bytes, so a long name is not repeated.
        beside.push(if name.len() > 200 { "long-name".as_ref() } else { name });
        beside.push(format!(".{}-{nth}.popef-new", std::process::id()));
        let path = target.with_file_name(beside);
        result = options.open(&path).map(|file| (file, path));
        if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            continue;
        }
        break;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn what_is_dropped_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, "old").unwrap();
        let mut file = PlainFile::create(&path, Overwrite::Others, []).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["report.html"]);
    }

    /// A trial fails exactly if beginning the file would fail.
    #[test]
    fn a_trial_fails_as_the_work_would() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("there"), "old").unwrap();
        for name in ["new", "there", "there/in", "no/folder", ".", "..", ""] {
            for overwrite in [Overwrite::Never, Overwrite::Others] {
                let trial = PlainFile::check(&at(name), overwrite, None::<&Path>, [])
                    .map(drop)
                    .map_err(|error| error.to_string());
                assert_eq!(names(folder.path()), ["there"], "{name}");
                let work = PlainFile::create(&at(name), overwrite, []).map(drop).map_err(|error| error.to_string());
                assert_eq!(trial, work, "{name}");
            }
        }
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        let file = PlainFile::create(&path, Overwrite::Never, []).unwrap();
        fs::write(&path, "another's").unwrap();
        assert_eq!(file.finish().unwrap_err().code(), "file-exists");
        assert_eq!(fs::read(&path).unwrap(), b"another's");
        assert_eq!(names(folder.path()), ["report.html"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        let mut file = PlainFile::create(&link, Overwrite::Others, []).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let error = PlainFile::create(folder.path(), Overwrite::Others, []).unwrap_err();
        assert!(error.to_string().contains("this is a folder"), "{error}");
    }
}
