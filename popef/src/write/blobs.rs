//! The methods of [`Writer`] for each blob type, to write a blob at once, or to open one and write it in pieces.

use std::io;

use super::blob::BlobWriter;
use super::blob_copy::{BlobCopy, head_of};
use super::deflate::pack;
use super::destination::{Destination, Rewind};
use super::feeds::FeedsWriter;
use super::label::Label;
use super::packed::PackedWriter;
use super::packing::Packing;
use super::problem::{WriteProblem, impossible};
use super::writer::{Writer, Written};
use crate::error::{Error, push};
use crate::len::len_of;
use crate::limits::Limits;
use crate::read::{Compression, Element, ExecutableBlob, Unpack};
use crate::types::{
    ExecutableInfo, FeedDataInfo, InfoRef, Metadata, OpaqueInfo, ShapeProblem, TensorDataInfo, TensorInfo, Text,
};
use crate::wire::NewHead;

impl<D: Destination> Writer<D> {
    /// Writes an executable without compressing it. Its name must not be empty, and must be unique among the file's
    /// executables.
    ///
    /// ```
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// writer.write_executable("model", b"what the IPUs run")?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(*file.executable("model").expect("it was written").data().read()?, *b"what the IPUs run");
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_executable<'n>(&mut self, name: impl Into<Text<'n>>, data: &[u8]) -> Result<Written, Error> {
        self.write_whole((&executable(name, None)).into(), data)
    }

    /// Writes an executable from bytes that are compressed already, as a zlib stream, as gzip members, or as zstd or
    /// LZ4 frames. The bytes are unpacked to check that they give `uncompressed_size` bytes.
    ///
    /// ```
    /// use popef::{File, Writer};
    ///
    /// let file = File::open("examples/data/compressed-zlib.popef")?;
    /// let compressed = file.executable("z").expect("the file has one");
    /// let (data, size) = (compressed.data().read()?, compressed.uncompressed_size());
    ///
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// writer.write_compressed_executable("model", &data, size)?;
    /// assert!(writer.write_compressed_executable("another", &data, size + 1).is_err());
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_compressed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        data: &[u8],
        uncompressed_size: u64,
    ) -> Result<Written, Error> {
        let info = self.compressed(name, uncompressed_size)?;
        self.check_new(&Label::of((&info).into()))?;
        check_unpacks(&info, data, uncompressed_size).map_err(|problem| self.refusal(problem))?;
        self.write_whole((&info).into(), data)
    }

    /// Compresses an executable, on several [threads](Writer::threads), and writes it. The compressed bytes are held in
    /// memory, because the blob begins with their number.
    ///
    /// ```
    /// use popef::write::Packing;
    ///
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// writer.write_packed_executable("model", &[0; 1000], Packing::default())?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// let executable = file.executable("model").expect("it was written");
    /// assert_eq!(executable.uncompressed_size(), 1000);
    /// assert!(executable.data().len() < 100);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_packed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        data: &[u8],
        packing: Packing,
    ) -> Result<Written, Error> {
        let info = executable(name, Some(len_of(data)));
        self.check_new(&Label::of((&info).into()))?;
        let packed = pack(data, packing, self.thread_count()).map_err(|problem| self.refusal(problem))?;
        self.write_whole((&info).into(), &packed)
    }

    /// Writes a Metadata blob.
    ///
    /// ```
    /// use popef::types::{Anchor, TensorType};
    /// use popef::{DataType, Metadata, TensorInfo};
    ///
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// let image = Anchor {
    ///     name: "image".into(),
    ///     handle: "h2d_image".into(),
    ///     tensor_info: TensorInfo::new(DataType::F16, [8, 224, 224, 3]),
    ///     tensor_type: TensorType::Input,
    ///     programs: vec![5],
    ///     ..Anchor::default()
    /// };
    /// let metadata = Metadata { executable: "model".into(), anchors: vec![image], ..Metadata::default() };
    /// writer.write_metadata(&metadata)?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(file.metadata().next().expect("it was written").read()?, metadata);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_metadata(&mut self, metadata: &Metadata) -> Result<Written, Error> {
        self.write_whole(metadata.into(), &[])
    }

    /// Writes a tensor from its elements. Fails if their type or number is not that of the info.
    ///
    /// ```
    /// use popef::types::TensorDataInfo;
    /// use popef::{DataType, TensorInfo};
    ///
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// let info = TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F32, [2, 2]) };
    /// writer.write_tensor(&info, &[0.5f32, -1.0, 2.0, 0.25])?;
    /// assert!(writer.write_tensor(&info, &[0.5f32, -1.0]).is_err(), "two elements are missing");
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(file.tensor("weights").expect("it was written").shape(), [2, 2]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_tensor<T: Element>(&mut self, info: &TensorDataInfo, elements: &[T]) -> Result<Written, Error> {
        self.write_elements(info.into(), elements)
    }

    /// Writes a tensor from the bytes of its elements, little-endian. Fails if their number is not that of the info.
    pub fn write_tensor_bytes(&mut self, info: &TensorDataInfo, data: &[u8]) -> Result<Written, Error> {
        self.write_tensors(info.into(), data)
    }

    /// Writes a feed from the elements of all its tensors.
    ///
    /// ```
    /// use popef::types::FeedDataInfo;
    /// use popef::{DataType, TensorInfo};
    ///
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// let tensor_info = TensorInfo::new(DataType::S32, [2]);
    /// let info = FeedDataInfo { name: "labels".into(), tensor_info, num_tensors: 3 };
    /// writer.write_feed(&info, &[0, 1, 2, 3, 4, 5])?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(*file.feed("labels").expect("it was written").item(2)?.to_slice::<i32>()?, [4, 5]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_feed<T: Element>(&mut self, info: &FeedDataInfo, elements: &[T]) -> Result<Written, Error> {
        self.write_elements(info.into(), elements)
    }

    /// Writes a feed from the bytes of all its tensors, little-endian.
    pub fn write_feed_bytes(&mut self, info: &FeedDataInfo, data: &[u8]) -> Result<Written, Error> {
        self.write_tensors(info.into(), data)
    }

    /// Writes an opaque blob.
    ///
    /// ```
    /// use popef::types::OpaqueInfo;
    ///
    /// # use popef::{File, Writer};
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// let info = OpaqueInfo { name: "my-framework".into(), executable: "model".into() };
    /// writer.write_opaque(&info, b"its bytes")?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(file.opaque("my-framework").expect("it was written").executable(), "model");
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_opaque(&mut self, info: &OpaqueInfo, data: &[u8]) -> Result<Written, Error> {
        self.write_whole(info.into(), data)
    }

    /// Copies a blob of any type from a file that was read, unchanged or with the changes of a [`BlobCopy`]. Between
    /// files, the system copies the data if it can.
    ///
    /// A copy keeps the version of the blob; [`version`](Self::version) does not apply. The content is not checked,
    /// except that an executable must have a name that is not taken, unless [`any_names`](Self::any_names) allows it. Fails if the blob is in the file that is being appended
    /// to, if that was opened or mapped from disk.
    ///
    /// ```
    /// # use popef::{File, Writer};
    /// # let old = File::open("examples/data/executable.popef")?;
    /// # let mut bytes = Vec::new();
    /// # let mut writer = Writer::stream(&mut bytes);
    /// let weights = old.tensor("input_parameter").expect("the model has it");
    /// writer.copy(weights.blob())?;
    /// # writer.finish()?;
    /// # let file = File::from_bytes(bytes)?;
    /// assert_eq!(file.len(), 1);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn copy<'b>(&mut self, blob: impl Into<BlobCopy<'b>>) -> Result<Written, Error> {
        super::copy::copy(self, blob.into())
    }

    /// Copies several blobs, each as [`copy`](Self::copy) does. Blobs that follow each other in one file and are not
    /// changed are copied together, which is faster. After an error, some of the blobs before the faulty one may have
    /// been written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// # std::fs::copy("examples/data/executable.popef", &path)?;
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
    /// On file systems where files can share disk blocks (Btrfs, XFS), data is shared if its position differs from that
    /// in the old file by a multiple of 4096 bytes, or not at all.
    pub fn copy_all<'b, B: Into<BlobCopy<'b>>>(
        &mut self,
        blobs: impl IntoIterator<Item = B>,
    ) -> Result<Vec<Written>, Error> {
        let mut places = Vec::new();
        super::copy::copy_all(self, blobs.into_iter().map(Into::into), |written| push(&mut places, written))?;
        Ok(places)
    }

    /// Copies several blobs, as [`copy_all`](Self::copy_all) does, and returns one place for all of them, so that
    /// memory does not grow with their number.
    pub fn copy_together<'b, B: Into<BlobCopy<'b>>>(
        &mut self,
        blobs: impl IntoIterator<Item = B>,
    ) -> Result<Written, Error> {
        let start = self.end();
        super::copy::copy_all(self, blobs.into_iter().map(Into::into), |_| Ok(()))?;
        Ok(Written { offset: start, size: self.end().saturating_sub(start) })
    }

    /// Opens a tensor to be written in pieces, with exactly as many bytes as its info needs.
    ///
    /// ```
    /// # use popef::types::TensorDataInfo;
    /// # use popef::{DataType, TensorInfo, Writer};
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
    pub fn tensor(&mut self, info: &TensorDataInfo) -> Result<BlobWriter<&mut Self>, Error> {
        self.open_tensors(info.into())
    }

    /// Opens a feed to be written in pieces, one tensor after the other.
    pub fn feed(&mut self, info: &FeedDataInfo) -> Result<BlobWriter<&mut Self>, Error> {
        self.open_tensors(info.into())
    }

    /// Opens an executable of exactly `len` bytes to be written in pieces. It is not compressed.
    pub fn sized_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        len: u64,
    ) -> Result<BlobWriter<&mut Self>, Error> {
        BlobWriter::sized(self, (&executable(name, None)).into(), len)
    }

    /// Opens an executable to be written in pieces from exactly `len` bytes that are compressed already, and that
    /// unpack to `uncompressed_size` bytes. Only the first bytes are checked: they must be those of zlib, gzip, zstd or
    /// LZ4 data. [`write_compressed_executable`](Self::write_compressed_executable) checks all of them.
    pub fn sized_compressed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        len: u64,
        uncompressed_size: u64,
    ) -> Result<BlobWriter<&mut Self>, Error> {
        let info = self.compressed(name, uncompressed_size)?;
        BlobWriter::sized(self, (&info).into(), len)
    }

    /// Opens an executable that is not compressed, to be written in pieces in place of one from a file that was read.
    /// It needs exactly as many bytes as that one unpacks to. Everything else of the blob is kept: its version, and the
    /// fields of a later version of the format.
    ///
    /// ```
    /// use popef::{File, Writer};
    ///
    /// let file = File::open("examples/data/compressed-zlib.popef")?;
    /// let old = file.executable("z").expect("the file has it");
    /// let mut writer = Writer::stream(Vec::new());
    /// let mut blob = writer.unpacked_executable(&old)?;
    /// std::io::copy(&mut old.unpack()?, &mut blob)?;
    /// blob.finish()?;
    /// let new = File::from_bytes(writer.into_inner()?)?;
    /// assert!(!new.executable("z").unwrap().is_compressed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unpacked_executable(&mut self, old: &ExecutableBlob<'_>) -> Result<BlobWriter<&mut Self>, Error> {
        let len = old.uncompressed_size();
        let mut head = self.head_like(old)?;
        head.set_uncompressed_size(None);
        self.set_data_len(&mut head, len)?;
        BlobWriter::with_head(self, Label::of_blob(old.blob()), head, Some(len))
    }

    /// Opens a copy of a blob, perhaps with changes, whose data is written anew, in pieces. It needs exactly as many bytes
    /// as the old blob has. Everything else of the blob is kept.
    ///
    /// ```
    /// use popef::{File, Writer};
    /// use std::io::Write;
    ///
    /// let file = File::open("examples/data/split-tensors.popef")?;
    /// let old = file.tensor("input_parameter").expect("the file has it");
    /// let mut writer = Writer::stream(Vec::new());
    /// let mut blob = writer.refilled(old.blob())?;
    /// blob.write_all([4.0f32, -0.5].map(f32::to_le_bytes).as_flattened())?;
    /// blob.finish()?;
    /// let new = File::from_bytes(writer.into_inner()?)?;
    /// assert_eq!(*new.tensor("input_parameter").unwrap().elements()?.to_slice::<f32>()?, [4.0, -0.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refilled<'b>(&mut self, blob: impl Into<BlobCopy<'b>>) -> Result<BlobWriter<&mut Self>, Error> {
        let copy = blob.into();
        let len = copy.blob.data().len();
        self.resized(copy, len)
    }

    /// Opens a copy of a blob, perhaps with changes, whose data is written in pieces, and has another length than the old one.
    pub fn resized<'b>(&mut self, blob: impl Into<BlobCopy<'b>>, len: u64) -> Result<BlobWriter<&mut Self>, Error> {
        let copy = blob.into();
        let mut head = copy.head(|problem| self.refusal(problem))?;
        if len != copy.blob.data().len() {
            // The header is made anew, with the version that it has.
            let version = copy.new_version();
            head.set_version(version, copy.blob.limits()).map_err(|problem| self.refusal(problem))?;
            self.set_data_len(&mut head, len)?;
        }
        BlobWriter::with_head(self, copy.label(), head, Some(len))
    }

    /// The head of an executable, with room for its sizes.
    fn head_like(&self, old: &ExecutableBlob<'_>) -> Result<NewHead, Error> {
        let blob = old.blob();
        let refusal = |problem| self.refusal(problem);
        let mut head = head_of(blob, refusal)?;
        let changed = head.set_version(None, blob.limits());
        changed.and_then(|()| head.make_room_for_uncompressed_size(blob.limits())).map_err(refusal)?;
        Ok(head)
    }

    /// Opens an opaque blob of exactly `len` bytes to be written in pieces.
    pub fn sized_opaque(&mut self, info: &OpaqueInfo, len: u64) -> Result<BlobWriter<&mut Self>, Error> {
        BlobWriter::sized(self, info.into(), len)
    }

    /// The info of a compressed executable. Fails for a size of `u64::MAX`, which would mean that it is not compressed.
    fn compressed<'n>(&self, name: impl Into<Text<'n>>, size: u64) -> Result<ExecutableInfo, Error> {
        if size == u64::MAX {
            return Err(self.refusal(impossible(ShapeProblem::TooLarge)));
        }
        Ok(executable(name, Some(size)))
    }

    /// How many bytes of data a tensor or a feed needs. An impossible shape is the caller's mistake here.
    pub(super) fn needed(&self, info: InfoRef<'_>) -> Result<u64, Error> {
        info.data_len().unwrap_or(Ok(0)).map_err(|problem| self.refusal(impossible(problem)))
    }

    fn open_tensors(&mut self, info: InfoRef<'_>) -> Result<BlobWriter<&mut Self>, Error> {
        let len = self.needed(info)?;
        BlobWriter::sized(self, info, len)
    }

    fn write_elements<T: Element>(&mut self, info: InfoRef<'_>, elements: &[T]) -> Result<Written, Error> {
        match info.tensors() {
            Some((TensorInfo { data_type: needed, .. }, _)) if *needed != T::DATA_TYPE => {
                let (blob, needed, found) = (Label::of(info).to_string(), *needed, T::DATA_TYPE);
                Err(self.refusal(WriteProblem::WrongType { blob, needed, found }))
            }
            _ => self.write_tensors(info, &T::to_file(elements)),
        }
    }

    fn write_tensors(&mut self, info: InfoRef<'_>, data: &[u8]) -> Result<Written, Error> {
        let (needed, found) = (self.needed(info)?, len_of(data));
        if needed != found {
            return Err(self.refusal(WriteProblem::WrongLength { blob: described(info), needed, found }));
        }
        self.write_whole(info, data)
    }
}

fn executable<'n>(name: impl Into<Text<'n>>, uncompressed_size: Option<u64>) -> ExecutableInfo {
    ExecutableInfo { name: name.into().into_owned(), uncompressed_size }
}

/// Fails if compressed data does not unpack to `uncompressed_size` bytes.
fn check_unpacks(info: &ExecutableInfo, data: &[u8], uncompressed_size: u64) -> Result<(), WriteProblem> {
    let blob = Label::of(info.into()).to_string();
    if !Compression::may_begin(data) {
        return Err(WriteProblem::NotCompressed { blob });
    }
    let unpacked = Unpack::from_reader(data, uncompressed_size, &Limits::default());
    let unpacked = unpacked.and_then(|mut unpack| match io::copy(&mut unpack, &mut io::sink()) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(error.downcast::<Error>().unwrap_or_else(|source| Error::io(None, "unpack the data", source)))
        }
    });
    unpacked.map_err(|error| WriteProblem::NotUnpacked { blob, error })
}

/// The name of a blob and, for tensors and feeds, the shape and type that determine its length.
fn described(info: InfoRef<'_>) -> String {
    let label = Label::of(info);
    match info.tensors() {
        None => label.to_string(),
        Some((TensorInfo { shape, data_type }, tensors)) => {
            let times = if matches!(info, InfoRef::Feed(_)) { format!(", {tensors} times") } else { String::new() };
            format!("{label} ({data_type:?} {shape:?}{times})")
        }
    }
}

impl<D: Rewind> Writer<D> {
    /// Opens an executable of any length to be written in pieces.
    pub fn executable<'n>(&mut self, name: impl Into<Text<'n>>) -> Result<BlobWriter<&mut Self>, Error> {
        BlobWriter::open(self, (&executable(name, None)).into())
    }

    /// Opens an executable that is compressed, on several [threads](Writer::threads), while it is written in pieces.
    ///
    /// ```
    /// use popef::write::Packing;
    /// use popef::{File, Writer};
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
    ) -> Result<PackedWriter<&mut Self>, Error> {
        packing.check().map_err(|problem| self.refusal(problem))?;
        let blob = BlobWriter::open(self, (&executable(name, Some(0))).into())?;
        Ok(PackedWriter::new(blob, packing))
    }

    /// Opens an executable that is compressed while it is written in pieces, in place of one from a file that was read.
    /// Everything else of the blob is kept: its version, and the fields of a later version of the format.
    ///
    /// ```
    /// use popef::write::Packing;
    /// use popef::{File, Writer};
    ///
    /// let file = File::open("examples/data/compressed-zlib.popef")?;
    /// let old = file.executable("z").expect("the file has it");
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// let mut blob = writer.repacked_executable(&old, Packing::Gzip(9))?;
    /// std::io::copy(&mut old.unpack()?, &mut blob)?;
    /// blob.finish()?;
    /// let new = File::from_bytes(writer.into_inner()?.into_inner())?;
    /// assert_eq!(new.executable("z").unwrap().uncompressed_size(), old.uncompressed_size());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repacked_executable(
        &mut self,
        old: &ExecutableBlob<'_>,
        packing: Packing,
    ) -> Result<PackedWriter<&mut Self>, Error> {
        packing.check().map_err(|problem| self.refusal(problem))?;
        let head = self.head_like(old)?;
        let blob = BlobWriter::with_head(self, Label::of_blob(old.blob()), head, None)?;
        Ok(PackedWriter::new(blob, packing))
    }

    /// Opens an opaque blob of any length to be written in pieces.
    pub fn opaque(&mut self, info: &OpaqueInfo) -> Result<BlobWriter<&mut Self>, Error> {
        BlobWriter::open(self, info.into())
    }

    /// Opens several feeds at once, so that their tensors can be written alternately. See [`FeedsWriter`].
    ///
    /// ```
    /// use popef::types::FeedDataInfo;
    /// use popef::{DataType, TensorInfo, Writer};
    ///
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// let info = |name: &'static str| FeedDataInfo {
    ///     name: name.into(),
    ///     tensor_info: TensorInfo::new(DataType::F32, [1]),
    ///     num_tensors: 2,
    /// };
    /// let mut feeds = writer.feeds(&[info("image"), info("label")])?;
    /// for run in [1.0f32, 2.0] {
    ///     feeds.push(0, &[run])?;
    ///     feeds.push(1, &[-run])?;
    /// }
    /// feeds.finish()?;
    /// writer.finish()?;
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn feeds(&mut self, infos: &[FeedDataInfo]) -> Result<FeedsWriter<&mut Self>, Error> {
        FeedsWriter::new(self, infos)
    }
}
