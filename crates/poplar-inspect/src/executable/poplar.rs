//! A Poplar executable: a header, and two parts that are compressed.

use std::io::{self, Read};

use popef::read::{Limits, PoplarHeader, Unpack};

use super::input::len_of;
use crate::error::{Error, Part, Problem};

/// What follows the header of a Poplar executable.
pub(super) struct Parts<R> {
    reader: R,
    /// Where the next part begins.
    offset: u64,
}

impl<R: Read + Send> Parts<R> {
    pub(super) fn new(reader: R) -> Self {
        Parts { reader, offset: len_of(PoplarHeader::LEN) }
    }

    /// Calls `work` with the unpacked bytes of the next part, whose sizes are given, and then goes to its end.
    ///
    /// Returns the error of `work`. Fails if the part has fewer bytes than the header says, or if they cannot be read:
    /// then there is nothing after it.
    pub(super) fn next(
        &mut self,
        part: Part,
        [packed, unpacked]: [u64; 2],
        work: impl FnOnce(&mut dyn Read) -> Option<Error>,
    ) -> Result<Option<Error>, Error> {
        let mut bytes = self.reader.by_ref().take(packed);
        let damage = if [packed, unpacked] == [0, 0] {
            work(&mut io::empty())
        } else {
            match Unpack::from_reader(&mut bytes, unpacked, &Limits::default()) {
                Ok(mut unpack) => work(&mut unpack),
                Err(error) => Some(Error::unreadable(error.into(), part, 0)),
            }
        };
        let start = self.offset;
        self.offset = start.saturating_add(packed);
        let drained = io::copy(&mut bytes, &mut io::sink());
        let found = packed.saturating_sub(bytes.limit());
        // `work` may have seen the same error, but at a place that says less.
        drained.map_err(|error| Error::unreadable(error, Part::Input, start.saturating_add(found)))?;
        if found < packed {
            return Err(Problem::PartCut { needed: packed, found }.at(Part::Input, start));
        }
        Ok(damage)
    }

    /// Returns how many bytes follow the last part.
    pub(super) fn rest(mut self) -> Result<u64, Error> {
        let rest = io::copy(&mut self.reader, &mut io::sink());
        rest.map_err(|error| Error::unreadable(error, Part::Input, self.offset))
    }
}
