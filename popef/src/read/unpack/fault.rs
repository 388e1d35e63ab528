//! What stops a decoder.

use std::io;

use crate::error::Error;
use crate::read::input::Input;

/// Why a decoder stopped.
pub(super) enum Fault {
    /// The input could not be read.
    Input(Error),
    /// The data is damaged: what is wrong, and the decoder's own error.
    Data(&'static str, Option<io::Error>),
    /// The data needs a window of this many bytes, which is more than the limit.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "only zstd has windows of any size"))]
    Window(u64),
    /// There is no memory for this many bytes.
    #[cfg_attr(not(any(feature = "lz4", feature = "zstd")), expect(dead_code, reason = "the others take little"))]
    Memory(usize),
}

impl From<&'static str> for Fault {
    fn from(fault: &'static str) -> Self {
        Fault::Data(fault, None)
    }
}

impl Fault {
    /// Makes a fault from the error of a decoder that reads through `std::io`. `otherwise` is the fault if the input
    /// could be read and did not end early.
    pub(super) fn of(error: io::Error, input: &mut Input<'_>, otherwise: &'static str) -> Self {
        match input.take_failure() {
            Some(failure) => Fault::Input(failure),
            None if input.is_exceeded() => Fault::Data(TOO_EARLY, Some(error)),
            None => Fault::Data(otherwise, Some(error)),
        }
    }
}

pub(super) const TOO_EARLY: &str = "it ends too early";
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) const ODD_HEADER: &str = "the header of a frame is invalid";
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) const NO_DICTIONARY: &str = "it needs a dictionary, which no PopEF file has";
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) const ODD_BLOCK: &str = "a block cannot be unpacked";
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) const OTHER_CONTENT: &str = "what it unpacks to does not match its checksum";
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) const OTHER_LENGTH: &str = "a frame unpacks to another length than its header says";

/// Takes the next bytes of a header.
#[cfg(any(feature = "lz4", feature = "zstd"))]
pub(super) fn part<const N: usize>(header: &mut &[u8]) -> Result<[u8; N], Fault> {
    let (part, rest) = header.split_first_chunk().ok_or(TOO_EARLY)?;
    *header = rest;
    Ok(*part)
}
