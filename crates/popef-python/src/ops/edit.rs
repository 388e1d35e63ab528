//! Changes to a file: `set`.
#![expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]

use popef_ops::set::{BlobChange, Change, Changes, FieldPath, Given, NewFinding, Outcome, Plan, Rename, Weights};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::Value;

use super::arrays::{GivenArrays, wanted_by};
use super::select::Select;
use super::{To, opened, operate};
use crate::error::raise_operation;
use crate::{json, text};

/// What was written, or would be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    written: bool,
    size_before: u64,
    size_after: u64,
    new_findings: Option<Vec<NewFinding>>,
}

/// Copies a file with other metadata, names, versions or weights, as `popef set` does. Everything else stays as it is.
///
/// `fields` is a dict from paths to values: `{"numIpus": 4, "anchors[NAME].tensorInfo.shape": [4, 224]}`. A path names
/// a field in the JSON of metadata, as `popef.describe` has it. None removes an element of a list, or empties a text or
/// a list. `engine_options` and `device_options` are dicts from names to values, and None removes an option. `merge` is
/// a dict like the JSON of metadata with only the fields that change. It is merged before the others. `model` is the
/// executable whose metadata is changed, if there are several.
///
/// `rename` is a dict from old to new names of blobs. References to them follow, unless `keep_references`. `tensors`
/// are arrays for the tensors and feeds of the same names, which must have their types and shapes: a dict, or a path,
/// or several, of `.npz`, `.safetensors` or `.npy` files, or of folders with these. A dict may have anything with a
/// buffer or an array, such as tensors of PyTorch; flat bytes must have the tensor's length. The array of a feed has
/// its runs first. With `add_missing`, inputs without a tensor get one. `version` is set in all blobs, or in those that
/// `select` chooses. `rename` and `tensors` do not find the others either.
///
/// `blobs` of the report has the changes, and `newFindings` what `popef.check` finds in the new file and not in the old
/// one. With `strict`, nothing is written if there are any new findings. With `only_changes`, no file is written if
/// nothing changes.
///
/// >>> import numpy, os, popef, tempfile
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> path = os.path.join(folder.name, "model.popef")
/// >>> with popef.Writer(path) as writer:
/// ...     writer.writeMetadata(popef.Metadata(executable="model", numIpus=1))
/// >>> report = popef.set(path, path, fields={"numIpus": 4}, overwrite="inputs")
/// >>> report["blobs"][0]["changes"]
/// [{'field': 'numIpus', 'old': 1, 'new': 4}]
/// >>> popef.open(path)[0].metadata().numIpus()
/// 4
/// >>> with popef.FileWriter(path, popef.FileWriter.Mode.APPEND) as writer:
/// ...     info = popef.TensorDataInfo("w", popef.TensorInfo([2], popef.DataType.F32))
/// ...     writer.createTensorData(info).write(bytes(8))
/// >>> report = popef.set(path, path, tensors={"w": numpy.ones(2, "f4")}, overwrite="inputs")
/// >>> popef.open(path)["w"].numpy().tolist()
/// [1.0, 1.0]
/// >>> folder.cleanup()
#[pyfunction]
#[pyo3(signature = (
    file, output = None, *, fields = None, engine_options = None, device_options = None, merge = None, model = None, rename = None,
    keep_references = false, tensors = None, add_missing = false, version = None, strict = false, only_changes = false,
    select = None, overwrite = None, dry_run = false, progress = None
))]
pub(crate) fn set<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    fields: Option<&Bound<'py, PyDict>>,
    engine_options: Option<&Bound<'py, PyDict>>,
    device_options: Option<&Bound<'py, PyDict>>,
    merge: Option<&Bound<'py, PyDict>>,
    model: Option<&Bound<'py, PyAny>>,
    rename: Option<&Bound<'py, PyDict>>,
    keep_references: bool,
    tensors: Option<&Bound<'py, PyAny>>,
    add_missing: bool,
    version: Option<&Bound<'py, PyAny>>,
    strict: bool,
    only_changes: bool,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (file, to) = (opened(file)?, To::of(output, overwrite, dry_run)?);
    let weights = match GivenArrays::of(tensors, |name| wanted_by(&file, name))? {
        GivenArrays::Files(paths) => paths.into_iter().map(Weights::At).collect(),
        GivenArrays::Memory(arrays) => arrays.into_iter().map(Weights::Array).collect(),
    };
    let select = Select::of(select, std::slice::from_ref(&file))?;
    let mut changes = Changes {
        model: model.map(text::extract).transpose()?,
        fields: merge
            .map(|patch| json::of(patch).map(|patch| Change::Merge(patch, None)))
            .transpose()?
            .into_iter()
            .collect(),
        renames: renames(rename)?,
        keep_references,
        weights,
        add_missing,
        version: version.map(text::extract).transpose()?,
        ..Changes::default()
    };
    for (path, value) in fields.into_iter().flatten() {
        let path = FieldPath::parse(&text::extract(&path)?).map_err(|error| raise_operation(py, &error))?;
        changes.fields.push(change(path, &value)?);
    }
    for (list, options) in [("engineOptions", engine_options), ("deviceOptions", device_options)] {
        for (name, value) in options.into_iter().flatten() {
            let path = FieldPath::element(list, text::extract(&name)?).map_err(|error| raise_operation(py, &error))?;
            changes.fields.push(change(path, &value)?);
        }
    }
    if changes.is_empty() {
        return Err(PyValueError::new_err("there is nothing to set, such as fields={\"numIpus\": 4}"));
    }
    operate::<_, BlobChange>(py, progress, &select, Some("blobs"), |watch, each| {
        let plan = Plan::of(&file, &changes, &|blob| select.takes(blob), watch)?;
        let done = if plan.is_empty() && only_changes { None } else { Some(plan.write(to.target(), strict, watch)?) };
        plan.changes().try_for_each(each)?;
        let written = done.is_some();
        let Outcome { size, new_findings } = done.unwrap_or(Outcome { size: file.size(), new_findings: None });
        Ok(Report { written, size_before: file.size(), size_after: size, new_findings })
    })
}

fn change(path: FieldPath, given: &Bound<'_, PyAny>) -> PyResult<Change> {
    if let Some(text) = json::not_utf8(given)? {
        return Ok(Change::Set(path, Given::Text(text)));
    }
    Ok(match json::of(given)? {
        Value::Null => Change::Unset(path),
        value => Change::Set(path, Given::Json(value)),
    })
}

fn renames(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Rename>> {
    let rename = |(from, to): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<Rename> {
        Ok(Rename { from: text::extract(&from)?, to: text::extract(&to)? })
    };
    given.into_iter().flatten().map(rename).collect()
}
