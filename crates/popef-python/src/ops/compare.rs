//! What differs between files, and digests of them: `diff` and `hash`.
#![expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]

use popef_ops::diff::{BlobDiff, DiffOptions, Tolerance};
use popef_ops::hash::{Algorithms, BlobHash, HashOptions, Manifest, VerifyOptions, WrongBlob};
use popef_ops::{Code, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::select::Select;
use super::{opened, operate, wrong};
use crate::path;

/// Compares two files by meaning, as `popef diff` does.
///
/// `verdict` is `"same"`, `"different"` or `"notComparable"`. `blobs` has what differs, and `counts` how many blobs are the same.
/// Elements of tensors may differ by `atol + rtol * |b|`. With `exact`, also the order, the versions, the compression and every byte
/// have to be the same.
#[pyfunction]
#[pyo3(signature = (a, b, *, atol = 0.0, rtol = 0.0, equal_nan = false, exact = false, select = None, progress = None))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    atol: f64,
    rtol: f64,
    equal_nan: bool,
    exact: bool,
    select: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let files = [opened(a)?, opened(b)?];
    let select = Select::of(select, &files)?;
    let tolerance = Tolerance { atol, rtol, equal_nan };
    operate::<_, BlobDiff>(py, progress, &select, Some("blobs"), |watch, each| {
        let [a, b] = &files;
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options = DiffOptions { tolerance, exact, stop_early: false, select: &select };
        popef_ops::diff::diff(a, b, &options, watch, each)
    })
}

/// Computes digests of a file and of its blobs, as `popef hash` does.
///
/// Those of the `content` do not depend on order, compression, versions, and bytes behind tensors: files with the same are the
/// same for `diff`. With `whole`, also that of all bytes of the file. `algorithm` is `"sha256"`, `"blake3"` or `"both"`.
#[pyfunction]
#[pyo3(signature = (
    file, *, algorithm = "sha256", whole = false, data = true, content = true, select = None, progress = None
))]
pub(crate) fn hash<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    algorithm: &str,
    whole: bool,
    data: bool,
    content: bool,
    select: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let algorithms = match algorithm {
        "sha256" => Algorithms::SHA256,
        "blake3" => Algorithms::BLAKE3,
        "both" => Algorithms::BOTH,
        other => return Err(wrong("algorithm", other, "sha256, blake3 and both")),
    };
    let file = opened(file)?;
    let select = Select::of(select, std::slice::from_ref(&file))?;
    operate::<_, BlobHash>(py, progress, &select, Some("blobs"), |watch, each| {
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options = HashOptions { algorithms, whole, data, content, select: &select };
        popef_ops::hash::hash(&file, &options, watch, each)
    })
}

/// Compares a file with a manifest that `popef hash --format json` wrote, as `popef verify` does.
///
/// `ok` says whether it is the same, and `blobs` has what is not. The manifest's only file is meant, or the one that `name` is the
/// path of. With `only_content`, changes that keep the meaning are accepted.
#[pyfunction]
#[pyo3(signature = (file, manifest, *, name = None, only_content = false, progress = None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    manifest: &Bound<'py, PyAny>,
    name: Option<&Bound<'py, PyAny>>,
    only_content: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (file, manifest) = (opened(file)?, path::extract(manifest)?);
    let name = name.map(path::extract).transpose()?;
    operate::<_, WrongBlob>(py, progress, &Select::everything(), Some("blobs"), |watch, each| {
        let refused = |message: &str| Error::new(Code::BadManifest, message).in_file(&manifest);
        let Manifest::Entries(entries) = Manifest::open(&manifest)? else {
            return Err(refused("lines of sums have no digests of blobs: compare hash(file, whole=True) with them"));
        };
        let mut meant =
            entries.iter().filter(|entry| name.as_ref().is_none_or(|name| entry.path.to_path().as_ref() == Some(name)));
        let entry = match (meant.next(), meant.next()) {
            (Some(entry), None) => entry,
            (None, _) => return Err(refused("the manifest has no such file")),
            (Some(_), Some(_)) => return Err(refused("the manifest has several files: say which one with name")),
        };
        popef_ops::hash::verify(&file, entry, &VerifyOptions { only_content }, watch, each)
    })
}
