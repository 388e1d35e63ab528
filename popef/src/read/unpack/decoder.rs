//! One type for the decoders of all compression formats.

use std::io::Read;

use flate2::bufread::{GzDecoder, ZlibDecoder};

use super::fault::Fault;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "zstd")]
use super::zstd;
use crate::read::input::Input;

/// A decoder of one stream. It stops after the stream's last byte, and does not consume what follows.
pub(super) enum Decoder<'a> {
    Zlib(ZlibDecoder<Input<'a>>),
    Gzip(GzDecoder<Input<'a>>),
    /// At the end of a frame it continues with the next one, so that its buffers are reused.
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
