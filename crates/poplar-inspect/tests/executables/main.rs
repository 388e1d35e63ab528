//! Reading executables: fixtures of `testdata/executables`, what binutils say of them, and broken ones.

mod binutils;
mod broken;
mod common;
mod fixtures;
mod poplar;
