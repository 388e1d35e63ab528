//! Mappings: the numbers of poplibs' own tests, and a naive version that works element by element.

mod naive;
mod poplibs;
mod promises;
