//! zstd frames, which ruzstd unpacks.

use std::io::{self, Read as _};

use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::decoder::{Fault, NO_DICTIONARY, ODD_BLOCK, ODD_HEADER, OTHER_CONTENT, TOO_EARLY};
use crate::read::input::Input;

/// The decoder of one frame.
pub(super) struct Frame<'a>(StreamingDecoder<Input<'a>, FrameDecoder>);

/// The longest header of a frame.
const LONGEST_HEADER: usize = 18;

impl<'a> Frame<'a> {
    /// Reads a frame's header. The frame may refer as far back as `limit`.
    pub(super) fn start(mut input: Input<'a>, limit: u64) -> Result<Self, Fault> {
        // So that the header is there, or the input at its end: the decoder keeps the input if it fails.
        input.peek(LONGEST_HEADER).map_err(Fault::Input)?;
        StreamingDecoder::new_with_max_window_size(input, limit).map(Frame).map_err(odd_header)
    }

    /// Gives the next bytes; none at the end of the frame, which is checked then.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Fault> {
        match self.0.read(buf) {
            Ok(0) => self.check_end().map(|()| 0),
            Ok(count) => Ok(count),
            Err(error) => Err(Fault::of(error, self.0.get_mut(), ODD_BLOCK)),
        }
    }

    /// The decoder works the checksum out and does not compare it.
    fn check_end(&self) -> Result<(), Fault> {
        let decoder = &self.0.decoder;
        let (stated, found) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        if stated.is_none() || stated == found { Ok(()) } else { Err(OTHER_CONTENT.into()) }
    }

    pub(super) fn input(&mut self) -> &mut Input<'a> {
        self.0.get_mut()
    }

    pub(super) fn into_input(self) -> Input<'a> {
        self.0.into_inner()
    }
}

fn odd_header(error: FrameDecoderError) -> Fault {
    let fault = match &error {
        FrameDecoderError::WindowSizeTooBig { requested: needed, .. }
        | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { got: needed }) => {
            return Fault::Window(*needed);
        }
        FrameDecoderError::DictNotProvided { .. } => NO_DICTIONARY,
        FrameDecoderError::ReadFrameHeaderError(
            ReadFrameHeaderError::FrameDescriptorReadError(_)
            | ReadFrameHeaderError::WindowDescriptorReadError(_)
            | ReadFrameHeaderError::DictionaryIdReadError(_)
            | ReadFrameHeaderError::FrameContentSizeReadError(_),
        ) => TOO_EARLY,
        _ => ODD_HEADER,
    };
    Fault::Data(fault, Some(io::Error::other(error)))
}
