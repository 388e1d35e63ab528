//! Reads an extracted folder.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use popef::types::Text;
use popef::write::Packing;

use super::metadata::read_metadata;
use super::part::{Bytes, Each, Part, array_of};
use super::report::State;
use crate::error::{Code, Error};
use crate::extract::names::folded;
use crate::extract::{Entry, Form, INDEX, Index, Kind, Stored};
use crate::formats::{Array, ArrayFile, MOST_OPEN, NamedArrays, Place, Source};

/// A folder, which is visited once.
pub(super) struct Folder<'f> {
    path: &'f Path,
    index: &'f Index,
    /// The files with several arrays that were opened.
    archives: HashMap<String, Archive>,
}

/// A file with several arrays.
struct Archive {
    source: Source,
    arrays: NamedArrays,
}

impl<'f> Folder<'f> {
    pub(super) fn new(path: &'f Path, index: &'f Index) -> Self {
        Folder { path, index, archives: HashMap::new() }
    }

    /// The bytes before the first blob.
    pub(super) fn prefix(&self) -> Result<Option<Place>, Error> {
        self.index.prefix.as_ref().map(|name| Ok(self.whole(name)?.0)).transpose()
    }

    /// All blobs, optionally without tensors and feeds.
    pub(super) fn parts(mut self, with_data: bool, each: Each<'_>) -> Result<(), Error> {
        let index = self.index;
        index.entries(&mut |entry| match entry.blob {
            Kind::Tensor(_) | Kind::Feed(_) if !with_data => Ok(()),
            _ => each(self.part(entry)?),
        })
    }

    fn part(&mut self, entry: Entry) -> Result<Part, Error> {
        let Entry { blob, version, data, surplus, compress, was, any_name, head } = entry;
        let from = self.path.join(data.as_ref().map_or(INDEX, |data| &data.file));
        let mut part = Part::new(blob, Vec::new(), from.to_string_lossy());
        part.version = version;
        part.old_head = head.map(|head| head.0);
        part.compress = compress;
        part.was = was.or(compress.map(Packing::format));
        part.any_name = any_name;
        part.state = State::Same;
        match data {
            None if matches!(part.kind, Kind::Metadata) => {}
            None => return Err(self.bad("a blob has no file")),
            Some(data) => self.fill(&mut part, &data)?,
        }
        if let Some(surplus) = surplus {
            let (place, is_same) = self.whole(&surplus)?;
            part.note(is_same);
            // The bytes after the old tensors have no meaning after new ones.
            if !part.is_reshaped {
                part.data.push(Bytes::Place(place));
            }
        }
        Ok(part)
    }

    /// Adds the data of a blob's file.
    fn fill(&mut self, part: &mut Part, stored: &Stored) -> Result<(), Error> {
        match (&part.kind, stored.form) {
            (Kind::Metadata, Form::Json) => {
                let (place, is_same) = self.whole(&stored.file)?;
                part.metadata = Some(read_metadata(&place)?);
                part.note(is_same);
                Ok(())
            }
            (Kind::Tensor(_) | Kind::Feed(_), Form::Npy | Form::Npz | Form::Safetensors) => {
                self.fill_array(part, stored)
            }
            (Kind::Metadata, _) | (_, Form::Json | Form::Npy | Form::Npz | Form::Safetensors) => {
                Err(self.bad(&format!("{:?} is of no form for such a blob", stored.file)))
            }
            (_, Form::Raw) => {
                let (place, is_same) = self.whole(&stored.file)?;
                part.note(is_same);
                part.data.push(Bytes::Place(place));
                Ok(())
            }
        }
    }

    fn fill_array(&mut self, part: &mut Part, stored: &Stored) -> Result<(), Error> {
        let (array, is_same) = self.array(stored)?;
        part.note(is_same);
        let old = array_of(&part.kind).unwrap_or_default();
        // An array of bytes may stand for 8-bit floats.
        let new = array.as_type(old.data_type).unwrap_or_else(|| array.info.clone());
        if new != old {
            part.note(false);
            part.is_reshaped = true;
            part.set_shape(new).map_err(|error| error.in_file(&part.from))?;
        }
        part.data.push(Bytes::Array(array.into()));
        Ok(())
    }

    fn array(&mut self, stored: &Stored) -> Result<(Array, bool), Error> {
        if stored.form == Form::Npy {
            let (source, is_same) = self.source(&stored.file)?;
            let mut file = ArrayFile::of(source)?;
            let array = file.get(0)?.filter(|_| file.len() == 1);
            return Ok((array.ok_or_else(|| self.bad(&format!("{:?} is not one array", stored.file)))?, is_same));
        }
        let key = Text::from(stored.key.clone().unwrap_or_default());
        if !self.archives.contains_key(&stored.file) {
            if self.archives.len() >= MOST_OPEN {
                return Err(self.bad(&format!("it names more than {MOST_OPEN} files with several arrays")));
            }
            let (source, _) = self.source(&stored.file)?;
            let arrays = NamedArrays::of(ArrayFile::of(source.clone())?);
            self.archives.insert(stored.file.clone(), Archive { source, arrays });
        }
        let archive = self.archives.get_mut(&stored.file);
        let found = archive
            .map(|archive| archive.arrays.array(&key).map(|found| (found, archive.source.clone())))
            .transpose()?;
        match found {
            Some((Some((_, array)), source)) => Ok((array, self.is_same(&source))),
            _ => Err(self.bad(&format!("{:?} has no array {:?}", stored.file, key.to_string()))),
        }
    }

    /// All bytes of a file, and whether it is unchanged since it was extracted.
    fn whole(&self, name: &str) -> Result<(Place, bool), Error> {
        let (source, is_same) = self.source(name)?;
        Ok((Place::of(source), is_same))
    }

    fn source(&self, name: &str) -> Result<(Source, bool), Error> {
        let source = Source::of(&inside(self.path, name)?)?;
        let is_same = self.is_same(&source);
        Ok((source, is_same))
    }

    /// Whether the file has the time that it got when it was extracted.
    fn is_same(&self, source: &Source) -> bool {
        // Extracted files have a time of whole seconds. Files written later hardly ever do.
        let extracted = UNIX_EPOCH.checked_add(Duration::from_secs(self.index.modified));
        source.modified().is_none_or(|time| Some(time) == extracted)
    }

    fn bad(&self, message: &str) -> Error {
        bad_index(self.path, message)
    }
}

/// Fails if an index names a file or an array twice: a small folder could then become a file of any size. Names that
/// differ only in upper and lower case are the same file on some systems.
pub(super) fn check_files(folder: &Path, index: &Index) -> Result<(), Error> {
    let hasher = RandomState::new();
    let hash = |(file, key): (&str, Option<&str>)| {
        let parts = Path::new(file).components().map(|part| folded(&part.as_os_str().to_string_lossy()).into_owned());
        hasher.hash_one((parts.collect::<Vec<_>>(), key))
    };
    let mut all: Vec<u64> = index.prefix.iter().map(|prefix| hash((prefix, None))).collect();
    index.entries(&mut |entry| {
        all.extend(arrays_and_files(&entry).map(hash));
        Ok(())
    })?;
    all.sort_unstable();
    let Some(&[twice, _]) = all.windows(2).find(|pair| pair.first() == pair.last()) else { return Ok(()) };
    index.entries(&mut |entry| match arrays_and_files(&entry).find(|named| hash(*named) == twice) {
        Some((file, None)) => Err(bad_index(folder, &format!("it names {file:?} twice"))),
        Some((file, Some(key))) => Err(bad_index(folder, &format!("it names array {key:?} of {file:?} twice"))),
        None => Ok(()),
    })
}

/// The files that an entry uses, and the arrays in files with several. In any other file the key has no meaning.
fn arrays_and_files(entry: &Entry) -> impl Iterator<Item = (&str, Option<&str>)> {
    let key = |data| match data {
        &Stored { form: Form::Npz | Form::Safetensors, ref key, .. } => Some(key.as_deref().unwrap_or_default()),
        _ => None,
    };
    let data = entry.data.as_ref().map(|data| (&*data.file, key(data)));
    data.into_iter().chain(entry.surplus.as_deref().map(|file| (file, None)))
}

/// Makes an error about a damaged or wrong index.
fn bad_index(folder: &Path, message: &str) -> Error {
    Error::new(Code::BadIndex, message).in_file(folder.join(INDEX))
}

/// The path of a file that the index of a folder names. It must be in the folder, and must not contain links.
pub(crate) fn inside(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let outside = || bad_index(folder, &format!("{name:?} is no path of a file in the folder"));
    let is_odd = |character: char| character.is_control() || matches!(character, '\\' | ':');
    if name.is_empty() || name.contains(is_odd) {
        return Err(outside());
    }
    let mut path = folder.to_owned();
    for component in Path::new(name).components() {
        let Component::Normal(component) = component else { return Err(outside()) };
        path.push(component);
        let metadata =
            fs::symlink_metadata(&path).map_err(|error| Error::io("look at the file", error).in_file(&path))?;
        if metadata.is_symlink() {
            return Err(bad_index(folder, &format!("{name:?} leads through a link")));
        }
    }
    Ok(path)
}
