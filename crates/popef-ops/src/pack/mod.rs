//! Puts files together: from a folder that was [extracted](crate::extract), or from files of other programs.

mod check;
mod compose;
pub(crate) mod folder;
mod part;
mod report;
mod spool;

use std::path::Path;

use popef::read::FileId;
use popef::types::{ExecutableInfo, FeedDataInfo, OpaqueInfo, TensorDataInfo, Text};
use popef::write::Packing;
use popef::{Blob, File, Metadata};

use crate::error::{Code, Error};
use crate::extract::Kind;
use crate::formats::{self, Place, Source};
use crate::output::{Output, Overwrite, Target};
use crate::progress::Progress;

use compose::{Composed, Piece};
use part::Part;
use spool::Spool;

pub use report::{Packed, PackedBlob, State};

/// A file that is put together.
///
/// ```
/// use popef_ops::pack::Pack;
/// use popef_ops::{Overwrite, Silent, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("weights.npy"), folder.path().join("weights.popef"));
/// # let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
/// # std::fs::write(&from, [b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[0, 0, 192, 63, 0, 0, 16, 192]].concat())?;
/// let mut pack = Pack::new();
/// pack.tensors(&from, &Silent)?;
/// pack.write(Target::Path(&to, Overwrite::Never), &Silent)?;
/// let file = popef::File::open(&to)?;
/// assert_eq!(*file.tensor("weights").unwrap().elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Pack {
    prefix: Option<Place>,
    parts: Vec<Part>,
    /// Executables without a name of their own.
    unnamed: Vec<usize>,
    /// Opaque blobs, for the executable if there is only one.
    opaques: Vec<usize>,
    spool: Spool,
    compress: Option<Packing>,
    unchecked: bool,
}

impl Pack {
    /// With no blobs yet.
    pub fn new() -> Self {
        Pack::default()
    }

    /// Adds the blobs of a folder that was extracted, as they are now. The bytes before the first blob come from there too.
    ///
    /// `index.json` is not trusted: what it names must be in the folder, and no link may lead there. It is refused if it has
    /// keys that this version does not know.
    pub fn folder(&mut self, path: &Path, progress: &dyn Progress) -> Result<&mut Self, Error> {
        let contents = folder::read(path, &mut self.spool, progress)?;
        if self.prefix.is_some() && contents.prefix.is_some() {
            return Err(Error::new(Code::WrongArguments, "only one folder can have bytes before the first blob"));
        }
        self.prefix = self.prefix.take().or(contents.prefix);
        self.parts.extend(contents.parts);
        Ok(self)
    }

    /// Adds an executable that is not compressed. Without a name, it gets the one that the metadata has, or else that of the
    /// file without its ending.
    pub fn executable(&mut self, path: &Path, name: Option<&str>) -> Result<&mut Self, Error> {
        if name.is_none() {
            self.unnamed.push(self.parts.len());
        }
        let name = name.map_or_else(|| stem(path), |name| Text::from(name.to_owned()));
        self.whole(Kind::Executable(ExecutableInfo { name, uncompressed_size: None }), path)
    }

    /// Adds metadata, as `extract` writes it.
    pub fn metadata(&mut self, path: &Path) -> Result<&mut Self, Error> {
        let mut part = Part::new(Kind::Metadata, Vec::new(), path.to_string_lossy());
        part.metadata = Some(folder::read_metadata(&Place::of(Source::of(path)?))?);
        self.parts.push(part);
        Ok(self)
    }

    /// Adds all arrays of a file as tensors. The array of an `.npy` file has the name of the file.
    pub fn tensors(&mut self, path: &Path, progress: &dyn Progress) -> Result<&mut Self, Error> {
        for array in formats::read(path)? {
            let info = TensorDataInfo { name: array.name.clone(), tensor_info: array.info.clone() };
            let piece = self.spool.piece(&array, progress)?;
            self.parts.push(Part::new(Kind::Tensor(info), vec![piece], path.to_string_lossy()));
        }
        Ok(self)
    }

    /// Adds the only array of a file as a feed. Its first dimension is the runs.
    pub fn feed(&mut self, name: &str, path: &Path, progress: &dyn Progress) -> Result<&mut Self, Error> {
        let arrays = formats::read(path)?;
        let [array] = &*arrays else {
            let message = format!("the file has {} arrays, and a feed is one", arrays.len());
            return Err(Error::new(Code::WrongArguments, message).in_file(path));
        };
        let info = FeedDataInfo { name: Text::from(name.to_owned()), ..FeedDataInfo::default() };
        let piece = self.spool.piece(array, progress)?;
        let mut part = Part::new(Kind::Feed(info), vec![piece], path.to_string_lossy());
        part.set_shape(array.info.clone())?;
        self.parts.push(part);
        Ok(self)
    }

    /// Adds an opaque blob. It is for the executable if there is only one.
    pub fn opaque(&mut self, name: &str, path: &Path) -> Result<&mut Self, Error> {
        self.opaques.push(self.parts.len());
        self.whole(Kind::Opaque(OpaqueInfo { name: Text::from(name.to_owned()), ..OpaqueInfo::default() }), path)
    }

    fn whole(&mut self, kind: Kind, path: &Path) -> Result<&mut Self, Error> {
        let place = Place::of(Source::of(path)?);
        self.parts.push(Part::new(kind, vec![Piece::Place(place)], path.to_string_lossy()));
        Ok(self)
    }

    /// Compresses all executables. One that would not become smaller stays as it is.
    pub fn compress(&mut self, packing: Packing) -> &mut Self {
        self.compress = Some(packing);
        self
    }

    /// Writes data also if it does not fit its anchor. The report then says so.
    pub fn unchecked(&mut self, unchecked: bool) -> &mut Self {
        self.unchecked = unchecked;
        self
    }

    /// Checks that everything fits together, and writes the file.
    pub fn write(mut self, target: Target<'_>, progress: &dyn Progress) -> Result<Packed, Error> {
        self.refuse_sources(&target)?;
        self.link();
        let file = self.compose()?;
        let problems = check::problems(&file, &self.parts);
        if let (Some(first), false) = (problems.first(), self.unchecked) {
            let more = match problems.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count.saturating_sub(1)),
            };
            return Err(Error::new(Code::DoesNotFit, format!("{first}{more}")));
        }
        let mut output = Output::begin(target, [], progress)?;
        progress.expect(self.told(&file, &output));
        output.prefix_of(&file)?;
        let blobs = self.copy(&file, &mut output)?;
        let size = output.len();
        output.finish_checked(|written| check::is_whole(written, &file))?;
        Ok(Packed { size, blobs, problems })
    }

    /// Gives executables and opaque blobs the names that the metadata and the executable have.
    fn link(&mut self) {
        let described: Vec<&Metadata> = self.parts.iter().filter_map(|part| part.metadata.as_ref()).collect();
        let described = match &*described {
            [metadata] if !metadata.executable.is_empty() => Some(metadata.executable.clone()),
            _ => None,
        };
        if let ([number], Some(described)) = (&*self.unnamed, described)
            && let Some(Kind::Executable(info)) = self.parts.get_mut(*number).map(|part| &mut part.kind)
        {
            info.name = described;
        }
        let executables: Vec<Text<'static>> = self.parts.iter().filter_map(executable).collect();
        let [executable] = &*executables else { return };
        for number in &self.opaques {
            if let Some(Kind::Opaque(info)) = self.parts.get_mut(*number).map(|part| &mut part.kind) {
                info.executable = executable.clone();
            }
        }
    }

    /// The file as it is before executables are compressed.
    fn compose(&mut self) -> Result<File, Error> {
        let mut file = Composed::with(std::mem::take(&mut self.spool).into_file()?);
        let mut start = 0;
        if let Some(prefix) = &self.prefix {
            start = prefix.len();
            file.push(Piece::Place(prefix.clone()));
        }
        self.parts.iter_mut().try_for_each(|part| part.add_to(&mut file))?;
        let file = file.open(start)?;
        match file.len() == self.parts.len() {
            true => Ok(file),
            false => Err(bad_index(crate::extract::INDEX, "its blobs do not follow each other")),
        }
    }

    /// How many bytes the progress is told of: the file's, but of executables that are compressed what is read of them.
    fn told(&self, file: &File, output: &Output<'_>) -> u64 {
        file.blobs().zip(&self.parts).fold(file.prefix().len(), |told, (blob, part)| {
            let packing = self.compress.or(part.compress);
            let packed = blob.as_executable().filter(|_| packing.is_some());
            told.saturating_add(packed.map_or(blob.size(), |executable| output.told_of(&executable, packing)))
        })
    }

    fn copy(&self, file: &File, output: &mut Output<'_>) -> Result<Vec<PackedBlob>, Error> {
        let mut packed = Vec::new();
        let mut plain: Vec<Blob<'_>> = Vec::new();
        for (blob, part) in file.blobs().zip(&self.parts) {
            let packing = blob.as_executable().and(self.compress.or(part.compress));
            let mut state = part.state;
            let size = match (packing, blob.as_executable()) {
                (Some(packing), Some(executable)) => {
                    // Those before come first.
                    output.copy_all(plain.drain(..))?;
                    let written = output.repacked(&executable, packing, blob.size())?;
                    state = if written.is_some() { State::Compressed } else { state };
                    match written {
                        Some(written) => written.size,
                        None => output.copy(blob)?.size,
                    }
                }
                _ => {
                    plain.push(blob);
                    blob.size()
                }
            };
            let (index, blob_type, name) = (blob.index(), part.blob_type(), part.name().into());
            packed.push(PackedBlob { index, blob_type, name, size, state });
        }
        output.copy_all(plain)?;
        Ok(packed)
    }

    /// Fails if the output is one of the files that are read.
    fn refuse_sources(&self, target: &Target<'_>) -> Result<(), Error> {
        let (Target::Path(path, overwrite) | Target::Trial(path, overwrite)) = target else { return Ok(()) };
        if *overwrite == Overwrite::Inputs {
            return Ok(());
        }
        // If there is no such file, it is no input.
        let Ok(id) = FileId::of_path(path) else { return Ok(()) };
        let places = self.parts.iter().flat_map(|part| &part.data).filter_map(Piece::place).chain(&self.prefix);
        let is_read = places.map(Place::path).any(|source| FileId::of_path(source).is_ok_and(|source| source == id));
        match is_read {
            true => Err(Error::new(Code::OutputIsInput, "the output is a file that is packed").in_file(path)),
            false => Ok(()),
        }
    }
}

fn executable(part: &Part) -> Option<Text<'static>> {
    match &part.kind {
        Kind::Executable(info) => Some(info.name.clone()),
        _ => None,
    }
}

fn stem(path: &Path) -> Text<'static> {
    Text::from(path.file_stem().unwrap_or_default().as_encoded_bytes()).into_owned()
}

/// Makes an error of an index that is damaged or lies.
fn bad_index(place: &str, message: &str) -> Error {
    Error::new(Code::BadIndex, format!("{place}: {message}"))
}

fn bad_metadata(message: &str) -> Error {
    Error::new(Code::BadMetadata, format!("it is no metadata as JSON: {message}"))
}
