//! A blob to be copied, with changes of its header and info.

use super::label::Label;
use super::problem::{WriteProblem, impossible};
use crate::error::{Error, Problem};
use crate::len::as_usize;
use crate::read::{Blob, BlobHandle};
use crate::types::{ElementSources, InfoRef, Metadata, Text};
use crate::wire::NewHead;

/// A blob to be copied, unchanged or with another name, version or info.
///
/// The data is copied byte for byte: a surplus is kept, and an executable stays compressed as it is. Fields of header
/// and info that are not changed are kept too, also those of a later version of the format. [`Writer::copy`] and
/// [`Writer::copy_all`] accept both blobs and `BlobCopy`.
///
/// ```
/// use popef::types::TensorDataInfo;
/// use popef::write::BlobCopy;
/// use popef::{DataType, File, TensorInfo, Writer};
///
/// let file = File::open("examples/data/executable.popef")?;
/// let tensor = file.tensor("input_parameter").expect("the model has this weight");
///
/// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
/// writer.copy(BlobCopy::of(tensor.blob()).name("weights").version("1"))?;
/// let flat = TensorDataInfo { name: "bits".into(), tensor_info: TensorInfo::new(DataType::U32, [1, 2]) };
/// writer.copy(BlobCopy::of(tensor.blob()).info(&flat))?;
///
/// let copies = File::from_bytes(writer.into_inner()?.into_inner())?;
/// assert_eq!(*copies.tensor("weights").unwrap().elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// assert_eq!(copies.tensor("bits").unwrap().shape().to_vec(), [1, 2]);
/// # Ok::<(), popef::Error>(())
/// ```
///
/// [`Writer::copy`]: crate::Writer::copy
/// [`Writer::copy_all`]: crate::Writer::copy_all
#[derive(Clone, Debug)]
pub struct BlobCopy<'b> {
    pub(super) blob: Blob<'b>,
    name: Option<Text<'b>>,
    version: Option<Text<'b>>,
    info: Option<InfoRef<'b>>,
    sources: Option<&'b ElementSources>,
}

impl<'b> BlobCopy<'b> {
    /// Makes an unchanged copy of a blob.
    pub fn of(blob: &Blob<'b>) -> Self {
        BlobCopy { blob: *blob, name: None, version: None, info: None, sources: None }
    }

    /// Changes the blob's name. Metadata and blobs of an unknown type have no name, and copying them then fails.
    #[must_use]
    pub fn name<'n: 'b>(mut self, name: impl Into<Text<'n>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Changes the blob's version.
    #[must_use]
    pub fn version<'v: 'b>(mut self, version: impl Into<Text<'v>>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Replaces the blob's info with another one for the same blob type. A [name](Self::name) overrides that in the
    /// info.
    ///
    /// Fields of a later version of the format stay. The elements of the lists of [`Metadata`](crate::Metadata) keep those
    /// of the old elements of the same name, unless [`sources`](Self::sources) says that they were made from others.
    ///
    /// The new info of a tensor or a feed must need as many bytes of data as the blob has, or, if the blob has a
    /// surplus, as many as the old info needs. The new info of an executable must have the same uncompressed size.
    #[must_use]
    pub fn info(mut self, info: impl Into<InfoRef<'b>>) -> Self {
        self.info = Some(info.into());
        self
    }

    /// Says from which elements those of a new [`Metadata`](crate::Metadata) were made. It has an effect only with a new
    /// [info](Self::info).
    #[must_use]
    pub fn sources(mut self, sources: &'b ElementSources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Whether nothing is changed.
    pub(super) fn is_verbatim(&self) -> bool {
        self.name.is_none() && self.version.is_none() && self.info.is_none()
    }

    pub(super) fn label(&self) -> Label<'_> {
        let Label { blob_type, name } = self.info.map_or_else(|| Label::of_blob(&self.blob), Label::of);
        Label { blob_type, name: self.name.as_ref().map_or(name, Text::by_ref) }
    }

    /// The version that the copy gets, if it is another one.
    pub(super) fn new_version(&self) -> Option<&Text<'b>> {
        self.version.as_ref()
    }

    /// The header and info with the changes. `refusal` makes an error of a problem with these.
    pub(super) fn head(&self, refusal: impl Fn(Problem) -> Error) -> Result<NewHead, Error> {
        if let Some(InfoRef::Metadata(info)) = self.info
            && self.name.is_none()
            && self.blob.has_usual_head()?
        {
            return self.laid_out(info).map_err(refusal);
        }
        let head = head_of(&self.blob, &refusal)?;
        self.changed(head).map_err(refusal)
    }

    /// The header and new info of Metadata whose old ones have nothing that must be kept. So the old message, which can be very
    /// long, needs not to be changed in memory.
    fn laid_out(&self, info: &Metadata) -> Result<NewHead, Problem> {
        self.check_info(info.into())?;
        let old = self.blob.version();
        let mut head = NewHead::default();
        head.lay_out(self.version.as_ref().unwrap_or(&old), info.into())?;
        head.set_data_len(self.blob.data().len()).map_err(impossible)?;
        Ok(head)
    }

    fn changed(&self, mut head: NewHead) -> Result<NewHead, Problem> {
        let BlobCopy { blob, name, version, info, sources } = self;
        if self.is_verbatim() {
            return Ok(head);
        }
        if let Some(info) = info {
            self.check_info(*info)?;
            head.set_info(*info, *sources, blob.limits())?;
        }
        if let Some(name) = name {
            self.check_named()?;
            head.set_name(blob.blob_type(), name, blob.limits())?;
        }
        head.set_version(version.as_ref(), blob.limits())?;
        head.set_data_len(blob.data().len()).map_err(impossible)?;
        Ok(head)
    }

    fn check_named(&self) -> Result<(), WriteProblem> {
        match self.blob.name() {
            Some(_) => Ok(()),
            None => Err(WriteProblem::NoName { blob: self.blob_shown() }),
        }
    }

    fn check_info(&self, info: InfoRef<'_>) -> Result<(), Problem> {
        if info.blob_type() != self.blob.blob_type() {
            return Err(WriteProblem::WrongInfo { blob: self.blob_shown(), found: info.blob_type() }.into());
        }
        if let InfoRef::Executable(info) = info {
            self.check_unpacked_size(info.uncompressed_size)?;
        }
        self.check_fits(info)
    }

    fn check_unpacked_size(&self, uncompressed_size: Option<u64>) -> Result<(), Problem> {
        let Some(executable) = self.blob.content().into_executable() else { return Ok(()) };
        let info = executable.info();
        if info.uncompressed_size == uncompressed_size {
            return Ok(());
        }
        let [needed, found] = [info.uncompressed_size, uncompressed_size].map(|size| size.unwrap_or(self.data_len()));
        Err(WriteProblem::UnpackedSizeChanged { blob: self.blob_shown(), needed, found }.into())
    }

    /// Fails if the new info of a tensor or a feed does not fit the data. A surplus may stay.
    fn check_fits(&self, info: InfoRef<'_>) -> Result<(), Problem> {
        let Some(needed) = info.data_len() else { return Ok(()) };
        let (needed, found) = (needed.map_err(impossible)?, self.data_len());
        if needed == found || (needed < found && self.needed() == Some(needed)) {
            return Ok(());
        }
        Err(WriteProblem::InfoDoesNotFit { blob: self.blob_shown(), needed, found }.into())
    }

    /// How many bytes the tensors need by the blob's old info, if that is known.
    fn needed(&self) -> Option<u64> {
        let data = self.blob.as_data()?;
        data.size_in_bytes().ok()?.checked_mul(data.num_tensors().into())
    }

    fn data_len(&self) -> u64 {
        self.blob.data().len()
    }

    fn blob_shown(&self) -> String {
        Label::of_blob(&self.blob).to_string()
    }
}

/// The header and info of a blob. `refusal` makes an error if there is no memory for them.
pub(super) fn head_of(blob: &Blob<'_>, refusal: impl Fn(Problem) -> Error) -> Result<NewHead, Error> {
    let messages = blob.head_bytes().read()?;
    let (header, info) = messages.split_at_checked(as_usize(blob.header_bytes().len())).unwrap_or_default();
    NewHead::verbatim(header, info).map_err(refusal)
}

impl<'b> From<Blob<'b>> for BlobCopy<'b> {
    fn from(blob: Blob<'b>) -> Self {
        BlobCopy::of(&blob)
    }
}

impl<'b> From<&Blob<'b>> for BlobCopy<'b> {
    fn from(blob: &Blob<'b>) -> Self {
        BlobCopy::of(blob)
    }
}

impl<'b> From<&'b BlobHandle> for BlobCopy<'b> {
    fn from(handle: &'b BlobHandle) -> Self {
        BlobCopy::of(&handle.blob())
    }
}
