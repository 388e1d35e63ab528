//! Recognises what an executable is by its first bytes.

use popef::error::{Error, ErrorKind};
use popef::read::{Compression, Data, ExecutableBlob, PoplarHeader};
use popef_payload::pickle::{ImportClass, Pickle};

/// What an executable's own bytes begin with.
pub(super) enum Start {
    /// Poplar's header, and the name of a part after it that does not begin like an LZ4 frame.
    Poplar { header: PoplarHeader, bad_part: Option<&'static str> },
    /// The letters that Poplar's header begins with, and then no number that is known.
    OtherPoplar,
    /// The beginning of Poplar's header, without enough bytes for all of it.
    CutPoplar,
    /// Something that is not an executable.
    Other(&'static str),
    /// Anything else, which may be an executable.
    Unknown,
}

/// What the stored bytes of an executable blob are, compressed or not.
pub(super) enum Stored {
    /// It is not compressed.
    Plain(Start),
    /// The format of compression is known.
    Packed,
    /// The blob says that it is compressed, but the format is unknown.
    UnknownCompression(Error),
}

/// The number of first bytes that are examined.
pub(super) const FIRST: usize = 4096;
/// The number of first bytes that are examined for known content other than zeros.
const MOST_MARK: usize = 64;

pub(super) const ARCHIVE: &str = "archive";
const METADATA: &str = "metadata";

impl Stored {
    /// Reads the first bytes of an executable. Fails if they cannot be read.
    pub(super) fn read(executable: &ExecutableBlob<'_>) -> Result<Self, Error> {
        if executable.is_compressed() {
            return match executable.compression() {
                Ok(_) => Ok(Stored::Packed),
                Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unknown) => {
                    Ok(Stored::UnknownCompression(error))
                }
                Err(error) => Err(error),
            };
        }
        let data = executable.data();
        let mut first = [0; FIRST];
        let mut start = data.read_up_to(0, first.get_mut(..MOST_MARK).unwrap_or_default())?;
        if is_zeros(start) || matches!(Start::of(start), Start::Unknown) {
            start = data.read_up_to(0, &mut first)?;
        }
        let mut start = Start::of(start);
        if let Start::Poplar { header, bad_part: bad_part @ None } = &mut start
            && !begins_as_part(&data, header)?
        {
            *bad_part = Some(METADATA);
        }
        Ok(Stored::Plain(start))
    }
}

/// Returns whether Poplar's metadata begins like an LZ4 frame, or cannot be checked.
fn begins_as_part(data: &Data<'_>, header: &PoplarHeader) -> Result<bool, Error> {
    // Another rule reports an executable that is cut.
    if header.format != 3 || header.metadata_compressed_size < 4 || needed_by(header) > data.len().into() {
        return Ok(true);
    }
    let start = part_start().saturating_add(header.archive_compressed_size);
    let mut mark = [0; 4];
    data.read_at(start, &mut mark)?;
    Ok(mark == LZ4)
}

fn part_start() -> u64 {
    u64::try_from(PoplarHeader::LEN).unwrap_or_default()
}

/// Returns the size of an executable by its Poplar header.
pub(super) fn needed_by(header: &PoplarHeader) -> u128 {
    let parts = [header.archive_compressed_size, header.metadata_compressed_size];
    parts.into_iter().fold(part_start().into(), |sum, part| sum.saturating_add(part.into()))
}

/// Returns the parts after Poplar's header that are not empty, each with its unpacked size.
pub(super) fn parts<'a>(data: &Data<'a>, header: &PoplarHeader) -> Result<Vec<(&'static str, Data<'a>, u64)>, Error> {
    let sizes = [
        (ARCHIVE, header.archive_compressed_size, header.archive_size),
        (METADATA, header.metadata_compressed_size, header.metadata_size),
    ];
    let mut start = part_start();
    let mut parts = Vec::with_capacity(sizes.len());
    for (name, packed, size) in sizes.into_iter().filter(|_| header.format == 3) {
        let end = start.saturating_add(packed);
        if packed > 0 {
            parts.push((name, data.range(start..end)?, size));
        }
        start = end;
    }
    Ok(parts)
}

/// Poplar's header begins with it.
const MAGIC: &[u8] = b"GC_EXE_";
const LZ4: &[u8] = &[0x04, 0x22, 0x4d, 0x18];

/// The magic numbers of some other formats.
const MARKS: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF program"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xff\xfe<\0", "a page in UTF-16"),
    (b"\xfe\xff\0<", "a page in UTF-16"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"\xfd7zXZ\0", "data compressed with xz"),
    (b"BZh91AY&SY", "data compressed with bzip2"),
    (b"\x80\x04\x95", PICKLE),
    (b"\x80\x05\x95", PICKLE),
];

const PICKLE: &str = "a Python pickle";

impl Start {
    /// Recognises the first bytes of an executable, or all of a short one.
    pub(super) fn of(first: &[u8]) -> Start {
        if let Some(header) = PoplarHeader::parse(first) {
            let archive = first.get(PoplarHeader::LEN..).unwrap_or_default();
            let archive = archive.get(..4).filter(|_| header.format == 3 && header.archive_compressed_size >= 4);
            return Start::Poplar { header, bad_part: archive.filter(|mark| *mark != LZ4).map(|_| ARCHIVE) };
        }
        let is_poplar = first.starts_with(MAGIC) || MAGIC.starts_with(first) && !first.is_empty();
        if is_poplar && first.len() < PoplarHeader::LEN {
            return Start::CutPoplar;
        }
        if is_poplar {
            return Start::OtherPoplar;
        }
        other(first).map_or(Start::Unknown, Start::Other)
    }
}

fn other(first: &[u8]) -> Option<&'static str> {
    let marked = MARKS.iter().find(|(mark, _)| first.starts_with(mark)).map(|(_, what)| *what);
    marked
        .or_else(|| of_old_pickle(first))
        .or_else(|| of_text(first))
        .or_else(|| of_compression(first))
        .or_else(|| (!first.is_empty() && is_zeros(first)).then_some("zeros, at least at its start"))
        .or_else(|| is_pickle(first).then_some(PICKLE))
}

/// Pickles of all protocols. A few bytes of anything else can follow a pickle's grammar by chance. So it has to end where the
/// bytes do, or to import something that is known.
fn is_pickle(first: &[u8]) -> bool {
    let Some(pickle) = Pickle::scan_bytes(first) else { return false };
    let is_whole = pickle.fault.is_none() && first.ends_with(b".");
    is_whole || pickle.imports.iter().any(|import| import.class != ImportClass::Unknown)
}

/// Pickles of protocols 2 and 3 begin with only two fixed bytes, and older ones without any. These are the opcodes that
/// usually follow. The number (0x8a) begins files of older versions of `torch.save`.
fn of_old_pickle(first: &[u8]) -> Option<&'static str> {
    let usual = matches!(first, [0x80, 2 | 3, b'c' | b'}' | b']' | b'(' | b'X' | 0x8a, ..]);
    let oldest: [&[u8]; 5] = [b"(dp0\n", b"(lp0\n", b"ccopy_reg\n", b"}q\0", b"]q\0"];
    (usual || oldest.iter().any(|start| first.starts_with(start))).then_some(PICKLE)
}

fn of_text(first: &[u8]) -> Option<&'static str> {
    let text = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
    let begins = |start: &[u8]| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    match () {
        () if begins(b"<!doctype html") || begins(b"<html") => Some("an HTML page"),
        () if begins(b"<?xml") || begins(b"<error>") => Some("an XML document"),
        () if begins(b"<!--") => Some("an HTML page or an XML document"),
        () if begins(b"version https://git-lfs") => Some("a Git LFS pointer"),
        () => None,
    }
}

fn of_compression(first: &[u8]) -> Option<&'static str> {
    Some(match Compression::of(first)? {
        Compression::Zlib => "data compressed with zlib",
        Compression::Gzip => "data compressed with gzip",
        Compression::Zstd => "data compressed with zstd",
        Compression::Lz4 => "data compressed with LZ4",
        _ => "compressed data",
    })
}

/// Returns what data is that may hold pickles, which the scan for pickles does not unpack.
pub(super) fn holder_of_pickles(first: &[u8]) -> Option<&'static str> {
    match first {
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => Some("data compressed with bzip2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("data compressed with xz"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("an array of NumPy"),
        first => of_compression(first),
    }
}

fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::{Start, other};

    #[test]
    fn what_is_no_executable_is_told_by_its_first_bytes() {
        for (first, what) in [
            (&b"\xef\xbb\xbf\n <!DOCTYPE HTML>"[..], "an HTML page"),
            (b"<?xml version", "an XML document"),
            (b"<Error><Code>", "an XML document"),
            (b"<!-- x --><html>", "an HTML page or an XML document"),
            (b"\xff\xfe<\0!\0", "a page in UTF-16"),
            (b"\nversion https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
            (b"PK\x05\x06\0", "a zip archive"),
            (b"\x80\x02}q\0", "a Python pickle"),
            (b"\x80\x04\x95\x10", "a Python pickle"),
            (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "a Python pickle"),
            (b"(dp0\nVa\np1\nI1\ns.", "a Python pickle"),
            (b"}q\0X\x01\0\0\0aq\x01K\x01s.", "a Python pickle"),
            (b"cos\nsystem\n(S'id'\ntR.", "a Python pickle"),
            (b"(cos\nsystem\nX\x02\0\0\0ido.", "a Python pickle"),
            (b"I1\n.", "a Python pickle"),
            (b"K\x01.", "a Python pickle"),
            (b"\x80\x01K\x01.", "a Python pickle"),
            (b"\x80\x03K\x01.", "a Python pickle"),
            (b"\x80\x04K\x01.", "a Python pickle"),
            (b"\x80\x05\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R.", "a Python pickle"),
            (b"\x1f\x8b\x08\0", "data compressed with gzip"),
            (b"\0", "zeros, at least at its start"),
            (&[0; 4096], "zeros, at least at its start"),
        ] {
            assert_eq!(other(first), Some(what), "{}", first.escape_ascii());
        }
        for first in [
            &b""[..],
            b"program",
            b"\0\0\x01",
            b"\x80\x04",
            b"GC_EXE_3",
            b"<htm",
            b"N.B. This is a text.",
            b"K\x01.\x7f",
        ] {
            assert_eq!(other(first), None, "{}", first.escape_ascii());
        }
    }

    #[test]
    fn a_poplar_header_is_whole_or_cut() {
        let whole = [&b"GC_EXE_3"[..], &[9; 32]].concat();
        assert!(matches!(Start::of(&whole), Start::Poplar { bad_part: None, .. }));
        for len in 1..40 {
            assert!(matches!(Start::of(&whole[..len]), Start::CutPoplar), "{len} bytes");
        }
        assert!(matches!(Start::of(b"GC_EXO_"), Start::Unknown));
        assert!(matches!(Start::of(&[&whole[..], b"LZ4?"].concat()), Start::Poplar { bad_part: Some("archive"), .. }));
        let frame = [&whole[..], &[4, 0x22, 0x4d, 0x18]].concat();
        assert!(matches!(Start::of(&frame), Start::Poplar { bad_part: None, .. }));
        // The parts of other formats are not known.
        let other = [&b"GC_EXE_1"[..], &[9; 32], b"LZ4?"].concat();
        assert!(matches!(Start::of(&other), Start::Poplar { bad_part: None, .. }));
    }
}
