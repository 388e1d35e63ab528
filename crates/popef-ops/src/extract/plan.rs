//! What is written for a file, decided before any of it is.

use std::borrow::Cow;
use std::collections::HashMap;

use popef::read::{DataBlob, ExecutableBlob};
use popef::types::{BlobType, ExecutableInfo};
use popef::{Blob, File, TensorInfo};

use super::index::{Entry, Form, Index, Kind, Stored, head, packing_for};
use super::names::{Names, safe};
use super::report::{ExtractedBlob, ExtractedFile, Note};
use super::{Arrays, ExtractOptions, time_of};
use crate::Name;
use crate::formats;
use crate::hex::Hex;

/// The file with the bytes before the first blob.
const PREFIX: &str = "prefix.bin";

/// What is written for a file.
pub(super) struct Plan<'f> {
    pub(super) file: &'f File,
    /// The folder within the output; empty for the output itself.
    pub(super) folder: String,
    pub(super) index: Index,
    pub(super) items: Vec<Item>,
}

/// What is written for a blob: what its entry of the index says, of this blob of the file.
pub(super) struct Item {
    pub(super) blob: usize,
    /// The bytes of data that are in the main file; the rest is surplus.
    pub(super) len: u64,
    notes: Vec<Note>,
}

/// The names of the files in each folder, and of the arrays in each archive.
#[derive(Default)]
struct Taken(HashMap<&'static str, Names>);

impl Taken {
    /// A new name in a folder, for the name of a blob.
    fn of(&mut self, folder: &'static str, name: &[u8]) -> String {
        self.0.entry(folder).or_default().of(name)
    }

    fn exactly(&mut self, folder: &'static str, name: &str) -> String {
        self.0.entry(folder).or_default().exactly(name)
    }
}

impl<'f> Plan<'f> {
    pub(super) fn of(
        file: &'f File,
        folder: String,
        choose: &dyn Fn(&Blob<'_>) -> bool,
        options: ExtractOptions,
    ) -> Self {
        let prefix = (!file.prefix().is_empty()).then(|| PREFIX.to_owned());
        let mut plan = Plan { file, folder, index: Index::new(time_of(file), prefix), items: Vec::new() };
        let mut taken = Taken::default();
        for blob in file.blobs().filter(choose) {
            let (entry, item) = planned(&blob, options, &mut taken);
            plan.index.blobs.push(entry);
            plan.items.push(item);
        }
        plan
    }

    /// The bytes of all data.
    pub(super) fn bytes(&self) -> u64 {
        let surplus =
            |item: &Item| self.file.blob(item.blob).map_or(0, |blob| blob.data().len().saturating_sub(item.len));
        let sizes = self.items.iter().map(|item| item.len.saturating_add(surplus(item)));
        sizes.fold(self.file.prefix().len(), u64::saturating_add)
    }

    pub(super) fn report(&self) -> ExtractedFile {
        let blobs = self.items.iter().zip(&self.index.blobs).map(|(item, entry)| {
            let blob = self.file.blob(item.blob);
            ExtractedBlob {
                index: item.blob,
                blob_type: entry.blob.blob_type(),
                name: blob.as_ref().map(name_of).unwrap_or_default(),
                path: entry.data.as_ref().map(|data| data.file.clone()),
                key: entry.data.as_ref().and_then(|data| data.key.clone()),
                bytes: blob.map_or(0, |blob| blob.data().len()),
                notes: item.notes.clone(),
            }
        });
        ExtractedFile {
            path: self.file.path().map(|path| path.to_string_lossy().into_owned()),
            folder: self.folder.clone(),
            blobs: blobs.collect(),
            left_out: self.file.len().saturating_sub(self.items.len()),
        }
    }
}

/// The name of a blob. That of metadata is its executable's.
fn name_of(blob: &Blob<'_>) -> Name {
    let executable = || blob.as_metadata().map(|metadata| metadata.executable());
    blob.name().or_else(executable).unwrap_or_default().into()
}

fn planned(blob: &Blob<'_>, options: ExtractOptions, taken: &mut Taken) -> (Entry, Item) {
    let name = name_of(blob);
    let name = name.text().as_bytes();
    let kind = Kind::of(blob);
    let version = blob.version().into_owned();
    let mut item = Item { blob: blob.index(), len: blob.data().len(), notes: Vec::new() };
    let mut entry = Entry { blob: kind, version, data: None, surplus: None, compress: None, head: None };
    let mut metadata = None;
    match blob.blob_type() {
        BlobType::PoplarExecutable => {
            entry.data = Some(raw("executables", name, taken));
            if let Some(executable) = blob.as_executable().filter(|_| options.unpacked) {
                unpack(&executable, &mut entry, &mut item);
            }
        }
        BlobType::Metadata => {
            metadata = blob.as_metadata().and_then(|metadata| metadata.read().ok());
            item.len = 0;
            match metadata {
                Some(_) => entry.data = Some(stored("metadata", name, "json", Form::Json, taken)),
                None => item.notes.push(Note::Unread),
            }
        }
        BlobType::Opaque => entry.data = Some(raw("opaque", name, taken)),
        BlobType::DataTensor | BlobType::DataFeed => {
            let Some(data) = blob.as_data() else { return (entry, item) };
            entry.data = Some(arrays(&data, name, options.arrays, &mut item, taken));
        }
        _ => entry.data = Some(raw("unknown", name, taken)),
    }
    if entry.compress.is_some() {
        return (entry, item);
    }
    if item.len < blob.data().len() {
        entry.surplus = Some(format!("surplus/{}.bin", taken.of("surplus", name)));
        item.notes.push(Note::Surplus);
    }
    let data_len = blob.data().len();
    let head = head(&entry.blob, metadata.as_ref(), &entry.version, data_len);
    let own = [blob.header_bytes(), blob.info_bytes()].concat();
    entry.head = (head.as_ref() != Some(&own)).then_some(Hex(own));
    (entry, item)
}

/// A file for bytes.
fn raw(folder: &'static str, name: &[u8], taken: &mut Taken) -> Stored {
    stored(folder, name, "bin", Form::Raw, taken)
}

fn stored(folder: &'static str, name: &[u8], ending: &str, form: Form, taken: &mut Taken) -> Stored {
    Stored { file: format!("{folder}/{}.{ending}", taken.of(folder, name)), form, key: None }
}

/// The executable's unpacked bytes are written, and its entry is that of one that is not compressed. An unknown compression
/// stays.
fn unpack(executable: &ExecutableBlob<'_>, entry: &mut Entry, item: &mut Item) {
    let Ok(Some(compression)) = executable.compression() else { return };
    entry.compress = Some(packing_for(compression));
    entry.blob = Kind::Executable(ExecutableInfo { name: executable.name().into_owned(), uncompressed_size: None });
    item.len = executable.uncompressed_size();
    item.notes.push(Note::Recompressed);
}

/// The file for a tensor or feed. What is no array, because data is missing or the type is unknown, is written as it is.
fn arrays(data: &DataBlob<'_>, name: &[u8], arrays: Arrays, item: &mut Item, taken: &mut Taken) -> Stored {
    let folder = if data.is_feed() { "feeds" } else { "tensors" };
    let whole = whole(data);
    let header = whole.as_ref().and_then(|(info, _)| formats::npy_header(info));
    let (Some((info, len)), Some(_)) = (whole, header) else {
        if arrays != Arrays::Raw {
            item.notes.push(Note::Raw);
        }
        return raw(folder, name, taken);
    };
    if arrays == Arrays::Raw {
        return raw(folder, name, taken);
    }
    item.len = len;
    if formats::is_float8(info.data_type) {
        let is_fnuz = arrays == Arrays::Safetensors && formats::has_own_name_in_safetensors(info.data_type);
        item.notes.push(if is_fnuz { Note::AsFnuz } else { Note::AsBytes });
    }
    match arrays {
        Arrays::Npz => {
            let [file, keys] =
                if data.is_feed() { ["feeds.npz", "feeds.npz/"] } else { ["tensors.npz", "tensors.npz/"] };
            Stored { file: file.to_owned(), form: Form::Npz, key: Some(taken.of(keys, name)) }
        }
        Arrays::Safetensors => {
            let [file, keys] = if data.is_feed() {
                ["feeds.safetensors", "feeds.safetensors/"]
            } else {
                ["tensors.safetensors", "tensors.safetensors/"]
            };
            let key = taken.exactly(keys, &as_key(name));
            Stored { file: file.to_owned(), form: Form::Safetensors, key: Some(key) }
        }
        Arrays::Npy | Arrays::Raw => stored(folder, name, "npy", Form::Npy, taken),
    }
}

/// A key of a `.safetensors` file: the name itself, if it can be one. Characters that are not shown hide names from people and
/// programs.
fn as_key(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok("__metadata__") => "_metadata_".into(),
        Ok(name) if !name.is_empty() && !name.chars().any(char::is_control) => name.into(),
        _ => safe(name).into(),
    }
}

/// The shape and type of a tensor, or of all tensors of a feed with their number in front, and their size in bytes. None if
/// this is no array, or the data is shorter.
pub(super) fn whole(data: &DataBlob<'_>) -> Option<(TensorInfo, u64)> {
    let mut info = data.tensor_info();
    if data.is_feed() {
        info.shape.insert(0, data.num_tensors().into());
    }
    let len = info.size_in_bytes().ok()?;
    (len <= data.data().len() && is_array(&info)).then_some((info, len))
}

/// The most dimensions of an array in numpy before version 2.
const MOST_DIMENSIONS: usize = 32;

/// Whether other programs can have such an array. They also compute sizes for an empty one, as if it were not.
fn is_array(info: &TensorInfo) -> bool {
    let filled: Vec<i64> = info.shape.iter().map(|&extent| extent.max(1)).collect();
    let size = TensorInfo::new(info.data_type, filled).size_in_bytes();
    info.shape.len() <= MOST_DIMENSIONS && size.is_ok_and(|size| i64::try_from(size).is_ok())
}
