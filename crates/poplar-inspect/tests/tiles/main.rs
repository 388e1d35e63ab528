//! Mappings: the numbers of poplibs' own tests, and a naive version that works element by element.

#[cfg(feature = "json")]
mod files;
mod naive;
mod poplibs;
mod promises;
