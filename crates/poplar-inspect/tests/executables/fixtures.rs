//! The content of the fixtures, as the script that made them lists it.

use poplar_inspect::executable::{
    Container, Generation, NotATile, Numbering, SectionKind, Summary, chips, tile_memory,
};

use crate::common::{ARCHIVES, archive, elf_files, fixture, member, summary};

fn tiles() -> Summary {
    summary(&fixture("tiles.a")).unwrap()
}

fn numbers(summary: &Summary) -> Vec<u32> {
    summary.tiles.iter().map(|tile| tile.number).collect()
}

#[test]
fn tiles_are_numbered_by_their_names() {
    let tiles = tiles();
    assert_eq!((tiles.container, tiles.verified), (Container::Archive, true));
    assert_eq!(tiles.numbering, Numbering::Names);
    assert_eq!(numbers(&tiles), [0, 1, 10, 2, 3, 4, 5, 6]);
    assert_eq!(tiles.tiles[2].name, "tile10.elf");
}

#[test]
fn tiles_are_numbered_by_position_if_their_names_do_not_agree() {
    let bytes = elf_files("tiles.a").remove(0);
    let numbers_of = |names: &[&str]| {
        let members: Vec<_> = names.iter().map(|name| member(name, &bytes)).collect();
        let summary = summary(&archive(&members)).unwrap();
        (summary.numbering, numbers(&summary))
    };
    assert_eq!(numbers_of(&["t7.elf/", "t5.elf/"]), (Numbering::Names, vec![7, 5]));
    assert_eq!(numbers_of(&["t7.elf/", "t07.elf/"]), (Numbering::Positions, vec![0, 1]), "the same number");
    assert_eq!(numbers_of(&["t7.elf/", "u5.elf/"]), (Numbering::Positions, vec![0, 1]), "other words");
    assert_eq!(numbers_of(&["t7.elf/", "t.elf/"]), (Numbering::Positions, vec![0, 1]), "no number");
}

#[test]
fn equal_tiles_are_counted_once() {
    let tiles = tiles();
    let contents: Vec<_> = tiles.tiles.iter().map(|tile| tile.content).collect();
    assert_eq!(contents, [0, 1, 2, 3, 4, 5, 4, 4]);
    let counts: Vec<_> = tiles.contents.iter().map(|content| content.tiles).collect();
    assert_eq!(counts, [1, 1, 1, 1, 3, 1]);

    let overview = tiles.overview();
    assert_eq!((overview.count, overview.distinct), (8, 6));
    assert_eq!((overview.largest_tile, overview.largest_bytes), (Some(2), 2704));
    assert_eq!(overview.total_bytes, 400 + 2700 + 1000 + 2704 + 3 * 200 + 333);
    assert!(overview.verified && overview.complete);
}

#[test]
fn bytes_are_told_apart_by_kind() {
    let tiles = tiles();
    let all_kinds = &tiles.contents[1];
    let sizes = all_kinds.sizes;
    assert_eq!((sizes.code, sizes.constants, sizes.data, sizes.zeroed), (304, 40 + 20, 100, 700 + 1536));
    assert_eq!((sizes.other, sizes.memory(), sizes.total()), (8 + 57, 2700, 2765));
    assert_eq!((all_kinds.sections, all_kinds.symbols, all_kinds.functions), (11, 9, 2));

    let totals = tiles.totals();
    assert_eq!(totals.code, 400 + 304 + 1000 + 308 + 3 * 200 + 333);
    assert_eq!(totals.memory(), tiles.overview().total_bytes);
}

/// The section of 1,536 bytes, and in another one the symbols [0x200, 0x300) and [0x280, 0x340). Not the symbols of code,
/// of numbers, and in the section that counts already.
#[test]
fn stacks_are_those_that_names_tell() {
    let tiles = tiles();
    assert_eq!(tiles.contents[1].stack, Some(1536 + 0x140));
    assert_eq!(tiles.contents[0].stack, None);

    let kinds = summary(&fixture("kinds.a")).unwrap();
    let stacks: Vec<_> = kinds.contents.iter().map(|content| content.stack).collect();
    assert_eq!(stacks, [Some(1536 + 0x140), Some(8), None]);
}

#[test]
fn sections_are_added_up_by_name() {
    let tiles = tiles();
    let first = &tiles.sections[0];
    assert_eq!((first.name.to_string().as_str(), first.kind), (".worker_stack", SectionKind::Zeroed));
    assert_eq!((first.count, first.bytes, first.largest), (2, 2 * 1536, 1536));
    let text = tiles.sections.iter().find(|section| section.name == ".text").unwrap();
    assert_eq!((text.count, text.bytes, text.largest), (8, tiles.totals().code, 1000));
    assert_eq!(tiles.sections_left_out, 0);
    let bytes: u64 = tiles.sections.iter().map(|section| section.bytes).sum();
    assert_eq!(bytes, tiles.totals().total() + tiles.totals().tables);
}

#[test]
fn names_of_sections_beyond_the_limit_are_left_out() {
    let mut options = poplar_inspect::executable::Options::default();
    options.section_names = 2;
    let tiles = poplar_inspect::executable::read(&fixture("tiles.a")[..], &options).unwrap();
    let names: Vec<_> = tiles.sections.iter().map(|section| section.name.to_string()).collect();
    assert_eq!(names, [".text", ".symtab"]);
    // Each tile has two more tables, and two tiles have seven more sections.
    assert_eq!(tiles.sections_left_out, 8 * 2 + 2 * 7);
    assert!(tiles.is_complete());
}

#[test]
fn the_fullest_come_first() {
    let tiles = tiles();
    let fullest: Vec<_> = tiles.fullest(4).into_iter().map(|tile| (tile.number, tiles.memory(tile))).collect();
    assert_eq!(fullest, [(2, 2704), (1, 2700), (10, 1000), (0, 400)]);
    let last: Vec<_> = tiles.fullest(100).into_iter().skip(5).map(|tile| tile.number).collect();
    assert_eq!(last, [3, 5, 6], "equal ones by number");
}

#[test]
fn a_histogram_counts_every_tile() {
    let tiles = tiles();
    let shown = |buckets| tiles.histogram(buckets).iter().map(|it| (it.from, it.to, it.tiles)).collect::<Vec<_>>();
    // From 200 to 2,704 bytes: 2,505 sizes.
    assert_eq!(shown(1), [(200, 2704, 8)]);
    assert_eq!(shown(3), [(200, 1034, 6), (1035, 1869, 0), (1870, 2704, 2)]);
    assert_eq!(shown(0), []);
    assert_eq!(shown(5000).iter().map(|bucket| bucket.2).sum::<u64>(), 8);

    let one = summary(&archive(&[member("t0/", &elf_files("tiles.a")[0])])).unwrap();
    assert_eq!(one.histogram(10).len(), 1);
    assert!(summary(b"!<arch>\n").unwrap().histogram(10).is_empty());
}

#[test]
fn other_members_are_no_tiles() {
    let names = summary(&fixture("long-names.a")).unwrap();
    assert_eq!(names.tiles[1].name, "poplar_tile_executable_0001.elf");
    assert_eq!(names.tiles.len(), 4);
    let others: Vec<_> = names.other_members.iter().map(|it| (it.name.to_string(), it.bytes, it.reason)).collect();
    let [(readme, 19, NotATile::NotElf), (host, _, NotATile::OtherElf)] = &others[..] else { panic!("{others:?}") };
    assert_eq!((readme.as_str(), host.as_str()), ("README.txt", "host_code.o"));
    assert_eq!(names.other_members_count, 2);
}

#[test]
fn tables_of_symbols_are_no_members() {
    for name in ["sym64.a", "bsd-names.a"] {
        let summary = summary(&fixture(name)).unwrap();
        assert!(summary.is_complete() && summary.other_members.is_empty(), "{name}");
    }
    for name in ["/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED"] {
        let summary = summary(&archive(&[member(name, b"odd"), member("t0/", &elf_files("tiles.a")[0])])).unwrap();
        assert_eq!((summary.tiles.len(), summary.other_members_count), (1, 0), "{name}");
    }
}

#[test]
fn an_archive_without_members_has_no_tiles() {
    let empty = summary(b"!<arch>\n").unwrap();
    let overview = empty.overview();
    assert_eq!((overview.count, overview.largest_tile, overview.complete), (0, None, true));
    assert!(empty.chips().is_empty());
    assert!(empty.overfull().is_none());
}

/// The byte between members may be any, and after the last one it may be missing.
#[test]
fn padding_is_not_looked_at() {
    let odd = {
        let mut elf = elf_files("tiles.a").remove(0);
        elf.push(0);
        elf
    };
    let whole = archive(&[member("t0/", &odd), member("t1/", &odd)]);
    let between = 8 + 60 + odd.len();
    for padding in [b'\n', 0, b' ', b'x'] {
        let mut bytes = whole.clone();
        bytes[between] = padding;
        let summary = summary(&bytes[..bytes.len() - 1]).unwrap();
        assert!(summary.is_complete() && summary.tiles.len() == 2);
    }
}

#[test]
fn a_number_of_tiles_tells_the_chips() {
    let shown = |tiles| chips(tiles).into_iter().map(|chips| (chips.generation, chips.ipus)).collect::<Vec<_>>();
    assert_eq!(shown(1216), [(Generation::Ipu1, 1)]);
    assert_eq!(shown(64 * 1472), [(Generation::Ipu2, 64)]);
    // 19 x 1,472 = 23 x 1,216: either could be.
    assert_eq!(shown(27_968), [(Generation::Ipu1, 23), (Generation::Ipu2, 19)]);
    assert_eq!([27_968, 1216, 1472].map(tile_memory), [None, Some(262_144), Some(638_976)]);
    assert_eq!(shown(0), []);
    assert_eq!(shown(1217), []);
    assert_eq!(shown(u64::MAX), []);
}

/// One tile of a whole chip claims 700,000 zeroed bytes, more than 624 KiB.
#[test]
fn tiles_beyond_their_memory_are_found() {
    let files = elf_files("kinds.a");
    let mut large = files[0].clone();
    let bss = large.windows(4).rposition(|bytes| bytes == 700_u32.to_le_bytes()).unwrap();
    large[bss..bss + 4].copy_from_slice(&700_000_u32.to_le_bytes());
    let mut members: Vec<_> = (0..1472).map(|number| member(&format!("t{number}/"), &files[2])).collect();
    members[77] = member("t77/", &large);
    let bytes = archive(&members);

    let whole = summary(&bytes).unwrap();
    assert_eq!(whole.chips()[0].generation, Generation::Ipu2);
    let overfull: Vec<_> = whole.overfull().unwrap().iter().map(|tile| tile.number).collect();
    assert_eq!(overfull, [77]);

    let cut = summary(&[&bytes[..], b"damage"].concat()).unwrap();
    assert_eq!(cut.tiles.len(), 1472);
    assert!(cut.chips().is_empty() && cut.overfull().is_none(), "there may be more");
}

#[cfg(feature = "serde")]
#[test]
fn a_summary_serialises() {
    let json = serde_json::to_value(tiles()).unwrap();
    assert_eq!(json["container"]["kind"], "archive");
    assert_eq!(json["tiles"][2], serde_json::json!({"number": 10, "name": "tile10.elf", "content": 2}));
    assert_eq!(json["contents"][4]["tiles"], 3);
    assert_eq!(json["contents"][1]["sizes"]["zeroed"], 2236);
    assert_eq!(json["sections"][0]["kind"], "zeroed");
    let cut = summary(&fixture("tiles.a")[..1000]).unwrap();
    assert_eq!(serde_json::to_value(cut).unwrap()["damage"]["code"], "member-cut");
}

#[test]
fn every_archive_is_read_alike_from_a_slow_reader() {
    /// Gives one byte at a time, and is interrupted before each.
    struct Slow<'a>(&'a [u8], bool);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let len = buf.len().min(1);
            self.0.read(&mut buf[..len])
        }
    }
    for name in ARCHIVES.map(|name| format!("{name}.a")).into_iter().chain(["poplar-3.gc_exe".to_owned()]) {
        let bytes = fixture(&name);
        let slow = poplar_inspect::executable::read(Slow(&bytes, false), &Default::default()).unwrap();
        assert_eq!(format!("{slow:?}"), format!("{:?}", summary(&bytes).unwrap()), "{name}");
    }
}
