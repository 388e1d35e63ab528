//! What each tile of the IPUs has in its memory.
//!
//! A compiled model has one program per tile. Poplar links each into a 32-bit ELF file, and puts all of these into a Unix
//! archive. There are two ways to get that archive:
//!
//! - Poplar writes it as `archive.a` if the engine option `target.saveArchive` asks for it. This is documented: users
//!   pipe it through `size -A`.
//! - A PopEF file has it in its executable, in all likelihood. This is an inference, because no sample is public. Results
//!   from there have [`verified`](Summary::verified) unset.
//!
//! [`read`] takes the bytes of either from any reader, and [`read_blob`] takes the executable of a PopEF file, compressed
//! or not. Neither holds more than one tile's file in memory.
//!
//! ```text
//! archive.a ─────────────────────────────► archive ──► members ──► ELF files ──► Summary
//! PopEF executable ──► GC_EXE_3 ──► LZ4 ──────┘
//!                         └───────► LZ4 ──► metadata
//! ```
//!
//! # Example
//!
//! ```
//! use poplar_inspect::executable::{Options, read};
//!
//! # let tiles: [&[u8]; 2] = [&doc_tile(), &doc_tile()];
//! # let mut bytes = b"!<arch>\n".to_vec();
//! # for (number, tile) in tiles.iter().enumerate() {
//! #     let name = format!("tile{number}.elf/");
//! #     bytes.extend(format!("{name:16}0           0     0     644     {:<10}`\n", tile.len()).bytes());
//! #     bytes.extend(*tile);
//! # }
//! # fn doc_tile() -> Vec<u8> {
//! #     let mut elf = b"\x7fELF\x01\x01\x01".to_vec();
//! #     elf.resize(16, 0);
//! #     elf.extend([2, 0, 248, 0, 1, 0, 0, 0]); // type, machine, version
//! #     for word in [0_u32, 0, 52, 0] { elf.extend(word.to_le_bytes()); } // entry, segments, sections, flags
//! #     for half in [52_u16, 0, 0, 40, 3, 2] { elf.extend(half.to_le_bytes()); }
//! #     let sections: [[u32; 6]; 3] = [[0; 6], [1, 1, 6, 0x4c000, 172, 4], [7, 3, 0, 0, 176, 17]];
//! #     for section in sections {
//! #         let [name, kind, flags, address, offset, size] = section;
//! #         for word in [name, kind, flags, address, offset, size, 0, 0, 1, 0] { elf.extend(word.to_le_bytes()); }
//! #     }
//! #     elf.extend([1, 2, 3, 4]);
//! #     elf.extend(b"\0.text\0.shstrtab\0");
//! #     elf.resize(elf.len().next_multiple_of(2), 0);
//! #     elf
//! # }
//! # let archive = &bytes[..];
//! // `archive` is any reader, such as a `File::open("archive.a")?`.
//! let summary = read(archive, &Options::default())?;
//!
//! let tiles = summary.overview();
//! println!("{} tiles, {} of them different", tiles.count, tiles.distinct);
//! for tile in summary.fullest(10) {
//!     println!("tile {}: {} bytes", tile.number, summary.memory(tile));
//! }
//! for section in &summary.sections {
//!     println!("{} {} times, {} bytes", section.name, section.count, section.bytes);
//! }
//! if let Some(damage) = &summary.damage {
//!     println!("incomplete: {damage}");
//! }
//! # assert_eq!((tiles.count, tiles.distinct, tiles.total_bytes, tiles.complete), (2, 1, 8, true));
//! # Ok::<(), poplar_inspect::Error>(())
//! ```
//!
//! # What it costs
//!
//! The time is in proportion to the bytes, packed and unpacked: at most 75 ns for each, and less than 1 ns if they are
//! mostly code and data. The memory is at most six times the longest member ([`Options::member_bytes`]), 64 MiB for as
//! many tiles and names as the options allow, and what unpacking takes ([`popef::read::Limits`]). An ordinary archive of
//! 1,472 tiles takes less than a megabyte besides its longest member. A length in the file is believed only when its
//! bytes are there.

mod archive;
mod fit;
mod input;
mod inspection;
mod metadata;
mod number;
mod options;
mod poplar;
mod sizes;
mod summary;
mod tally;
mod tile;

use std::io::Read;

use object::archive::{MAGIC, THIN_MAGIC};
use popef::read::{ExecutableBlob, PoplarHeader};

pub use popef_findings::{Chips, Generation, chips, tile_memory};

pub use fit::{Fit, MemorySource, Verdict};
pub use inspection::inspect_archive;
pub use metadata::{Message, MetadataPart};
pub use options::Options;
pub use sizes::{SectionKind, Sizes};
pub use summary::{Bucket, Container, Content, NotATile, Numbering, OtherMember, SectionTotal, Summary, Tile, Tiles};
pub use tile::{Largest, Section, Symbol, SymbolKind, TileFile};

use crate::error::{Error, Part, Problem};
use archive::Archive;
use input::{fill, len_of};
use poplar::Parts;
use tally::Tally;

/// Reads an archive of tiles, or a Poplar executable.
///
/// It fails if the bytes begin like neither. Later damage is in [`Summary::damage`], beside all that was read before it.
pub fn read(reader: impl Read + Send, options: &Options) -> Result<Summary, Error> {
    visit(reader, options, |_| {})
}

/// Reads the executable of a PopEF file, and unpacks it if it is compressed. See [`read`].
///
/// ```
/// # use popef::Writer;
/// # let mut bytes = Vec::new();
/// # let mut writer = Writer::stream(&mut bytes);
/// # writer.write_executable("model", &b"!<arch>\n"[..])?;
/// # writer.finish()?;
/// use poplar_inspect::executable::{Options, read_blob};
///
/// let file = popef::File::from_bytes(bytes)?;
/// for executable in file.executables() {
///     match read_blob(&executable, &Options::default()) {
///         Ok(summary) => println!("{}: {} tiles", executable.name(), summary.tiles.len()),
///         Err(error) => println!("{}: not read: {error}", executable.name()),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_blob(executable: &ExecutableBlob<'_>, options: &Options) -> Result<Summary, Error> {
    let unpack = executable.unpack().map_err(|error| Error::unreadable(error.into(), Part::Input, 0))?;
    read(unpack, options)
}

/// Reads the archive of a Poplar executable, for programs that find and unpack it themselves. See [`read`].
///
/// It never fails: if this is not an archive, [`Summary::damage`] says so.
///
/// ```
/// use poplar_inspect::ErrorCode;
/// use poplar_inspect::executable::{Options, read_archive_part};
///
/// let summary = read_archive_part(&b"something else"[..], &Options::default());
/// assert_eq!(summary.damage.map(|damage| damage.code()), Some(ErrorCode::PartUnknown));
/// assert!(!summary.verified);
/// ```
pub fn read_archive_part(mut archive: impl Read, options: &Options) -> Summary {
    let mut tally = Tally::new(Container::Archive, options);
    tally.summary().verified = false;
    let damage = read_archive(&mut archive, &mut tally, &mut |_| {});
    damage.into_iter().for_each(|damage| tally.damaged(damage));
    tally.finish()
}

/// Reads an archive of tiles or a Poplar executable, and calls `each` with the ELF file of every tile: with its sections,
/// symbols and bytes.
///
/// ```
/// # let archive = &b"!<arch>\n"[..];
/// use poplar_inspect::executable::{Options, SymbolKind, visit};
///
/// visit(archive, &Options::default(), |tile| {
///     for symbol in tile.symbols().filter(|symbol| symbol.kind == SymbolKind::Function) {
///         println!("{}: {} has {} bytes", tile.name(), symbol.name, symbol.size);
///     }
/// })?;
/// # Ok::<(), poplar_inspect::Error>(())
/// ```
pub fn visit(
    mut reader: impl Read + Send,
    options: &Options,
    mut each: impl FnMut(&TileFile<'_>),
) -> Result<Summary, Error> {
    visit_each(&mut reader, options, &mut each)
}

/// A function that gets each tile. It is not a type parameter, so that the code is compiled once.
type Each<'e> = dyn FnMut(&TileFile<'_>) + 'e;

fn visit_each(reader: &mut (dyn Read + Send), options: &Options, each: &mut Each<'_>) -> Result<Summary, Error> {
    let mut start = [0; PoplarHeader::LEN];
    let (mark, sizes) = start.split_at_mut(MAGIC.len());
    let failed = |error, offset| Error::unreadable(error, Part::Input, offset);
    let found = fill(&mut *reader, mark).map_err(|error| failed(error, 0))?;
    if *mark == MAGIC {
        let mut tally = Tally::new(Container::Archive, options);
        let damage = read_members(Archive::new(reader, Part::Input, tally.wanted()), &mut tally, each);
        damage.into_iter().for_each(|damage| tally.damaged(damage));
        return Ok(tally.finish());
    }
    if *mark == THIN_MAGIC {
        return Err(Problem::ThinArchive.at(Part::Input, 0));
    }
    if !mark.starts_with(b"GC_EXE_") {
        let first = mark.get(..found).unwrap_or_default().to_vec();
        return Err(Problem::UnknownStart { first }.at(Part::Input, 0));
    }
    let found = fill(&mut *reader, sizes).map_err(|error| failed(error, len_of(MAGIC.len())))?;
    if found < sizes.len() {
        let [needed, found] = [PoplarHeader::LEN, MAGIC.len().saturating_add(found)].map(len_of);
        return Err(Problem::StartCut { needed, found }.at(Part::Input, 0));
    }
    let Some(header) = PoplarHeader::parse(&start) else {
        let first = start.get(..MAGIC.len()).unwrap_or_default().to_vec();
        return Err(Problem::UnknownStart { first }.at(Part::Input, 0));
    };
    let mut tally = Tally::new(Container::Executable { format: header.format }, options);
    if let Err(error) = read_parts(reader, &header, &mut tally, each) {
        tally.damaged(error);
    }
    Ok(tally.finish())
}

/// Reads both parts of a Poplar executable. The second does not depend on the first.
fn read_parts(
    reader: &mut (dyn Read + Send),
    header: &PoplarHeader,
    tally: &mut Tally,
    each: &mut Each<'_>,
) -> Result<(), Error> {
    let mut parts = Parts::new(reader);
    let sizes = [header.archive_compressed_size, header.archive_size];
    let damage = parts.next(Part::Archive, sizes, |unpack| read_archive(unpack, tally, each))?;
    damage.into_iter().for_each(|damage| tally.damaged(damage));

    let sizes = [header.metadata_compressed_size, header.metadata_size];
    let strings = tally.options().strings;
    let mut metadata = None;
    let damage = parts.next(Part::Metadata, sizes, |unpack| {
        let (part, damage) = metadata::read(unpack, sizes, strings);
        metadata = Some(part);
        damage
    });
    tally.summary().metadata = metadata;
    damage?.into_iter().for_each(|damage| tally.damaged(damage));

    tally.summary().bytes_after = parts.rest()?;
    Ok(())
}

/// Reads the archive in a Poplar executable. Returns what stopped it.
fn read_archive(unpack: &mut dyn Read, tally: &mut Tally, each: &mut Each<'_>) -> Option<Error> {
    let mut mark = [0; MAGIC.len()];
    match fill(&mut *unpack, &mut mark) {
        Err(error) => Some(Error::unreadable(error, Part::Archive, 0)),
        Ok(_) if mark == MAGIC => read_members(Archive::new(unpack, Part::Archive, tally.wanted()), tally, each),
        Ok(_) if mark == THIN_MAGIC => Some(Problem::ThinArchive.at(Part::Archive, 0)),
        Ok(found) => {
            let first = mark.get(..found).unwrap_or_default().to_vec();
            Some(Problem::PartUnknown { first }.at(Part::Archive, 0))
        }
    }
}

/// Reads all members of an archive. Returns what stopped it.
fn read_members(mut archive: Archive<&mut dyn Read>, tally: &mut Tally, each: &mut Each<'_>) -> Option<Error> {
    let mut bytes = Vec::new();
    loop {
        let member = match archive.next(&mut bytes) {
            Ok(Some(member)) => member,
            Ok(None) => return None,
            Err(error) => return Some(error),
        };
        if let Err(error) = tally.add(&member, &bytes, archive.part(), each) {
            return Some(error);
        }
    }
}
