//! A blob that is to be written.

use std::io::{self, Read, Write};

use popef::error::ErrorCode;
use popef::read::Compression;
use popef::types::{BlobType, ExecutableInfo, FeedDataInfo, InfoRef, TensorDataInfo, Text};
use popef::write::{BlobCopy, Packing};
use popef::{DataType, File, Metadata, TensorInfo, Writer};

use super::chained;
use super::compose::{Composed, Piece};
use super::report::State;
use crate::error::{Code, Error};
use crate::extract::{Kind, head};
use crate::formats::{Array, Place};
use crate::near::quoted;
use crate::work::len_of;

/// A blob that is to be written.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) version: Text<'static>,
    /// The values of a metadata blob.
    pub(super) metadata: Option<Metadata>,
    pub(super) data: Vec<Bytes>,
    /// The header and info as they were in the extracted file.
    pub(super) old_head: Option<Vec<u8>>,
    /// How the executable is to be compressed.
    pub(super) compress: Option<Packing>,
    /// How the executable was compressed, if it was unpacked.
    pub(super) was: Option<Compression>,
    /// Whether the executable may have no name, or the name of another.
    pub(super) any_name: bool,
    /// Its state compared with the extracted blob.
    pub(super) state: State,
    /// Whether its shape or type differs from the extracted blob's.
    pub(super) is_reshaped: bool,
    /// The type of its anchor, if it is an array of bytes that stands for 8-bit floats.
    pub(super) taken_as: Option<DataType>,
    /// Whether its name, or that of its executable, comes from other inputs.
    pub(super) is_unnamed: bool,
    /// The number of its input, and the file, for errors.
    pub(super) input: usize,
    pub(super) from: String,
}

/// Called for each blob.
pub(super) type Each<'e> = &'e mut dyn FnMut(Part) -> Result<(), Error>;

/// Where data is.
#[derive(Clone, Debug)]
pub(super) enum Bytes {
    Place(Place),
    Array(Box<Array>),
}

impl Bytes {
    /// The place in a file. `None` if the bytes are not in a file.
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Bytes::Place(place) => Some(place),
            Bytes::Array(array) => array.place(),
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Bytes::Place(place) => place.len(),
            Bytes::Array(array) => array.info.size_in_bytes().unwrap_or(u64::MAX),
        }
    }

    fn reader(&self) -> Result<Box<dyn Read + Send>, Error> {
        match self {
            Bytes::Place(place) => Ok(Box::new(place.reader()?)),
            Bytes::Array(array) => array.reader(),
        }
    }
}

impl Part {
    pub(super) fn new(kind: Kind, data: Vec<Bytes>, from: impl Into<String>) -> Self {
        Part {
            kind,
            version: Text::default(),
            metadata: None,
            data,
            old_head: None,
            compress: None,
            was: None,
            any_name: false,
            state: State::New,
            is_reshaped: false,
            taken_as: None,
            is_unnamed: false,
            input: 0,
            from: from.into(),
        }
    }

    pub(super) fn name(&self) -> Text<'_> {
        match &self.kind {
            Kind::Executable(ExecutableInfo { name, .. }) => name.by_ref(),
            Kind::Metadata => self.metadata.as_ref().map(|metadata| metadata.executable.by_ref()).unwrap_or_default(),
            Kind::Tensor(TensorDataInfo { name, .. }) | Kind::Feed(FeedDataInfo { name, .. }) => name.by_ref(),
            Kind::Opaque(info) => info.name.by_ref(),
            Kind::Unknown(_) => Text::default(),
        }
    }

    pub(super) fn is_executable(&self) -> bool {
        matches!(self.kind, Kind::Executable(_))
    }

    /// How it is compressed, if it is an executable. `wanted` applies to all executables.
    pub(super) fn packing(&self, wanted: Option<Packing>) -> Option<Packing> {
        self.is_executable().then(|| wanted.or(self.compress)).flatten()
    }

    /// Whether it is a tensor or a feed.
    pub(super) fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Tensor(_) | Kind::Feed(_))
    }

    /// Notes whether a part of it is as it was extracted.
    pub(super) fn note(&mut self, is_same: bool) {
        if !is_same && self.state == State::Same {
            self.state = State::Changed;
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.data.iter().map(Bytes::len).fold(0, u64::saturating_add)
    }

    /// All data.
    pub(super) fn reader(&self) -> Result<Box<dyn Read + Send>, Error> {
        Ok(chained(self.data.iter().map(Bytes::reader).collect::<Result<_, _>>()?))
    }

    /// All data, which is short.
    pub(super) fn read(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.len()).unwrap_or(0));
        self.reader()?.read_to_end(&mut bytes).map_err(|error| Error::io("read the data", error))?;
        if len_of(&bytes) == self.len() {
            Ok(bytes)
        } else {
            Err(Error::new(ErrorCode::FileChanged, "the file was changed meanwhile").in_file(&self.from))
        }
    }

    /// The header and info. Old ones are used if they still describe the blob; otherwise their fields of later versions
    /// are kept. Only the plain fields of Metadata stay in memory: the values of its lists take several times as much
    /// as the head.
    pub(super) fn head(&mut self) -> Result<Vec<u8>, Error> {
        let head = self.make_head()?;
        self.metadata = self.metadata.take().map(|metadata| metadata.without_lists());
        Ok(head)
    }

    fn make_head(&mut self) -> Result<Vec<u8>, Error> {
        let len = self.len();
        if let Some(old_head) = self.old_head.take() {
            let old = opened(&old_head, len);
            if old.as_ref().is_some_and(|old| self.is_said_by(old, len_of(&old_head))) {
                return Ok(old_head);
            }
            self.note(false);
            if let Some(new_head) = old.and_then(|old| self.edited(&old)) {
                return Ok(new_head);
            }
        }
        let head = head(&self.kind, self.metadata.as_ref(), &self.version, len);
        head.ok_or_else(|| self.bad("nothing says what its header is"))
    }

    /// Whether the only blob of a file matches this one.
    fn is_said_by(&self, file: &File, head_len: u64) -> bool {
        let Some(blob) = file.blob(0) else { return false };
        // The length of the data decides where data begins in a blob of an unknown type.
        let begins = blob.data_offset() == head_len;
        let has_values = match (blob.as_metadata(), &self.metadata) {
            (Some(metadata), Some(values)) => metadata.is(values).unwrap_or(false),
            (None, None) => true,
            (Some(metadata), None) => metadata.check_size().is_err(),
            (None, Some(_)) => false,
        };
        begins && Kind::of(&blob) == self.kind && has_values && blob.version() == self.version
    }

    /// An old header and info with the values of this blob. `None` if they are of a blob of another type.
    fn edited(&self, old: &File) -> Option<Vec<u8>> {
        let info = match &self.kind {
            Kind::Executable(info) => InfoRef::from(info),
            Kind::Metadata => self.metadata.as_ref()?.into(),
            Kind::Tensor(info) => info.into(),
            Kind::Feed(info) => info.into(),
            Kind::Opaque(info) => info.into(),
            Kind::Unknown(_) => return None,
        };
        let blob = old.blob(0)?;
        let copy = BlobCopy::of(&blob).info(info).version(self.version.by_ref());
        let head_len = Writer::nowhere().copy(copy.clone()).ok()?.size.checked_sub(self.len())?;
        let mut writer = Writer::stream(First { bytes: Vec::new(), most: head_len });
        writer.copy(copy).ok()?;
        Some(writer.into_inner().ok()?.bytes)
    }

    pub(super) fn blob_type(&self) -> BlobType {
        self.kind.blob_type()
    }

    /// Makes it a tensor or feed of the shape and type of an array. Fails if a feed has no dimension for the runs.
    pub(super) fn set_shape(&mut self, info: TensorInfo) -> Result<(), Error> {
        let old = std::mem::replace(&mut self.kind, Kind::Metadata);
        self.kind = match old {
            Kind::Tensor(tensor) => Kind::Tensor(TensorDataInfo { tensor_info: info, ..tensor }),
            Kind::Feed(feed) => {
                let (num_tensors, tensor_info) = runs(info).ok_or_else(|| {
                    let name = quoted(&feed.name);
                    let message = format!(
                        "feed {name}: needed an array with the runs as its first dimension, at most 4294967295"
                    );
                    Error::new(Code::WrongArguments, message)
                })?;
                Kind::Feed(FeedDataInfo { tensor_info, num_tensors, ..feed })
            }
            other => other,
        };
        Ok(())
    }

    /// Makes an error about a damaged or wrong index.
    pub(super) fn bad(&self, message: &str) -> Error {
        Error::new(Code::BadIndex, message).in_file(&self.from)
    }
}

/// A file with only a blob of this header and info, and `len` bytes of data that are not read.
fn opened(head: &[u8], len: u64) -> Option<File> {
    let mut file = Composed::default();
    file.push(Piece::bytes(head.to_vec()))?;
    file.push(Piece::Zeros(len))?;
    file.open(0).ok().filter(|file| file.len() == 1)
}

/// Keeps the first bytes that are written.
struct First {
    bytes: Vec<u8>,
    most: u64,
}

impl Write for First {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(self.most.saturating_sub(len_of(&self.bytes))).unwrap_or(usize::MAX);
        self.bytes.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of runs of a feed, and the shape of each.
fn runs(mut info: TensorInfo) -> Option<(u32, TensorInfo)> {
    if info.shape.is_empty() {
        return None;
    }
    let runs = u32::try_from(info.shape.remove(0)).ok()?;
    Some((runs, info))
}

/// The shape and type of the array of a tensor or feed. `None` if it is of another type.
pub(super) fn array_of(kind: &Kind) -> Option<TensorInfo> {
    match kind {
        Kind::Tensor(tensor) => Some(tensor.tensor_info.clone()),
        Kind::Feed(feed) => {
            let mut info = feed.tensor_info.clone();
            info.shape.insert(0, feed.num_tensors.into());
            Some(info)
        }
        _ => None,
    }
}
