//! Checks, for the function `popef.check`, which is written in Python.

use std::ffi::OsStr;
use std::path::Path;

use popef_check::{CheckOptions, Finding, Loader, Skipped, check_with_progress};
use poplar_inspect::executable::inspect_archive;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::file::File;
use crate::text;
use crate::work::run;

/// Checks files that belong together. `policy` is the name and the text of a policy. Returns the fields of each
/// finding, and those of each skipped part.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    files: Vec<Bound<'py, File>>,
    deep: bool,
    loaders: Vec<String>,
    policy: Option<(String, String)>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let options = options(deep, loaders, policy)?;
    let opened = files.into_iter().map(|file| file.get().opened()).collect::<PyResult<Vec<popef::File>>>()?;
    let report = run(py, progress, |watch| {
        check_with_progress(&opened, &options, &mut |so_far| {
            watch.set(so_far.done, so_far.total);
            watch.go_on()
        })
    })?;
    let path = |file: usize| opened.get(file).and_then(popef::File::path).map(Path::as_os_str);
    let findings = PyList::empty(py);
    for finding in &report.findings {
        findings.append(fields(py, finding, path(finding.file))?)?;
    }
    let skipped = PyList::empty(py);
    for Skipped { file, what, why, failed, .. } in &report.skipped {
        let fields = PyDict::new(py);
        fields.set_item("file", file)?;
        fields.set_item("path", file.and_then(path))?;
        fields.set_item("what", what)?;
        fields.set_item("why", why)?;
        fields.set_item("failed", failed)?;
        skipped.append(fields)?;
    }
    Ok((findings, skipped))
}

/// The options of a check, as the Python functions give them.
pub(crate) fn options(deep: bool, loaders: Vec<String>, policy: Option<(String, String)>) -> PyResult<CheckOptions> {
    let mut options = CheckOptions::new();
    options.deep(deep).inspect_archives(inspect_archive);
    for loader in loaders {
        options.loader(loader.parse::<Loader>().map_err(|error| PyValueError::new_err(error.to_string()))?);
    }
    if let Some((name, text)) = policy {
        let policy = popef_open::policy(&text, &no_rule);
        options.policy(policy.map_err(|problem| PyValueError::new_err(format!("{name}: {problem}")))?);
    }
    Ok(options)
}

fn no_rule(id: &str) -> String {
    format!("there is no rule {id:?}; docs/CHECKS.md lists all rules")
}

fn fields<'py>(py: Python<'py>, finding: &Finding, path: Option<&OsStr>) -> PyResult<Bound<'py, PyDict>> {
    let names = PyList::empty(py);
    for name in &finding.names {
        names.append(text::to_python(py, name)?)?;
    }
    let fields = PyDict::new(py);
    fields.set_item("rule", finding.rule.id)?;
    fields.set_item("severity", finding.severity.as_str())?;
    fields.set_item("file", finding.file)?;
    fields.set_item("path", path)?;
    fields.set_item("blob", finding.blob)?;
    fields.set_item("offset", finding.offset)?;
    fields.set_item("names", names.to_tuple())?;
    fields.set_item("message", &finding.message)?;
    fields.set_item("title", finding.rule.title)?;
    fields.set_item("meaning", finding.rule.meaning)?;
    fields.set_item("fix", finding.rule.fix)?;
    Ok(fields)
}
