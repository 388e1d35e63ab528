//! Mapping a file: the library's only unsafe code.

#![allow(unsafe_code, reason = "a mapping's bytes change when the file does, which no safe function can prevent")]

use std::path::Path;

use memmap2::Mmap;

use super::file::{File, OpenOptions};
use super::source::{LocalFile, ReadAt as _};
use crate::error::Error;

impl File {
    /// Opens a file by mapping it: all data is borrowed from the mapping, and nothing is copied.
    ///
    /// [`File::open`] is as easy and always safe. A mapping is worth its contract where a program reads much of the
    /// data, wants it borrowed, or shares it with other processes.
    ///
    /// # Safety
    ///
    /// Until the `File` and everything borrowed from it are dropped, nobody, in this or any other process, may
    /// write to the file or shorten it. A write changes bytes that the compiler takes to be constant, which is
    /// undefined behaviour; shortening it makes the next access a SIGBUS, which ends the process. Replacing the
    /// file by renaming another over it is harmless.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<File, Error> {
        // SAFETY: the contract is the same, and passed on to the caller.
        unsafe { OpenOptions::new().map(path) }
    }
}

impl OpenOptions {
    /// Opens a file by mapping it; see [`File::map`].
    ///
    /// # Safety
    ///
    /// See [`File::map`].
    pub unsafe fn map(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        let file = LocalFile::open(path)?;
        // SAFETY: the caller promises that nobody changes the file while the mapping lives.
        let map = unsafe { Mmap::map(file.handle()) };
        let map = map.map_err(|e| Error::io(file.name(), "map the file", e))?;
        // Headers lie far apart, and without this the kernel reads megabytes of data around each.
        advise(&map, Access::Scattered);
        let listing = self.list_memory(&map);
        advise(&map, Access::Usual);
        self.mapping(listing, map, file)
    }
}

/// How a mapping is about to be used.
#[derive(Clone, Copy)]
enum Access {
    Scattered,
    Usual,
}

/// Only advice: a system that does not take it reads more, and nothing wrong.
#[cfg(unix)]
fn advise(map: &Mmap, access: Access) {
    let _ = map.advise(match access {
        Access::Scattered => memmap2::Advice::Random,
        Access::Usual => memmap2::Advice::Normal,
    });
}

#[cfg(not(unix))]
fn advise(_map: &Mmap, _access: Access) {}
