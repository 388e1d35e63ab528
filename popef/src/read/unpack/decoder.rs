//! One type for the decoders of all compression formats.

use std::io::{self, Read};

use flate2::bufread::{GzDecoder, ZlibDecoder};

#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "zstd")]
use super::zstd;
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

/// A decoder of one stream. It stops after the stream's last byte, and does not consume what follows.
pub(super) enum Decoder<'a> {
    Zlib(ZlibDecoder<Input<'a>>),
    Gzip(GzDecoder<Input<'a>>),
    /// At the end of a frame it goes on with the next one, so that its buffers are reused.
    #[cfg(feature = "lz4")]
    Lz4(Box<lz4::Frames<'a>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Frame<'a>>),
}

impl<'a> Decoder<'a> {
    /// Reads the next bytes. Returns 0 at the end of the stream, after checking its checksum and length.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Fault> {
        // zlib-rs reports both with the same error.
        const BLOCK_OR_CHECKSUM: &str = "a block cannot be unpacked, or a checksum does not match";
        match self {
            Decoder::Zlib(decoder) => {
                decoder.read(buf).map_err(|error| Fault::of(error, decoder.get_mut(), BLOCK_OR_CHECKSUM))
            }
            Decoder::Gzip(decoder) => decoder.read(buf).map_err(|error| {
                let no_header = decoder.header().is_none();
                let fault = if no_header { "the header of a member cannot be read" } else { BLOCK_OR_CHECKSUM };
                Fault::of(error, decoder.get_mut(), fault)
            }),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(frames) => frames.read(buf),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(frame) => frame.read(buf),
        }
    }

    pub(super) fn input(&mut self) -> &mut Input<'a> {
        match self {
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::Gzip(decoder) => decoder.get_mut(),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(frames) => frames.input(),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(frame) => frame.input(),
        }
    }

    pub(super) fn into_input(self) -> Input<'a> {
        match self {
            Decoder::Zlib(decoder) => decoder.into_inner(),
            Decoder::Gzip(decoder) => decoder.into_inner(),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(frames) => frames.into_input(),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(frame) => frame.into_input(),
        }
    }
}
