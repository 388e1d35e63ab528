//! New data of tensors and feeds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use popef::read::{Data, DataBlob};
use popef::types::{Anchor, FeedDataInfo, TensorDataInfo, TensorType, Text};
use popef::{Blob, File, Metadata, TensorInfo};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::extract::{Form, INDEX, Index, Kind, Stored};
use crate::formats::{self, Array};
use crate::near::{did_you_mean, quoted};
use crate::pack::folder::inside;
use crate::progress::Progress;
use crate::verify::same_bytes;

/// An array, and the file that it is from, if there is one.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The array. Its name is that of the tensor.
    pub array: Array,
    /// Its file. `None` for an array in memory.
    pub path: Option<Arc<Path>>,
}

impl Weights {
    /// The arrays of a file, or of all `.npy` files of a folder. If the folder has the `index.json` of an extracted file, that
    /// says which arrays belong to which tensors. Other arrays of its files with several have their own names.
    pub fn read(path: &Path) -> Result<Vec<Weights>, Error> {
        if !path.is_dir() {
            let (arrays, path) = (formats::read(path)?.into_iter(), Arc::<Path>::from(path));
            return Ok(arrays.map(|array| Weights { array, path: Some(path.clone()) }).collect());
        }
        let index = path.join(INDEX);
        if index.exists() { indexed(path) } else { all_in(path) }
    }

    /// The error, of its file.
    pub(super) fn in_file(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }

    /// Where it is from, in a report.
    pub(super) fn described(&self, bytes: u64) -> impl Serialize + use<> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Described {
            from: Option<String>,
            data_size: u64,
        }

        let from = self.path.as_ref().map(|path| path.display().to_string());
        Described { from, data_size: bytes }
    }
}

fn all_in(folder: &Path) -> Result<Vec<Weights>, Error> {
    let failed = |error| Error::io("read the folder", error).in_file(folder);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "npy"));
    paths.sort();
    if paths.is_empty() {
        return Err(Error::new(Code::NoSuchName, "the folder has no .npy file").in_file(folder));
    }
    let weights = paths.iter().map(|path| Weights::read(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(weights.into_iter().flatten().collect())
}

fn indexed(folder: &Path) -> Result<Vec<Weights>, Error> {
    let mut files = BTreeMap::<PathBuf, HashMap<Text<'static>, Array>>::new();
    let mut used = HashSet::new();
    let mut all = Vec::new();
    Index::open(folder)?.entries(&mut |entry| {
        let (Kind::Tensor(TensorDataInfo { name, .. }) | Kind::Feed(FeedDataInfo { name, .. })) = entry.blob else {
            return Ok(());
        };
        // Raw bytes have no type and no shape that could be compared.
        let is_array = |stored: &Stored| matches!(stored.form, Form::Npy | Form::Npz | Form::Safetensors);
        let Some(stored) = entry.data.filter(is_array) else { return Ok(()) };
        let path = inside(folder, &stored.file).map_err(|error| error.in_file(folder))?;
        if !files.contains_key(&path) {
            let arrays = formats::read(&path)?.into_iter().map(|array| (array.name.clone(), array));
            files.insert(path.clone(), arrays.collect());
        }
        let arrays = files.get(&path);
        let array = arrays.and_then(|arrays| match &stored.key {
            Some(key) => arrays.get(&Text::from(key.clone())),
            None => arrays.values().next(),
        });
        let lacking = || Error::new(Code::NoSuchName, format!("it has no array for {}", quoted(&name))).in_file(&path);
        let mut array = array.ok_or_else(lacking)?.clone();
        used.insert((path.clone(), array.name.clone()));
        array.name = name.clone();
        all.push(Weights { array, path: Some(path.into()) });
        Ok(())
    })?;
    // An array that the index does not name was added to its file: it is meant to be used, and perhaps is an error.
    for (path, arrays) in files {
        let mut added: Vec<_> =
            arrays.into_values().filter(|array| !used.contains(&(path.clone(), array.name.clone()))).collect();
        added.sort_by(|a, b| a.name.cmp(&b.name));
        let path: Arc<Path> = path.into();
        all.extend(added.into_iter().map(|array| Weights { array, path: Some(path.clone()) }));
    }
    if all.is_empty() {
        return Err(Error::new(Code::NoSuchName, "the folder has no arrays").in_file(folder));
    }
    Ok(all)
}

/// What is to be done with new data.
pub(super) enum Place<'f> {
    /// Into this blob, in place of its elements.
    Blob(Blob<'f>),
    /// Into a new tensor.
    New(TensorDataInfo),
}

/// The input anchors of a file by their names. The first of a name counts.
pub(super) type Inputs<'m> = HashMap<&'m Text<'static>, &'m Anchor>;

/// The inputs of all metadata.
pub(super) fn inputs(metadata: &BTreeMap<usize, Metadata>) -> Inputs<'_> {
    let anchors = metadata.values().flat_map(|metadata| &metadata.anchors);
    let inputs = anchors.filter(|anchor| anchor.tensor_type == TensorType::Input);
    let mut by_name = HashMap::new();
    inputs.for_each(|anchor| _ = by_name.entry(&anchor.name).or_insert(anchor));
    by_name
}

/// Fails if two arrays have one name.
pub(super) fn check_names(weights: &[Weights]) -> Result<(), Error> {
    let mut names = HashSet::new();
    match weights.iter().find(|weights| !names.insert(&weights.array.name)) {
        Some(twice) => {
            let message = format!("{} is given twice", quoted(&twice.array.name));
            Err(twice.in_file(Error::new(Code::WrongArguments, message)))
        }
        None => Ok(()),
    }
}

/// Finds where an array belongs. `inputs` are those that may get a tensor.
pub(super) fn place<'f>(
    file: &'f File,
    array: &Array,
    chosen: &dyn Fn(&Blob<'_>) -> bool,
    inputs: Option<&Inputs<'_>>,
) -> Result<Place<'f>, Error> {
    let name = &array.name;
    let blobs = [file.tensor(name).map(|tensor| *tensor.blob()), file.feed(name).map(|feed| *feed.blob())];
    let mut blobs = blobs.into_iter().flatten().filter(chosen);
    match (blobs.next(), blobs.next()) {
        (Some(blob), None) => fits(blob, array),
        (Some(_), Some(_)) => Err(Error::new(Code::Ambiguous, format!("{} is a tensor and also a feed", quoted(name)))),
        (None, _) => new(file, array, inputs),
    }
}

fn fits<'f>(blob: Blob<'f>, array: &Array) -> Result<Place<'f>, Error> {
    let Some(data) = blob.as_data() else { return Err(Error::new(Code::NoSuchName, "the blob has no elements")) };
    data.check_size()?;
    check(&array.name, &wanted(&data), array)?;
    Ok(Place::Blob(blob))
}

/// The shape and type of an array for a blob. That for a feed has the number of tensors in front.
fn wanted(data: &DataBlob<'_>) -> TensorInfo {
    let mut info = data.tensor_info();
    if data.is_feed() {
        info.shape.insert(0, data.num_tensors().into());
    }
    info
}

fn check(name: &Text<'_>, wanted: &TensorInfo, array: &Array) -> Result<(), Error> {
    if array.as_type(wanted.data_type).as_ref() == Some(wanted) {
        return Ok(());
    }
    let message = format!("{}: needed {}, found {}", quoted(name), shown(wanted), shown(&array.info));
    Err(Error::new(Code::WrongArray, message))
}

/// A type and a shape, of which a file may make a long one.
fn shown(info: &TensorInfo) -> String {
    const MOST: usize = 16;
    let mut extents: Vec<_> = info.shape.iter().take(MOST).map(ToString::to_string).collect();
    if info.shape.len() > MOST {
        extents.push("...".to_owned());
    }
    format!("{} [{}]", info.data_type, extents.join(", "))
}

fn new<'f>(file: &'f File, array: &Array, inputs: Option<&Inputs<'_>>) -> Result<Place<'f>, Error> {
    let name = &array.name;
    if let Some(anchor) = inputs.and_then(|inputs| inputs.get(name)) {
        check(name, &anchor.tensor_info, array)?;
        return Ok(Place::New(TensorDataInfo { name: name.clone(), tensor_info: anchor.tensor_info.clone() }));
    }
    let blobs = file.blobs().filter_map(|blob| blob.as_data()).map(|data| data.name().to_string());
    let names = inputs.into_iter().flat_map(|inputs| inputs.keys()).map(ToString::to_string);
    let near = did_you_mean(&name.to_string(), blobs.chain(names));
    let name = quoted(name);
    let message = match inputs {
        Some(_) => format!("no tensor, feed or input has the name {name}{near}"),
        None if is_input(file, &array.name) => {
            format!("no tensor has the name {name}; an input has it, and may get one")
        }
        None => format!("no tensor or feed has the name {name}{near}"),
    };
    Err(Error::new(Code::NoSuchName, message))
}

fn is_input(file: &File, name: &Text<'_>) -> bool {
    let has = |metadata: Metadata| {
        metadata.anchors.iter().any(|anchor| anchor.name == *name && anchor.tensor_type == TensorType::Input)
    };
    file.metadata().any(|metadata| metadata.read().is_ok_and(has))
}

/// Whether the array has the same bytes as the elements of the blob.
pub(super) fn is_same(array: &Array, blob: &Blob<'_>, progress: &dyn Progress) -> Result<bool, Error> {
    let (elements, _) = parts(blob)?;
    same_bytes(&mut array.reader()?, &mut elements.reader(), progress)
}

/// A reader of an array, and then of what is behind the elements of the blob.
pub(super) fn with_surplus<'f>(array: &Array, blob: &Blob<'f>) -> Result<impl Read + use<'f>, Error> {
    let (_, surplus) = parts(blob)?;
    Ok(array.reader()?.chain(surplus.reader()))
}

/// The elements of a tensor or feed, and what is behind them.
fn parts<'f>(blob: &Blob<'f>) -> Result<(Data<'f>, Data<'f>), Error> {
    let (data, end) = (blob.data(), elements_len(blob));
    Ok((data.range(0..end)?, data.range(end..data.len())?))
}

/// How many bytes the elements of a tensor or feed have.
pub(super) fn elements_len(blob: &Blob<'_>) -> u64 {
    let surplus = blob.as_data().map_or(0, |tensors| tensors.surplus());
    blob.data().len().saturating_sub(surplus)
}
