//! Taking files apart, and putting them together: `extract` and `pack`.
#![expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]

use std::path::PathBuf;

use popef::types::Text;
use popef_ops::extract::{Arrays, ExtractOptions, ExtractedBlob};
use popef_ops::pack::{PackInput, PackOptions, PackedBlob};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use super::arrays::{GivenArrays, array};
use super::select::Select;
use super::{To, opened, operate, packing, wrong};
use crate::exception::is_refusal;
use crate::{path, text};

/// Writes the blobs of a file into a new folder, as `popef extract` does. `pack` makes the same file from it again.
///
/// `arrays` says how tensors and feeds are written: `"npy"`, `"npz"`, `"safetensors"` or `"raw"`. 8-bit floats become bytes, and
/// `popef.dataType.NAME` in the metadata of a `.safetensors` file has their type. With `unpacked`, compressed executables are
/// decompressed.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> import os, tempfile
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> parts = os.path.join(folder.name, "parts")
/// >>> report = popef.extract(content.getvalue(), parts)
/// >>> report["blobs"][0]["name"], "index.json" in os.listdir(parts)
/// ('notes', True)
/// >>> folder.cleanup()
#[pyfunction]
#[pyo3(signature = (
    file, folder = None, *, arrays = "npy", unpacked = false, select = None, overwrite = None, dry_run = false,
    progress = None
))]
pub(crate) fn extract<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    folder: Option<&Bound<'py, PyAny>>,
    arrays: &str,
    unpacked: bool,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let arrays = match arrays {
        "npy" => Arrays::Npy,
        "npz" => Arrays::Npz,
        "safetensors" => Arrays::Safetensors,
        "raw" => Arrays::Raw,
        other => return Err(wrong("arrays", other, "npy, npz, safetensors and raw")),
    };
    let files = [opened(file)?];
    let (to, select) = (To::of(folder, overwrite, dry_run)?, Select::of(select, &files)?);
    operate::<_, ExtractedBlob>(py, progress, &select, Some("blobs"), |watch, each| {
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options = ExtractOptions { arrays, unpacked, select: &select };
        let extracted = popef_ops::extract::extract(&files, to.folder(), &options, watch, each)?;
        Ok(extracted.files.into_iter().next().unwrap_or_default())
    })
}

/// Makes a file of a folder that was extracted, or of other files, as `popef pack` does.
///
/// `executables` are paths, or a dict from names to paths. `metadata` are paths. `tensors` are paths of `.npy`, `.npz` and `.safetensors` files, or a dict from names to
/// arrays. `feeds` is a dict from names to paths or arrays, whose first dimension is the runs, and `opaques` one from names to paths.
/// An array is anything with a buffer or an array; flat bytes become a tensor of `U8`. Arrays of `U8` become 8-bit floats if the packed
/// metadata has an input of the name and shape with such a type. `compress` is `"zlib"` or `"gzip"`, also with a level: `"zlib:6"`. With `unchecked`, data is written
/// that does not fit its anchor.
///
/// >>> import numpy, os, popef, tempfile
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> numpy.save(os.path.join(folder.name, "w.npy"), numpy.zeros(2, "f4"))
/// >>> model = os.path.join(folder.name, "model.popef")
/// >>> report = popef.pack(output=model, tensors=os.path.join(folder.name, "w.npy"))
/// >>> popef.open(model).tensors
/// (<popef.Tensor 'w', F32 (2,)>,)
/// >>> report = popef.pack(output=model, tensors={"scale": numpy.ones(3, "f2")}, overwrite=True)
/// >>> popef.open(model).tensors
/// (<popef.Tensor 'scale', F16 (3,)>,)
/// >>> folder.cleanup()
#[pyfunction]
#[pyo3(signature = (
    folder = None, output = None, *, executables = None, metadata = None, tensors = None, feeds = None, opaques = None,
    compress = None, unchecked = false, overwrite = None, dry_run = false, progress = None
))]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    folder: Option<&Bound<'py, PyAny>>,
    output: Option<&Bound<'py, PyAny>>,
    executables: Option<&Bound<'py, PyAny>>,
    metadata: Option<&Bound<'py, PyAny>>,
    tensors: Option<&Bound<'py, PyAny>>,
    feeds: Option<&Bound<'py, PyMapping>>,
    opaques: Option<&Bound<'py, PyMapping>>,
    compress: Option<&str>,
    unchecked: bool,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let tensors: Vec<_> = match GivenArrays::of(tensors, |_| None)? {
        GivenArrays::Files(paths) => paths.into_iter().map(PackInput::Tensors).collect(),
        GivenArrays::Memory(arrays) => arrays.into_iter().map(PackInput::Tensor).collect(),
    };
    let feeds = pairs(feeds)?.iter().map(|(name, given)| feed(name, given)).collect::<PyResult<Vec<_>>>()?;
    let inputs: Vec<PackInput> = folder
        .map(path::extract)
        .transpose()?
        .into_iter()
        .map(PackInput::Folder)
        .chain(packed_executables(executables)?)
        .chain(path::several(metadata)?.into_iter().map(PackInput::Metadata))
        .chain(named_paths(opaques)?.into_iter().map(|(name, path)| PackInput::Opaque(name, path)))
        .chain(tensors)
        .chain(feeds)
        .collect();
    if inputs.is_empty() {
        return Err(PyValueError::new_err("there is nothing to pack, such as a folder or tensors"));
    }
    let options = PackOptions { compress: compress.map(packing).transpose()?, unchecked, ..PackOptions::default() };
    let to = To::of(output, overwrite, dry_run)?;
    operate::<_, PackedBlob>(py, progress, &Select::everything(), Some("blobs"), |watch, each| {
        popef_ops::pack::pack(&inputs, to.target(), &options, watch, each)
    })
}

/// Executables of paths, which name them, or of a mapping from names to paths.
fn packed_executables(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PackInput>> {
    match given.map(|given| given.cast::<PyMapping>()) {
        Some(Ok(given)) => {
            let named = pairs(Some(given))?.into_iter();
            named.map(|(name, path)| Ok(PackInput::Executable(path::extract(&path)?, Some(name.extract()?)))).collect()
        }
        _ => Ok(path::several(given)?.into_iter().map(|path| PackInput::Executable(path, None)).collect()),
    }
}

/// A feed of a path or an array.
fn feed(name: &Bound<'_, PyAny>, given: &Bound<'_, PyAny>) -> PyResult<PackInput> {
    match path::extract(given) {
        Ok(path) => Ok(PackInput::Feed(text::extract(name)?, path)),
        Err(error) if !is_refusal(given.py(), &error) => Err(error),
        Err(_) => array(name, given, |_| None).map(PackInput::Runs),
    }
}

/// The entries of a mapping.
fn pairs<'py>(given: Option<&Bound<'py, PyMapping>>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    given.items()?.iter().map(|pair| pair.extract()).collect()
}

fn named_paths(given: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<(Text<'static>, PathBuf)>> {
    pairs(given)?.iter().map(|(name, path)| Ok((text::extract(name)?, path::extract(path)?))).collect()
}
