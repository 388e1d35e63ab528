//! The blobs of a `File`, one class for each type of blob.

use std::ops::Range;
use std::sync::Arc;

use popef::read::{BlobHandle, Data, DataBlob};
use popef::types::BlobType;
use pyo3::IntoPyObjectExt as _;
use pyo3::basic::CompareOp;
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
use crate::exception::reworded;
use crate::field::Field as _;
use crate::metadata::Metadata;
use crate::number;
use crate::origin::{Inside, Opening};
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
    opening: Arc<Opening>,
    index: usize,
}

/// A blob of a file as an object of the class for its type.
pub(crate) fn object<'py>(py: Python<'py>, opening: &Arc<Opening>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    let blob_type = opening.get()?.blob(index)?.blob_type();
    let blob = PyClassInitializer::from(Blob { opening: Arc::clone(opening), index });
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
    pub(crate) fn is_of(&self, opening: &Arc<Opening>) -> bool {
        self.opening.is_same(opening)
    }

    fn inside(&self) -> PyResult<Arc<Inside>> {
        self.opening.get()
    }

    /// The library's blob. It keeps the file open.
    fn handle(&self) -> PyResult<BlobHandle> {
        self.inside()?.handle(self.index)
    }
}

#[pymethods]
impl Blob {
    /// The number of the blob in its file, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// The position of the blob in its file.
    #[getter]
    fn offset(&self) -> PyResult<u64> {
        Ok(self.handle()?.blob().offset())
    }

    /// The number of bytes of header, info and data.
    #[getter]
    fn blob_size(&self) -> PyResult<u64> {
        Ok(self.handle()?.blob().size())
    }

    /// The position of the data in the file.
    #[getter]
    fn data_offset(&self) -> PyResult<u64> {
        Ok(self.handle()?.blob().data_offset())
    }

    /// The number of bytes of data, as stored in the file.
    #[getter]
    fn data_size(&self) -> PyResult<u64> {
        Ok(self.handle()?.blob().data().len())
    }

    /// The version of the format that the blob was written for. Empty in most files.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text::to_python(py, &self.handle()?.blob().version())
    }

    /// What the blob holds.
    #[getter]
    fn blob_type(&self) -> PyResult<enums::BlobType> {
        Ok(enums::BlobType(self.handle()?.blob().blob_type()))
    }

    /// The name of the blob. None for metadata, which has no name, and for unknown types.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.handle()?.blob().name().map(|name| text::to_python(py, &name)).transpose()
    }

    /// Reads the data as stored.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes::to_bytes(py, &self.handle()?.blob().data())
    }

    /// Blobs are equal if they are the same blob of the same file. A tensor is compared with an array as its own array is. What is
    /// neither may know how to compare itself with a blob.
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        how: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, blob) = (slf.py(), slf.get());
        let is_equality = matches!(how, CompareOp::Eq | CompareOp::Ne);
        if is_equality && let Ok(other) = other.cast::<Blob>() {
            let is_equal = blob.index == other.get().index && blob.is_of(&other.get().opening);
            return how.matches(is_equal.cmp(&true)).into_bound_py_any(py);
        }
        match slf.cast::<Tensor>() {
            // Older versions of NumPy take any exception while a tensor is read for an answer.
            Ok(tensor) if is_equality && other.hasattr("__array_interface__")? => {
                Array::of(tensor)?.all(py)?.rich_compare(other, how)
            }
            _ => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self) -> u64 {
        self.opening.hash(Some(self.index))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    /// A blob is pickled as what its file is pickled as, and its number.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (file, map, damaged) = self.opening.pickled(py)?;
        let unpickle = py.import("popef._popef")?.getattr("unpickle_blob")?;
        (unpickle, (file, map, damaged, self.index)).into_pyobject(py)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (blob, class) = (slf.get(), slf.get_type().name()?);
        if blob.opening.get_if_open().is_none() {
            return Ok(format!("<popef.{class}, closed>"));
        }
        let name = match blob.name(slf.py())? {
            Some(name) => format!(" {}", name.repr()?),
            None => String::new(),
        };
        Ok(format!("<popef.{class}{name}, {} bytes>", blob.data_size()?))
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

/// The tensor or feed of a blob. Objects of this class always have one.
fn tensors(blob: &BlobHandle) -> PyResult<DataBlob<'_>> {
    blob.blob().as_data().ok_or_else(|| PyTypeError::new_err("the blob is no tensor"))
}

#[pymethods]
impl Tensor {
    /// The type of the elements.
    #[getter]
    fn data_type(slf: &Bound<'_, Self>) -> PyResult<enums::DataType> {
        Ok(enums::DataType(Array::of(slf)?.tensors()?.data_type()))
    }

    /// The `numpy.dtype` of the elements.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        dtype_of(slf.py(), Array::of(slf)?.tensors()?.data_type())
    }

    /// The shape of the array. For a feed, the number of tensors comes first.
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(slf.py(), Array::of(slf)?.shape()?)
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

    /// The number of bytes of the elements. The data may have more bytes after the elements.
    #[getter]
    fn nbytes(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(Array::of(slf)?.elements(slf.py())?.len())
    }

    /// The elements as a `numpy.ndarray`. If the file is mapped or in memory, the array shares its bytes, keeps them alive, and is
    /// read-only. Otherwise they are read, and the array belongs to the caller.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Array::of(slf)?.all(slf.py())
    }

    /// The number of rows: the first dimension. For a feed, the number of its tensors.
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(usize::try_from(Array::of(slf)?.count()?).unwrap_or_default())
    }

    /// Whether it is there, which it is: a scalar has no number of rows, and a tensor without rows is a tensor.
    fn __bool__(&self) -> bool {
        true
    }

    /// A row as a `numpy.ndarray`, also from the end with a negative number, or those of a slice. Only these rows are read.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let array = Array::of(slf)?;
        if let Ok(slice) = row.cast::<PySlice>() {
            return array.slice(slice);
        }
        let (py, one) = (slf.py(), array.row()?);
        let needed = || {
            let (found, advice) = (text::kind_of(row), "for other parts, index the array that numpy() returns");
            PyTypeError::new_err(format!("the number of a {one} or a slice is needed, not {found}; {advice}"))
        };
        array.one(py, number::index(row, i64::MAX).map_err(|error| reworded(py, error, needed))?)
    }

    /// Reads one row after the other.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let rows = PyRange::new(py, 0, isize::try_from(Tensor::__len__(slf)?).unwrap_or(isize::MAX))?;
        py.import("builtins")?.call_method1("map", (slf.getattr("__getitem__")?, rows))
    }

    /// Called by `numpy.asarray(tensor)`.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let elements = Array::of(slf)?;
        let is_shared = elements.inside.shared().is_some();
        if copy == Some(false) && !is_shared {
            return Err(PyValueError::new_err(NO_MEMORY));
        }
        let array = elements.all(slf.py())?;
        if let Some(dtype) = dtype
            && !array.getattr("dtype")?.eq(dtype)?
        {
            return match copy {
                Some(false) => Err(PyValueError::new_err("another type needs a copy")),
                _ => array.call_method1("astype", (dtype,)),
            };
        }
        match copy {
            // An array that was read does not share its memory.
            Some(true) if is_shared => array.call_method0("copy"),
            _ => Ok(array),
        }
    }

    /// Called by `torch.from_dlpack(tensor)` and its siblings. Consumers that know DLPack 1.0, which can mark memory as
    /// read-only, share the memory of a mapped file, if NumPy is 2.1 or newer. Others get a copy.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let elements = Array::of(slf)?;
        if copy == Some(false) && elements.inside.shared().is_none() {
            return Err(PyBufferError::new_err(NO_MEMORY));
        }
        let array = elements.all(slf.py())?;
        dlpack::export(&array, stream, max_version, dl_device, copy)
    }

    /// The device that the memory is on, as DLPack numbers them: the processor.
    fn __dlpack_device__(&self) -> (u32, u32) {
        dlpack::DEVICE
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Ok(array) = Array::of(slf) else { return Blob::__repr__(slf.as_super()) };
        let tensors = array.tensors()?;
        let name = text::to_python(slf.py(), &tensors.name())?.repr()?;
        Ok(format!(
            "<popef.{} {name}, {} {}>",
            slf.get_type().name()?,
            tensors.data_type(),
            Tensor::shape(slf)?.repr()?
        ))
    }
}

/// Why an array without a copy is not possible.
const NO_MEMORY: &str =
    "the elements are in no memory yet, so they have to be read; open the file with map=True to share them";

/// The elements of a tensor or a feed, whose file stays open meanwhile.
struct Array {
    inside: Arc<Inside>,
    handle: BlobHandle,
}

impl Array {
    fn of(tensor: &Bound<'_, Tensor>) -> PyResult<Self> {
        let blob = tensor.as_super().get();
        let inside = blob.inside()?;
        Ok(Array { handle: inside.handle(blob.index)?, inside })
    }

    fn tensors(&self) -> PyResult<DataBlob<'_>> {
        tensors(&self.handle)
    }

    fn shape(&self) -> PyResult<Vec<i64>> {
        Ok(shape_of(&self.tensors()?))
    }

    /// The bytes of all elements.
    fn elements(&self, py: Python<'_>) -> PyResult<Data<'_>> {
        elements(&self.tensors()?).map_err(|error| raise(py, &error))
    }

    /// All elements as an array.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, (0, &self.elements(py)?), self.shape()?)
    }

    /// What a row is called.
    fn row(&self) -> PyResult<&'static str> {
        Ok(if self.tensors()?.is_feed() { "run" } else { "row" })
    }

    /// The number of rows.
    fn count(&self) -> PyResult<i64> {
        let none = || PyTypeError::new_err("the tensor has no dimensions, so it has no rows: use numpy()");
        self.shape()?.first().copied().ok_or_else(none)
    }

    fn one<'py>(&self, py: Python<'py>, index: i64) -> PyResult<Bound<'py, PyAny>> {
        let count = self.count()?;
        let at = if index < 0 { index.saturating_add(count) } else { index };
        if !(0..count).contains(&at) {
            let words = if self.tensors()?.is_feed() {
                format!("there is no such run: the feed has {count} tensors")
            } else {
                format!("there is no such row: the tensor has {count}")
            };
            return Err(PyIndexError::new_err(words));
        }
        self.rows(py, at..at.saturating_add(1), self.shape()?.split_off(1))
    }

    fn slice<'py>(&self, slice: &Bound<'py, PySlice>) -> PyResult<Bound<'py, PyAny>> {
        let (start, stop, step): (i64, i64, i64) = slice.call_method1("indices", (self.count()?,))?.extract()?;
        if step != 1 {
            let one = self.row()?;
            let message = format!("{one}s are taken one after the other: use array[::step] for others");
            return Err(PyValueError::new_err(message));
        }
        let stop = stop.max(start);
        let shape = [&[stop.saturating_sub(start)], self.shape()?.split_off(1).as_slice()].concat();
        self.rows(slice.py(), start..stop, shape)
    }

    /// Some rows as an array of this shape. Only their bytes are read.
    fn rows<'py>(&self, py: Python<'py>, rows: Range<i64>, shape: Vec<i64>) -> PyResult<Bound<'py, PyAny>> {
        let all = self.elements(py)?;
        let count = u64::try_from(self.count()?).unwrap_or_default();
        // Exact, because the number of bytes follows from the shape.
        let size = all.len().checked_div(count).unwrap_or_default();
        let [start, end] =
            [rows.start, rows.end].map(|row| size.saturating_mul(u64::try_from(row).unwrap_or_default()));
        let data = all.range(start..end).map_err(|error| raise(py, &error))?;
        self.part(py, (start, &data), shape)
    }

    /// Bytes of the blob, from `start` on, as an array. It is writable if its memory is its own.
    fn part<'py>(
        &self,
        py: Python<'py>,
        (start, data): (u64, &Data<'_>),
        shape: Vec<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let flat = if data.is_empty() { None } else { Some(self.bytes(py, start, data)?) };
        let array = array::of(&self.handle, &self.tensors()?, flat.as_ref(), PyTuple::new(py, shape)?)?;
        if self.inside.shared().is_some() {
            array.call_method1("setflags", (false,))?;
        }
        Ok(array)
    }

    /// Bytes of the blob as a flat array.
    fn bytes<'py>(&self, py: Python<'py>, start: u64, data: &Data<'_>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        if let Some(owner) = self.inside.owner(py) {
            let offset = self.handle.blob().data_offset().saturating_add(start);
            return numpy.call_method1("frombuffer", (owner, "u1", data.len(), offset));
        }
        match direct::read(py, &self.handle, start, data)? {
            Some(array) => Ok(array),
            None => numpy.call_method1("frombuffer", (bytes::to_bytearray(py, data)?, "u1")),
        }
    }
}

/// A feed: several tensors of one shape, for several runs. The first dimension of its array is the number of tensors.
/// `feed[3]` is the tensor of one run; only its bytes are read.
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
    /// Whether the executable is compressed in the file.
    #[getter]
    fn is_compressed(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let handle = slf.as_super().get().handle()?;
        Ok(handle.blob().as_executable().is_some_and(|executable| executable.is_compressed()))
    }

    /// The number of bytes that `unpack` returns, as the file states it.
    #[getter]
    fn unpacked_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let handle = slf.as_super().get().handle()?;
        Ok(handle.blob().as_executable().map_or(0, |executable| executable.uncompressed_size()))
    }

    /// Reads the bytes of the executable, and unpacks them if they are compressed.
    fn unpack<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let unpacked = bytes::unpacked(slf.py(), &slf.as_super().get().handle()?)?;
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
        let handle = slf.as_super().get().handle()?;
        text::to_python(slf.py(), &handle.blob().as_opaque().map(|opaque| opaque.executable()).unwrap_or_default())
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
        let handle = slf.as_super().get().handle()?;
        text::to_python(
            slf.py(),
            &handle.blob().as_metadata().map(|metadata| metadata.executable()).unwrap_or_default(),
        )
    }

    /// Reads the metadata.
    fn metadata(slf: &Bound<'_, Self>) -> PyResult<Py<Metadata>> {
        let (py, handle) = (slf.py(), slf.as_super().get().handle()?);
        let metadata = py.detach(|| handle.blob().as_metadata().map(|metadata| metadata.read()).transpose());
        <Py<Metadata>>::of(py, metadata.map_err(|error| raise(py, &error))?.unwrap_or_default())
    }
}
