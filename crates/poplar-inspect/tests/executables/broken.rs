//! Archives and executables with one fault each: the error, its place, and what is read nevertheless.

use std::error::Error as _;
use std::io::{self, Read};

use popef::error::{ErrorCode as Popef, ErrorKind};
use poplar_inspect::executable::{NotATile, Options, Summary, Tile, read, read_archive_part};
use poplar_inspect::{ErrorCode, Part};

use crate::common::{ARCHIVES, archive, elf_files, fixture, member, member_that_says, summary};

/// A tile whose only section has 16 bytes, and that has no symbols.
fn plain() -> Vec<u8> {
    elf_files("kinds.a").remove(2)
}

/// The place of the section table in an ELF file.
fn table(elf: &[u8]) -> usize {
    u32::from_le_bytes(elf[32..36].try_into().unwrap()) as usize
}

/// `elf` with a number at a place.
fn with(elf: &[u8], at: usize, number: u32) -> Vec<u8> {
    let mut elf = elf.to_vec();
    elf[at..at + 4].copy_from_slice(&number.to_le_bytes());
    elf
}

#[track_caller]
fn assert_refused(bytes: &[u8], code: ErrorCode, text: &str) {
    let error = summary(bytes).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (code, text));
}

#[test]
fn other_files_are_refused() {
    let unknown = |how: &str| format!("byte 0: this is neither a Unix archive nor a Poplar executable: it {how}");
    assert_refused(b"", ErrorCode::UnknownStart, &unknown("is empty"));
    assert_refused(b"!<arc", ErrorCode::UnknownStart, &unknown("begins with 0x213c617263"));
    assert_refused(b"<bigaf>\n rest", ErrorCode::UnknownStart, &unknown("begins with 0x3c62696761663e0a"));
    let later = [b"GC_EXE_9".as_slice(), &[0; 32]].concat();
    assert_refused(&later, ErrorCode::UnknownStart, &unknown("begins with 0x47435f4558455f39"));
    assert_refused(
        &fixture("thin.a"),
        ErrorCode::ThinArchive,
        "byte 0: the archive is thin: it has only the names of files",
    );
    let part = read_archive_part(&mut fixture("thin.a").as_slice(), &Options::default());
    assert_eq!(part.damage.map(|damage| damage.code()), Some(ErrorCode::ThinArchive), "inside an executable");
    assert_refused(
        &fixture("poplar-3.gc_exe")[..20],
        ErrorCode::StartCut,
        "byte 0: the header of a Poplar executable needs 40 bytes, 20 are left",
    );
}

/// A broken member: its bytes, the code, the byte counted from the member's header, and the words.
type Case = (&'static str, Vec<u8>, ErrorCode, u64, &'static str);

fn broken_headers() -> Vec<Case> {
    use ErrorCode::{HeaderCut, HeaderDamaged, MemberCut, NameMissing, NamesTooLong};
    let header = |name: &str, size: &str| member_that_says(name, size, b"");
    let no_end = {
        let mut member = member("t.elf/", b"");
        member[58] = b' ';
        member
    };
    vec![
        ("header cut", b"t.elf/".to_vec(), HeaderCut, 0, "needs 60 bytes, 6 are left"),
        ("no terminator", no_end, HeaderDamaged, 0, "it does not end with 0x600a"),
        ("size in letters", header("t.elf/", "12a"), HeaderDamaged, 0, "the size is not a decimal number"),
        ("size with a sign", header("t.elf/", "+5"), HeaderDamaged, 0, "the size is not a decimal number"),
        ("size missing", header("t.elf/", ""), HeaderDamaged, 0, "the size is not a decimal number"),
        (
            "member cut",
            member_that_says("t.elf/", "9999999999", b"four"),
            MemberCut,
            60,
            "has 4 of its 9999999999 bytes",
        ),
        ("no table of names", header("/7", "0"), NameMissing, 0, "outside the table of long names"),
        ("place in letters", header("/x7", "0"), HeaderDamaged, 0, "the place of the name is not a decimal number"),
        ("length in letters", header("#1/x", "0"), HeaderDamaged, 0, "the length of the name is not a decimal number"),
        ("name beyond the member", header("#1/20", "19"), NameMissing, 0, "longer than the member that it is in"),
        ("name cut", member_that_says("#1/20", "30", b"four"), MemberCut, 60, "has 4 of its 20 bytes"),
        ("names cut", member_that_says("//", "30", b"four"), MemberCut, 60, "has 4 of its 30 bytes"),
        (
            "names at the limit",
            member_that_says("//", "16777216", b"four"),
            MemberCut,
            60,
            "has 4 of its 16777216 bytes",
        ),
        ("names too long", header("//", "9999999999"), NamesTooLong, 60, "more than the limit of 16777216"),
        ("symbols cut", member_that_says("/", "30", b"four"), MemberCut, 60, "has 4 of its 30 bytes"),
        ("64-bit symbols cut", member_that_says("/SYM64/", "30", b"four"), MemberCut, 60, "has 4 of its 30 bytes"),
    ]
}

#[test]
fn a_broken_member_ends_the_archive_and_keeps_what_was_before() {
    let good = member("t0.elf/", &plain());
    for (name, broken, code, offset, words) in broken_headers() {
        let found = summary(&archive(&[good.clone(), broken])).unwrap();
        assert_eq!(found.tiles.len(), 1, "{name}");
        assert!(!found.is_complete() && !found.overview().complete, "{name}");
        let damage = found.damage.unwrap();
        let at = 8 + good.len() as u64 + offset;
        assert_eq!((damage.code(), damage.place().offset, damage.place().part), (code, at, Part::Input), "{name}");
        assert!(damage.to_string().contains(words), "{name}: {damage}");
    }
}

#[test]
fn a_place_outside_the_table_of_names_is_damage() {
    let bytes = archive(&[member("//", b"one.elf/\n"), member("/0", &plain()), member("/9", &plain())]);
    let found = summary(&bytes).unwrap();
    assert_eq!(found.tiles[0].name, "one.elf");
    assert_eq!(found.damage.unwrap().code(), ErrorCode::NameMissing);
}

/// A fault in the ELF file of a tile: the file, the byte, and the words.
fn broken_tiles() -> Vec<(&'static str, Vec<u8>, usize, &'static str)> {
    let plain = plain();
    let symbols = elf_files("tiles.a").remove(1);
    let at = table(&plain);
    let section = |index: usize| at + 40 * index;
    let of_symbols = table(&symbols) + 40 * 9;
    let first_symbol = u32::from_le_bytes(symbols[of_symbols + 16..of_symbols + 20].try_into().unwrap()) as usize;
    let outside = "the table of sections is not inside it";
    let nameless = "the names of its sections are not inside it";
    vec![
        ("header cut", plain[..51].to_vec(), 0, "its header is damaged"),
        ("version 2", [&plain[..6], b"\x02", &plain[7..]].concat(), 0, "its header is damaged"),
        ("sections outside", with(&plain, 32, u32::MAX), u32::MAX as usize, outside),
        ("no sections", with(&plain, 32, 0), 0, "it has no sections"),
        // The half words: the size of a section header, how many there are, and which one has the names.
        ("section headers of 41 bytes", [&plain[..46], b"\x29", &plain[47..]].concat(), at, outside),
        ("too many sections", [&plain[..48], b"\x09", &plain[49..]].concat(), at, outside),
        ("no names", [&plain[..50], b"\x00", &plain[51..]].concat(), at, nameless),
        ("names in no section", [&plain[..50], b"\x07", &plain[51..]].concat(), at, nameless),
        ("names outside", with(&plain, section(2) + 20, 1 << 20), at, nameless),
        ("section outside", with(&plain, section(1) + 16, 1 << 20), section(1), "a section is not inside it"),
        ("section too long", with(&plain, section(1) + 20, u32::MAX), section(1), "a section is not inside it"),
        (
            "name outside",
            with(&plain, section(1), 1 << 20),
            section(1),
            "the name of a section is not inside the table",
        ),
        ("half a symbol", with(&symbols, of_symbols + 20, 24), of_symbols, "the table of symbols is not whole"),
        (
            "names of symbols",
            with(&symbols, of_symbols + 24, 99),
            of_symbols,
            "the names of its symbols are not inside",
        ),
        (
            "name of a symbol",
            with(&symbols, first_symbol + 16, 1 << 20),
            of_symbols,
            "the name of a symbol is not inside",
        ),
    ]
}

/// The archive itself is undamaged, so reading goes on.
#[test]
fn a_broken_tile_is_left_out_and_said() {
    for (name, broken, offset, words) in broken_tiles() {
        // The header decides whether it is the file of a tile at all.
        let is_tile = name != "header cut" && name != "version 2";
        let found = summary(&archive(&[member("t0/", &broken), member("t1/", &plain())])).unwrap();
        assert_eq!(found.tiles.iter().map(|tile| tile.number).collect::<Vec<_>>(), [1], "{name}");
        let [other] = &found.other_members[..] else { panic!("{name}") };
        if !is_tile {
            assert_eq!(other.reason, NotATile::OtherElf, "{name}");
            continue;
        }
        assert_eq!((other.name.to_string().as_str(), other.reason), ("t0", NotATile::Damaged), "{name}");
        let damage = found.damage.unwrap();
        assert_eq!((damage.code(), damage.place().offset), (ErrorCode::TileDamaged, 68 + offset as u64), "{name}");
        assert!(damage.to_string().starts_with("member \"t0\", byte "), "{name}: {damage}");
        assert!(damage.to_string().contains(words), "{name}: {damage}");
    }
}

#[test]
fn a_damaged_tile_keeps_its_position() {
    let broken = with(&plain(), 32, u32::MAX);
    let found = summary(&archive(&[member("a/", &plain()), member("b/", &broken), member("c/", &plain())])).unwrap();
    assert_eq!(found.tiles.iter().map(|tile| tile.number).collect::<Vec<_>>(), [0, 2]);
}

/// Only the start of a member that is not a tile is read.
#[test]
fn the_limit_is_only_for_tiles() {
    let mut options = Options::default();
    options.member_bytes = 1000;
    let found = read(&archive(&[member("other/", &[7; 5000])])[..], &options).unwrap();
    assert_eq!((found.is_complete(), found.other_members[0].reason), (true, NotATile::NotElf));
}

#[test]
fn limits_are_said() {
    let bytes = archive(&[member("t0/", &elf_files("tiles.a")[2]), member("t1/", &plain()), member("t2/", &plain())]);
    let mut options = Options::default();
    options.member_bytes = 1000;
    options.tiles = 1;
    let found = read(&bytes[..], &options).unwrap();
    assert_eq!(found.other_members[0].reason, NotATile::TooLong);
    assert_eq!(found.tiles.len(), 1);
    let damage = found.damage.unwrap();
    assert_eq!((damage.code(), damage.found()), (ErrorCode::MemberTooLong, Some(1000)));

    options.member_bytes = 1 << 20;
    let damage = read(&bytes[..], &options).unwrap().damage.unwrap();
    assert_eq!((damage.code(), damage.kind(), damage.found()), (ErrorCode::TooManyTiles, ErrorKind::Limit, Some(1)));
}

/// The header of `poplar-3.gc_exe` with another number in place of one of its four sizes.
fn with_size(index: usize, size: u64) -> Vec<u8> {
    let mut bytes = fixture("poplar-3.gc_exe");
    bytes[8 + 8 * index..16 + 8 * index].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[track_caller]
fn damage(bytes: &[u8]) -> (Summary, ErrorCode, Part, u64) {
    let found = summary(bytes).unwrap();
    let damage = found.damage.clone().unwrap();
    let (part, offset) = (damage.place().part, damage.place().offset);
    (found, damage.code(), part, offset)
}

#[test]
fn a_cut_executable_keeps_what_was_before() {
    let bytes = fixture("poplar-3.gc_exe");
    let (found, code, part, offset) = damage(&bytes[..2000]);
    assert_eq!((code, part, offset), (ErrorCode::PartCut, Part::Input, 40));
    assert!((1..8).contains(&found.tiles.len()) && found.metadata.is_none(), "{}", found.tiles.len());

    let (found, code, part, offset) = damage(&bytes[..bytes.len() - 1]);
    assert_eq!((code, part, offset), (ErrorCode::PartCut, Part::Input, 40 + 2984));
    assert_eq!(found.tiles.len(), 8);
    let metadata = found.metadata.unwrap();
    assert!(metadata.read_bytes <= metadata.bytes);
}

#[test]
fn sizes_that_lie_are_found_and_the_other_part_is_read() {
    for (size, popef) in [(8577, Popef::UnpackedTooLong), (8579, Popef::UnpackedTooShort)] {
        let found = summary(&with_size(0, size)).unwrap();
        let damage = found.damage.unwrap();
        assert_eq!(
            (damage.code(), damage.kind(), damage.place().part),
            (ErrorCode::Unreadable, ErrorKind::Damaged, Part::Archive)
        );
        let source = damage.source().unwrap().downcast_ref::<popef::Error>().unwrap();
        assert_eq!(source.code(), popef);
        assert!(found.tiles.len() >= 7, "{}", found.tiles.len());
        assert!(found.metadata.unwrap().is_one_message());
    }
    for size in [21_287, 21_289, u64::MAX] {
        let (found, code, part, _) = damage(&with_size(2, size));
        assert_eq!((code, part, found.tiles.len()), (ErrorCode::Unreadable, Part::Metadata, 8));
        assert!(!found.metadata.unwrap().is_one_message());
    }
    for size in [u64::MAX, u64::MAX - 40] {
        let (_, code, part, offset) = damage(&with_size(1, size));
        assert_eq!((code, part, offset), (ErrorCode::PartCut, Part::Input, 40));
    }
}

#[test]
fn damaged_frames_are_found_and_the_other_part_is_read() {
    let mut bytes = fixture("poplar-3.gc_exe");
    bytes[40] ^= 0xff;
    let (found, code, part, offset) = damage(&bytes);
    assert_eq!((code, part, offset), (ErrorCode::Unreadable, Part::Archive, 0));
    assert!(found.tiles.is_empty() && found.metadata.unwrap().is_one_message());
}

#[test]
fn bytes_after_the_parts_are_counted() {
    let bytes = [fixture("poplar-3.gc_exe"), vec![7; 100]].concat();
    let found = summary(&bytes).unwrap();
    assert_eq!((found.bytes_after, found.is_complete()), (100, true));
}

/// A reader that fails at a byte.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 => Err(io::Error::new(io::ErrorKind::TimedOut, "the network is down")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_failure_of_the_reader_is_not_damage_of_the_file() {
    for (name, cut) in [("tiles.a", 3000), ("poplar-3.gc_exe", 1500), ("poplar-3.gc_exe", 14_000)] {
        let found = read(Failing(&fixture(name)[..cut]), &Options::default()).unwrap();
        assert!(!found.tiles.is_empty(), "{name}");
        let damage = found.damage.unwrap();
        assert_eq!((damage.code(), damage.kind()), (ErrorCode::Unreadable, ErrorKind::Io), "{name}: {damage}");
        assert!(damage.to_string().contains("the network is down"), "{name}: {damage}");
    }
    for cut in [0, 5, 8, 30] {
        let error = read(Failing(&fixture("poplar-3.gc_exe")[..cut]), &Options::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::TimedOut);
    }
}

/// Where members begin and end.
fn borders(archive: &[u8]) -> Vec<usize> {
    let (mut borders, mut at) = (vec![8], 8);
    while let Some(header) = archive.get(at..).filter(|rest| !rest.is_empty()) {
        let size: usize = std::str::from_utf8(&header[48..58]).unwrap().trim().parse().unwrap();
        let end = at + 60 + size;
        at = end.next_multiple_of(2);
        borders.extend([end, at]);
    }
    borders
}

#[test]
fn every_beginning_of_an_archive_gives_the_first_tiles_and_says_that_it_is_cut() {
    for name in ARCHIVES {
        let bytes = fixture(&format!("{name}.a"));
        let borders = borders(&bytes);
        let whole = summary(&bytes).unwrap();
        for cut in 8..bytes.len() {
            let part = summary(&bytes[..cut]).unwrap();
            let names = |tiles: &[Tile]| tiles.iter().map(|tile| tile.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&part.tiles), names(&whole.tiles[..part.tiles.len()]), "{name}, {cut}");
            // Between two members a cut does not show.
            assert_eq!(part.is_complete(), borders.contains(&cut), "{name}, {cut}");
        }
    }
}

#[test]
fn no_changed_byte_makes_anything_panic() {
    for name in ["kinds.a", "bsd-names.a", "sym64.a", "poplar-1.gc_exe", "poplar-no-archive.gc_exe"] {
        let bytes = fixture(name);
        for at in 0..bytes.len() {
            for change in [0xff, 0x01, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                let Ok(found) = summary(&bytes) else { continue };
                assert_eq!(
                    found.contents.iter().map(|content| content.tiles as usize).sum::<usize>(),
                    found.tiles.len()
                );
                found.histogram(7);
                found.overview();
                found.overfull();
            }
        }
    }
}
