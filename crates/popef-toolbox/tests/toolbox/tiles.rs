//! `popef tiles`.

use std::fs;

use crate::common::{Place, hold_golden, testdata};

#[test]
fn mappings_are_planned() {
    let commands = [
        "tiles plan 784x10 F16",
        "tiles plan [128] float --tiles-per-ipu 8 --offset 6 --list",
        "tiles plan 100x100 half --tiles-per-ipu 64 --grain 16 --min-elements 400 --descending",
        "tiles plan 50000x1024 F16 --ipus 4 --offset 5880",
        "tiles plan 0x7 S32",
        "tiles plan 10x10 F32 --tiles-per-ipu 4 --format json",
        "tiles plan scalar U8 --tiles-per-ipu 4 --offset 3 --format ndjson",
        "tiles plan 784x10 F16 --grain 0",
        "tiles plan 4294967296x4294967296 F16",
        "tiles plan 4294967295x4294967297 F64",
        "tiles plan 784by10 F16",
        "tiles plan 784x10 F17",
        "tiles plan --help",
    ];
    hold_golden("tiles-plan", &[], &commands);
}

/// 10^12 elements on the tiles of 128 IPUs: the work grows with intervals, and each element is mapped once.
#[test]
fn large_tensors_are_planned_by_intervals() {
    let run = Place::with(&[]).run(&["tiles", "plan", "1000000x1000000", "F16", "--ipus", "128", "--format", "json"]);
    let plan = run.good().json();
    let mapping = plan["mapping"].as_array().unwrap();
    assert_eq!(mapping.len(), 188_416);
    let mut end = 0;
    for (number, tile) in mapping.iter().enumerate() {
        assert_eq!(tile["tile"], number);
        let [interval] = &tile["intervals"].as_array().unwrap()[..] else { panic!("{tile}") };
        assert_eq!(interval[0], end);
        end = interval[1].as_u64().unwrap();
    }
    assert_eq!(end, 1_000_000_000_000);
}

#[test]
fn maps_of_tensorflow_are_judged() {
    let commands = [
        "tiles map model.tensor_map.json",
        "tiles map model.tensor_map.json --tiles-per-ipu 368 --top 2",
        "tiles map model.tensor_map.json --tiles-per-ipu 100 --ipus 2",
        "tiles map model.tensor_map.json --top 1 --format json",
        "tiles map model.tensor_map.json --top 1 --format ndjson",
        "tiles map vars.json",
        "tiles map no.json",
        "tiles map --help",
    ];
    hold_golden("tiles-map", &["tiles/model.tensor_map.json", "tiles/vars.json"], &commands);
}

#[test]
fn the_memory_of_tiles_is_shown() {
    let commands = [
        "tiles vars vars.json",
        "tiles vars vars.json --tile 0 --top 2",
        "tiles vars vars.json --tile 4",
        "tiles vars vars.json --top 1 --format json",
        "tiles vars vars.json --top 1 --format ndjson",
        "tiles vars model.tensor_map.json",
        "tiles vars --help",
    ];
    hold_golden("tiles-vars", &["tiles/model.tensor_map.json", "tiles/vars.json"], &commands);
}

#[test]
fn models_are_estimated() {
    let files =
        ["interop/many-anchors.popef", "interop/replicated.popef", "golden/damaged.popef", "interop/two-models.popef"];
    let commands = [
        "tiles model many-anchors.popef --top 3",
        "tiles model replicated.popef",
        "tiles model replicated.popef --ipus 1 --tiles-per-ipu 64 --from-zero --format json",
        "tiles model two-models.popef --format ndjson",
        "tiles model replicated.popef --ipus 5000",
        "tiles model damaged.popef",
        "tiles model --help",
    ];
    hold_golden("tiles-model", &files, &commands);
}

#[test]
fn executables_are_shown_tile_by_tile() {
    let files = ["tiles.a", "long-names.a", "bsd-names.a", "thin.a", "models.popef", "poplar-3.gc_exe"]
        .map(|name| format!("executables/{name}"));
    let files = files.iter().map(String::as_str).chain(["tiles/vars.json", "interop/split-tensors.popef"]);
    let commands = [
        "tiles exec tiles.a",
        "tiles exec tiles.a --tile 1 --top 2 --tile-memory 2KiB",
        "tiles exec long-names.a --top 1",
        "tiles exec models.popef --filter whole --top 1",
        "tiles exec models.popef --top 1",
        "tiles exec poplar-3.gc_exe --format csv --tile-memory 624KiB",
        "tiles exec bsd-names.a --top 1 --format json",
        "tiles exec bsd-names.a --top 1 --format ndjson",
        "tiles exec tiles.a --tile 99",
        "tiles exec tiles.a --filter whole",
        "tiles exec models.popef --filter no",
        "tiles exec split-tensors.popef",
        "tiles exec thin.a",
        "tiles exec vars.json",
        "tiles exec .",
        "tiles exec tiles.a --tile-memory lots",
        // Which command is meant.
        "tiles vars tiles.a",
        "tiles map poplar-3.gc_exe",
        "tiles model tiles.a",
        "tiles model models.popef",
        "tiles model split-tensors.popef",
        "tiles plan 4 F16 --format csv",
        "tiles exec --help",
    ];
    hold_golden("tiles-exec", &files.collect::<Vec<_>>(), &commands);
}

/// `size -B` says of each tile: text, which has constants too, data, bss, and their sum.
#[test]
fn the_bytes_of_tiles_are_those_of_binutils() {
    for name in ["tiles", "kinds", "long-names", "bsd-names", "sym64"] {
        let place = Place::with(&[&format!("executables/{name}.a")]);
        let csv = place.run(&["tiles", "exec", &format!("{name}.a"), "--format", "csv"]).good();
        let column = |row: &[&str], nth: usize| row[nth].parse::<u64>().unwrap();
        let mut ours = Vec::new();
        for line in csv.text().lines().skip(1) {
            let row: Vec<_> = line.split(',').collect();
            let [size, code, constants, data, zeroed] = [4, 5, 6, 7, 8].map(|nth| column(&row, nth));
            ours.push((row[3].to_owned(), [code + constants, data, zeroed, size]));
        }
        assert!(ours.is_sorted_by_key(|(_, sizes)| std::cmp::Reverse(sizes[3])), "the fullest first: {ours:?}");
        let printed = fs::read_to_string(testdata().join(format!("executables/{name}.size-B.txt"))).unwrap();
        let all: Vec<_> = printed.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>()).collect();
        for (member, sizes) in &ours {
            let title = format!("{member} (ex {name}.a)");
            // Two members may have one name, and long names are cut.
            let theirs =
                all.iter().filter(|row| row[5] == title || row[5].starts_with(&**member) && member.len() == 64);
            let mut theirs = theirs.map(|row| [0, 1, 2, 3].map(|nth| row[nth].trim().parse::<u64>().unwrap()));
            assert!(theirs.any(|theirs| theirs == *sizes), "{title}: {sizes:?} in {printed}");
        }
        assert!(!ours.is_empty());
    }
}

/// An archive of a program for each tile. That of the last one has so many bytes of zeros more, and a name of its own for a section.
pub(crate) fn archive(tiles: usize, zeros: u32, section: &[u8; 7]) -> Vec<u8> {
    let from = fs::read(testdata().join("executables/tiles.a")).unwrap();
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what).unwrap();
    let header = find(&from, b"tile2.elf/");
    let len: usize = std::str::from_utf8(&from[header + 48..header + 58]).unwrap().trim().parse().unwrap();
    let program = &from[header + 60..header + 60 + len];
    let mut bytes = b"!<arch>\n".to_vec();
    for tile in 0..tiles {
        let mut program = program.to_vec();
        if tile == tiles - 1 {
            // A section of zeros (8) that is allocated and writable (3): its size is four words behind.
            let at = find(&program, &[8, 0, 0, 0, 3, 0, 0, 0]) + 16;
            program[at..at + 4].copy_from_slice(&zeros.to_le_bytes());
            let at = find(&program, b".rodata");
            program[at..at + 7].copy_from_slice(section);
        }
        bytes.extend(
            format!("{:16}{:12}{:6}{:6}{:8}{:<10}`\n", format!("t{tile}.elf/"), 0, 0, 0, 644, program.len()).bytes(),
        );
        bytes.extend(&program);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

/// The memory of a tile follows from the number of tiles, or from the metadata. If it does not, or not all is read, nothing is said.
#[test]
fn whether_it_fits_is_said_only_if_it_is_known() {
    let place = Place::with(&[]);
    place.write("mk2.a", archive(1472, 630_000, b".rodata"));
    place.write("mk1.a", archive(1216, 630_000, b".rodata"));
    place.write("full.a", archive(1472, 638_000, b".rodata"));
    place.write("some.a", archive(100, 630_000, b".rodata"));
    let full = place.read("full.a");
    place.write("cut.a", &full[..full.len() - 10]);
    let verdict = |file: &str, more: &[&str]| {
        let run = place.run(&[&["tiles", "exec", file, "--format", "json"], more].concat());
        let json = run.json()["executables"][0].clone();
        let text = place.run(&[&["tiles", "exec", file], more].concat());
        let said = text.text().lines().find_map(|line| line.strip_prefix("  fits          ")).unwrap().to_owned();
        (run.status, json["verdict"].as_str().unwrap().to_owned(), json["tileMemoryFrom"].clone(), said)
    };
    for (file, more, status, expected, from, said) in [
        (
            "mk2.a",
            &[][..],
            0,
            "fits",
            "tileCount",
            "yes, no tile needs more than the 624.0 KiB of IPUs with so many tiles (inferred)",
        ),
        (
            "mk1.a",
            &[],
            0,
            "doesNotFit",
            "tileCount",
            "no, 1 tile needs more than the 256.0 KiB of IPUs with so many tiles (inferred)",
        ),
        ("full.a", &[], 0, "doesNotFit", "tileCount", "no, 1 tile needs more"),
        ("full.a", &["--tile-memory", "1MiB"], 0, "fits", "given", "yes, no tile needs more than the given 1.0 MiB"),
        ("some.a", &[], 0, "unknown", "", "unknown, because 100 tiles are no whole number of IPUs"),
        ("cut.a", &[], 2, "unknown", "", "unknown, because not everything was read"),
        ("cut.a", &["--tile-memory", "1KiB"], 2, "unknown", "given", "unknown, because not everything was read"),
    ] {
        let found = verdict(file, more);
        assert_eq!((found.0, &*found.1, found.2.as_str().unwrap_or_default()), (status, expected, from), "{file}");
        assert!(found.3.starts_with(said), "{file}: {}", found.3);
    }
    // On the second of two IPUs.
    place.write("two.a", archive(2944, 630_000, b".rodata"));
    let csv = place.run(&["tiles", "exec", "two.a", "--format", "csv"]).good();
    assert!(csv.text().lines().nth(1).unwrap().starts_with(",2943,1,t2943.elf,632004,"), "{}", &csv.text()[..200]);

    // What metadata says counts more than the number of tiles.
    let mut writer = popef::Writer::create(place.path("model.popef")).unwrap();
    let metadata = popef::Metadata { executable: "m".into(), ipu_version: 1, ..popef::Metadata::default() };
    writer.write_metadata(&metadata).unwrap();
    writer.write_executable("m", &place.read("mk2.a")[..]).unwrap();
    writer.finish().unwrap();
    let said = verdict("model.popef", &[]);
    assert_eq!((&*said.1, said.2.as_str()), ("doesNotFit", Some("metadata")));
    let words = "no, 1 tile needs more than the 256.0 KiB of the IPUs that its metadata names; but 1472 tiles contradict these IPUs, \
                 which have 1216 each (inferred)";
    assert_eq!(said.3, words);

    // The page says the same, and has the picture.
    let page = place.run(&["report", "model.popef", "--tiles", "-o", "-"]).good();
    let section = page.text().split_once("<section id=\"tiles\">").unwrap().1.split_once("</section>").unwrap().0;
    assert!(
        section.contains(&said.3) && section.contains("<title>tile 1471: 617.2 KiB, too much</title>"),
        "{section}"
    );
    assert_eq!(section.matches("<rect").count(), 1472);
    let without = place.run(&["report", "model.popef", "-o", "-"]).good();
    assert!(!without.text().contains("<section id=\"tiles\">"));

    place.run(&["tiles", "exec", "model.popef", "-o", "tiles.svg"]).good();
    let svg = String::from_utf8(place.read("tiles.svg")).unwrap();
    assert!(
        svg.starts_with("<svg xmlns") && svg.contains(&said.3) && svg.matches("fill=\"#d62728\"").count() == 1,
        "{svg}"
    );
    let again = place.run(&["tiles", "exec", "model.popef", "-o", "tiles.svg"]);
    assert!(again.status == 2 && again.err.contains("[file-exists]"), "{again:?}");
    place.run(&["tiles", "exec", "mk2.a", "-o", "tiles.svg", "--force"]).good();
    let piped = place.run_with_input(&["tiles", "exec", "-", "--top", "1"], &place.read("mk2.a")).good();
    assert_eq!(piped.text().replacen('-', "mk2.a", 1), place.run(&["tiles", "exec", "mk2.a", "--top", "1"]).text());
}

/// Checks take the memory of a tile from the same place.
#[test]
fn checks_and_tiles_agree_on_what_fits() {
    let place = Place::with(&["checks/PE803.popef"]);
    place.run(&["set", "PE803.popef", "--set", "ipuVersion=2", "-o", "v2.popef"]).good();
    let words =
        ["1216 tiles contradict these IPUs, which have 1472 each (inferred)", "IPUs of version 2 have 1472 each"];
    for (file, verdict, fits) in [("PE803.popef", "no, 1 tile needs", false), ("v2.popef", "yes, no tile needs", true)]
    {
        let tiles = place.run(&["tiles", "exec", file]);
        let check = place.run(&["check", "--deep", file]);
        assert!(tiles.text().contains(verdict), "{tiles:?}");
        assert_eq!(check.text().contains("PE803:"), !fits, "{}", check.text());
        let found = [tiles.text().contains(words[0]), check.text().contains(words[1])];
        assert_eq!(found, [fits; 2], "{file}");
    }
}

/// Names of executables and of sections have no effect where they are shown.
#[test]
fn names_in_executables_are_escaped() {
    let place = Place::with(&[]);
    let name = "a\n::error file=x::\u{1b}[31m\u{202e}<b>";
    let mut writer = popef::Writer::create(place.path("hostile.popef")).unwrap();
    writer.write_executable(name, &archive(2, 9, b"\n\x1b[31mx")[..]).unwrap();
    writer.finish().unwrap();
    let formats =
        [&["--format", "text"][..], &["--format", "json"], &["--format", "ndjson"], &["--format", "csv"], &["-o", "-"]];
    for format in formats {
        let run = place.run(&[&["tiles", "exec", "hostile.popef"], format].concat()).good();
        let text = run.text();
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{202e}'), "{text:?}");
        assert!(!text.contains("\n::error"), "{text}");
        assert!(format != ["-o", "-"] || !text.contains("<b>"), "{text}");
    }
}

/// What is read before the damage is shown, and the exit status says that it is not all.
#[test]
fn damaged_files_are_shown_as_far_as_they_go() {
    let place = Place::with(&["tiles/model.tensor_map.json", "tiles/vars.json"]);
    for (what, name, rows) in [("map", "model.tensor_map.json", "tensor"), ("vars", "vars.json", "tile")] {
        let bytes = place.read(name);
        place.write("cut.json", &bytes[..bytes.len() * 9 / 10]);
        let text = place.run(&["tiles", what, "cut.json"]);
        assert_eq!(text.status, 2, "{text:?}");
        assert!(text.err.contains("cut.json: line 1, byte ") && text.err.contains("[bad-tile-file]"), "{text:?}");
        assert!(text.text().lines().count() > 10, "{text:?}");
        let json = place.run(&["tiles", what, "cut.json", "--format", "json"]);
        assert_eq!((json.status, json.json()["error"]["kind"].as_str()), (2, Some("damaged")));
        let lines = place.run(&["tiles", what, "cut.json", "--format", "ndjson"]);
        assert!(lines.text().contains(&format!("\"kind\":\"{rows}\"")), "{lines:?}");
        assert!(lines.text().lines().last().unwrap().contains("bad-tile-file"), "{lines:?}");
        // From a pipe, it is the same.
        let piped = place.run_with_input(&["tiles", what, "-"], &bytes).good();
        assert_eq!(piped.text().replacen('-', name, 1), place.run(&["tiles", what, name]).text());
    }
}

/// The pictures of the document are what the tool prints.
#[test]
fn the_document_shows_what_the_tool_does() {
    let document = fs::read_to_string(testdata().join("../docs/TILES.md")).unwrap();
    let place = Place::with(&[
        "tiles/model.tensor_map.json",
        "tiles/vars.json",
        "interop/many-anchors.popef",
        "executables/tiles.a",
    ]);
    let mut shown = 0;
    for block in document.split("```text\n$ popef ").skip(1) {
        let (line, rest) = block.split_once('\n').unwrap();
        let run = place.run(&line.split(' ').collect::<Vec<_>>()).good();
        assert_eq!(Some(run.text()), rest.split_once("```").map(|(output, _)| output), "popef {line}");
        shown += 1;
    }
    assert_eq!(shown, 8);
}

#[test]
fn what_an_executable_is_not_found_by_is_named() {
    let place = Place::with(&["interop/executable.popef"]);
    let run = place.run(&["tiles", "exec", "executable.popef", "--filter", "none"]);
    let words = "executable.popef: no executable matches --filter none [nothing-chosen]";
    assert!(run.status == 2 && run.err.contains(words), "{run:?}");
    let run = place.run(&["tiles", "exec", "-"]);
    assert!(run.status == 2 && run.err.contains("[empty-input]"), "{run:?}");
    for name in ["x.png", "x.pdf"] {
        let run = place.run(&["tiles", "exec", "executable.popef", "-o", name]);
        assert!(run.status == 2 && run.err.contains("which the name asks for"), "{run:?}");
    }
}
