//! Models: blobs that belong together in the files of a reader.

use popef::read::BlobHandle;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::entries::{Entry, ExecutableReader, FeedReader, OpaqueReader, TensorReader};
use crate::error::{Own, raise};
use crate::field::Field;
use crate::metadata::{Anchor, Metadata};
use crate::reader::Reader;
use crate::text;

/// Makes models from the files of a reader.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.writeMetadata(popef.Metadata(executable="model", numIpus=2))
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> model = popef.ModelBuilder(reader).createModel()
/// >>> model.metadata.executable()
/// 'model'
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct ModelBuilder {
    reader: Py<Reader>,
}

impl ModelBuilder {
    fn models(&self, py: Python<'_>) -> PyResult<Vec<popef::Model>> {
        let files = self.reader.try_borrow(py)?.files().to_vec();
        py.detach(|| popef::Model::link(files)).map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl ModelBuilder {
    #[new]
    fn new(reader: Py<Reader>) -> Self {
        ModelBuilder { reader }
    }

    /// Makes the model of the only metadata, or of the one for the executable of this name. Raises `PopefError` if that
    /// metadata is missing, or if there is more than one. It is unknown how the vendor's builder chooses.
    #[pyo3(name = "createModel", signature = (executable = None))]
    fn create_model(&self, py: Python<'_>, executable: Option<&Bound<'_, PyAny>>) -> PyResult<Model> {
        let mut models = self.models(py)?;
        let name = executable.map(text::extract).transpose()?;
        models.retain(|model| name.as_ref().is_none_or(|name| model.metadata().executable == *name));
        let of = name.map_or_else(String::new, |name| format!(" for the executable {:?}", name.to_string_lossy()));
        let count = models.len();
        match (models.pop(), count) {
            (Some(model), 1) => Model::of(py, &model),
            (None, _) => Err(Own::NoSuchModel.error(py, &format!("no file has metadata{of}, which a model needs"))),
            _ if of.is_empty() => {
                Err(Own::NoSuchModel
                    .error(py, &format!("the files have metadata of {count} models; name an executable")))
            }
            _ => Err(Own::NoSuchModel.error(py, &format!("the files have metadata of {count} models{of}"))),
        }
    }

    /// Makes the models of all metadata, in the order of the files. The vendor's builder may have no such method.
    #[pyo3(name = "createModels")]
    fn create_models(&self, py: Python<'_>) -> PyResult<Vec<Model>> {
        self.models(py)?.iter().map(|model| Model::of(py, model)).collect()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<popef.ModelBuilder of {}>", self.reader.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.reader)
    }
}

/// A model: metadata, its executable, and the blobs that belong to both. The vendor's class is only known to have
/// `metadata`.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.writeMetadata(popef.Metadata(executable="model", numIpus=2))
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> for model in popef.ModelBuilder(reader).createModels():
/// ...     print(model.metadata.numIpus(), model.executable, model.tensors)
/// 2 None []
#[pyclass(module = "popef", frozen, get_all, weakref)]
pub(crate) struct Model {
    /// How to load and run the model.
    metadata: Py<Metadata>,
    /// The executable, or None if no file has it.
    executable: Option<Py<ExecutableReader>>,
    /// The tensors that are inputs of the model, such as weights.
    tensors: Py<PyList>,
    /// The feeds that are inputs of the model.
    feeds: Py<PyList>,
    /// The opaque blobs for the executable.
    #[pyo3(name = "opaqueBlobs")]
    opaque_blobs: Py<PyList>,
    /// The anchors of inputs for which no file has data, so that the user must provide it.
    #[pyo3(name = "inputsFromUser")]
    inputs_from_user: Py<PyList>,
    /// The anchors of outputs that a call gives to the user.
    #[pyo3(name = "outputsToUser")]
    outputs_to_user: Py<PyList>,
}

impl Model {
    fn of(py: Python<'_>, model: &popef::Model) -> PyResult<Self> {
        let handle = |file: usize, blob: usize| model.files().get(file)?.handle(blob);
        let executable = model.executable().and_then(|linked| handle(linked.file, linked.blob().index()));
        let tensors = model.tensors_to_upload().filter_map(|(_, linked)| handle(linked.file, linked.blob().index()));
        let feeds = model.feeds_to_upload().filter_map(|(_, linked)| handle(linked.file, linked.blob().index()));
        let opaques = model.opaques().filter_map(|linked| handle(linked.file, linked.blob().index()));
        Ok(Model {
            metadata: Field::of(py, model.metadata().clone())?,
            executable: executable.map(|blob| Py::new(py, ExecutableReader::of(blob))).transpose()?,
            tensors: entries::<TensorReader>(py, tensors)?,
            feeds: entries::<FeedReader>(py, feeds)?,
            opaque_blobs: entries::<OpaqueReader>(py, opaques)?,
            inputs_from_user: anchors(py, model.inputs_from_user())?,
            outputs_to_user: anchors(py, model.outputs_to_user())?,
        })
    }
}

fn entries<E: Entry + Into<PyClassInitializer<E>>>(
    py: Python<'_>,
    blobs: impl Iterator<Item = BlobHandle>,
) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for blob in blobs {
        list.append(Bound::new(py, E::of(blob))?)?;
    }
    Ok(list.unbind())
}

fn anchors<'a>(py: Python<'_>, anchors: impl Iterator<Item = &'a popef::types::Anchor>) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for anchor in anchors {
        list.append(<Py<Anchor> as Field>::of(py, anchor.clone())?)?;
    }
    Ok(list.unbind())
}

#[pymethods]
impl Model {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.metadata.bind(py).call_method0("executable")?.repr()?;
        Ok(format!("<popef.Model {name}>"))
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.metadata)?;
        visit.call(&self.executable)?;
        for list in [&self.tensors, &self.feeds, &self.opaque_blobs, &self.inputs_from_user, &self.outputs_to_user] {
            visit.call(list)?;
        }
        Ok(())
    }
}
