mod decoder;
mod fault;
#[cfg(feature = "lz4")]
mod lz4;
mod problem;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;
use std::io::{self, Read};

use flate2::bufread::{GzDecoder, ZlibDecoder};

use super::at::At;
use super::input::Input;
use super::reader::{DataReader, Of};
use crate::error::{Error, SystemProblem};
use crate::limits::Limits;
use crate::types::Compression;
use decoder::Decoder;
use fault::{Fault, TOO_EARLY};
pub(super) use problem::FirstBytes;
pub(crate) use problem::UnpackProblem;

/// A reader of an executable's own bytes, which it unpacks.
/// [`ExecutableBlob::unpack`](crate::read::ExecutableBlob::unpack) returns it.
///
/// An [`Error`] of this library is wrapped in the `io::Error`.
pub struct Unpack<'a> {
    state: State<'a>,
    /// The data that is unpacked, if it is from a file.
    of: Option<Of<'a>>,
}

enum State<'a> {
    Stored(DataReader<'a>),
    Packed(Box<Packed<'a>>),
    /// Reading failed with this error. Later reads fail again, so that no caller mistakes the failure for the end.
    Failed(Error),
}

struct Packed<'a> {
    /// `None` at the end.
    decoder: Option<Decoder<'a>>,
    compression: Compression,
    /// The largest window that the data may use.
    window: u64,
    needed: u64,
    given: u64,
    /// The most bytes that the caller will read.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "only zstd unpacks much before it gives anything"))]
    wanted: u64,
    at: At<'static>,
}

impl<'a> Unpack<'a> {
    /// Unpacks an executable's compressed bytes from any reader. They must unpack to `uncompressed_size` bytes. The
    /// format is found from the first bytes. The reader needs no buffer around it.
    ///
    /// For the data of an open file, use [`ExecutableBlob::unpack`](crate::read::ExecutableBlob::unpack).
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/compressed-zlib.popef")?;
    /// # let executable = file.executable("z").expect("the file has one");
    /// # let (response, size) = (executable.data().reader(), executable.uncompressed_size());
    /// let mut unpack = popef::read::Unpack::from_reader(response, size, &popef::read::Limits::default())?;
    /// assert_eq!(std::io::copy(&mut unpack, &mut std::io::sink())?, size);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_reader(
        reader: impl Read + Send + 'a,
        uncompressed_size: u64,
        limits: &Limits,
    ) -> Result<Unpack<'a>, Error> {
        let mut input = Input::from_reader(reader);
        let compression = format_of(&mut input)?;
        let sizes = [uncompressed_size, u64::MAX];
        let state = State::packed(input, compression, sizes, limits.unpack_window, At::nowhere())?;
        Ok(Unpack { state, of: None })
    }

    pub(super) fn stored(of: Of<'a>) -> Self {
        Unpack { state: State::Stored(DataReader::of(of)), of: None }
    }

    /// Makes a reader that unpacks `needed` bytes, of which the caller will read at most `wanted`.
    pub(super) fn packed(
        of: Of<'a>,
        compression: Compression,
        [needed, wanted]: [u64; 2],
        window: u64,
        at: At<'static>,
    ) -> Result<Self, Error> {
        let state = State::packed(Input::of(of.clone()), compression, [needed, wanted], window, at);
        let state = state.map_err(|error| of.error_in_file(error))?;
        Ok(Unpack { state, of: Some(of) })
    }
}

/// Finds the format of an input, and skips leading skippable frames.
fn format_of(input: &mut Input<'_>) -> Result<Compression, Error> {
    let mark = FirstBytes::of(input.peek(Compression::MARK)?);
    for _ in 0..Compression::MOST_SKIPPED {
        let Some(len) = Compression::skippable_frame(input.peek(Compression::SKIPPABLE_HEADER)?) else { break };
        input.skip(len)?;
    }
    Compression::of(input.peek(Compression::MARK)?).ok_or_else(|| mark.unknown().into())
}

impl<'a> State<'a> {
    fn packed(
        mut input: Input<'a>,
        compression: Compression,
        [needed, wanted]: [u64; 2],
        window: u64,
        at: At<'static>,
    ) -> Result<Self, Error> {
        let mut packed =
            Packed { decoder: None, compression, window, needed, given: 0, wanted: wanted.min(needed), at };
        packed.skip_frames(&mut input)?;
        packed.decoder = Some(packed.start(input)?);
        Ok(State::Packed(Box::new(packed)))
    }
}

impl Read for Unpack<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Stored(data) => data.read(buf),
            State::Packed(_) if buf.is_empty() => Ok(0),
            State::Packed(packed) => packed.read(buf).map_err(|error| {
                let error = match &self.of {
                    Some(of) => of.error_in_file(error),
                    None => error,
                };
                self.state = State::Failed(error.clone());
                error.into()
            }),
            // Not the original kind, because `Interrupted` would make callers try again.
            State::Failed(error) => Err(io::Error::other(error.clone())),
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
            // After all bytes were given, there must not be another one.
            let mut surplus = [0];
            let room = if left == 0 { &mut surplus } else { buf.get_mut(..left.min(buf.len())).unwrap_or_default() };
            match decoder.read(room) {
                Ok(0) => self.next_stream()?,
                Ok(_) if left == 0 => return Err(self.at.error(UnpackProblem::TooLong { needed: self.needed })),
                Ok(count) => {
                    self.given = self.given.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                    return Ok(count);
                }
                Err(fault) => return Err(self.error(fault)),
            }
        }
    }

    /// Goes on after the end of a compressed stream: to the next one, or to the end of the data.
    fn next_stream(&mut self) -> Result<(), Error> {
        let Some(mut decoder) = self.decoder.take() else { return Ok(()) };
        let input = decoder.input();
        self.skip_frames(input)?;
        let more = input.peek(Compression::MARK)?;
        if more.is_empty() {
            return self.check_end();
        }
        // All formats except zlib allow several streams one after the other.
        if self.compression == Compression::Zlib || Compression::of(more) != Some(self.compression) {
            self.check_end()?;
            return Err(self.at.error(UnpackProblem::Surplus { found: input.left() }));
        }
        self.decoder = Some(match decoder {
            #[cfg(feature = "lz4")]
            Decoder::Lz4(frames) => Decoder::Lz4(frames),
            other => self.start(other.into_input())?,
        });
        Ok(())
    }

    /// Skips skippable frames, which are the same in zstd and LZ4.
    fn skip_frames(&self, input: &mut Input<'_>) -> Result<(), Error> {
        if !matches!(self.compression, Compression::Zstd | Compression::Lz4) {
            return Ok(());
        }
        while let Some(len) = Compression::skippable_frame(input.peek(Compression::SKIPPABLE_HEADER)?) {
            input.skip(len)?.ok_or_else(|| self.error(TOO_EARLY.into()))?;
        }
        Ok(())
    }

    fn check_end(&self) -> Result<(), Error> {
        if self.given == self.needed {
            return Ok(());
        }
        Err(self.at.error(UnpackProblem::TooShort { needed: self.needed, found: self.given }))
    }

    fn start(&self, input: Input<'a>) -> Result<Decoder<'a>, Error> {
        Ok(match self.compression {
            Compression::Zlib => Decoder::Zlib(ZlibDecoder::new(input)),
            Compression::Gzip => Decoder::Gzip(GzDecoder::new(input)),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Decoder::Lz4(Box::new(lz4::Frames::of(input))),
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let wanted = self.wanted.saturating_sub(self.given);
                let frame = zstd::Frame::start(input, self.window, wanted);
                Decoder::Zstd(Box::new(frame.map_err(|fault| self.error(fault))?))
            }
            #[cfg(not(all(feature = "lz4", feature = "zstd")))]
            missing => {
                let (format, feature) = match missing {
                    Compression::Lz4 => ("LZ4", "lz4"),
                    _ => ("zstd", "zstd"),
                };
                return Err(self.at.error(UnpackProblem::NotBuilt { format, feature }));
            }
        })
    }

    fn error(&self, fault: Fault) -> Error {
        match fault {
            Fault::Input(error) => error,
            Fault::Data(fault, source) => {
                self.at.error(UnpackProblem::Damaged { format: self.compression.name(), fault, source })
            }
            Fault::Memory(needed) => {
                let needed = u64::try_from(needed).unwrap_or(u64::MAX);
                self.at.error(SystemProblem::OutOfMemory { needed })
            }
            Fault::Window(needed) => self.at.error(UnpackProblem::WindowTooLarge { needed, limit: self.window }),
        }
    }
}
