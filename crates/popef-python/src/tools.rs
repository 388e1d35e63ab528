//! The tools, which the scripts of the wheel run. They are part of the module because two separate programs would make
//! the wheel three times as large.

use std::ffi::OsString;
use std::process::{ExitCode, exit};

use pyo3::prelude::*;

/// Runs the tool `popef` with the arguments of a command line, starting with its name. Then it ends the process.
#[pyfunction]
pub(crate) fn run_popef(py: Python<'_>, line: Vec<OsString>) {
    run(py, || popef_toolbox::main_with(line));
}

/// Runs the tool `popef-dump` with the arguments of a command line, starting with its name. Then it ends the process.
#[pyfunction]
pub(crate) fn run_popef_dump(py: Python<'_>, line: Vec<OsString>) {
    run(py, || popef_dump_tool::main_with(line));
}

/// The interpreter has nothing left to do after the tool. Ending the process from here also flushes Rust's standard
/// output, which the interpreter does not know.
fn run(py: Python<'_>, tool: impl FnOnce() -> ExitCode + Send) {
    py.detach(|| exit(number(tool())));
}

/// The number of an exit status, which can be compared but not read.
fn number(status: ExitCode) -> i32 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == status).map_or(1, i32::from)
}
