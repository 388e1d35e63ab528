//! The native part of the Python module `popef`. The package in `python/popef` imports everything from here.
//!
//! The classes are thin: values are converted to those of the crate [`popef`], and all reading and writing is done there,
//! with the interpreter's lock released.

#![deny(unsafe_code, reason = "only callback.rs, which calls Python code that may never return, needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]

mod array;
mod blob;
mod blob_writer;
mod bytes;
mod callback;
mod check;
mod describe;
mod direct;
mod dlpack;
mod dtype;
mod elements;
mod ending;
mod entries;
mod enums;
mod error;
mod exception;
mod field;
mod file;
mod html;
mod info;
mod interpreter;
mod json;
mod local;
mod metadata;
mod model;
mod number;
mod ops;
mod origin;
mod path;
mod reader;
mod remote;
#[cfg(feature = "remote")]
mod remote_error;
mod scan;
mod session;
mod stream;
mod text;
mod to_python;
mod tools;
mod wanted;
mod work;
mod writer;

use pyo3::prelude::*;

/// The native part of the module popef.
#[pymodule(gil_used = false)]
mod _popef {
    use popef::seam::word_advice;
    use pyo3::prelude::*;
    use pyo3::types::IntoPyDict as _;

    #[pymodule_export]
    use crate::blob::{Blob, Executable, Feed, MetadataBlob, Opaque, Tensor};
    #[pymodule_export]
    use crate::blob_writer::BlobWriter;
    #[pymodule_export]
    use crate::check::check;
    #[pymodule_export]
    use crate::describe::describe;
    #[pymodule_export]
    use crate::dtype::{numpy_dtype_to_popef_type, popef_type_to_numpy_dtype};
    #[pymodule_export]
    use crate::entries::{ExecutableReader, FeedReader, OpaqueReader, TensorReader};
    #[pymodule_export]
    use crate::enums::{BlobType, DataType, TensorType};
    #[pymodule_export]
    use crate::file::{File, open, unpickle_blob};
    #[pymodule_export]
    use crate::info::{FeedDataInfo, TensorDataInfo, TensorInfo};
    #[pymodule_export]
    use crate::metadata::{Anchor, EngineOption, Metadata, ProgramFlow};
    #[pymodule_export]
    use crate::model::{Model, ModelBuilder};
    #[pymodule_export]
    use crate::ops::{compress, decompress, diff, extract, hash, merge, pack, recover, set, split, strip, verify};
    #[pymodule_export]
    use crate::reader::Reader;
    #[pymodule_export]
    use crate::scan::{ScanRun, scan_columns, scan_rows};
    #[pymodule_export]
    use crate::session::leave_writers;
    #[pymodule_export]
    use crate::tools::{run_popef, run_popef_dump};
    #[pymodule_export]
    use crate::writer::{FileWriter, Mode, Writer, end_writers};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        word_advice(crate::error::words);
        Anchor::add_attributes(py)?;
        EngineOption::add_attributes(py)?;
        FeedDataInfo::add_attributes(py)?;
        Metadata::add_attributes(py)?;
        ProgramFlow::add_attributes(py)?;
        TensorDataInfo::add_attributes(py)?;
        TensorInfo::add_attributes(py)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        py.import("atexit")?.call_method1("register", (module.getattr("end_writers")?,))?;
        if let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? {
            let calls = [("after_in_child", module.getattr("leave_writers")?)].into_py_dict(py)?;
            register.call((), Some(&calls))?;
        }
        module.getattr("FileWriter")?.setattr("Mode", module.getattr("Mode")?)
    }
}
