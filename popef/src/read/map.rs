//! Mapping files into memory: the library's only unsafe code.

#![allow(unsafe_code, reason = "a mapping's bytes change when the file does, which no safe function can prevent")]

use std::path::Path;

use memmap2::Mmap;

use super::data::Data;
use super::file::{File, Held};
use super::options::OpenOptions;
use super::source::{Backing, LocalFile, ReadAt as _};
use crate::error::Error;

impl File {
    /// Opens a file by mapping it into memory. All data is borrowed from the mapping, and nothing is copied.
    ///
    /// [`File::open`] is just as easy, and always safe. A mapping is worth its contract if a program reads much of the
    /// data, needs to borrow it, or shares it with other processes.
    ///
    /// # Safety
    ///
    /// Until the `File`, its clones and everything borrowed from them are dropped, no process, including this one, may
    /// write to the file or shorten it. A write changes bytes that the compiler assumes to be constant, which is
    /// undefined behaviour. After the file was shortened, the next access raises SIGBUS, which ends the process.
    /// Replacing the file by renaming another file over it is harmless.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<File, Error> {
        // SAFETY: the contract is the same, and passed on to the caller.
        unsafe { OpenOptions::new().map(path) }
    }
}

impl OpenOptions {
    /// Opens a file by mapping it, as [`File::map`] does.
    ///
    /// # Safety
    ///
    /// See [`File::map`].
    pub unsafe fn map(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        let file = LocalFile::open(path)?;
        // SAFETY: the caller promises that the file does not change while the mapping lives.
        let map = unsafe { Mmap::map(file.handle()) };
        let map = map.map_err(|e| Error::io(file.name(), "map the file", e))?;
        // Headers can be far apart, and without this advice the kernel reads megabytes of data around each.
        advise(&map, Pattern::Scattered);
        let options = self.started_in(&Data::in_memory(&map))?;
        let listing = options.list_memory(&map);
        advise(&map, Pattern::Usual);
        options.assemble(listing, Held::Memory { bytes: Box::new(map), source: Some(Backing::of(file)) })
    }
}

/// How a mapping is about to be used.
#[derive(Clone, Copy)]
enum Pattern {
    Scattered,
    Usual,
}

/// Ignores errors: without the advice, the system only reads more than needed.
#[cfg(unix)]
fn advise(map: &Mmap, pattern: Pattern) {
    let _ = map.advise(match pattern {
        Pattern::Scattered => memmap2::Advice::Random,
        Pattern::Usual => memmap2::Advice::Normal,
    });
}

#[cfg(not(unix))]
fn advise(_map: &Mmap, _pattern: Pattern) {}
