//! Differences between files, and digests of them: `diff` and `hash`.
#![expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]

use std::path::Path;

use popef_ops::diff::{BlobDiff, DiffOptions, Tolerance};
use popef_ops::hash::{Algorithms, BlobHash, Digests, HashOptions, Manifest, Verification, VerifyOptions, WrongBlob};
use popef_ops::{Code, Error, FilePath, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::select::Select;
use super::{opened, operate, wrong};
use crate::file::{self, File};
use crate::path;

/// Compares two files by meaning, as `popef diff` does.
///
/// `verdict` is `"same"`, `"different"` or `"notComparable"`. `blobs` has the differences, and `counts` the number of
/// blobs with each status. Elements of tensors may differ by `atol + rtol * |b|`. With `exact`, the order, the
/// versions, the compression and every byte must also be the same.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> popef.diff(content.getvalue(), content.getvalue())["verdict"]
/// 'same'
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
    for (name, value) in [("atol", atol), ("rtol", rtol)] {
        if value.is_nan() || value < 0.0 {
            return Err(PyValueError::new_err(format!("{name} is a number from 0 on, not {value}")));
        }
    }
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
/// Digests of the `content` do not depend on order, compression, versions, and bytes after tensors: files with the same
/// ones are the same for `diff`. Digests of the `data` and of the `headers` cover every byte. With `whole`, one digest
/// of all bytes of the file replaces the `headers`. `algorithm` is `"sha256"`, `"blake3"` or `"both"`.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> import hashlib
/// >>> found = popef.hash(content.getvalue(), whole=True)
/// >>> found["whole"]["sha256"] == hashlib.sha256(content.getvalue()).hexdigest()
/// True
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
        let options = HashOptions { algorithms, whole, data, content, headers: data, select: &select };
        popef_ops::hash::hash(&file, &options, watch, each)
    })
}

/// Compares a file with a manifest that `popef hash --format json`, `sha256sum` or `b3sum` wrote, as `popef verify` does.
///
/// `ok` says whether it is the same, and `blobs` has what is not. `name` is the path of the file's entry; it is not
/// needed if the manifest has only one. With `only_content`, changes that keep the meaning are accepted. Lines of sums
/// have only digests of all bytes of a file, and do not say which `algorithm` made them: `"sha256"` or `"blake3"`.
/// Without one, a digest by either fits.
///
/// >>> import hashlib, io, os, popef, tempfile
/// >>> file = io.BytesIO()
/// >>> with popef.Writer(file) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> manifest = os.path.join(folder.name, "SHA256SUMS")
/// >>> with open(manifest, "w") as sums:
/// ...     _ = sums.write(f"{hashlib.sha256(file.getvalue()).hexdigest()}  model.popef\n")
/// >>> popef.verify(file.getvalue(), manifest)["ok"]
/// True
/// >>> folder.cleanup()
#[pyfunction]
#[pyo3(signature = (
    file, manifest, *, name = None, only_content = false, algorithm = None, progress = None
))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    manifest: &Bound<'py, PyAny>,
    name: Option<&Bound<'py, PyAny>>,
    only_content: bool,
    algorithm: Option<&str>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let algorithms = match algorithm {
        None => &[Algorithms::SHA256, Algorithms::BLAKE3][..],
        Some("sha256") => &[Algorithms::SHA256],
        Some("blake3") => &[Algorithms::BLAKE3],
        Some(other) => return Err(wrong("algorithm", other, "sha256 and blake3")),
    };
    // A damaged file has a digest too.
    let file = match file.cast::<File>() {
        Ok(file) => file.clone(),
        Err(_) => Bound::new(py, file::open(file, false, true)?)?,
    };
    let (place, file) = (file.get().place(), file.get().opened()?);
    let path = path::extract(manifest)?;
    let name = name.map(path::extract).transpose()?;
    operate::<_, WrongBlob>(py, progress, &Select::everything(), Some("blobs"), |watch, each| {
        let refused = |message: &str| Error::new(Code::BadManifest, message).in_file(&path);
        match &Manifest::open(&path)? {
            Manifest::Entries(entries) => {
                check_whole(&file)?;
                let entry = meant(entries, |entry| &entry.path, name.as_deref()).map_err(refused)?;
                popef_ops::hash::verify(
                    &file,
                    entry,
                    &VerifyOptions { only_content, ..VerifyOptions::default() },
                    watch,
                    each,
                )
            }
            Manifest::Sums(_) if only_content => Err(refused("lines of sums have no digests of the content")),
            Manifest::Sums(lines) => {
                let line = meant(lines, |line| &line.path, name.as_deref()).map_err(refused)?;
                let mut verification = Verification::default();
                for algorithm in algorithms {
                    let found = all_of(&file, place, *algorithm, watch)?;
                    verification.ok = found.named().any(|(_, digest)| digest == line.digest);
                    if verification.ok {
                        break;
                    }
                }
                verification.whole = Some(verification.ok);
                Ok(verification)
            }
            _ => Err(refused("this version does not know its kind")),
        }
    })
}

/// The digest of all bytes of a file, which may be damaged if it has a path.
fn all_of(
    file: &popef::File,
    place: Option<&Path>,
    algorithms: Algorithms,
    watch: &dyn Progress,
) -> Result<Digests, Error> {
    if let (Some(_), Some(path)) = (file.damage(), place) {
        return popef_ops::hash::hash_path(path, algorithms, watch);
    }
    check_whole(file)?;
    let options =
        HashOptions { algorithms, whole: true, data: false, content: false, headers: false, select: &|_| false };
    popef_ops::hash::hash(file, &options, watch, &mut |_| Ok(())).map(|hash| hash.whole)
}

fn check_whole(file: &popef::File) -> Result<(), Error> {
    file.damage().map_or(Ok(()), |damage| Err(damage.clone().into()))
}

/// The only entry of a manifest, or the one of a name.
fn meant<'m, E>(entries: &'m [E], path: impl Fn(&E) -> &FilePath, name: Option<&Path>) -> Result<&'m E, &'static str> {
    let is_meant = |entry: &&E| name.is_none_or(|name| path(entry).to_path().as_deref() == Some(name));
    let mut meant = entries.iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(entry), None) => Ok(entry),
        (None, _) => Err("the manifest has no such file"),
        (Some(_), Some(_)) => Err("the manifest has several files: say which one with name"),
    }
}
