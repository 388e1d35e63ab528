//! A blob that is to be written.

use popef::types::{BlobType, ExecutableInfo, FeedDataInfo, TensorDataInfo, Text};
use popef::write::Packing;
use popef::{Metadata, TensorInfo};

use super::bad_index;
use super::compose::{Composed, Piece};
use super::report::State;
use crate::error::{Code, Error};
use crate::extract::{Kind, head};

/// A blob that is to be written.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) version: Text<'static>,
    /// The values of a metadata blob.
    pub(super) metadata: Option<Metadata>,
    pub(super) data: Vec<Piece>,
    /// The header and info as they were in the file that was extracted.
    pub(super) old_head: Option<Vec<u8>>,
    /// How the executable is to be compressed.
    pub(super) compress: Option<Packing>,
    /// How it compares with what was extracted.
    pub(super) state: State,
    /// Whether it is of another shape or type than what was extracted.
    pub(super) is_reshaped: bool,
    /// Where it is from, in errors.
    pub(super) from: String,
}

impl Part {
    pub(super) fn new(kind: Kind, data: Vec<Piece>, from: impl Into<String>) -> Self {
        Part {
            kind,
            version: Text::default(),
            metadata: None,
            data,
            old_head: None,
            compress: None,
            state: State::New,
            is_reshaped: false,
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

    /// Notes whether something of it is as it was extracted.
    pub(super) fn note(&mut self, is_same: bool) {
        if !is_same && self.state == State::Same {
            self.state = State::Changed;
        }
    }

    fn len(&self) -> u64 {
        self.data.iter().map(Piece::len).fold(0, u64::saturating_add)
    }

    /// Adds the blob to a file. An old head is used if it still says what the blob is.
    pub(super) fn add_to(&mut self, file: &mut Composed) -> Result<(), Error> {
        let old_head = self.old_head.take();
        let had_one = old_head.is_some();
        let old_head = old_head.filter(|head| self.is_said_by(head));
        self.note(!had_one || old_head.is_some());
        let head = old_head.or_else(|| head(&self.kind, self.metadata.as_ref(), &self.version, self.len()));
        let head = head.ok_or_else(|| bad_index(&self.from, "nothing says what the header of the blob is"))?;
        let pieces = self.data.iter().cloned();
        let added = std::iter::once(Piece::Bytes(head)).chain(pieces).try_for_each(|piece| file.push(piece));
        added.ok_or_else(|| Error::new(Code::WrongArguments, "the file would be too large"))
    }

    /// Whether a header and info are those of this blob.
    fn is_said_by(&self, head: &[u8]) -> bool {
        let mut file = Composed::default();
        let pieces = [Piece::Bytes(head.to_vec()), Piece::Zeros(self.len())];
        if pieces.into_iter().try_for_each(|piece| file.push(piece)).is_none() {
            return false;
        }
        let Ok(file) = file.open(0) else { return false };
        let (Some(blob), 1) = (file.blob(0), file.len()) else { return false };
        let head_len = u64::try_from(head.len()).unwrap_or(u64::MAX);
        // The length of the data decides where data begins in a blob of an unknown type.
        let begins = blob.data_offset() == head_len;
        let metadata = blob.as_metadata().and_then(|metadata| metadata.read().ok());
        begins && Kind::of(&blob) == self.kind && metadata == self.metadata && blob.version() == self.version
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
                    let message = "the array of a feed has the runs as its first dimension, of at most 4294967295";
                    Error::new(Code::WrongArguments, format!("{}: {message}", self.from))
                })?;
                Kind::Feed(FeedDataInfo { tensor_info, num_tensors, ..feed })
            }
            other => other,
        };
        Ok(())
    }
}

/// The number of runs of a feed, and what each has.
fn runs(mut info: TensorInfo) -> Option<(u32, TensorInfo)> {
    if info.shape.is_empty() {
        return None;
    }
    let runs = u32::try_from(info.shape.remove(0)).ok()?;
    Some((runs, info))
}

/// The shape and type of the array of a tensor or feed. None if it is of another type.
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
