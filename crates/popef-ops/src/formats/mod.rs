//! Arrays in files of other formats: `.npy`, `.npz` and `.safetensors`, and arrays in memory.
//!
//! [`read`] opens any such file, whatever its name, and gives its arrays: name, shape and type, and a reader of the
//! bytes in PopEF's layout. Headers are checked against the existing bytes. No array is held in memory as a whole,
//! except one in Fortran order, which is small or refused.
//!
//! ```
//! use popef::types::TensorDataInfo;
//! use popef_ops::formats;
//! use popef_ops::{Output, Overwrite, Silent, Target};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (from, to) = (folder.path().join("weights.npy"), folder.path().join("weights.popef"));
//! # let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
//! # std::fs::write(&from, [b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[0, 0, 192, 63, 0, 0, 16, 192]].concat())?;
//! let mut output = Output::begin(Target::Path(&to, Overwrite::Never), [], &Silent)?;
//! for array in formats::read(&from)? {
//!     let info = TensorDataInfo { name: array.name.clone(), tensor_info: array.info.clone() };
//!     output.tensor(&info, &mut array.reader()?)?;
//! }
//! output.finish()?;
//! # let file = popef::File::open(&to)?;
//! # assert_eq!(*file.tensor("weights").unwrap().elements()?.to_slice::<f32>()?, [1.5, -2.25]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! None of the formats has 8-bit floats that numpy reads, so they are bytes there: [`Array::as_type`] says whether an array can
//! stand for a type. In a `.safetensors` file, `popef.dataType.NAME` in `__metadata__` is the type of the tensor NAME: `F8`,
//! `F8143` or `F8152`. Tensors of the types `F8_E4M3FNUZ` and `F8_E5M2FNUZ` are read too.
//! `popef.name.KEY` is the name of a tensor with another key, and `popef.kind.KEY` is `feed` for a tensor that was a feed.

mod memory;
mod named;
mod npy;
mod npz;
mod order;
mod place;
mod safetensors;
mod types;
mod zip;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use popef::read::LocalFile;
use popef::types::Text;
use popef::{DataType, TensorInfo};

use crate::error::{Code, Error};

pub(crate) use named::{MOST_OPEN, NamedArrays};
pub(crate) use place::{Place, Source};
pub(crate) use safetensors::write_header as write_safetensors_header;
pub(crate) use types::is_float8;
pub(crate) use zip::ZipWriter;

/// A kind of file that has arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One array, as `numpy.save` writes it.
    Npy,
    /// A zip archive of `.npy` files, as `numpy.savez` writes it.
    Npz,
    /// Tensors after a header in JSON.
    Safetensors,
}

impl Format {
    /// Detects the format of a file by its first bytes. `None` if it has another format.
    fn of(first: &[u8]) -> Option<Format> {
        match first {
            _ if first.starts_with(npy::MAGIC) => Some(Format::Npy),
            _ if npz::MAGICS.iter().any(|magic| first.starts_with(magic)) => Some(Format::Npz),
            [_, _, _, _, _, _, _, _, b'{', ..] => Some(Format::Safetensors),
            _ => None,
        }
    }
}

/// An array in a file, or [in memory](Array::in_memory).
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name: the key in the file, or for an `.npy` file the name of the file without `.npy`.
    pub name: Text<'static>,
    /// Its shape and type.
    pub info: TensorInfo,
    /// What else the file says of it.
    pub(crate) said: Option<Said>,
    /// Whether its name is a key in a file that can have several arrays.
    pub(crate) is_keyed: bool,
    stored: Stored,
}

/// What a tensor or feed was before its array was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// Its name, if the array has another.
    pub(crate) name: Option<Text<'static>>,
    /// Whether it was a feed.
    pub(crate) is_feed: bool,
}

/// Where and how the bytes of an array are.
#[derive(Clone, Debug)]
enum Stored {
    /// As PopEF has them.
    Plain(Place),
    /// In a zip archive, after the header of an `.npy` file.
    Entry { entry: npz::Entry, header: u64, layout: order::Layout },
    /// In an `.npy` file, but in another order.
    Ordered { place: Place, layout: order::Layout },
    /// In no file.
    Memory(memory::Memory),
}

/// The arrays of a file, in its order. The first bytes determine the format. Only headers are read.
///
/// For files with many arrays, [`ArrayFile`] takes less memory.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Array>, Error> {
    let mut file = ArrayFile::open(path)?;
    (0..file.len()).filter_map(|index| file.get(index).transpose()).collect()
}

/// A file with arrays. Only the place of each array's header is kept, in 4 bytes, so a file may have millions.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("weights.npy");
/// # let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";
/// # std::fs::write(&path, [b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[1, 2]].concat())?;
/// let mut file = popef_ops::formats::ArrayFile::open(&path)?;
/// for index in 0..file.len() {
///     if let Some(array) = file.get(index)? {
///         println!("{}: {} {:?}", array.name, array.info.data_type, array.info.shape);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArrayFile {
    arrays: Arrays,
    path: PathBuf,
    /// Keeps the file open, so that it is not opened again for each array.
    _open: Arc<LocalFile>,
}

#[derive(Debug)]
enum Arrays {
    One(Array),
    Npz(npz::Archive),
    Safetensors(safetensors::Tensors),
}

impl ArrayFile {
    /// Opens a file. The first bytes determine the format. Only headers are read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        ArrayFile::of(Source::of(path.as_ref())?)
    }

    /// Opens a file that was examined already.
    pub(crate) fn of(source: Source) -> Result<Self, Error> {
        let path = source.path().to_owned();
        let (open, all) = (source.open()?, Place::of(source));
        let arrays = Arrays::of(&all).map_err(|error| error.in_file(&path))?;
        Ok(ArrayFile { arrays, path, _open: open })
    }

    /// The number of arrays.
    pub fn len(&self) -> usize {
        match &self.arrays {
            Arrays::One(_) => 1,
            Arrays::Npz(archive) => archive.len(),
            Arrays::Safetensors(tensors) => tensors.len(),
        }
    }

    /// Whether it has no arrays.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An array by its number. `None` if there are fewer. Its header is read again.
    pub fn get(&mut self, index: usize) -> Result<Option<Array>, Error> {
        match &mut self.arrays {
            Arrays::One(array) => return Ok((index == 0).then(|| array.clone())),
            Arrays::Npz(archive) => archive.array(index),
            Arrays::Safetensors(tensors) => tensors.array(index),
        }
        .map_err(|error| error.in_file(&self.path))
    }
}

impl Arrays {
    fn of(all: &Place) -> Result<Self, Error> {
        let mut first = [0; 9];
        let first = all.read_up_to(0, &mut first)?;
        match Format::of(first) {
            Some(Format::Npy) => npy::array(all).map(Arrays::One),
            Some(Format::Npz) => npz::Archive::open(all).map(Arrays::Npz),
            Some(Format::Safetensors) => safetensors::Tensors::open(all).map(Arrays::Safetensors),
            None => Err(Error::new(Code::BadArray, "it is neither an .npy, .npz nor .safetensors file")),
        }
    }
}

impl Array {
    /// A reader of exactly the bytes of the array in PopEF's layout: little-endian, the last dimension running fastest.
    /// A checksum in the file is checked when the last byte is read.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>, Error> {
        let in_file = |error: Error| match self.place() {
            Some(place) => error.in_file(place.path()),
            None => error,
        };
        match &self.stored {
            Stored::Memory(memory) => Ok(Box::new(memory.reader()) as _),
            Stored::Plain(place) => place.reader().map(|reader| Box::new(reader) as _),
            Stored::Ordered { place, layout } => place.reader().and_then(|reader| layout.ordered(reader, &self.info)),
            Stored::Entry { entry, header, layout } => {
                entry.reader_from(*header).and_then(|reader| layout.ordered(reader, &self.info))
            }
        }
        .map_err(in_file)
    }

    /// The shape and type under which the array can stand for a tensor of a type: its own if that is the type, or the
    /// type if the file's format lacks it and stores its elements as bytes.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("weights.npy");
    /// # let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";
    /// # std::fs::write(&path, [b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[1, 2]].concat())?;
    /// use popef::DataType;
    ///
    /// let array = &popef_ops::formats::read(&path)?[0];
    /// assert_eq!(array.info.data_type, DataType::U8);
    /// assert_eq!(array.as_type(DataType::F8143).unwrap().data_type, DataType::F8143);
    /// assert_eq!(array.as_type(DataType::F32), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn as_type(&self, wanted: DataType) -> Option<TensorInfo> {
        let own = self.info.data_type;
        let stands = own == wanted || (matches!(own, DataType::U8 | DataType::F8) && is_float8(wanted));
        stands.then(|| TensorInfo::new(wanted, self.info.shape.clone()))
    }

    /// Where its bytes are, in whatever form. `None` if they are not in a file.
    pub(crate) fn place(&self) -> Option<&Place> {
        match &self.stored {
            Stored::Plain(place) | Stored::Ordered { place, .. } => Some(place),
            Stored::Entry { entry, .. } => Some(entry.place()),
            Stored::Memory(_) => None,
        }
    }
}

/// The header of an `.npy` file with this array. `None` if its type is unknown or a dimension is negative.
pub(crate) fn npy_header(info: &TensorInfo) -> Option<Vec<u8>> {
    npy::Header::to_bytes(info)
}

/// Makes an error about a file whose contents differ from its header.
fn bad(message: impl Into<String>) -> Error {
    Error::new(Code::BadArray, message)
}

/// Makes an error about an array that PopEF cannot store.
fn unsupported(message: impl Into<String>) -> Error {
    Error::new(Code::UnsupportedArray, message)
}

/// An error of the operations, as a reader returns it.
fn as_io(error: Error) -> io::Error {
    io::Error::other(error)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
        })
    }
}
