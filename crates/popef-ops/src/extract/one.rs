//! Blobs in a single file for other programs, without `index.json`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use popef::read::Data;
use popef::{Blob, File};

use super::archive::Members;
use super::files::NewFile;
use super::plan::{Plan, whole};
use super::report::{Extracted, ExtractedBlob, ExtractedFile, Note};
use super::{Arrays, ExtractOptions};
use crate::error::{Code, Error};
use crate::formats::{is_float8, npy_header};
use crate::listed::name_of;
use crate::output::{Place, Target};
use crate::plain_file::PlainFile;
use crate::progress::Progress;

/// What one file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OneFile {
    /// One tensor or feed, in numpy's format.
    Npy,
    /// Tensors and feeds, by name.
    Npz,
    /// Tensors and feeds, by name.
    Safetensors,
    /// The bytes of one blob.
    Bytes,
    /// The fields of one metadata.
    Json,
}

impl OneFile {
    /// What a file of such a name holds, by its ending: `.npy`, `.npz`, `.safetensors`, `.bin` or `.json`, also in capital letters. A path
    /// that ends with a slash is a folder.
    ///
    /// ```
    /// use popef_ops::extract::OneFile;
    ///
    /// assert_eq!(OneFile::of("weights.safetensors".as_ref()), Some(OneFile::Safetensors));
    /// assert_eq!(OneFile::of("weights".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        if path.as_os_str().as_encoded_bytes().last().is_some_and(|last| std::path::is_separator(char::from(*last))) {
            return None;
        }
        match &*path.extension()?.to_str()?.to_ascii_lowercase() {
            "npy" => Some(OneFile::Npy),
            "npz" => Some(OneFile::Npz),
            "safetensors" => Some(OneFile::Safetensors),
            "bin" => Some(OneFile::Bytes),
            "json" => Some(OneFile::Json),
            _ => None,
        }
    }

    /// How it stores tensors and feeds. `None` if it has no arrays.
    pub fn arrays(self) -> Option<Arrays> {
        match self {
            OneFile::Npy => Some(Arrays::Npy),
            OneFile::Npz => Some(Arrays::Npz),
            OneFile::Safetensors => Some(Arrays::Safetensors),
            OneFile::Bytes => Some(Arrays::Raw),
            OneFile::Json => None,
        }
    }

    fn takes(self, blob: &Blob<'_>) -> bool {
        match self {
            OneFile::Npy | OneFile::Npz | OneFile::Safetensors => blob.as_data().is_some(),
            OneFile::Bytes => blob.as_metadata().is_none(),
            OneFile::Json => blob.as_metadata().is_some(),
        }
    }

    /// The words for what the file has: one item or several.
    fn needed(self) -> &'static str {
        match self {
            OneFile::Npy => "an .npy file has one tensor or feed",
            OneFile::Npz => "an .npz file has tensors and feeds",
            OneFile::Safetensors => "a .safetensors file has tensors and feeds",
            OneFile::Bytes => "a .bin file has the bytes of one blob other than metadata",
            OneFile::Json => "a .json file has one metadata",
        }
    }

    /// The note for a blob whose key in the file differs from its name. In JSON, all names are UTF-8.
    fn renamed(self, blob: &Blob<'_>) -> Note {
        let keeps = self == OneFile::Safetensors && name_of(blob).to_str().is_ok();
        if keeps { Note::NameKept } else { Note::Renamed }
    }

    /// Whether it has arrays, and cannot say which of them were feeds.
    fn forgets_feeds(self) -> bool {
        matches!(self, OneFile::Npy | OneFile::Npz)
    }

    fn has_several(self) -> bool {
        matches!(self, OneFile::Npz | OneFile::Safetensors)
    }
}

/// A tensor, or all tensors of a feed, as an `.npy` file.
#[derive(Clone, Debug)]
pub struct Npy<'f> {
    /// What the file begins with.
    pub header: Vec<u8>,
    /// The elements, which follow.
    pub data: Data<'f>,
    /// What is special.
    pub notes: Vec<Note>,
}

impl<'f> Npy<'f> {
    /// The file of a blob. Fails if the blob is not a tensor or a feed, or if its data, shape or type cannot make an
    /// array.
    pub fn of(blob: &Blob<'f>) -> Result<Self, Error> {
        let none = || Error::new(Code::WrongArguments, format!("{} is no tensor or feed", described(blob)));
        let (info, len) =
            blob.as_data().ok_or_else(none).and_then(|data| whole(&data).ok_or_else(|| no_array(blob)))?;
        let header = npy_header(&info).ok_or_else(|| no_array(blob))?;
        let lost = is_float8(info.data_type).then_some(Note::TypeLost);
        let left = (len < blob.data().len()).then_some(Note::SurplusLeft);
        Ok(Npy { header, data: blob.data().range(0..len)?, notes: lost.into_iter().chain(left).collect() })
    }
}

/// Writes the chosen blobs of a file that fit `form` into one file, which other programs read. The file has no index:
/// names and bytes that it cannot store are lost, and notes say so. The form determines how arrays are written.
///
/// It is an error if no blob fits, if several do and the file has room for one, or if the data of a tensor cannot make
/// an array. The file is made like a [`PlainFile`]; the target is a path, or nothing is written.
///
/// `each` is called for each blob in order, once all are written.
///
/// ```
/// use popef_ops::extract::{ExtractOptions, OneFile, extract_one};
/// use popef_ops::{Overwrite, Silent, Target};
///
/// # let place = tempfile::tempdir()?;
/// # let (path, npy) = (place.path().join("model.popef"), place.path().join("w.npy"));
/// # let mut writer = popef::Writer::create(&path)?;
/// # let info = popef::types::TensorDataInfo { name: "w".into(), tensor_info: popef::TensorInfo::new(popef::DataType::F32, [1]) };
/// # writer.write_tensor(&info, &[1.5f32])?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let target = Target::Path(&npy, Overwrite::Never);
/// extract_one(&file, &target, OneFile::Npy, &ExtractOptions::default(), &Silent, &mut |_| Ok(()))?;
/// assert_eq!(popef_ops::formats::read(&npy)?[0].name, "w");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract_one(
    file: &File,
    target: &Target<'_>,
    form: OneFile,
    options: &ExtractOptions<'_>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(ExtractedBlob) -> Result<(), Error>,
) -> Result<Extracted, Error> {
    let select = |blob: &Blob<'_>| form.takes(blob) && (options.select)(blob);
    let arrays = form.arrays().unwrap_or_default();
    let plan = Plan::of_one(file, &ExtractOptions { arrays, unpacked: options.unpacked, select: &select });
    check(&plan, form)?;
    let new = begin(target, file)?;
    progress.expect(if new.is_some() { plan.bytes() } else { 0 });
    let size = write_to(&plan, form, new.as_ref(), progress)?;
    new.map_or(Ok(()), |new| progress.ask_to_place().and_then(|()| new.finish()))?;
    let left_out = u64::try_from(file.len().saturating_sub(plan.len())).unwrap_or(u64::MAX);
    let mut report = ExtractedFile { left_out, ..ExtractedFile::default() };
    let name = target.place().and_then(|place| Some(place.path.file_name()?.to_string_lossy().into_owned()));
    for blob in plan.blobs() {
        let row = row(&plan, &blob, form, name.clone(), size)?;
        report.add(&row);
        each(row)?;
    }
    Ok(Extracted { files: vec![report] })
}

/// Fails unless the file can store the chosen blobs.
fn check(plan: &Plan<'_>, form: OneFile) -> Result<(), Error> {
    let needed = form.needed();
    let wrong = |code, found: String| Err(in_file(plan, Error::new(code, format!("{needed}, and {found}"))));
    match plan.len() {
        0 => return wrong(Code::NothingChosen, "none is chosen".to_owned()),
        1 => {}
        _ if form.has_several() => {}
        count => return wrong(Code::AmbiguousBlob, format!("{count} are chosen")),
    }
    let has_arrays = !matches!(form, OneFile::Bytes | OneFile::Json);
    let odd = plan.blobs().find(|blob| has_arrays && blob.as_data().is_none_or(|data| whole(&data).is_none()));
    odd.map_or(Ok(()), |blob| Err(in_file(plan, no_array(&blob))))
}

/// The error, about the file that is read.
fn in_file(plan: &Plan<'_>, error: Error) -> Error {
    plan.file().path().into_iter().fold(error, Error::in_file)
}

/// Begins the file, unless nothing is to be written.
fn begin(target: &Target<'_>, file: &File) -> Result<Option<PlainFile>, Error> {
    match target.place() {
        None if target.is_trial() => Ok(None),
        None => Err(Error::new(Code::WrongArguments, "files that are no PopEF files are written to a path")),
        Some(Place { path, overwrite, .. }) if target.is_trial() => {
            PlainFile::check(&path, overwrite, None::<&Path>, [file]).map(|_| None)
        }
        Some(Place { path, overwrite, .. }) => PlainFile::create(&path, overwrite, [file]).map(Some),
    }
}

/// Writes the file, or counts its bytes. Returns them.
fn write_to(plan: &Plan<'_>, form: OneFile, new: Option<&PlainFile>, progress: &dyn Progress) -> Result<u64, Error> {
    let handle: Option<fs::File> = new.map(PlainFile::handle).transpose()?;
    let mut file = NewFile::over(handle, progress);
    let written = contents(plan, form, &mut file).and_then(|()| file.end());
    written.map_err(|error| new.iter().fold(error, |error, new| error.in_file(new.path())))
}

fn contents(plan: &Plan<'_>, form: OneFile, file: &mut NewFile<'_>) -> Result<(), Error> {
    let all = Members::of_all(plan);
    match form {
        OneFile::Npz => all.write_npz(file),
        OneFile::Safetensors => all.write_safetensors(file),
        OneFile::Npy | OneFile::Bytes | OneFile::Json => {
            plan.blobs().try_for_each(|blob| single(plan, &blob, form, file))
        }
    }
}

fn single(plan: &Plan<'_>, blob: &Blob<'_>, form: OneFile, file: &mut NewFile<'_>) -> Result<(), Error> {
    match form {
        OneFile::Npy => {
            let Npy { header, data, .. } = Npy::of(blob)?;
            file.write_all(&header)?;
            file.data(&data)
        }
        OneFile::Json => {
            if let Some(metadata) = blob.as_metadata() {
                metadata.check_size()?;
            }
            file.metadata(blob)
        }
        _ if plan.planned(blob)?.entry.compress.is_some() => file.unpacked(blob),
        _ => file.data(&blob.data()),
    }
}

/// Reports a blob. `size` is the size of the file.
fn row(
    plan: &Plan<'_>,
    blob: &Blob<'_>,
    form: OneFile,
    path: Option<String>,
    size: u64,
) -> Result<ExtractedBlob, Error> {
    let planned = plan.planned(blob)?;
    let key = planned.entry.data.and_then(|data| data.key);
    let renamed = key.as_ref().filter(|key| name_of(blob) != key.as_str()).map(|_| form.renamed(blob));
    let feed = (form.forgets_feeds() && blob.as_feed().is_some()).then_some(Note::FeedLost);
    let notes = planned.notes.into_iter().filter_map(without_index);
    Ok(ExtractedBlob {
        input: 0,
        index: blob.index(),
        blob_type: blob.blob_type(),
        name: name_of(blob).into(),
        path,
        surplus: None,
        data_size: blob.data().len(),
        extracted_size: if form.has_several() { planned.len } else { size },
        notes: notes.chain(renamed).chain(feed).collect(),
        key,
    })
}

/// The note for a file without an `index.json` or a second file.
fn without_index(note: Note) -> Option<Note> {
    match note {
        Note::AsBytes => Some(Note::TypeLost),
        Note::Surplus => Some(Note::SurplusLeft),
        Note::AsU8 => Some(Note::AsU8),
        _ => None,
    }
}

fn no_array(blob: &Blob<'_>) -> Error {
    let message = format!("the data, shape or type of {} make no array", described(blob));
    Error::new(Code::WrongArguments, message)
}

fn described(blob: &Blob<'_>) -> String {
    format!("blob {} {:?}", blob.index(), name_of(blob))
}
