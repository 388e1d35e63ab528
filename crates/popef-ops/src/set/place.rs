//! Where new data belongs.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use popef::read::{Data, DataBlob};
use popef::types::{Anchor, BlobType, TensorDataInfo, TensorType, Text};
use popef::{Blob, File, Metadata, TensorInfo};

use crate::error::{Code, Error};
use crate::formats::Array;
use crate::near::{did_you_mean, quoted};
use crate::progress::Progress;
use crate::read_back::Counted;
use crate::verify::same_bytes;

/// What to do with new data.
pub(super) enum Place<'f> {
    /// Write it into this blob, in place of its elements.
    Blob(Blob<'f>),
    /// Into a new tensor.
    New(TensorDataInfo),
}

/// The input anchors of a file by their names. The first of a name counts.
pub(super) type Inputs<'m> = HashMap<&'m Text<'static>, &'m Anchor>;

pub(super) fn inputs(metadata: &BTreeMap<usize, Metadata>) -> Inputs<'_> {
    let anchors = metadata.values().flat_map(|metadata| &metadata.anchors);
    let inputs = anchors.filter(|anchor| anchor.tensor_type == TensorType::Input);
    let mut by_name = HashMap::new();
    inputs.for_each(|anchor| _ = by_name.entry(&anchor.name).or_insert(anchor));
    by_name
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

/// Fails if an array does not fit into a blob.
pub(super) fn fits<'f>(blob: Blob<'f>, array: &Array) -> Result<Place<'f>, Error> {
    let Some(data) = blob.as_data() else { return Err(Error::new(Code::NoSuchName, "the blob has no elements")) };
    data.check_size()?;
    check(&array.name, &wanted(&data), array)?;
    Ok(Place::Blob(blob))
}

/// The shape and type of an array for a blob. For a feed, the number of tensors comes first.
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

/// A type and a shape. A file may have a very long shape.
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
        None if near.is_empty() && !array.is_in_memory() => {
            format!("no tensor or feed has the name {name}; NAME=FILE gives the file to the tensor NAME")
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

/// Whether the array has the same bytes as the elements of the blob. The progress counts all elements.
pub(super) fn is_same(array: &Array, blob: &Blob<'_>, progress: &dyn Progress) -> Result<bool, Error> {
    let (elements, _) = parts(blob)?;
    let counted = Counted::new(progress, elements.len());
    let is_same = same_bytes(&mut array.reader()?, &mut elements.reader(), &counted)?;
    counted.tell_rest()?;
    Ok(is_same)
}

/// A reader of an array, and then of the surplus bytes of the blob.
pub(super) fn with_surplus<'f>(array: &Array, blob: &Blob<'f>) -> Result<impl Read + use<'f>, Error> {
    let (_, surplus) = parts(blob)?;
    Ok(array.reader()?.chain(surplus.reader()))
}

/// The elements of a tensor or feed, and its surplus bytes.
fn parts<'f>(blob: &Blob<'f>) -> Result<(Data<'f>, Data<'f>), Error> {
    let (data, end) = (blob.data(), elements_len(blob));
    Ok((data.range(0..end)?, data.range(end..data.len())?))
}

/// The number of bytes of the elements of a tensor or feed.
pub(super) fn elements_len(blob: &Blob<'_>) -> u64 {
    blob.data().len().saturating_sub(surplus(blob))
}

/// The number of surplus bytes of a tensor or feed, or of bytes after metadata, which has no data.
pub(super) fn surplus(blob: &Blob<'_>) -> u64 {
    match blob.blob_type() {
        BlobType::Metadata => blob.data().len(),
        _ => blob.as_data().map_or(0, |tensors| tensors.surplus()),
    }
}

/// Whether two blobs have the same elements. The progress counts all of them.
pub(super) fn same_elements(old: &Blob<'_>, new: &Blob<'_>, progress: &dyn Progress) -> Result<bool, Error> {
    let (elements, _) = parts(old)?;
    let counted = Counted::new(progress, elements.len());
    let is_same = same_bytes(&mut new.data().reader(), &mut elements.reader(), &counted)?;
    counted.tell_rest()?;
    Ok(is_same)
}

/// A reader of the elements of a blob.
pub(super) fn elements<'f>(blob: &Blob<'f>) -> Result<impl Read + use<'f>, Error> {
    Ok(parts(blob)?.0.reader())
}
