use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::{GzDecoder, ZlibDecoder};
#[cfg(feature = "zstd")]
use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError};
#[cfg(feature = "zstd")]
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::blob::At;
use super::blobs::len_of;
use super::data::{Data, DataReader};
use super::executable::Compression;
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
        let input = BufReader::with_capacity(INPUT_BUFFER, Input { data: data.reader(), ended: false, failure: None });
        let mut packed = Packed { decoder: None, compression, window, needed, given: 0, at };
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
            match decoder.read(room) {
                Ok(0) => match decoder.check_end() {
                    Ok(()) => self.next_stream()?,
                    Err(source) => return Err(self.at.error(Problem::Compressed { source })),
                },
                Ok(_) if left == 0 => return Err(self.at.error(Problem::UnpackedLong { needed: self.needed })),
                Ok(count) => {
                    self.given = self.given.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                    return Ok(count);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failure(e)),
            }
        }
    }

    /// At the end of one compressed stream: the next one, or the end of all.
    fn next_stream(&mut self) -> Result<(), Error> {
        let Some(mut input) = self.decoder.take().map(Decoder::into_input) else { return Ok(()) };
        let left = len_of(input.buffer()).saturating_add(input.get_ref().data.left());
        let more = input.fill_buf().map_err(|e| self.at.unwrap_io(e))?;
        if more.is_empty() {
            return self.check_end();
        }
        // zlib streams are not put one behind the other; the others' formats say that they may be.
        if self.compression == Compression::Zlib || Compression::of(more) != Some(self.compression) {
            self.check_end()?;
            return Err(self.at.error(Problem::CompressedTail { found: left }));
        }
        self.decoder = Some(self.start(input)?);
        Ok(())
    }

    fn check_end(&self) -> Result<(), Error> {
        if self.given == self.needed {
            return Ok(());
        }
        Err(self.at.error(Problem::UnpackedShort { needed: self.needed, found: self.given }))
    }

    fn start(&self, input: BufReader<Input<'a>>) -> Result<Decoder<'a>, Error> {
        Ok(match self.compression {
            Compression::Zlib => Decoder::Zlib(ZlibDecoder::new(input)),
            Compression::Gzip => Decoder::Gzip(GzDecoder::new(input)),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Decoder::Lz4(Box::new(lz4_flex::frame::FrameDecoder::new(input))),
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
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
        self.at.error(match source {
            FrameDecoderError::WindowSizeTooBig { requested: needed, .. }
            | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { got: needed }) => {
                Problem::WindowTooLarge { needed, limit }
            }
            source => Problem::Compressed { source: io::Error::other(source) },
        })
    }

    /// Why a decoder stopped: its input could not be read, or is damaged.
    fn failure(&mut self, source: io::Error) -> Error {
        let failure = self.decoder.as_mut().and_then(|decoder| decoder.input().failure.take());
        failure.unwrap_or_else(|| self.at.error(Problem::Compressed { source }))
    }
}

const INPUT_BUFFER: usize = 32 << 10;

/// The compressed bytes. Decoders wrap an error of their input in ways of their own, so it is kept here too.
struct Input<'a> {
    data: DataReader<'a>,
    /// Whether more was asked for than there is.
    ended: bool,
    failure: Option<Error>,
}

impl Read for Input<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let result = self.data.read_data(buf);
        self.ended |= matches!(result, Ok(0));
        result.map_err(|error| {
            self.failure = Some(error);
            io::Error::other("the compressed data cannot be read")
        })
    }
}

type Buffered<'a> = BufReader<Input<'a>>;

/// One decoder of one stream. Each stops at the stream's last byte and leaves what is behind it.
enum Decoder<'a> {
    Zlib(ZlibDecoder<Buffered<'a>>),
    Gzip(GzDecoder<Buffered<'a>>),
    #[cfg(feature = "lz4")]
    Lz4(Box<lz4_flex::frame::FrameDecoder<Buffered<'a>>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<StreamingDecoder<Buffered<'a>, FrameDecoder>>),
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
    fn check_end(&mut self) -> io::Result<()> {
        match self {
            Decoder::Zlib(_) | Decoder::Gzip(_) => Ok(()),
            // It takes the end of its input for the end of the frame, whose mark it then looked for in vain.
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) if decoder.get_ref().get_ref().ended => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the frame has no end"))
            }
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
                Err(io::Error::new(io::ErrorKind::InvalidData, "the content does not match its checksum"))
            }
        }
    }

    fn input(&mut self) -> &mut Input<'a> {
        match self {
            Decoder::Zlib(decoder) => decoder.get_mut().get_mut(),
            Decoder::Gzip(decoder) => decoder.get_mut().get_mut(),
            #[cfg(feature = "lz4")]
            Decoder::Lz4(decoder) => decoder.get_mut().get_mut(),
            #[cfg(feature = "zstd")]
            Decoder::Zstd(decoder) => decoder.get_mut().get_mut(),
        }
    }

    fn into_input(self) -> Buffered<'a> {
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
