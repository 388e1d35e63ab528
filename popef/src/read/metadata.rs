use super::blob::Blob;
use crate::error::{Error, Problem};
use crate::types::{Metadata, Text};
use crate::wire::{self, InfoFields, Span};

/// A blob that says how to load and run an executable.
#[derive(Clone, Copy, Debug)]
pub struct MetadataBlob<'a> {
    blob: Blob<'a>,
    executable: Span,
    /// The memory that the owned value takes, in bytes.
    value_bytes: u64,
}

impl<'a> MetadataBlob<'a> {
    /// Wraps a blob that is known to be metadata.
    pub(crate) fn of(blob: Blob<'a>) -> Self {
        let (executable, value_bytes) = match blob.head.info {
            InfoFields::Metadata { executable, value_bytes } => (executable, value_bytes),
            _ => Default::default(),
        };
        MetadataBlob { blob, executable, value_bytes }
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns the name of the executable that the metadata describes.
    pub fn executable(&self) -> Text<'a> {
        self.blob.text(self.executable)
    }

    /// Reads the whole metadata as an owned value.
    ///
    /// Fails if the message claims more values than its length allows, or if there is no memory. Everything else was
    /// checked when the file was opened.
    ///
    /// ```
    /// use popef::types::TensorType;
    ///
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let metadata = file.metadata().next().expect("the file has one").read()?;
    /// let inputs = metadata.anchors.iter().filter(|anchor| anchor.tensor_type == TensorType::Input);
    /// let handles: Vec<_> = inputs.map(|anchor| anchor.handle.to_string()).collect();
    /// assert_eq!(handles, ["h2d_user_input", "h2d_input_parameter"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn read(&self) -> Result<Metadata, Error> {
        self.check_size()?;
        let info = self.blob.info_bytes().read()?;
        wire::read_metadata(&info, self.blob.limits()).map_err(|problem| self.error(problem))
    }

    /// Returns whether this is the metadata of a value. Unlike [`read`](Self::read), it does not build the whole value.
    ///
    /// Fails as `read` does.
    pub fn is(&self, value: &Metadata) -> Result<bool, Error> {
        self.check_size()?;
        let info = self.blob.info_bytes().read()?;
        wire::is_metadata(&info, self.blob.limits(), value).map_err(|problem| self.error(problem))
    }

    /// Whether the info message is the one that this library writes for its values.
    pub(crate) fn is_encoded(&self) -> Result<bool, Error> {
        if self.check_size().is_err() {
            return Ok(false);
        }
        let info = self.blob.info_bytes().read()?;
        wire::is_encoded_metadata(&info, self.blob.limits()).map_err(|problem| self.error(problem))
    }

    /// Fails if the message claims more values than its length allows. Then [`read`](Self::read) fails too.
    pub fn check_size(&self) -> Result<(), Error> {
        wire::check_value_bytes(self.blob.info_bytes().len(), self.value_bytes).map_err(|problem| self.error(problem))
    }

    fn error(&self, problem: impl Into<Problem>) -> Error {
        self.blob.error(problem, self.blob.info_offset())
    }
}
