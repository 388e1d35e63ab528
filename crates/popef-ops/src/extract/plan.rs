//! The plan of what is written for a file. It is computed anew for each blob when needed: only a bit per blob is kept,
//! and the numbers of names that several blobs have.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};

use popef::read::{DataBlob, ExecutableBlob};
use popef::types::{BlobType, ExecutableInfo};
use popef::{Blob, File, TensorInfo};

use super::index::{Entry, Form, Kind, Stored, packing_for};
use super::names::{Numbers, Same, Wish, entry_key, safe};
use super::report::Note;
use super::{Arrays, ExtractOptions};
use crate::error::Error;
use crate::formats;
use crate::hex::Hex;
use crate::listed::name_of;

/// The file with the bytes before the first blob.
pub(super) const PREFIX: &str = "prefix.bin";

/// What is written for a file.
pub(super) struct Plan<'f> {
    file: &'f File,
    arrays: Arrays,
    unpacked: bool,
    /// Whether feeds are in one archive with tensors.
    together: bool,
    chosen: Vec<bool>,
    /// The numbers in the names of main files and keys.
    numbers: Numbers,
    surplus: Numbers,
    forbidden: ForbiddenNames,
}

/// Where the data of a blob goes.
struct Goes {
    /// A folder, or an archive.
    place: &'static str,
    /// The ending of the file in the folder. `None` for an archive.
    ending: Option<&'static str>,
    form: Form,
    /// The bytes of data that are in the main file; the rest is surplus.
    len: u64,
}

impl Goes {
    fn raw(place: &'static str, blob: &Blob<'_>) -> Self {
        Goes { place, ending: Some("bin"), form: Form::Raw, len: blob.data().len() }
    }
}

/// What is written for a blob.
pub(super) struct Planned {
    pub(super) entry: Entry,
    /// The bytes of data that are in the main file; the rest is surplus.
    pub(super) len: u64,
    pub(super) notes: Vec<Note>,
}

impl<'f> Plan<'f> {
    pub(super) fn of(file: &'f File, options: &ExtractOptions<'_>) -> Self {
        Plan::with(file, options, false)
    }

    /// Makes the same plan for one file with all arrays.
    pub(super) fn of_one(file: &'f File, options: &ExtractOptions<'_>) -> Self {
        Plan::with(file, options, true)
    }

    fn with(file: &'f File, options: &ExtractOptions<'_>, together: bool) -> Self {
        let chosen: Vec<bool> = file.blobs().map(|blob| (options.select)(&blob)).collect();
        let mut plan = Plan {
            file,
            arrays: options.arrays,
            unpacked: options.unpacked,
            together,
            chosen,
            numbers: Numbers::default(),
            surplus: Numbers::default(),
            forbidden: ForbiddenNames::default(),
        };
        let wishes = || plan.blobs().map(|blob| (blob.index(), plan.wish(&blob)));
        let numbers = Numbers::of(plan.len(), wishes);
        let with_surplus = || plan.blobs().filter(|blob| plan.has_surplus(blob));
        let wishes = || with_surplus().map(|blob| (blob.index(), surplus_wish(&blob)));
        let surplus = Numbers::of(with_surplus().count(), wishes);
        (plan.numbers, plan.surplus) = (numbers, surplus);
        plan.forbidden = ForbiddenNames::of(plan.blobs().filter_map(|blob| blob.as_executable()));
        plan
    }

    pub(super) fn file(&self) -> &'f File {
        self.file
    }

    pub(super) fn arrays(&self) -> Arrays {
        self.arrays
    }

    /// Whether feeds are in one archive with tensors, without an index.
    pub(super) fn is_together(&self) -> bool {
        self.together
    }

    /// The chosen blobs.
    pub(super) fn blobs(&self) -> impl Iterator<Item = Blob<'f>> {
        self.file.blobs().zip(&self.chosen).filter_map(|(blob, chosen)| chosen.then_some(blob))
    }

    /// How many blobs are chosen.
    pub(super) fn len(&self) -> usize {
        self.chosen.iter().filter(|chosen| **chosen).count()
    }

    /// The bytes that are read.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.blobs().map(|blob| self.goes(&blob).len.max(blob.data().len()));
        sizes.fold(self.file.prefix().len(), u64::saturating_add)
    }

    /// The archive that a blob goes into.
    pub(super) fn archive_of(&self, blob: &Blob<'_>) -> Option<&'static str> {
        let goes = self.goes(blob);
        goes.ending.is_none().then_some(goes.place)
    }

    /// The name of the blob's file without its ending, or its key in an archive.
    pub(super) fn stem(&self, blob: &Blob<'_>) -> String {
        self.numbers.name_of(blob.index(), &self.wish(blob).name).into_owned()
    }

    fn wish<'b>(&self, blob: &Blob<'b>) -> Wish<'b> {
        let Goes { place, form, .. } = self.goes(blob);
        let same = match form {
            Form::Safetensors => return Wish { place, name: tensor_key(blob), same: Same::Exactly },
            Form::Npz => return Wish { place, name: entry_key(&name_of(blob)).into(), same: Same::Keys },
            _ => Same::Folded,
        };
        Wish { place, name: safe(name_of(blob).as_bytes()).into(), same }
    }

    fn goes(&self, blob: &Blob<'_>) -> Goes {
        match blob.blob_type() {
            BlobType::PoplarExecutable => {
                let mut goes = Goes::raw("executables", blob);
                if let Some(executable) = self.unpacks(blob) {
                    goes.len = executable.uncompressed_size();
                }
                goes
            }
            BlobType::Metadata => Goes { place: "metadata", ending: Some("json"), form: Form::Json, len: 0 },
            BlobType::Opaque => Goes::raw("opaque", blob),
            BlobType::DataTensor | BlobType::DataFeed => match blob.as_data() {
                Some(data) => self.array_goes(&data),
                None => Goes::raw("tensors", blob),
            },
            _ => Goes::raw("unknown", blob),
        }
    }

    /// Whether a blob is among the feeds.
    pub(super) fn is_feed(&self, data: &DataBlob<'_>) -> bool {
        data.is_feed() && !self.together
    }

    /// Data that cannot make an array, because some is missing or the type is unknown, is written as it is.
    fn array_goes(&self, data: &DataBlob<'_>) -> Goes {
        let is_feed = self.is_feed(data);
        let folder = if is_feed { "feeds" } else { "tensors" };
        let Some((_, len)) = whole(data).filter(|_| self.arrays != Arrays::Raw) else {
            return Goes::raw(folder, data.blob());
        };
        let (place, ending, form) = match (self.arrays, is_feed) {
            (Arrays::Npy | Arrays::Raw, _) => (folder, Some("npy"), Form::Npy),
            (Arrays::Npz, true) => ("feeds.npz", None, Form::Npz),
            (Arrays::Npz, false) => ("tensors.npz", None, Form::Npz),
            (Arrays::Safetensors, true) => ("feeds.safetensors", None, Form::Safetensors),
            (Arrays::Safetensors, false) => ("tensors.safetensors", None, Form::Safetensors),
        };
        Goes { place, ending, form, len }
    }

    /// The executable, if it must be unpacked. An unknown compression stays.
    fn unpacks<'b>(&self, blob: &Blob<'b>) -> Option<ExecutableBlob<'b>> {
        let executable = blob.as_executable().filter(|_| self.unpacked)?;
        executable.compression().ok()??;
        Some(executable)
    }

    fn has_surplus(&self, blob: &Blob<'_>) -> bool {
        self.unpacks(blob).is_none() && self.goes(blob).len < blob.data().len()
    }

    pub(super) fn planned(&self, blob: &Blob<'_>) -> Result<Planned, Error> {
        let Goes { place, ending, form, len } = self.goes(blob);
        let stem = self.stem(blob);
        let stored = match ending {
            Some(ending) => Stored { file: format!("{place}/{stem}.{ending}"), form, key: None },
            None => Stored { file: place.to_owned(), form, key: Some(stem) },
        };
        let entry = Entry {
            blob: Kind::of(blob),
            version: blob.version().into_owned(),
            data: Some(stored),
            surplus: None,
            compress: None,
            was: None,
            any_name: blob.as_executable().is_some_and(|executable| self.forbidden.has(&executable)),
            head: None,
        };
        let mut planned = Planned { entry, len, notes: Vec::new() };
        if blob.as_metadata().is_some_and(|metadata| metadata.check_size().is_err()) {
            planned.entry.data = None;
            planned.notes.push(Note::Unread);
        }
        planned.notes.extend(blob.as_data().and_then(|data| self.array_note(&data, form)));
        match self.unpacks(blob) {
            Some(executable) => planned.unpack(&executable),
            None => planned.keep(blob, || self.surplus_file(blob))?,
        }
        Ok(planned)
    }

    fn array_note(&self, data: &DataBlob<'_>, form: Form) -> Option<Note> {
        if form == Form::Raw {
            return (self.arrays != Arrays::Raw).then_some(Note::Raw);
        }
        let note = if form == Form::Safetensors { Note::AsU8 } else { Note::AsBytes };
        formats::is_float8(data.data_type()).then_some(note)
    }

    fn surplus_file(&self, blob: &Blob<'_>) -> String {
        format!("surplus/{}.bin", self.surplus.name_of(blob.index(), &surplus_wish(blob).name))
    }
}

fn surplus_wish<'b>(blob: &Blob<'_>) -> Wish<'b> {
    Wish { place: "surplus", name: safe(name_of(blob).as_bytes()).into(), same: Same::Folded }
}

/// The names of executables that the format forbids: repeated names, and the empty one.
#[derive(Default)]
struct ForbiddenNames {
    random: RandomState,
    /// Hashes of repeated names, sorted.
    several: Vec<u64>,
}

impl ForbiddenNames {
    fn of<'f>(executables: impl Iterator<Item = ExecutableBlob<'f>>) -> Self {
        let random = RandomState::new();
        let mut hashes: Vec<u64> = executables.map(|executable| random.hash_one(executable.name())).collect();
        hashes.sort_unstable();
        let of_several = hashes.chunk_by(|one, other| one == other).filter(|same| same.len() > 1);
        let several = of_several.filter_map(|same| same.first().copied()).collect();
        ForbiddenNames { random, several }
    }

    fn has(&self, executable: &ExecutableBlob<'_>) -> bool {
        let name = executable.name();
        name.is_empty() || self.several.binary_search(&self.random.hash_one(name)).is_ok()
    }
}

impl Planned {
    /// Writes the executable's unpacked bytes, with the entry of an uncompressed one.
    fn unpack(&mut self, executable: &ExecutableBlob<'_>) {
        let was = executable.compression().ok().flatten();
        self.entry.compress = was.map(packing_for);
        self.entry.was = was.filter(|was| packing_for(*was).format() != *was);
        let info = ExecutableInfo { name: executable.name().into_owned(), uncompressed_size: None };
        self.entry.blob = Kind::Executable(info);
        self.notes.push(if self.entry.was.is_some() { Note::AsZlib } else { Note::Recompressed });
    }

    /// Adds the bytes after the main file's data, and the header and info if they differ from those written for these
    /// values.
    fn keep(&mut self, blob: &Blob<'_>, surplus: impl FnOnce() -> String) -> Result<(), Error> {
        let len = blob.data().len();
        if self.len < len {
            self.entry.surplus = Some(surplus());
            self.notes.push(Note::Surplus);
        }
        if !blob.has_usual_head()? {
            self.entry.head = Some(Hex(blob.head_bytes().read()?.into_owned()));
        }
        Ok(())
    }
}

/// A key of a `.safetensors` file: the name itself, if it can be one.
fn tensor_key<'b>(blob: &Blob<'b>) -> Cow<'b, str> {
    let name = name_of(blob);
    match name.to_str() {
        Ok("__metadata__") => "_metadata_".into(),
        Ok(text) if !text.is_empty() && !text.chars().any(char::is_control) => text.to_owned().into(),
        _ => safe(name.as_bytes()).into(),
    }
}

/// The shape and type of a tensor, or of all tensors of a feed with their number first, and their size in bytes. `None`
/// if this is not an array, or the data is shorter.
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

/// Whether other programs support this array. They also compute sizes for an empty one, as if it were not.
fn is_array(info: &TensorInfo) -> bool {
    let filled: Vec<i64> = info.shape.iter().map(|&extent| extent.max(1)).collect();
    let size = TensorInfo::new(info.data_type, filled).size_in_bytes();
    let is_known = info.data_type.size().is_some() && info.shape.iter().all(|extent| *extent >= 0);
    is_known && info.shape.len() <= MOST_DIMENSIONS && size.is_ok_and(|size| i64::try_from(size).is_ok())
}
