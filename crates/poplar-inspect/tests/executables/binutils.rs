//! Debian's binutils agree on every number, in their output when the fixtures were made, and in their output now.

use std::process::Command;

use poplar_inspect::executable::{Options, Section, SectionKind, Symbol, SymbolKind, TileFile, visit};

use crate::common::{ARCHIVES, fixture, folder};

/// The output of a command for an archive.
type Printed<'a> = &'a dyn Fn(&[&str], &str) -> String;

#[test]
fn what_binutils_printed_agrees() {
    agree(&|command, archive| {
        let suffix = match command {
            ["readelf", ..] => "readelf".to_owned(),
            [program, letters] => format!("{program}-{}", letters.trim_start_matches('-')),
            _ => panic!("no fixture for {command:?}"),
        };
        std::fs::read_to_string(folder().join(format!("{archive}.{suffix}.txt"))).unwrap()
    });
}

#[test]
fn binutils_agree() {
    if let Err(error) = Command::new("readelf").arg("--version").output() {
        assert!(std::env::var_os("CI").is_none(), "this test must not be skipped here: readelf: {error}");
        eprintln!("SKIPPED: readelf: {error}");
        return;
    }
    agree(&|command, archive| {
        let (program, arguments) = command.split_first().unwrap();
        let mut run = Command::new(program);
        run.args(arguments).arg(format!("{archive}.a")).current_dir(folder()).env("LC_ALL", "C");
        String::from_utf8(run.output().unwrap().stdout).unwrap()
    });
}

fn agree(printed: Printed<'_>) {
    for name in ARCHIVES {
        let bytes = fixture(&format!("{name}.a"));
        let mut tiles = 0;
        let names = members(name, printed);
        let mut position = 0;
        let summary = visit(&bytes[..], &Options::default(), |tile| {
            tiles += 1;
            let shown = tile.name().to_string();
            let at = names[position..].iter().position(|name| *name == shown);
            position += at.expect("`ar t` shows the member, in the same order") + 1;
            sections_and_total(name, tile, printed);
            text_data_and_bss(name, tile, printed);
            // `readelf` does not know BSD's names.
            if name != "bsd-names" {
                headers_and_symbols(name, tile, printed);
            }
        });
        let summary = summary.unwrap();
        assert!(summary.is_complete());
        assert_eq!(summary.tiles.len() + summary.other_members.len(), names.len(), "{name}");
        assert_eq!(tiles, summary.tiles.len());
    }
}

/// `ar t` also shows the table of symbols under its BSD name.
fn members(archive: &str, printed: Printed<'_>) -> Vec<String> {
    let text = printed(&["ar", "t"], archive);
    text.lines().filter(|name| !name.starts_with("__.SYMDEF")).map(str::to_owned).collect()
}

fn sections_and_total(archive: &str, tile: &TileFile<'_>, printed: Printed<'_>) {
    let text = printed(&["size", "-A"], archive);
    let title = format!("{}   (ex {archive}.a):", tile.name());
    let lines = text.lines().skip_while(|line| *line != title).skip(2).take_while(|line| !line.is_empty());
    let mut theirs: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let total = theirs.pop().expect("the tile is shown");
    assert_eq!(total, ["Total", &tile.sizes().total().to_string()], "{archive}, {}", tile.name());
    let ours: Vec<_> = tile.sections().filter(|section| section.kind != SectionKind::Table).collect();
    let ours: Vec<_> =
        ours.iter().map(|it| [it.name.to_string(), it.size.to_string(), it.address.to_string()]).collect();
    assert_eq!(theirs, ours, "{archive}, {}", tile.name());

    let mut sizes: Vec<u32> = theirs.iter().map(|row| row[1].parse().unwrap()).filter(|size| *size > 0).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let largest = tile.largest(2);
    assert_eq!(largest.sections.iter().map(|it| it.size).collect::<Vec<_>>(), sizes[..sizes.len().min(2)]);
    assert_eq!(largest.more_sections, sizes.len().saturating_sub(2));
    let mut symbols: Vec<_> = tile.symbols().filter(|symbol| symbol.size > 0).collect();
    symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.size));
    assert_eq!((largest.more_symbols, symbols.len().min(2)), (symbols.len().saturating_sub(2), largest.symbols.len()));
    symbols.truncate(2);
    assert_eq!(largest.symbols, symbols);
}

fn text_data_and_bss(archive: &str, tile: &TileFile<'_>, printed: Printed<'_>) {
    let text = printed(&["size", "-B"], archive);
    let end = format!("\t{} (ex {archive}.a)", tile.name());
    let line = text.lines().find(|line| line.ends_with(&end)).expect("the tile is shown");
    let theirs: Vec<u64> = line.split_whitespace().take(4).map(|number| number.parse().unwrap()).collect();
    let sizes = tile.sizes();
    assert_eq!(theirs, [sizes.code + sizes.constants, sizes.data, sizes.zeroed, sizes.memory()], "{archive}, {line}");
}

fn headers_and_symbols(archive: &str, tile: &TileFile<'_>, printed: Printed<'_>) {
    let text = printed(&["readelf", "-S", "-s", "-W"], archive);
    let title = format!("File: {archive}.a({})", tile.name());
    let lines = text.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.starts_with("File: "));
    let (mut sections, mut symbols) = (tile.sections(), tile.symbols());
    for line in lines {
        if let Some((number, row)) = line.strip_prefix("  [").and_then(|line| line.split_once(']')) {
            if let Ok(1..) = number.trim().parse::<u32>() {
                assert_section(&sections.next().unwrap(), row);
            }
        } else if let Some((number, row)) = line.split_once(':')
            && let Ok(1..) = number.trim().parse::<u32>()
        {
            assert_symbol(&symbols.next().unwrap(), row);
        }
    }
    assert_eq!((sections.len(), symbols.len()), (0, 0), "readelf shows all of them");
}

fn assert_section(ours: &Section<'_>, row: &str) {
    let [name, kind, address, _offset, size, ..] = row.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{row}")
    };
    let hex = |text| u32::from_str_radix(text, 16).unwrap();
    let in_file = if kind == "NOBITS" { 0 } else { hex(size) };
    assert_eq!((ours.name.to_string().as_str(), ours.address, ours.size), (name, hex(address), hex(size)));
    assert_eq!(ours.file_bytes, in_file, "{row}");
}

fn assert_symbol(ours: &Symbol<'_>, row: &str) {
    let fields: Vec<_> = row.split_whitespace().collect();
    let [address, size, kind, _bind, _visibility, section, ref name @ ..] = fields[..] else { panic!("{row}") };
    let kind = match kind {
        "FUNC" => SymbolKind::Function,
        "OBJECT" => SymbolKind::Object,
        "SECTION" => SymbolKind::Section,
        "FILE" => SymbolKind::File,
        _ => SymbolKind::Other,
    };
    let address = u32::from_str_radix(address, 16).unwrap();
    // `readelf` counts the empty section too.
    let section = section.parse::<u32>().ok().map(|number| number - 1);
    assert_eq!((ours.address, ours.size.to_string().as_str()), (address, size), "{row}");
    assert_eq!((ours.kind, ours.section), (kind, section), "{row}");
    // It shows the section's name for a symbol of a section.
    if kind != SymbolKind::Section {
        assert_eq!(ours.name.to_string(), name.concat(), "{row}");
    }
}
