//! Reads a folder that was extracted.

use std::collections::HashMap;
use std::fs;
use std::io::BufReader;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use popef::Metadata;
use popef::types::Text;

use super::bad_index;
use super::compose::Piece;
use super::part::{Part, array_of};
use super::report::State;
use super::spool::Spool;
use crate::error::Error;
use crate::extract::{Entry, Form, INDEX, Index, Kind, Stored};
use crate::formats::{self, Array, Place, Source};
use crate::progress::Progress;

/// A folder, with what was read of it.
pub(super) struct Folder<'f> {
    path: &'f Path,
    modified: u64,
    /// The arrays of files with several, by their names.
    archives: HashMap<String, Archive>,
    spool: &'f mut Spool,
    progress: &'f dyn Progress,
}

struct Archive {
    source: Source,
    arrays: HashMap<Text<'static>, Array>,
}

/// What a folder holds.
pub(super) struct Contents {
    pub(super) prefix: Option<Place>,
    pub(super) parts: Vec<Part>,
}

pub(super) fn read(path: &Path, spool: &mut Spool, progress: &dyn Progress) -> Result<Contents, Error> {
    let mut index = Index::open(path)?;
    let mut folder = Folder { path, modified: index.modified, archives: HashMap::new(), spool, progress };
    let prefix = index.prefix.take().map(|name| folder.whole(&name)).transpose()?.map(|(place, _)| place);
    let mut parts = Vec::new();
    index.entries(&mut |entry| {
        parts.push(folder.part(entry)?);
        Ok(())
    })?;
    Ok(Contents { prefix, parts })
}

impl Folder<'_> {
    fn part(&mut self, entry: Entry) -> Result<Part, Error> {
        let Entry { blob, version, data, surplus, compress, head } = entry;
        let from = data.as_ref().map_or(INDEX, |data| &data.file).to_owned();
        let mut part = Part::new(blob, Vec::new(), from);
        part.version = version;
        part.old_head = head.map(|head| head.0);
        part.compress = compress;
        part.state = State::Same;
        match data {
            None if matches!(part.kind, Kind::Metadata) => {}
            None => return Err(bad_index(INDEX, "a blob has no file")),
            Some(data) => self.fill(&mut part, &data)?,
        }
        if let Some(surplus) = surplus {
            let (place, is_same) = self.whole(&surplus)?;
            part.note(is_same);
            // What followed the old tensors has no meaning after others.
            if !part.is_reshaped {
                part.data.push(Piece::Place(place));
            }
        }
        Ok(part)
    }

    /// Adds what the file of a blob has.
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
                Err(bad_index(INDEX, &format!("{} is of no form for such a blob", stored.file)))
            }
            (_, Form::Raw) => {
                let (place, is_same) = self.whole(&stored.file)?;
                part.note(is_same);
                part.data.push(Piece::Place(place));
                Ok(())
            }
        }
    }

    fn fill_array(&mut self, part: &mut Part, stored: &Stored) -> Result<(), Error> {
        let (array, is_same) = self.array(stored)?;
        part.note(is_same);
        let old = array_of(&part.kind).unwrap_or_default();
        // An array of bytes stands for 8-bit floats.
        let new = array.as_type(old.data_type).unwrap_or_else(|| array.info.clone());
        if new != old {
            part.note(false);
            part.is_reshaped = true;
            part.set_shape(new)?;
        }
        part.data.push(self.spool.piece(&array, self.progress)?);
        Ok(())
    }

    fn array(&mut self, stored: &Stored) -> Result<(Array, bool), Error> {
        let missing = |key: &Text<'_>| bad_index(&stored.file, &format!("there is no array {:?}", key.to_string()));
        if stored.form == Form::Npy {
            let (source, is_same) = self.source(&stored.file)?;
            let array = self.arrays(source)?.pop();
            return Ok((array.ok_or_else(|| missing(&Text::default()))?, is_same));
        }
        let key = Text::from(stored.key.clone().unwrap_or_default());
        if !self.archives.contains_key(&stored.file) {
            let (source, _) = self.source(&stored.file)?;
            let arrays = self.arrays(source.clone())?.into_iter().map(|array| (array.name.clone(), array)).collect();
            self.archives.insert(stored.file.clone(), Archive { source, arrays });
        }
        let archive = self.archives.get(&stored.file).ok_or_else(|| missing(&key))?;
        let array = archive.arrays.get(&key).cloned().ok_or_else(|| missing(&key))?;
        Ok((array, self.is_same(&archive.source)))
    }

    fn arrays(&self, source: Source) -> Result<Vec<Array>, Error> {
        let path = source.path().to_owned();
        formats::read_source(source).map_err(|error| error.in_file(path))
    }

    /// All bytes of a file, and whether it is as it was extracted.
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
        // Extracted files have a time of whole seconds. What is written later hardly ever has.
        let extracted = UNIX_EPOCH.checked_add(Duration::from_secs(self.modified));
        source.modified().is_none_or(|time| Some(time) == extracted)
    }
}

/// The path of a file that the index of a folder names. It must be in the folder, and no link may lead there.
pub(crate) fn inside(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let outside = || bad_index(INDEX, &format!("{name:?} is no path of a file in the folder"));
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
            return Err(bad_index(INDEX, &format!("{name:?} leads through a link")));
        }
    }
    Ok(path)
}

/// Metadata as JSON.
pub(super) fn read_metadata(place: &Place) -> Result<Metadata, Error> {
    let read = || {
        let reader = BufReader::new(place.reader()?);
        serde_json::from_reader(reader).map_err(|error| match error.io_error_kind() {
            Some(kind) => Error::io("read the metadata", kind.into()),
            None => super::bad_metadata(&error.to_string()),
        })
    };
    read().map_err(|error: Error| error.in_file(place.path()))
}
