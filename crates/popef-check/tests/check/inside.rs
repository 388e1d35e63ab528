//! What a program finds in the archives of executables, and what is concluded from it.

use std::cell::Cell;
use std::io::Read;

use popef::write::{Packing, Stream};
use popef::{File, Metadata, Writer};
use popef_check::{CheckOptions, Inspection, Report, check};

use crate::files::written;

thread_local! {
    /// How often a check had an archive inspected.
    static INSPECTED: Cell<usize> = const { Cell::new(0) };
}

/// Reads an archive that says itself what is in it.
fn inspect(archive: &mut dyn Read) -> Inspection {
    INSPECTED.set(INSPECTED.get() + 1);
    let mut text = String::new();
    if let Err(error) = archive.read_to_string(&mut text) {
        return Inspection::Damaged(format!("the reader fails: {error}"));
    }
    let numbers: Vec<u64> = text.split(' ').filter_map(|number| number.parse().ok()).collect();
    match (&numbers[..], text.strip_prefix("not read: ")) {
        (&[count, fullest, bytes], _) => Inspection::Tiles { count, fullest, bytes },
        (_, Some(why)) => Inspection::NotRead(why.to_owned()),
        _ => Inspection::Damaged(text),
    }
}

/// An LZ4 frame with one block that is stored.
fn frame(content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len()).unwrap() | 1 << 31;
    [b"\x04\x22\x4d\x18\x60\x70\x73", &size.to_le_bytes()[..], content, &[0; 4]].concat()
}

fn executable(archive: &str) -> Vec<u8> {
    let part = frame(archive.as_bytes());
    let sizes = [archive.len(), part.len(), 0, 0].map(|size| (size as u64).to_le_bytes());
    [b"GC_EXE_3", &sizes.concat()[..], &part].concat()
}

type Output<'a> = Writer<Stream<&'a mut Vec<u8>>>;

/// Replicas of one IPU each, of an unknown version.
fn write_metadata(writer: &mut Output<'_>, ipus: u32) {
    write_metadata_for(writer, ipus, ipus, 0);
}

fn write_metadata_for(writer: &mut Output<'_>, num_ipus: u32, replication_factor: u32, ipu_version: u32) {
    let executable = "e".into();
    let metadata = Metadata { executable, num_ipus, replication_factor, ipu_version, ..Metadata::default() };
    writer.write_metadata(&metadata).unwrap();
}

fn model(archive: &str, ipus: u32) -> File {
    written(|writer| {
        writer.write_executable("e", &executable(archive)).unwrap();
        write_metadata(writer, ipus);
    })
}

fn inspecting() -> CheckOptions {
    let mut options = CheckOptions::new();
    options.deep(true).inspect_archives(inspect);
    options
}

/// The findings of the rules about archives, and those about damaged parts.
fn found(report: &Report) -> Vec<(&'static str, Option<usize>, &str)> {
    let findings = report.findings.iter().filter(|finding| finding.rule.id > "PE8" || finding.rule.id == "PE407");
    findings.map(|finding| (finding.rule.id, finding.blob, &*finding.message)).collect()
}

fn ids(files: &[File]) -> Vec<&'static str> {
    found(&check(files, &inspecting())).iter().map(|(id, ..)| *id).collect()
}

#[test]
fn tiles_fit_the_ipus_of_all_or_of_some_replicas() {
    for (tiles, ipus, replicas, version, fit) in [
        (1216, 1, 1, 0, true),
        (1472, 1, 1, 0, true),
        (4 * 1472, 4, 1, 2, true),
        (1472, 4, 4, 21, true),
        (2 * 1472, 4, 4, 0, true),
        (3 * 1472, 4, 4, 0, true),
        (2 * 1472, 4, 2, 0, true),
        (64 * 1472, 64, 16, 0, true),
        (3 * 1216, 6, 2, 1, true),
        // Of either kind.
        (19 * 1472, 19, 1, 0, true),
        (19 * 1472, 23, 1, 0, true),
        (19 * 1472, 23, 1, 2, false),
        // Another version has as many tiles.
        (1216, 1, 1, 2, false),
        (1472, 1, 1, 1, false),
        // A part of the only replica, or of the second.
        (1472, 4, 1, 0, false),
        (1472, 4, 2, 0, false),
        (3 * 1472, 4, 2, 0, false),
        // Replicas that are no whole number of IPUs.
        (1472, 3, 2, 0, false),
        (3 * 1472, 3, 2, 0, true),
        (1471, 1, 1, 0, false),
        (1473, 1, 1, 0, false),
        (1000, 1, 1, 0, false),
        (0, 1, 1, 0, false),
        (2 * 1472, 1, 1, 0, false),
        (8 * 1472, 4, 4, 0, false),
        (1216 + 1472, 2, 2, 0, false),
        (19 * 1472, 22, 1, 0, false),
        (u64::MAX, u32::MAX, 1, 0, false),
        // Another rule reports that there are none.
        (1000, 0, 1, 0, true),
        (1472, 1, 0, 0, true),
    ] {
        let file = written(|writer| {
            writer.write_executable("e", &executable(&format!("{tiles} 0 100"))).unwrap();
            write_metadata_for(writer, ipus, replicas, version);
        });
        let found = ids(&[file]);
        let what = format!("{tiles} tiles for {ipus} IPUs of version {version} in {replicas} replicas");
        assert_eq!(found, if fit { &[][..] } else { &["PE802"] }, "{what}");
    }
}

/// Wherever the blobs are.
#[test]
fn each_metadata_of_an_executable_is_compared() {
    let metadata = |ipus| written(|writer| write_metadata_for(writer, ipus, 1, 0));
    let executable = || {
        written(|writer| {
            writer.write_executable("e", &executable("2944 0 1")).unwrap();
        })
    };
    let report = check(&[metadata(1), metadata(2), executable(), metadata(3)], &inspecting());
    let files = report.findings.iter().filter(|finding| finding.rule.id == "PE802").map(|finding| finding.file);
    assert_eq!(files.collect::<Vec<_>>(), [0, 3]);
    assert_eq!(
        found(&report)[0].2,
        "the metadata is for 1 IPU, and executable \"e\" has 2944 tiles: IPUs have 1216 or 1472 each; this is \
         unverified, as no executable of Poplar is public"
    );
    assert_eq!(ids(&[executable()]), [""; 0]);
}

#[test]
fn a_tile_beyond_its_memory_is_found_if_the_kind_of_ipu_is_known() {
    for (tiles, memory) in [(1216, 256 << 10), (4 * 1216, 256 << 10), (1472, 624 << 10), (16 * 1472, 624 << 10)] {
        assert_eq!(ids(&[model(&format!("{tiles} 5 {memory}"), 16)]), [""; 0], "{tiles}");
        let report = check(&[model(&format!("{tiles} 5 {}", memory + 1), 16)], &inspecting());
        let message = format!(
            "executable \"e\": tile 5 needs {} bytes of memory, and has {memory}; this is unverified, as no executable \
             of Poplar is public",
            memory + 1
        );
        assert_eq!(found(&report), [("PE803", Some(0), &*message)]);
    }
    // What metadata says counts more than the number of tiles: of the first metadata, and only if it says a known version.
    let archive = format!("1216 5 {}", (256 << 10) + 1);
    for (versions, found) in [(&[2][..], &["PE802"][..]), (&[0, 2], &["PE803", "PE802"]), (&[], &["PE803"])] {
        let file = written(|writer| {
            writer.write_executable("e", &executable(&archive)).unwrap();
            versions.iter().for_each(|version| write_metadata_for(writer, 1, 1, *version));
        });
        assert_eq!(ids(&[file]), found, "{versions:?}");
    }
    // 19 IPUs of one kind, or 23 of the other.
    assert_eq!(ids(&[model(&format!("{} 0 999999", 19 * 1472), 19)]), [""; 0]);
    assert_eq!(ids(&[model("1000 0 999999", 1)]), ["PE802"]);
}

#[test]
fn nothing_is_concluded_from_what_was_not_read() {
    let damaged = check(&[model("byte 7: \x1b[2J", 1)], &inspecting());
    let message = "executable \"e\": byte 7: \\u{1b}[2J; this is unverified, as no executable of Poplar is public";
    assert_eq!(found(&damaged), [("PE801", Some(0), message)]);
    assert!(damaged.is_complete());

    let not_read = check(&[model("not read: too \n long", 1)], &inspecting());
    assert_eq!(found(&not_read), []);
    assert!(!not_read.is_complete());
    let skipped: Vec<_> = not_read.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped, ["not checked: the tiles of executable \"e\": too \\n long"]);
}

/// It is an error already, whatever the program makes of it.
#[test]
fn an_archive_that_does_not_unpack_is_reported_once() {
    let mut cut = executable("1472 0 1");
    // The end mark, in place of which another block begins.
    let end = cut.len() - 4;
    cut[end] = 1;
    let file = written(|writer| {
        writer.write_executable("e", &cut).unwrap();
        write_metadata(writer, 3);
    });
    assert_eq!(ids(&[file]), ["PE407"]);
}

/// Nor is it asked for executables that are compressed as a whole, or those without Poplar's header.
#[test]
fn the_program_is_asked_only_in_deep_checks() {
    let calls = |file: &File, options: &CheckOptions| {
        INSPECTED.set(0);
        check([file], options);
        INSPECTED.get()
    };
    let wrong = model("1000 0 1", 1);
    let mut deep = CheckOptions::new();
    deep.deep(true);
    let mut shallow = inspecting();
    shallow.deep(false);
    assert_eq!([&inspecting(), &deep, &shallow].map(|options| calls(&wrong, options)), [1, 0, 0]);
    assert_eq!([deep, shallow].map(|options| found(&check([&wrong], &options)).len()), [0, 0]);
    let other = written(|writer| {
        writer.write_executable("stored", b"!<arch>\n").unwrap();
        writer.write_packed_executable("packed", &executable("1000 0 1"), Packing::default()).unwrap();
    });
    assert_eq!(calls(&other, &inspecting()), 0);
}
