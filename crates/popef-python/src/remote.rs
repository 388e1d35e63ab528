//! Files on other machines, by their addresses. Only the feature `remote` can read them.

use std::path::Path;

use popef::types::redact_word;
use popef::{File, OpenOptions};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Own;

/// Whether a text is an address of a file, and not a path. A text that looks like an address with secrets also counts,
/// unless such a file exists: errors show paths in full, and addresses without their secrets.
fn is_address(text: &str) -> bool {
    has_scheme(text) || (redact_word(text) != text && Path::new(text).symlink_metadata().is_err())
}

/// Whether a text begins as an address of a file does.
fn has_scheme(text: &str) -> bool {
    const SCHEMES: [&str; 11] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "https", "http", "hf", "file"];
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Fails if a caller wants to write to an address.
pub(crate) fn refuse_to_write(given: &Bound<'_, PyAny>) -> PyResult<()> {
    match given.cast::<PyString>().ok().and_then(|text| text.to_str().ok().map(has_scheme)) {
        Some(true) => Err(Own::NoUpload.error(
            given.py(),
            "this is an address, and the module writes only files and file objects; the tool popef uploads",
        )),
        _ => Ok(()),
    }
}

/// The address, if the caller gave one.
pub(crate) fn address_of(given: &Bound<'_, PyAny>) -> Option<String> {
    let text = given.cast::<PyString>().ok()?.to_str().ok()?;
    is_address(text).then(|| text.to_owned())
}

#[cfg(feature = "remote")]
pub(crate) use built_in::open;

/// Says what to do instead.
#[cfg(not(feature = "remote"))]
pub(crate) fn open(py: Python<'_>, address: &str, options: &OpenOptions) -> PyResult<File> {
    let _ = options;
    let instead =
        if address.starts_with("file:") { "give the path itself" } else { "open a file object for it (fsspec.open)" };
    let message = format!(
        "this is an address, and the module was built without reading from addresses: {instead}, or build the module with \
         pip install . -C build-args=--features=remote,extension-module"
    );
    Err(Own::NotBuiltIn.error(py, &message))
}

#[cfg(feature = "remote")]
mod built_in {
    use std::mem;
    use std::process;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::sync::{Arc, Mutex, PoisonError};

    use popef_remote::{Location, Need, Options, Remote, RemoteError};

    use super::{File, OpenOptions, PyResult, Python};
    use crate::error::raise;
    use crate::remote_error::{is_signalled, raise_remote};

    /// The connections of this process. A parent's connections have no threads here.
    struct Connections {
        process: u32,
        remote: Arc<Remote>,
    }

    static CONNECTIONS: Mutex<Option<Connections>> = Mutex::new(None);

    /// The processes that made connections: the first one, and one that was forked from it.
    static PROCESSES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

    /// Opens the file of an address.
    pub(crate) fn open(py: Python<'_>, address: &str, options: &OpenOptions) -> PyResult<File> {
        let opening = || {
            let location = Location::parse(address)?;
            Ok(connections()?.begin(&location, *options))
        };
        let opened = opening().and_then(|opening| py.detach(|| opening.wait(Need::Data)));
        opened.map_err(|error| raise_remote(py, &error))?.file.map_err(|error| raise(py, &error))
    }

    /// The connections, made when they are first needed. The interpreter's lock is held, so the process cannot fork
    /// meanwhile.
    fn connections() -> Result<Arc<Remote>, RemoteError> {
        let mut connections = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        match &*connections {
            Some(Connections { process, remote }) if *process == process::id() => Ok(Arc::clone(remote)),
            old => {
                let (is_child, process) = (old.is_some(), process::id());
                let mut options = Options::default();
                options.stopped = Some(if is_child { is_stopped::<1> } else { is_stopped::<0> });
                let remote = Arc::new(Remote::new(options)?);
                if let Some(made_by) = PROCESSES.get(usize::from(is_child)) {
                    made_by.store(process, Relaxed);
                }
                let old = connections.replace(Connections { process, remote: Arc::clone(&remote) });
                // Ending the threads of a parent from here could wait for them forever.
                mem::forget(old);
                Ok(remote)
            }
        }
    }

    /// Returns whether to stop waiting: a signal came, or this is a forked process, in which no answer would arrive.
    fn is_stopped<const MAKER: usize>() -> bool {
        if PROCESSES.get(MAKER).is_none_or(|made_by| made_by.load(Relaxed) != process::id()) {
            return true;
        }
        Python::try_attach(is_signalled).unwrap_or(true)
    }
}
