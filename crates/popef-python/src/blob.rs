//! The blobs of a `File`, one class for each type of blob.

use std::ops::Range;
use std::sync::Arc;

use popef::read::{BlobHandle, Data, DataBlob};
use popef::types::BlobType;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyRange, PySlice, PyString, PyTuple};

use crate::array::{self, shape_of};
use crate::bytes;
use crate::direct;
use crate::dlpack;
use crate::dtype::dtype_of;
use crate::entries::elements;
use crate::enums;
use crate::error::raise;
use crate::field::Field as _;
use crate::file::File;
use crate::metadata::Metadata;
use crate::origin::Bytes;
use crate::text;

/// One blob of a `File`. It keeps its file open.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> for blob in popef.open(content.getvalue()):
/// ...     print(blob.index, blob.blob_type, blob.name, blob.data_size)
/// 0 BlobType.OPAQUE notes 12
#[pyclass(module = "popef", subclass, frozen, weakref)]
pub(crate) struct Blob {
    handle: BlobHandle,
    /// All bytes of the file, if they are in memory or mapped.
    bytes: Arc<Bytes>,
}

/// The blob as an object of the class for its type.
pub(crate) fn object<'py>(py: Python<'py>, handle: BlobHandle, bytes: &Arc<Bytes>) -> PyResult<Bound<'py, PyAny>> {
    let blob_type = handle.blob().blob_type();
    let blob = PyClassInitializer::from(Blob { handle, bytes: Arc::clone(bytes) });
    Ok(match blob_type {
        BlobType::PoplarExecutable => Bound::new(py, blob.add_subclass(Executable))?.into_any(),
        BlobType::Metadata => Bound::new(py, blob.add_subclass(MetadataBlob))?.into_any(),
        BlobType::DataTensor => Bound::new(py, blob.add_subclass(Tensor))?.into_any(),
        BlobType::DataFeed => Bound::new(py, blob.add_subclass(Tensor).add_subclass(Feed))?.into_any(),
        BlobType::Opaque => Bound::new(py, blob.add_subclass(Opaque))?.into_any(),
        _ => Bound::new(py, blob)?.into_any(),
    })
}

impl Blob {
    /// Whether it is in this file.
    pub(crate) fn is_of(&self, file: &popef::File, bytes: &Arc<Bytes>) -> bool {
        self.bytes.is_same(self.handle.file(), (file, bytes))
    }
}

#[pymethods]
impl Blob {
    /// The number of the blob in its file, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.handle.blob().index()
    }

    /// The position of the blob in its file.
    #[getter]
    fn offset(&self) -> u64 {
        self.handle.blob().offset()
    }

    /// The number of bytes of header, info and data.
    #[getter]
    fn blob_size(&self) -> u64 {
        self.handle.blob().size()
    }

    /// The position of the data in the file.
    #[getter]
    fn data_offset(&self) -> u64 {
        self.handle.blob().data_offset()
    }

    /// The number of bytes of data, as they are in the file.
    #[getter]
    fn data_size(&self) -> u64 {
        self.handle.blob().data().len()
    }

    /// The version of the format that the blob was written for. Empty in most files.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text::to_python(py, &self.handle.blob().version())
    }

    /// What the blob holds.
    #[getter]
    fn blob_type(&self) -> enums::BlobType {
        enums::BlobType(self.handle.blob().blob_type())
    }

    /// The name of the blob. None for metadata, which has no name, and for unknown types.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.handle.blob().name().map(|name| text::to_python(py, &name)).transpose()
    }

    /// Reads the data, as it is in the file.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes::to_bytes(py, &self.handle.blob().data())
    }

    /// Blobs are equal if they are the same blob of the same file.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Blob>().is_ok_and(|other| {
            let other = other.get();
            self.index() == other.index() && self.is_of(other.handle.file(), &other.bytes)
        })
    }

    fn __hash__(&self) -> u64 {
        self.bytes.hash(self.handle.file(), Some(self.index()))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    /// A blob is pickled as its file and its number.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let file = File::again(self.handle.file().clone(), &self.bytes);
        let getitem = py.import("operator")?.getattr("getitem")?;
        (getitem, (file, self.index())).into_pyobject(py)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let blob = slf.get();
        let name = match blob.name(slf.py())? {
            Some(name) => format!(" {}", name.repr()?),
            None => String::new(),
        };
        Ok(format!("<popef.{}{name}, {} bytes>", slf.get_type().name()?, blob.data_size()))
    }
}

/// A tensor: its name, type and shape, and its elements as an array.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> info = popef.TensorDataInfo("w", popef.TensorInfo([2], popef.DataType.F32))
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createTensorData(info).write(bytes(8))
/// >>> tensor = popef.open(content.getvalue())["w"]
/// >>> tensor.shape, tensor.data_type.name, tensor.numpy().tolist()
/// ((2,), 'F32', [0.0, 0.0])
#[pyclass(module = "popef", extends = Blob, subclass, frozen)]
pub(crate) struct Tensor;

/// The tensor or feed of a blob. Objects of this class are made only of these.
fn tensors(blob: &Blob) -> PyResult<DataBlob<'_>> {
    blob.handle.blob().as_data().ok_or_else(|| PyTypeError::new_err("the blob is no tensor"))
}

#[pymethods]
impl Tensor {
    /// The type of the elements.
    #[getter]
    fn data_type(slf: &Bound<'_, Self>) -> PyResult<enums::DataType> {
        Ok(enums::DataType(tensors(slf.as_super().get())?.data_type()))
    }

    /// The `numpy.dtype` of the elements.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        dtype_of(slf.py(), tensors(slf.as_super().get())?.data_type())
    }

    /// The shape of the array: for a feed, with the number of tensors in front.
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(slf.py(), shape_of(&tensors(slf.as_super().get())?))
    }

    /// The number of dimensions of the array.
    #[getter]
    fn ndim(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(Tensor::shape(slf)?.len())
    }

    /// The number of elements of the array. For the number of bytes of the blob, see `blob_size`.
    #[getter]
    fn size<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("math")?.call_method1("prod", (Tensor::shape(slf)?,))
    }

    /// The number of bytes of the elements. The data may have more, which belong to no element.
    #[getter]
    fn nbytes(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let elements = elements(&tensors(slf.as_super().get())?);
        Ok(elements.map_err(|error| raise(slf.py(), &error))?.len())
    }

    /// The elements as a read-only `numpy.ndarray`. If the file is mapped or in memory, the array shares its bytes, and keeps
    /// them alive. Otherwise they are read.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        read_only(elements_of(slf)?)
    }

    /// What `numpy.asarray(tensor)` calls.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_shared = is_shared(slf);
        if copy == Some(false) && !is_shared {
            return Err(PyValueError::new_err(NO_MEMORY));
        }
        let array = elements_of(slf)?;
        if let Some(dtype) = dtype
            && !array.getattr("dtype")?.eq(dtype)?
        {
            return match copy {
                Some(false) => Err(PyValueError::new_err("another type needs a copy")),
                _ => array.call_method1("astype", (dtype,)),
            };
        }
        match copy {
            // What was read is nobody else's.
            Some(true) if !is_shared && array.getattr("flags")?.getattr("writeable")?.is_truthy()? => Ok(array),
            Some(true) => array.call_method0("copy"),
            _ => read_only(array),
        }
    }

    /// What `torch.from_dlpack(tensor)` and its siblings call. Consumers that know DLPack 1.0, and so what is read-only, share the
    /// memory of a mapped file, if NumPy is 2.1 or newer. Others get a copy.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) && !is_shared(slf) {
            return Err(PyBufferError::new_err(NO_MEMORY));
        }
        let array = elements_of(slf)?;
        dlpack::export(&array, stream, max_version, dl_device, copy)
    }

    /// The device that the memory is on, as DLPack numbers them: the processor.
    fn __dlpack_device__(&self) -> (u32, u32) {
        dlpack::DEVICE
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let tensors = tensors(slf.as_super().get())?;
        let name = text::to_python(slf.py(), &tensors.name())?.repr()?;
        Ok(format!(
            "<popef.{} {name}, {} {}>",
            slf.get_type().name()?,
            tensors.data_type(),
            Tensor::shape(slf)?.repr()?
        ))
    }
}

/// All elements as an array. It is writable if its memory is its own.
fn elements_of<'py>(tensor: &Bound<'py, Tensor>) -> PyResult<Bound<'py, PyAny>> {
    let (py, blob) = (tensor.py(), tensor.as_super().get());
    let tensors = tensors(blob)?;
    let data = elements(&tensors).map_err(|error| raise(py, &error))?;
    elements_at(blob, (0, &data), PyTuple::new(py, shape_of(&tensors))?)
}

/// Why there is no array without a copy.
const NO_MEMORY: &str =
    "the elements are in no memory yet, so they have to be read; open the file with map=True to share them";

/// Whether an array of the elements shares the bytes of the file.
fn is_shared(tensor: &Bound<'_, Tensor>) -> bool {
    tensor.as_super().get().bytes.owner(tensor.py()).is_some()
}

/// Bytes of a blob, from `start` on, as an array of its type.
fn elements_at<'py>(
    blob: &Blob,
    (start, data): (u64, &Data<'_>),
    shape: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, tensors) = (shape.py(), tensors(blob)?);
    if data.is_empty() {
        return array::of(&blob.handle, &tensors, None, shape);
    }
    let numpy = py.import("numpy")?;
    let offset = blob.data_offset().saturating_add(start);
    let flat = match blob.bytes.owner(py) {
        Some(owner) => numpy.call_method1("frombuffer", (owner, "u1", data.len(), offset))?,
        None => match direct::read(py, &blob.handle, start, data)? {
            Some(array) => array,
            None => numpy.call_method1("frombuffer", (bytes::to_bytes(py, data)?, "u1"))?,
        },
    };
    array::of(&blob.handle, &tensors, Some(&flat), shape)
}

fn read_only(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// A feed: several tensors of one shape, for several runs. Its array has the number of tensors in front. `feed[3]` is the tensor of
/// one run; only its bytes are read.
///
/// >>> import io, popef
/// >>> file = io.BytesIO()
/// >>> with popef.Writer(file) as writer:
/// ...     info = popef.FeedDataInfo("labels", popef.TensorInfo([2], popef.DataType.U8), 3)
/// ...     writer.createFeedData(info).write(bytes([0, 1, 10, 11, 20, 21]))
/// >>> feed = popef.open(file.getvalue())["labels"]
/// >>> len(feed), feed[1].tolist(), feed[-2:].tolist()
/// (3, [10, 11], [[10, 11], [20, 21]])
#[pyclass(module = "popef", extends = Tensor, frozen)]
pub(crate) struct Feed;

impl Feed {
    /// The tensors of some runs, one after the other, as an array of this shape.
    fn runs<'py>(slf: &Bound<'py, Self>, runs: Range<i64>, shape: Vec<i64>) -> PyResult<Bound<'py, PyAny>> {
        let (py, blob) = (slf.py(), slf.as_super().as_super().get());
        let tensors = tensors(blob)?;
        let range = || {
            let size = tensors.size_in_bytes()?;
            let [start, end] =
                [runs.start, runs.end].map(|run| size.saturating_mul(u64::try_from(run).unwrap_or_default()));
            Ok::<_, popef::Error>((start, elements(&tensors)?.range(start..end.max(start))?))
        };
        let (start, data) = range().map_err(|error| raise(py, &error))?;
        read_only(elements_at(blob, (start, &data), PyTuple::new(py, shape)?)?)
    }
}

#[pymethods]
impl Feed {
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let count = tensors(slf.as_super().as_super().get())?.num_tensors();
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The tensor of a run as a read-only `numpy.ndarray`, also from the end with a negative number, or those of a slice.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, run: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let tensors = tensors(slf.as_super().as_super().get())?;
        let (count, shape) = (i64::from(tensors.num_tensors()), tensors.shape().to_vec());
        if let Ok(slice) = run.cast::<PySlice>() {
            let (start, stop, step): (i64, i64, i64) = slice.call_method1("indices", (count,))?.extract()?;
            if step != 1 {
                return Err(PyValueError::new_err("runs are taken one after the other: use array[::step] for others"));
            }
            let shape = [&[stop.saturating_sub(start).max(0)], shape.as_slice()].concat();
            return Feed::runs(slf, start..stop.max(start), shape);
        }
        if !run.hasattr("__index__")? {
            let found = text::kind_of(run);
            return Err(PyTypeError::new_err(format!("the number of a run or a slice is needed, not {found}")));
        }
        let index: i64 = run.extract().unwrap_or(i64::MAX);
        let index = if index < 0 { index.saturating_add(count) } else { index };
        if !(0..count).contains(&index) {
            return Err(PyIndexError::new_err(format!("there is no such run: the feed has {count} tensors")));
        }
        Feed::runs(slf, index..index.saturating_add(1), shape)
    }

    /// Reads one tensor after the other.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let runs = PyRange::new(py, 0, isize::try_from(Feed::__len__(slf)?).unwrap_or(isize::MAX))?;
        py.import("builtins")?.call_method1("map", (slf.getattr("__getitem__")?, runs))
    }
}

/// An executable.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createExecutable("model", compress=True).write(b"its code")
/// >>> executable = popef.open(content.getvalue())["model"]
/// >>> executable.is_compressed, executable.unpack()
/// (True, b'its code')
#[pyclass(module = "popef", extends = Blob, frozen)]
pub(crate) struct Executable;

#[pymethods]
impl Executable {
    /// Whether the file has the executable compressed.
    #[getter]
    fn is_compressed(slf: &Bound<'_, Self>) -> bool {
        let blob = slf.as_super().get().handle.blob();
        blob.as_executable().is_some_and(|executable| executable.is_compressed())
    }

    /// The number of bytes that `unpack` returns, as the file states it.
    #[getter]
    fn unpacked_size(slf: &Bound<'_, Self>) -> u64 {
        let blob = slf.as_super().get().handle.blob();
        blob.as_executable().map_or(0, |executable| executable.uncompressed_size())
    }

    /// Reads the bytes of the executable, unpacked if the file has them compressed.
    fn unpack<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let unpacked = bytes::unpacked(slf.py(), &slf.as_super().get().handle)?;
        Ok(unpacked.unwrap_or_else(|| PyBytes::new(slf.py(), b"")))
    }
}

/// An opaque blob, which only the framework that wrote it can read.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> popef.open(content.getvalue()).opaques[0].executable
/// 'model'
#[pyclass(module = "popef", extends = Blob, frozen)]
pub(crate) struct Opaque;

#[pymethods]
impl Opaque {
    /// The name of the executable that it belongs to.
    #[getter]
    fn executable<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        let blob = slf.as_super().get().handle.blob();
        text::to_python(slf.py(), &blob.as_opaque().map(|opaque| opaque.executable()).unwrap_or_default())
    }
}

/// A blob with metadata.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.writeMetadata(popef.Metadata(executable="model", numIpus=2))
/// >>> popef.open(content.getvalue()).metadata[0].metadata().numIpus()
/// 2
#[pyclass(module = "popef", extends = Blob, frozen)]
pub(crate) struct MetadataBlob;

#[pymethods]
impl MetadataBlob {
    /// The name of the executable that the metadata describes.
    #[getter]
    fn executable<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        let blob = slf.as_super().get().handle.blob();
        text::to_python(slf.py(), &blob.as_metadata().map(|metadata| metadata.executable()).unwrap_or_default())
    }

    /// Reads the metadata.
    fn metadata(slf: &Bound<'_, Self>) -> PyResult<Py<Metadata>> {
        let (py, blob) = (slf.py(), slf.as_super().get());
        let metadata = py.detach(|| blob.handle.blob().as_metadata().map(|metadata| metadata.read()).transpose());
        <Py<Metadata>>::of(py, metadata.map_err(|error| raise(py, &error))?.unwrap_or_default())
    }
}
