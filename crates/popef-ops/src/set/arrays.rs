//! The arrays that new data comes from.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use popef::File;
use popef::error::ErrorCode;
use popef::types::{FeedDataInfo, TensorDataInfo, Text};
use serde::Serialize;

use super::Weights;
use super::files::{Files, Names, Stretch, too_many};
use super::renames::name_in;
use crate::error::{Code, Error};
use crate::extract::{Entry, ExtractedNames, Form, INDEX, Index, Kind, Stored};
use crate::formats::{Array, ArrayFile, MOST_OPEN, NamedArrays};
use crate::near::quoted;
use crate::pack::folder::inside;

/// The arrays of files and folders, by number. There may be millions, so only the place of each is kept, and its header
/// is read again on each request.
#[derive(Default)]
pub(super) struct Arrays {
    files: Files,
    /// The files that have several arrays.
    several: Mutex<HashMap<u32, ArrayFile>>,
    /// The arrays that are not in a file.
    memory: Vec<Array>,
    arrays: Vec<Located>,
    /// By the number of the array: names of blobs that differ from those of the arrays in their files.
    renamed: BTreeMap<u32, Stretch>,
    names: Names,
    /// The length of all arrays.
    len: u64,
    /// The names of blobs whose arrays were extracted.
    extracted: ExtractedNames,
    /// Hashes of all names, to find duplicates.
    hashes: Vec<(u64, u32)>,
    hasher: RandomState,
}

/// The name of a blob as it was given, or as the file has it if it was given as it is shown.
fn shown_name_in(file: &File, name: &Text<'static>) -> Text<'static> {
    name.to_str().ok().and_then(|name| name_in(file, name)).unwrap_or_else(|| name.clone())
}

/// An array: the number of its file, and its number there. Those in memory have the file [`MEMORY`].
struct Located {
    file: u32,
    index: u32,
}

const MEMORY: u32 = u32::MAX;

impl Arrays {
    /// The arrays of files, and of folders: of all their `.npy` files, or if a folder has the `index.json` of an extracted file,
    /// those that it names, for the blobs that it says. Other arrays of its files with several have their own names.
    pub(super) fn of(given: &[Weights], file: &File) -> Result<Self, Error> {
        let mut arrays = Arrays::default();
        for given in given {
            match given {
                Weights::Array(array) => arrays.add_from_memory(array)?,
                Weights::For(name, path) => arrays.add_for(&shown_name_in(file, name), path)?,
                Weights::At(path) if !path.is_dir() => {
                    arrays.files.enter(Path::new(""));
                    arrays.add_file(ArrayFile::open(path)?, path.as_os_str(), path)?;
                }
                Weights::At(folder) if folder.join(INDEX).exists() => arrays.add_indexed(folder)?,
                Weights::At(folder) => arrays.add_folder(folder)?,
            }
        }
        arrays.check_names()?;
        Ok(arrays)
    }

    pub(super) fn len(&self) -> usize {
        self.arrays.len()
    }

    /// The bytes of all arrays.
    pub(super) fn total(&self) -> u64 {
        self.len
    }

    /// An array that has the name of the blob.
    pub(super) fn get(&self, number: usize) -> Result<Array, Error> {
        let missing = || Error::new(ErrorCode::FileChanged, "the file was changed meanwhile");
        let located = self.arrays.get(number).ok_or_else(missing)?;
        let index = usize::try_from(located.index).unwrap_or(usize::MAX);
        if located.file == MEMORY {
            return self.memory.get(index).cloned().ok_or_else(missing);
        }
        let path = self.files.path(located.file);
        let mut several = self.several.lock().unwrap_or_else(PoisonError::into_inner);
        let array = match several.get_mut(&located.file) {
            Some(file) => file.get(index)?,
            None => ArrayFile::open(&path)?.get(index)?,
        };
        let mut array = array.ok_or_else(|| missing().in_file(&path))?;
        if let Some(name) = u32::try_from(number).ok().and_then(|number| self.renamed.get(&number)) {
            array.name = Text::from(self.names.get(*name)).into_owned();
        }
        Ok(array)
    }

    /// The error, about the file of an array.
    pub(super) fn in_file(&self, number: usize, error: Error) -> Error {
        match self.path(number) {
            Some(path) => error.in_file(path),
            None => error,
        }
    }

    fn path(&self, number: usize) -> Option<PathBuf> {
        let located = self.arrays.get(number).filter(|located| located.file != MEMORY)?;
        Some(self.files.path(located.file))
    }

    /// All files.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.files.len()).map(|file| self.files.path(file))
    }

    /// Where an array comes from, in a report.
    pub(super) fn described(&self, number: usize, bytes: u64) -> impl Serialize + use<> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Described {
            from: Option<String>,
            data_size: u64,
        }

        Described { from: self.path(number).map(|path| path.display().to_string()), data_size: bytes }
    }

    fn add_from_memory(&mut self, array: &Array) -> Result<(), Error> {
        self.add(MEMORY, self.memory.len(), array, &array.name)?;
        self.memory.push(array.clone());
        Ok(())
    }

    /// Adds all arrays of a file, which is at `path`.
    fn add_file(&mut self, mut file: ArrayFile, name: &OsStr, path: &Path) -> Result<(), Error> {
        let number = self.files.add(name)?;
        for index in 0..file.len() {
            let Some(array) = file.get(index)? else { continue };
            let mut restored = array.clone();
            self.extracted.restore(&mut restored, path)?;
            self.add(number, index, &array, &restored.name)?;
        }
        self.keep(file, number)
    }

    /// Adds an array of a file for the tensor of a name.
    fn add_for(&mut self, name: &Text<'static>, path: &Path) -> Result<(), Error> {
        self.files.enter(Path::new(""));
        let number = self.files.add(path.as_os_str())?;
        let mut arrays = NamedArrays::of(ArrayFile::open(path)?);
        let (index, array) = arrays.only_or_named(name, path)?;
        self.add(number, index, &array, name)?;
        self.keep(arrays.into_file(), number)
    }

    /// Adds the unused arrays of a file.
    fn add_unless(&mut self, file: &mut ArrayFile, number: u32, used: &[bool]) -> Result<(), Error> {
        for index in 0..file.len() {
            if used.get(index) != Some(&true)
                && let Some(array) = file.get(index)?
            {
                self.add(number, index, &array, &array.name)?;
            }
        }
        Ok(())
    }

    /// Adds an array of a file for the blob of a name.
    fn add(&mut self, file: u32, index: usize, array: &Array, name: &Text<'_>) -> Result<(), Error> {
        let index = u32::try_from(index).map_err(|_| too_many())?;
        let number = u32::try_from(self.arrays.len()).map_err(|_| too_many())?;
        self.hashes.push((self.hasher.hash_one(name.as_bytes()), number));
        if array.name != *name {
            self.renamed.insert(number, self.names.add(name.as_bytes())?);
        }
        self.len = self.len.saturating_add(array.info.size_in_bytes().unwrap_or(0));
        self.arrays.push(Located { file, index });
        Ok(())
    }

    /// Keeps a file open if reading its header again for each array would take long.
    fn keep(&mut self, file: ArrayFile, number: u32) -> Result<(), Error> {
        if file.len() < 2 {
            return Ok(());
        }
        let several = self.several.get_mut().unwrap_or_else(PoisonError::into_inner);
        if several.len() >= MOST_OPEN {
            let message =
                format!("at most {MOST_OPEN} files with several arrays are used together; give fewer at a time");
            return Err(Error::new(Code::WrongArguments, message).in_file(self.files.path(number)));
        }
        several.insert(number, file);
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), Error> {
        let failed = |error| Error::io("read the folder", error).in_file(folder);
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut names = entries
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()
            .map_err(failed)?;
        names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "npy"));
        names.sort();
        if names.is_empty() {
            return Err(Error::new(Code::NoSuchName, "the folder has no .npy file").in_file(folder));
        }
        self.files.enter(folder);
        names.iter().try_for_each(|name| {
            let path = folder.join(name);
            self.add_file(ArrayFile::open(&path)?, name, &path)
        })
    }

    fn add_indexed(&mut self, folder: &Path) -> Result<(), Error> {
        let before = self.arrays.len();
        self.files.enter(folder);
        let mut archives = HashMap::<String, Archive>::new();
        Index::open(folder)?.entries(&mut |entry| self.add_entry(folder, entry, &mut archives))?;
        // An array that the index does not name was added to its file: its use is intended, or it is an error.
        let mut archives: Vec<_> = archives.into_values().collect();
        archives.sort_by_key(|archive| archive.number);
        for Archive { number, arrays, used } in archives {
            let mut file = arrays.into_file();
            self.add_unless(&mut file, number, &used)?;
            self.keep(file, number)?;
        }
        if self.arrays.len() > before {
            Ok(())
        } else {
            Err(Error::new(Code::NoSuchName, "the folder has no arrays").in_file(folder))
        }
    }

    fn add_entry(&mut self, folder: &Path, entry: Entry, archives: &mut HashMap<String, Archive>) -> Result<(), Error> {
        let (Kind::Tensor(TensorDataInfo { name, .. }) | Kind::Feed(FeedDataInfo { name, .. })) = entry.blob else {
            return Ok(());
        };
        // Raw bytes have no type and no shape that could be compared.
        let is_array = |stored: &Stored| matches!(stored.form, Form::Npy | Form::Npz | Form::Safetensors);
        let Some(stored) = entry.data.filter(is_array) else { return Ok(()) };
        let path = inside(folder, &stored.file).map_err(|error| error.in_file(folder))?;
        let lacking = || Error::new(Code::NoSuchName, format!("it has no array for {}", quoted(&name))).in_file(&path);
        let Some(key) = stored.key.filter(|_| stored.form != Form::Npy).map(Text::from) else {
            let mut file = ArrayFile::open(&path)?;
            let array = file.get(0)?.filter(|_| file.len() == 1).ok_or_else(lacking)?;
            let number = self.files.add(stored.file.as_ref())?;
            return self.add(number, 0, &array, &name);
        };
        if !archives.contains_key(&stored.file) {
            let (number, file) = (self.files.add(stored.file.as_ref())?, ArrayFile::open(&path)?);
            let used = vec![false; file.len()];
            archives.insert(stored.file.clone(), Archive { number, arrays: NamedArrays::of(file), used });
        }
        let Some(archive) = archives.get_mut(&stored.file) else { return Ok(()) };
        let (index, array) = archive.arrays.array(&key)?.ok_or_else(lacking)?;
        archive.used.get_mut(index).into_iter().for_each(|used| *used = true);
        self.add(archive.number, index, &array, &name)
    }

    /// Fails if two arrays have one name.
    fn check_names(&mut self) -> Result<(), Error> {
        let mut hashes = mem::take(&mut self.hashes);
        hashes.sort_unstable();
        for pair in hashes.windows(2) {
            let [(one, first), (other, second)] = pair else { continue };
            if one != other {
                continue;
            }
            let [first, second] = [first, second].map(|number| usize::try_from(*number).unwrap_or(usize::MAX));
            let (array, again) = (self.get(first)?, self.get(second)?);
            if array.name == again.name {
                let message = format!("{} is given twice", quoted(&array.name));
                return Err(self.in_file(second, Error::new(Code::WrongArguments, message)));
            }
        }
        Ok(())
    }
}

/// A file with several arrays in a folder.
struct Archive {
    number: u32,
    arrays: NamedArrays,
    /// The arrays in the index.
    used: Vec<bool>,
}
