//! Visits all blobs of the inputs, one after the other. Blobs are not kept, so this is done several times.

use std::path::{Path, PathBuf};

use popef::Metadata;
use popef::read::FileId;
use popef::types::{ExecutableInfo, FeedDataInfo, OpaqueInfo, TensorDataInfo, Text};

use super::PackInput;
use super::folder::{Folder, check_files};
use super::left_out::LeftOut;
use super::metadata::{STDIN, metadata_of, read_metadata};
use super::part::{Bytes, Each, Part};
use crate::error::{Code, Error};
use crate::extract::{ExtractedNames, INDEX, Index, Kind};
use crate::formats::{Array, ArrayFile, NamedArrays, Place, Source};
use crate::rights::Most;

/// The inputs, and the file that must not be among them.
pub(super) struct Walk<'i> {
    inputs: &'i [PackInput],
    /// The indexes of the folders among the inputs, in their order.
    folders: Vec<(&'i Path, Index)>,
    forbidden: Option<(PathBuf, FileId)>,
}

impl<'i> Walk<'i> {
    /// `forbidden` is a file that will be replaced.
    pub(super) fn new(inputs: &'i [PackInput], forbidden: Option<(PathBuf, FileId)>) -> Result<Self, Error> {
        let paths = inputs.iter().filter_map(|input| match input {
            PackInput::Folder(path) => Some(&**path),
            _ => None,
        });
        let folders = paths.map(|path| Ok((path, Index::open(path)?))).collect::<Result<_, Error>>()?;
        let walk = Walk { inputs, folders, forbidden };
        walk.folders.iter().try_for_each(|(folder, _)| walk.check_path(&folder.join(INDEX)))?;
        walk.inputs.iter().filter_map(PackInput::file).try_for_each(|path| walk.check_path(path))?;
        Ok(walk)
    }

    /// Fails if a file of a folder is named twice, or is the output.
    pub(super) fn check_files(&self) -> Result<(), Error> {
        for (folder, index) in &self.folders {
            check_files(folder, index)?;
            if self.forbidden.is_some() {
                index.entries(&mut |entry| entry.files().try_for_each(|file| self.check_path(&folder.join(file))))?;
            }
        }
        Ok(())
    }

    /// The permissions that all packed files have.
    pub(super) fn rights(&self) -> Result<Most, Error> {
        let mut most = self.inputs.iter().filter_map(PackInput::file).fold(Most::USUAL, Most::and_at);
        for (folder, index) in &self.folders {
            let others = index.prefix.iter().map(String::as_str).chain([INDEX]);
            most = others.fold(most, |most, file| most.and_at(folder.join(file)));
            index.entries(&mut |entry| {
                most = entry.files().fold(most, |most, file| most.and_at(folder.join(file)));
                Ok(())
            })?;
        }
        Ok(most)
    }

    /// Returns the files in the folders that are not packed.
    pub(super) fn left_out(&self) -> Result<LeftOut, Error> {
        let mut left_out = LeftOut::default();
        if !self.folders.is_empty() {
            let files = self.inputs.iter().filter_map(PackInput::file).filter_map(|file| FileId::of_path(file).ok());
            let others: Vec<FileId> = files.chain(self.forbidden.iter().map(|(_, id)| *id)).collect();
            self.folders.iter().try_for_each(|(folder, index)| left_out.add(folder, index, &others))?;
        }
        Ok(left_out)
    }

    /// The bytes before the first blob.
    pub(super) fn prefix(&self) -> Result<Option<Place>, Error> {
        let mut found = None;
        for (path, index) in &self.folders {
            let prefix = Folder::new(path, index).prefix()?;
            if found.is_some() && prefix.is_some() {
                return Err(Error::new(Code::WrongArguments, "only one folder can have bytes before the first blob"));
            }
            found = found.or(prefix);
        }
        found.iter().try_for_each(|prefix| self.check_path(prefix.path()))?;
        Ok(found)
    }

    /// All blobs, in order.
    pub(super) fn parts(&self, each: Each<'_>) -> Result<(), Error> {
        self.some_parts(true, each)
    }

    /// All blobs except tensors and feeds, in order. Arrays are not read.
    pub(super) fn parts_without_data(&self, each: Each<'_>) -> Result<(), Error> {
        self.some_parts(false, each)
    }

    fn some_parts(&self, with_data: bool, each: Each<'_>) -> Result<(), Error> {
        let (mut folders, mut extracted) = (self.folders.iter(), ExtractedNames::default());
        for (number, input) in self.inputs.iter().enumerate() {
            let mut each = |mut part: Part| {
                part.input = number;
                part.data.iter().filter_map(Bytes::place).try_for_each(|place| self.check_path(place.path()))?;
                each(part)
            };
            match input {
                PackInput::Folder(_) => {
                    let Some((path, index)) = folders.next() else { continue };
                    Folder::new(path, index).parts(with_data, &mut each)?;
                }
                PackInput::Executable(path, name) => each(executable(path, name.as_deref())?)?,
                PackInput::Metadata(path) => each(metadata(read_metadata(&Place::of(Source::of(path)?))?, path))?,
                PackInput::MetadataJson(json) => each(metadata(metadata_of(json)?, Path::new(STDIN)))?,
                PackInput::Opaque(name, path) => each(opaque(name, path)?)?,
                PackInput::Tensors(path) if with_data => tensors(path, &mut extracted, &mut each)?,
                PackInput::TensorOf(name, path) if with_data => each(tensor_of(name, path)?)?,
                PackInput::Feed(name, path) if with_data => each(feed(name, path)?)?,
                PackInput::Tensor(array) if with_data => each(tensor(array.clone(), MEMORY))?,
                PackInput::Runs(array) if with_data => each(runs(array.clone(), MEMORY)?)?,
                PackInput::Tensors(_)
                | PackInput::TensorOf(..)
                | PackInput::Feed(..)
                | PackInput::Tensor(_)
                | PackInput::Runs(_) => {}
            }
        }
        Ok(())
    }

    /// Fails if the output is a file that is read.
    fn check_path(&self, path: &Path) -> Result<(), Error> {
        match &self.forbidden {
            Some((output, id)) if FileId::of_path(path).is_ok_and(|found| found == *id) => {
                Err(Error::new(Code::OutputIsInput, "the output is a file that is packed").in_file(output))
            }
            _ => Ok(()),
        }
    }
}

fn whole(kind: Kind, path: &Path) -> Result<Part, Error> {
    let place = Place::of(Source::of(path)?);
    Ok(Part::new(kind, vec![Bytes::Place(place)], path.to_string_lossy()))
}

fn executable(path: &Path, name: Option<&str>) -> Result<Part, Error> {
    let stem = || Text::from(path.file_stem().unwrap_or_default().as_encoded_bytes()).into_owned();
    let info =
        ExecutableInfo { name: name.map_or_else(stem, |name| Text::from(name.to_owned())), uncompressed_size: None };
    let part = whole(Kind::Executable(info), path)?;
    Ok(Part { is_unnamed: name.is_none(), ..part })
}

fn metadata(metadata: Metadata, from: &Path) -> Part {
    Part { metadata: Some(metadata), ..Part::new(Kind::Metadata, Vec::new(), from.to_string_lossy()) }
}

fn opaque(name: &Text<'static>, path: &Path) -> Result<Part, Error> {
    let info = OpaqueInfo { name: name.clone(), ..OpaqueInfo::default() };
    Ok(Part { is_unnamed: true, ..whole(Kind::Opaque(info), path)? })
}

/// The arrays of a file. Those that were feeds become feeds again.
fn tensors(path: &Path, extracted: &mut ExtractedNames, each: Each<'_>) -> Result<(), Error> {
    let mut file = ArrayFile::open(path)?;
    let from = path.to_string_lossy();
    for index in 0..file.len() {
        let Some(mut array) = file.get(index)? else { continue };
        let was_feed = extracted.restore(&mut array, path)?;
        each(if was_feed { runs(array, &from)? } else { tensor(array, &from) })?;
    }
    Ok(())
}

fn tensor_of(name: &Text<'static>, path: &Path) -> Result<Part, Error> {
    let (_, mut array) = NamedArrays::of(ArrayFile::open(path)?).only_or_named(name, path)?;
    array.name = name.clone();
    Ok(tensor(array, &path.to_string_lossy()))
}

fn feed(name: &Text<'static>, path: &Path) -> Result<Part, Error> {
    let (_, mut array) = NamedArrays::of(ArrayFile::open(path)?).only_or_named(name, path)?;
    array.name = name.clone();
    runs(array, &path.to_string_lossy()).map_err(|error| error.in_file(path))
}

/// The origin of an array in memory, for errors.
const MEMORY: &str = "memory";

fn tensor(array: Array, from: &str) -> Part {
    let info = TensorDataInfo { name: array.name.clone(), tensor_info: array.info.clone() };
    Part::new(Kind::Tensor(info), vec![Bytes::Array(array.into())], from)
}

/// A feed of an array.
fn runs(array: Array, from: &str) -> Result<Part, Error> {
    let info = FeedDataInfo { name: array.name.clone(), ..FeedDataInfo::default() };
    let mut part = Part::new(Kind::Feed(info), Vec::new(), from);
    part.set_shape(array.info.clone())?;
    part.data.push(Bytes::Array(array.into()));
    Ok(part)
}
