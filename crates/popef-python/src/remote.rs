//! Files on other machines, by their addresses. Only the feature `remote` can read them.

use popef::{File, OpenOptions};
use pyo3::prelude::*;

#[cfg(feature = "remote")]
pub(crate) use built_in::raised;

/// Whether a text is an address of a file, and no path.
pub(crate) fn is_address(text: &str) -> bool {
    #[cfg(feature = "remote")]
    return popef_remote::is_remote(text);
    #[cfg(not(feature = "remote"))]
    {
        const SCHEMES: [&str; 11] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "https", "http", "hf", "file"];
        text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
    }
}

#[cfg(feature = "remote")]
pub(crate) use built_in::open;

/// Says what to do instead.
#[cfg(not(feature = "remote"))]
pub(crate) fn open(py: Python<'_>, address: &str, options: &OpenOptions) -> PyResult<File> {
    let _ = (address, options);
    let message = "this is an address, and the module was built without reading from other machines: open a file object for it \
                   (fsspec.open), or build the module with pip install . -C build-args=--features=remote,extension-module";
    Err(crate::error::Own::NotBuiltIn.error(py, message))
}

#[cfg(feature = "remote")]
mod built_in {
    use std::cell::RefCell;
    use std::mem;
    use std::process;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::sync::{Arc, Mutex, PoisonError};

    use popef_remote::{Code, Location, Need, Options, Remote, RemoteError};
    use pyo3::exceptions::PyOSError;

    use super::{File, OpenOptions, PyErr, PyResult, Python};
    use crate::error::{raise, remote_error};
    use pyo3::prelude::*;

    /// The connections of this process. Those of a parent have no threads here.
    struct Connections {
        process: u32,
        remote: Arc<Remote>,
    }

    static CONNECTIONS: Mutex<Option<Connections>> = Mutex::new(None);

    /// The processes that made connections: the first one, and one that was forked from it.
    static PROCESSES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

    thread_local! {
        /// What a handler of a signal raised while this thread waited.
        static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    }

    /// Opens the file of an address.
    pub(crate) fn open(py: Python<'_>, address: &str, options: &OpenOptions) -> PyResult<File> {
        let opening = || {
            let location = Location::parse(address)?;
            Ok(connections()?.begin(&location, *options))
        };
        let opened = opening().and_then(|opening| py.detach(|| opening.wait(Need::Data)));
        opened.map_err(|error| raise_remote(py, &error))?.file.map_err(|error| raise(py, &error))
    }

    /// The connections, which are made when they are first needed. The interpreter's lock is held, so no process is forked meanwhile.
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

    /// Is asked while something is waited for: whether a signal came, or this is another process, in which nobody would answer.
    fn is_stopped<const MAKER: usize>() -> bool {
        if PROCESSES.get(MAKER).is_none_or(|made_by| made_by.load(Relaxed) != process::id()) {
            return true;
        }
        let look = |py: Python<'_>| py.check_signals().err().map(|raised| RAISED.replace(Some(raised)));
        Python::try_attach(look).is_none_or(|raised| raised.is_some())
    }

    /// The exception for an error that comes from another machine. `None` if it does not.
    pub(crate) fn raised(py: Python<'_>, error: &popef::Error) -> Option<PyErr> {
        RemoteError::of(error).map(|error| raise_remote(py, error))
    }

    fn raise_remote(py: Python<'_>, error: &RemoteError) -> PyErr {
        if error.code() == Code::Stopped
            && let Some(raised) = RAISED.take()
        {
            return raised;
        }
        let location = error.location();
        let text = if location.is_empty() { error.to_string() } else { format!("{location}: {error}") };
        let number = match error.code() {
            Code::NotFound | Code::NoMatch => Some("ENOENT"),
            Code::Denied | Code::NoCredentials => Some("EACCES"),
            Code::Timeout => Some("ETIMEDOUT"),
            _ => None,
        };
        let (code, advice) = (error.code().as_str(), error.advice());
        let Some(number) = number else { return remote_error(py, &text, code, advice, location) };
        let make = || -> PyResult<PyErr> {
            let number = py.import("errno")?.getattr(number)?;
            let raised = PyErr::from_value(py.get_type::<PyOSError>().call1((number, error.to_string(), location))?);
            raised.value(py).setattr("code", code)?;
            raised.value(py).setattr("advice", advice)?;
            Ok(raised)
        };
        make().unwrap_or_else(|failed| failed)
    }
}
