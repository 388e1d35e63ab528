//! The blobs of a file: in order, by type and by name.

use super::blob::Blob;
use super::content::Content;
use super::executable::ExecutableBlob;
use super::file::File;
use super::iter::{FileBlobs, TypedBlobs};
use super::metadata::MetadataBlob;
use super::opaque::OpaqueBlob;
use super::tensor::{FeedBlob, TensorBlob};
use crate::types::BlobType;

impl File {
    /// Iterates over all blobs, in file order.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let types: Vec<_> = file.blobs().map(|blob| blob.blob_type().to_string()).collect();
    /// assert_eq!(types, ["opaque", "metadata", "poplarExecutable", "dataTensor"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn blobs(&self) -> FileBlobs<'_> {
        FileBlobs { file: self, index: self.places() }
    }

    /// Iterates over the executables, in file order.
    pub fn executables(&self) -> TypedBlobs<'_, ExecutableBlob<'_>> {
        self.of_type(BlobType::PoplarExecutable, Content::into_executable)
    }

    /// Iterates over the metadata blobs, in file order.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// for metadata in file.metadata() {
    ///     println!("how to run {}", metadata.executable());
    /// }
    /// assert_eq!(file.metadata().len(), 1);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn metadata(&self) -> TypedBlobs<'_, MetadataBlob<'_>> {
        self.of_type(BlobType::Metadata, Content::into_metadata)
    }

    /// Iterates over the tensors, in file order.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/all-types.popef")?;
    /// let bytes: u64 = file.tensors().map(|tensor| tensor.data().len()).sum();
    /// assert_eq!((file.tensors().len(), bytes), (17, 280));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn tensors(&self) -> TypedBlobs<'_, TensorBlob<'_>> {
        self.of_type(BlobType::DataTensor, Content::into_tensor)
    }

    /// Iterates over the feeds, in file order.
    pub fn feeds(&self) -> TypedBlobs<'_, FeedBlob<'_>> {
        self.of_type(BlobType::DataFeed, Content::into_feed)
    }

    /// Iterates over the opaque blobs, in file order.
    pub fn opaques(&self) -> TypedBlobs<'_, OpaqueBlob<'_>> {
        self.of_type(BlobType::Opaque, Content::into_opaque)
    }

    /// Finds the first executable with a name.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/compressed-zlib.popef")?;
    /// let executable = file.executable("z").expect("the file has it");
    /// assert_eq!((executable.data().len(), executable.uncompressed_size()), (52, 15008));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn executable(&self, name: impl AsRef<[u8]>) -> Option<ExecutableBlob<'_>> {
        self.named(BlobType::PoplarExecutable, name.as_ref())?.as_executable()
    }

    /// Finds the first tensor with a name.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has this weight");
    /// assert_eq!(weights.shape(), [2]);
    /// assert!(file.tensor("another name").is_none());
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn tensor(&self, name: impl AsRef<[u8]>) -> Option<TensorBlob<'_>> {
        self.named(BlobType::DataTensor, name.as_ref())?.as_tensor()
    }

    /// Finds the first feed with a name.
    pub fn feed(&self, name: impl AsRef<[u8]>) -> Option<FeedBlob<'_>> {
        self.named(BlobType::DataFeed, name.as_ref())?.as_feed()
    }

    /// Finds the first opaque blob with a name.
    pub fn opaque(&self, name: impl AsRef<[u8]>) -> Option<OpaqueBlob<'_>> {
        self.named(BlobType::Opaque, name.as_ref())?.as_opaque()
    }

    fn of_type<'f, B>(&'f self, blob_type: BlobType, view: fn(Content<'f>) -> Option<B>) -> TypedBlobs<'f, B> {
        TypedBlobs { file: self, numbers: self.numbers_of(blob_type).iter(), view }
    }
}

impl<'f> IntoIterator for &'f File {
    type Item = Blob<'f>;
    type IntoIter = FileBlobs<'f>;

    fn into_iter(self) -> FileBlobs<'f> {
        self.blobs()
    }
}
