//! The blobs that a writer writes, each by its type: whole, or opened to be written piece by piece.

use super::blob::{BlobWriter, What};
use super::destination::{Destination, Rewind, len_of};
use super::feeds::FeedsWriter;
use super::packed::{PackedWriter, Packing};
use super::problem::{WriteProblem, impossible};
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::read::{Blob, Element};
use crate::types::{
    BlobType, DataType, FeedDataInfo, Metadata, OpaqueInfo, ShapeProblem, TensorDataInfo, TensorInfo, Text,
};

impl<D: Destination> Writer<D> {
    /// Writes an executable as it is. Its name must not be empty, nor that of another executable of the file.
    pub fn write_executable<'n>(&mut self, name: impl Into<Text<'n>>, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        self.whole(what, data)
    }

    /// Compresses an executable, on several [threads](Writer::threads), and writes it. The compressed bytes are held in
    /// memory, as their number comes first.
    pub fn write_packed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        data: &[u8],
        packing: Packing,
    ) -> Result<Written, Error> {
        let what = self.what(What::executable(name.into(), Some(len_of(data))))?;
        self.check_new(&what)?;
        let packed = packing.pack(data, self.thread_count()).map_err(|problem| self.refusal(problem))?;
        self.whole(what, &packed)
    }

    /// Writes a Metadata blob.
    pub fn write_metadata(&mut self, metadata: &Metadata) -> Result<Written, Error> {
        let what = self.what(What::metadata(metadata))?;
        self.whole(what, &[])
    }

    /// Writes a tensor from its elements. Another type than the info's is an error, and so is another number.
    pub fn write_tensor<T: Element>(&mut self, info: &TensorDataInfo, elements: &[T]) -> Result<Written, Error> {
        let what = self.what(What::tensor(info))?;
        self.check_type(&what, &info.tensor_info, T::DATA_TYPE)?;
        self.whole_tensors(what, &info.tensor_info, 1, &T::to_file(elements))
    }

    /// Writes a tensor from the bytes of its elements, little-endian. Another length than the info's is an error.
    pub fn write_tensor_bytes(&mut self, info: &TensorDataInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::tensor(info))?;
        self.whole_tensors(what, &info.tensor_info, 1, data)
    }

    /// Writes a feed from the elements of all its tensors.
    pub fn write_feed<T: Element>(&mut self, info: &FeedDataInfo, elements: &[T]) -> Result<Written, Error> {
        let what = self.what(What::feed(info))?;
        self.check_type(&what, &info.tensor_info, T::DATA_TYPE)?;
        self.whole_tensors(what, &info.tensor_info, info.num_tensors, &T::to_file(elements))
    }

    /// Writes a feed from the bytes of all its tensors, little-endian.
    pub fn write_feed_bytes(&mut self, info: &FeedDataInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::feed(info))?;
        self.whole_tensors(what, &info.tensor_info, info.num_tensors, data)
    }

    /// Writes an opaque blob.
    pub fn write_opaque(&mut self, info: &OpaqueInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::opaque(info))?;
        self.whole(what, data)
    }

    /// Copies a blob of a file that was read, byte for byte, of whatever type. Between files the system does it,
    /// where it can.
    ///
    /// Only an executable's name is looked at, which must not be taken. A blob of the very file being appended to is
    /// refused, whether that is read in parts or mapped.
    pub fn copy(&mut self, blob: &Blob<'_>) -> Result<Written, Error> {
        super::copy::copy(self, blob)
    }

    /// Copies several blobs, as [`copy`](Self::copy) does each. Those that follow each other in one file are copied at
    /// once, which is faster; after an error, some of those before the one at fault may have been written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// # std::fs::copy("../testdata/interop/executable.popef", &path)?;
    /// use popef::{File, Writer};
    ///
    /// let old = File::open(&path)?;
    /// let mut writer = Writer::create(&path)?;
    /// writer.copy_all(old.blobs().filter(|blob| blob.name().is_none_or(|name| name != "input_parameter")))?;
    /// writer.finish()?;
    /// assert_eq!(File::open(&path)?.len(), old.len() - 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Where files can share blocks of a disk (Btrfs, XFS), what stands at the same byte as before, or whole blocks of
    /// 4096 bytes away from it, is shared.
    pub fn copy_all<'b>(&mut self, blobs: impl IntoIterator<Item = Blob<'b>>) -> Result<Vec<Written>, Error> {
        super::copy::copy_all(self, blobs.into_iter())
    }

    /// Opens a tensor to be written piece by piece: exactly as many bytes as its info calls for.
    ///
    /// ```
    /// # use popef::{DataType, TensorDataInfo, TensorInfo, Writer};
    /// use std::io::Write;
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::stream(&mut out);
    /// let info = TensorDataInfo { name: "zeros".into(), tensor_info: TensorInfo::new(DataType::U8, [1000]) };
    /// let mut blob = writer.tensor(&info)?;
    /// for _ in 0..10 {
    ///     blob.write_all(&[0; 100])?;
    /// }
    /// blob.finish()?;
    /// writer.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tensor(&mut self, info: &TensorDataInfo) -> Result<BlobWriter<'_, D>, Error> {
        let len = self.needed(&info.tensor_info, 1)?;
        let what = self.what(What::tensor(info))?;
        Ok(BlobWriter::sized(self, what, len)?.of_elements(info.tensor_info.data_type))
    }

    /// Opens a feed to be written piece by piece, one tensor after the other.
    pub fn feed(&mut self, info: &FeedDataInfo) -> Result<BlobWriter<'_, D>, Error> {
        let len = self.needed(&info.tensor_info, info.num_tensors)?;
        let what = self.what(What::feed(info))?;
        Ok(BlobWriter::sized(self, what, len)?.of_elements(info.tensor_info.data_type))
    }

    /// Opens an executable to be written piece by piece, of exactly so many bytes. It is not compressed.
    pub fn sized_executable<'n>(&mut self, name: impl Into<Text<'n>>, len: u64) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        BlobWriter::sized(self, what, len)
    }

    /// Opens an opaque blob to be written piece by piece, of exactly so many bytes.
    pub fn sized_opaque(&mut self, info: &OpaqueInfo, len: u64) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::opaque(info))?;
        BlobWriter::sized(self, what, len)
    }

    pub(super) fn what(&self, what: Result<What, Problem>) -> Result<What, Error> {
        what.map_err(|problem| self.refusal(problem))
    }

    fn check_type(&self, what: &What, info: &TensorInfo, found: DataType) -> Result<(), Error> {
        if info.data_type == found {
            return Ok(());
        }
        Err(self.refusal(WriteProblem::WrongType { blob: what.to_string(), needed: info.data_type, found }))
    }

    /// How many bytes of data so many tensors have; what cannot be told is the caller's mistake here.
    pub(super) fn needed(&self, info: &TensorInfo, tensors: u32) -> Result<u64, Error> {
        let size = crate::types::tensor_info::size_in_bytes(info.shape.iter().copied(), info.data_type);
        let needed = size.and_then(|size| size.checked_mul(tensors.into()).ok_or(ShapeProblem::TooLarge));
        needed.map_err(|problem| self.refusal(impossible(problem)))
    }

    fn whole_tensors(&mut self, what: What, info: &TensorInfo, tensors: u32, data: &[u8]) -> Result<Written, Error> {
        let (needed, found) = (self.needed(info, tensors)?, len_of(data));
        if needed != found {
            let blob = described(&what, info, tensors);
            return Err(self.refusal(WriteProblem::WrongLength { blob, needed, found }));
        }
        self.whole(what, data)
    }

    fn whole(&mut self, what: What, data: &[u8]) -> Result<Written, Error> {
        let mut blob = BlobWriter::sized(self, what, len_of(data))?;
        blob.put(data)?;
        blob.finish()
    }
}

/// A blob by its name and by what its length follows from.
pub(super) fn described(what: &What, info: &TensorInfo, tensors: u32) -> String {
    let times = if what.blob_type == BlobType::DataFeed { format!(", {tensors} times") } else { String::new() };
    format!("{what} ({} {:?}{times})", info.data_type, info.shape)
}

impl<D: Rewind> Writer<D> {
    /// Opens an executable to be written piece by piece until it is finished.
    pub fn executable<'n>(&mut self, name: impl Into<Text<'n>>) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        BlobWriter::open(self, what)
    }

    /// Opens an executable to be compressed, on several [threads](Writer::threads), while it is written piece by piece.
    ///
    /// ```
    /// use popef::{File, Packing, Writer};
    ///
    /// let mut bytes = std::io::Cursor::new(Vec::new());
    /// let mut writer = Writer::seekable(&mut bytes)?;
    /// let mut blob = writer.packed_executable("model", Packing::Zlib(6))?;
    /// std::io::copy(&mut std::io::repeat(0).take(1 << 20), &mut blob)?;
    /// # use std::io::Read;
    /// assert!(blob.finish()?.size < 2048);
    /// writer.finish()?;
    /// assert_eq!(File::from_bytes(bytes.into_inner())?.executable("model").unwrap().uncompressed_size(), 1 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn packed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        packing: Packing,
    ) -> Result<PackedWriter<'_, D>, Error> {
        packing.check().map_err(|problem| self.refusal(problem))?;
        let what = self.what(What::executable(name.into(), Some(0)))?;
        Ok(PackedWriter::new(BlobWriter::open(self, what)?, packing))
    }

    /// Opens an opaque blob to be written piece by piece until it is finished.
    pub fn opaque(&mut self, info: &OpaqueInfo) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::opaque(info))?;
        BlobWriter::open(self, what)
    }

    /// Opens several feeds at once, whose tensors come in any order; see [`FeedsWriter`].
    pub fn feeds(&mut self, infos: &[FeedDataInfo]) -> Result<FeedsWriter<'_, D>, Error> {
        FeedsWriter::new(self, infos)
    }
}
