use popef::read::{Compression, ExecutableBlob, PoplarHeader};

use super::{Failure, Options};

/// What an executable's own bytes say of it.
pub(crate) struct Inside {
    /// How it is compressed; none if it is not.
    pub(crate) compression: Option<Compression>,
    /// Poplar's header; none if the bytes do not begin with one.
    pub(crate) header: Option<PoplarHeader>,
}

impl Inside {
    /// Read only when asked for: it takes the first of the executable's data.
    pub(crate) fn of(executable: &ExecutableBlob<'_>, options: &Options) -> Option<Result<Inside, Failure>> {
        let read = || {
            let compression = executable.compression()?;
            Ok(Inside { compression, header: executable.poplar_header()? })
        };
        options.verbose.then(|| read().map_err(|error: popef::Error| Failure::from(error)))
    }
}
