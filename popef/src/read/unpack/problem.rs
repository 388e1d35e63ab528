use std::fmt;
use std::io;

use crate::error::{ErrorCode, counted, problems};
use crate::read::Compression;

problems! {
    /// Problems of unpacking an executable.
    UnpackProblem {
        NoData => ErrorCode::CompressedDataMissing,
            "the blob says that its data is compressed, but it has none";
        UnknownFormat { first: FirstBytes } => ErrorCode::UnknownCompression,
            "the data is compressed in an unknown format: it begins{first}, and is not zlib, gzip, zstd or an LZ4 \
             frame";
        #[cfg_attr(all(feature = "lz4", feature = "zstd"), expect(dead_code, reason = "all were built"))]
        NotBuilt { format: &'static str, feature: &'static str } => ErrorCode::CompressionNotBuilt,
            "the data is compressed with {format}, and popef was built without its feature {feature:?}";
        Damaged { format: &'static str, fault: &'static str, source: Option<io::Error> } =>
            ErrorCode::CompressedDataDamaged, source: source.as_ref().map(|source| source as _),
            "the {format} data is damaged: {fault}";
        /// The number of bytes is unknown for a reader that the caller gave, because it may never end.
        Surplus { found: Option<u64> } => ErrorCode::CompressedDataSurplus, needed: 0, found: *found,
            "{}bytes follow the end of the compressed data, and nothing says what they are",
            found.map(|found| format!("{found} ")).unwrap_or_default();
        TooShort { needed: u64, found: u64 } => ErrorCode::UnpackedTooShort, needed: *needed, found: *found,
            "the data unpacks to {}, the blob says {needed}", counted(*found, "byte");
        TooLong { needed: u64 } => ErrorCode::UnpackedTooLong, needed: *needed,
            "the data unpacks to more than the {} that the blob says", counted(*needed, "byte");
        WindowTooLarge { needed: u64, limit: u64 } => ErrorCode::WindowTooLarge, needed: *needed, found: *limit,
            "unpacking the data would take a window of {needed} bytes, more than the limit of {limit}";
    }
}

/// The first bytes of data in an unknown compression format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstBytes {
    bytes: [u8; Compression::MARK],
    /// The number of bytes present in `bytes`.
    given: usize,
}

impl FirstBytes {
    pub(crate) fn of(data: &[u8]) -> Self {
        let mut bytes = [0; Compression::MARK];
        let given = bytes.iter_mut().zip(data).map(|(to, from)| *to = *from).count();
        FirstBytes { bytes, given }
    }

    /// The problem of data that begins with these bytes and is in no known format.
    pub(crate) fn unknown(self) -> UnpackProblem {
        match self.given {
            0 => UnpackProblem::NoData,
            _ => UnpackProblem::UnknownFormat { first: self },
        }
    }
}

impl fmt::Display for FirstBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.iter().take(self.given).try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}
