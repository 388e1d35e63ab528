use std::fmt;
use std::io::{self, Read};

use flate2::bufread::{GzDecoder, ZlibDecoder};
#[cfg(feature = "zstd")]
use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError, ReadFrameHeaderError};
#[cfg(feature = "zstd")]
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::blob::At;
use super::data::{Data, DataReader};
use super::executable::Compression;
use super::input::Input;
use super::source::uninterrupted;
use crate::error::{Error, Problem};

/// Reads an executable's own bytes, unpacking them as they come; see
/// [`ExecutableBlob::unpack`](crate::ExecutableBlob::unpack).
///
/// An [`Error`] of this library travels in the `io::Error`.
pub struct Unpack<'a>(State<'a>);

enum State<'a> {
    Stored(DataReader<'a>),
    Packed(Box<Packed<'a>>),
    /// After an error: whoever reads on must not take what is missing for the end.
    Failed,
}

struct Packed<'a> {
    /// None between two streams, and at the end.
    decoder: Option<Decoder<'a>>,
    compression: Compression,
    /// How far back the data may refer.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "the other formats have limits of their own"))]
    window: u64,
    needed: u64,
    given: u64,
    at: At<'a>,
}

impl<'a> Unpack<'a> {
    pub(super) fn stored(data: Data<'a>) -> Self {
        Unpack(State::Stored(data.reader()))
    }

    pub(super) fn packed(
        data: Data<'a>,
        compression: Compression,
        needed: u64,
        window: u64,
        at: At<'a>,
    ) -> Result<Self, Error> {
        let mut input = Input::of(data);
        let mut packed = Packed { decoder: None, compression, window, needed, given: 0, at };
        packed.skip_frames(&mut input)?;
        packed.decoder = Some(packed.start(input)?);
        Ok(Unpack(State::Packed(Box::new(packed))))
    }
}

impl Read for Unpack<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            State::Stored(data) => data.read(buf),
            State::Packed(_) if buf.is_empty() => Ok(0),
            State::Packed(packed) => packed.read(buf).map_err(|error| {
                self.0 = State::Failed;
                error.into()
            }),
            State::Failed => Err(io::Error::other("the data could not be unpacked before this")),
        }
    }
}

impl fmt::Debug for Unpack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpack").finish_non_exhaustive()
    }
}

impl<'a> Packed<'a> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        loop {
            let Some(decoder) = &mut self.decoder else { return Ok(0) };
            let left = usize::try_from(self.needed.saturating_sub(self.given)).unwrap_or(usize::MAX);
            // With all bytes given, one more must not come.
            let mut surplus = [0];
            let room = if left == 0 { &mut surplus } else { buf.get_mut(..left.min(buf.len())).unwrap_or_default() };
            match uninterrupted(|| decoder.read(room)) {
                Ok(0) => match decoder.check_end() {
                    Ok(()) => self.next_stream()?,
                    Err(fault) => return Err(self.damaged(fault, None)),
                },
                Ok(_) if left == 0 => return Err(self.at.error(Problem::UnpackedLong { needed: self.needed })),
                Ok(count) => {
                    self.given = self.given.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                    return Ok(count);
                }
                Err(e) => return Err(self.failure(e)),
            }
        }
    }

    /// At the end of one compressed stream: the next one, or the end of all.
    fn next_stream(&mut self) -> Result<(), Error> {
        let Some(mut input) = self.decoder.take().map(Decoder::into_input) else { return Ok(()) };
        self.skip_frames(&mut input)?;
        let found = input.left();
        let more = input.peek(Compression::MARK)?;
        if more.is_empty() {
            return self.check_end();
        }
        // zlib streams are not put one behind the other; the others' formats say that they may be.
        if self.compression == Compression::Zlib || Compression::of(more) != Some(self.compression) {
            self.check_end()?;
            return Err(self.at.error(Problem::CompressedTail { found }));
        }
        self.decoder = Some(self.start(input)?);
        Ok(())
    }

    /// Passes over frames that hold something else, which zstd and LZ4 have in common.
    fn skip_frames(&self, input: &mut Input<'_>) -> Result<(), Error> {
        if !matches!(self.compression, Compression::Zstd | Compression::Lz4) {
            return Ok(());
        }
        while let Some(len) = Compression::skippable_frame(input.peek(Compression::SKIPPABLE_HEADER)?) {
            input.skip(len).ok_or_else(|| self.damaged(TOO_EARLY, None))?;
        }
        Ok(())
    }

    fn damaged(&self, fault: &'static str, source: Option<io::Error>) -> Error {
        self.at.error(Problem::Compressed { format: self.compression.name(), fault, source })
    }

    fn check_end(&self) -> Result<(), Error> {
        if self.given == self.needed {
            return Ok(());
        }
        Err(self.at.error(Problem::UnpackedShort { needed: self.needed, found: self.given }))
    }

    #[cfg_attr(not(feature = "zstd"), expect(unused_mut, reason = "only that decoder needs it"))]
    fn start(&self, mut input: Input<'a>) -> Result<Decoder<'a>, Error> {
        Ok(match self.compression {
            Compression::Zlib => Decoder::Zlib(ZlibDecoder::new(input)),
            Compression::Gzip => Decoder::Gzip(GzDecoder::new(input)),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Decoder::Lz4(Box::new(lz4_flex::frame::FrameDecoder::new(input))),
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                // So that its header is there, or the input at its end: the decoder keeps the input if it fails.
                input.peek(ZSTD_HEADER)?;
                let decoder = StreamingDecoder::new_with_max_window_size(input, self.window);
                Decoder::Zstd(Box::new(decoder.map_err(|e| self.zstd_error(e))?))
            }
            #[cfg(not(all(feature = "lz4", feature = "zstd")))]
            missing => {
                let (format, feature) = match missing {
                    Compression::Lz4 => ("LZ4", "lz4"),
                    _ => ("zstd", "zstd"),
                };
                return Err(self.at.error(Problem::CompressionNotBuilt { format, feature }));
            }
        })
    }

    #[cfg(feature = "zstd")]
    fn zstd_error(&self, source: FrameDecoderError) -> Error {
        let limit = self.window;
        let fault = match &source {
            FrameDecoderError::WindowSizeTooBig { requested: needed, .. }
            | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { got: needed }) => {
                return self.at.error(Problem::WindowTooLarge { needed: *needed, limit });
            }
            FrameDecoderError::DictNotProvided { .. } => NO_DICTIONARY,
            FrameDecoderError::ReadFrameHeaderError(
                ReadFrameHeaderError::FrameDescriptorReadError(_)
                | ReadFrameHeaderError::WindowDescriptorReadError(_)
                | ReadFrameHeaderError::DictionaryIdReadError(_)
                | ReadFrameHeaderError::FrameContentSizeReadError(_),
            ) => TOO_EARLY,
            _ => "the header of a frame says what none can",
        };
        self.damaged(fault, Some(io::Error::other(source)))
    }

    /// Why a decoder stopped: its input could not be read, or is damaged.
    fn failure(&mut self, source: io::Error) -> Error {
        let Some(decoder) = &mut self.decoder else { return self.damaged(TOO_EARLY, Some(source)) };
        match decoder.input().take_failure() {
            Some(failure) => failure,
            None => {
                let fault = decoder.fault(&source);
                self.damaged(fault, Some(source))
            }
        }
    }
}

/// The longest header of a zstd frame.
#[cfg(feature = "zstd")]
const ZSTD_HEADER: usize = 18;

const TOO_EARLY: &str = "it ends too early";
#[cfg(any(feature = "lz4", feature = "zstd"))]
const NO_DICTIONARY: &str = "it needs a dictionary, which no PopEF file has";

/// One decoder of one stream. Each stops at the stream's last byte and leaves what is behind it.
enum Decoder<'a> {
    Zlib(ZlibDecoder<Input<'a>>),
    Gzip(GzDecoder<Input<'a>>),
    #[cfg(feature = "lz4")]
    Lz4(Box<lz4_flex::frame::FrameDecoder<Input<'a>>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<StreamingDecoder<Input<'a>, FrameDecoder>>),
}

impl<'a> Decoder<'a> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Zlib(decoder) => decoder.read(buf),
            Decoder::Gzip(decoder) => decoder.read(buf),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) => decoder.read(buf),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(decoder) => decoder.read(buf),
        }
    }

    /// What a decoder leaves to its caller to check at the end of a stream.
    fn check_end(&mut self) -> Result<(), &'static str> {
        match self {
            Decoder::Zlib(_) | Decoder::Gzip(_) => Ok(()),
            // It takes the end of its input for the end of the frame, whose mark it then looked for in vain.
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) if decoder.get_ref().is_exceeded() => Err(TOO_EARLY),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(_) => Ok(()),
            // It works the checksum out and does not compare it.
            #[cfg(feature = "zstd")]
            Decoder::Zstd(decoder) => {
                let (stated, found) =
                    (decoder.decoder.get_checksum_from_data(), decoder.decoder.get_calculated_checksum());
                if stated.is_none() || stated == found {
                    return Ok(());
                }
                Err("what it unpacks to does not match its checksum")
            }
        }
    }

    /// What is wrong with its input, in our words for the decoder's error.
    #[cfg_attr(not(feature = "lz4"), expect(unused_variables, reason = "the others' errors tell nothing more"))]
    fn fault(&mut self, error: &io::Error) -> &'static str {
        if self.input().is_exceeded() {
            return TOO_EARLY;
        }
        match self {
            Decoder::Gzip(decoder) if decoder.header().is_none() => "the header of a member cannot be read",
            // Their decoder has one error for both.
            Decoder::Zlib(_) | Decoder::Gzip(_) => "a block cannot be unpacked, or a checksum does not match",
            #[cfg(feature = "lz4")]
            Decoder::Lz4(_) => lz4_fault(error),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(_) => "a block cannot be unpacked",
        }
    }

    fn input(&mut self) -> &mut Input<'a> {
        match self {
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::Gzip(decoder) => decoder.get_mut(),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) => decoder.get_mut(),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(decoder) => decoder.get_mut(),
        }
    }

    fn into_input(self) -> Input<'a> {
        match self {
            Decoder::Zlib(decoder) => decoder.into_inner(),
            Decoder::Gzip(decoder) => decoder.into_inner(),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) => decoder.into_inner(),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(decoder) => decoder.into_inner(),
        }
    }
}

#[cfg(feature = "lz4")]
fn lz4_fault(error: &io::Error) -> &'static str {
    use lz4_flex::frame::Error;
    match error.get_ref().and_then(|error| error.downcast_ref()) {
        Some(Error::HeaderChecksumError) => "the header of a frame does not match its checksum",
        Some(Error::BlockChecksumError) => "a block does not match its checksum",
        Some(Error::ContentChecksumError) => "what it unpacks to does not match its checksum",
        Some(Error::ContentLengthError { .. }) => "a frame unpacks to another length than its header says",
        Some(Error::DictionaryNotSupported) => NO_DICTIONARY,
        Some(Error::UnsupportedBlocksize(_) | Error::UnsupportedVersion(_) | Error::ReservedBitsSet) => {
            "the header of a frame says what none can"
        }
        _ => "a block cannot be unpacked",
    }
}
