//! `popef tiles exec`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use popef::File;
use popef::read::ExecutableBlob;
use popef::types::Text;
use popef_open::{is_elsewhere, is_stream};
use popef_ops::{Code, Error, ErrorReport, FilePath, InFile, Name};
use popef_show::{Glob, Kind, Out, TilesPicture, counted, fit_words, size};
use poplar_inspect::ErrorCode;
use poplar_inspect::executable::{
    Container, Fit, Largest, Numbering, Options, SectionKind, SectionTotal, Sizes, Summary, SymbolKind, Tile, TileFile, Verdict,
    self as executable, visit,
};
use poplar_inspect::profile::parse_bytes;
use serde::{Serialize, Serializer};

use super::Form;
use super::picture::Picture;
use super::words::MOST_NAME;
use crate::common::csv;
use crate::common::end::{FAILED, unwritten};
use crate::common::format::{LongObject, Network, json_line};
use crate::common::input::{open_any, open_stream, whatever_is_popef};
use crate::common::plain::Place;
use crate::common::table::{Column, Table};
use crate::common::to_file::Forms;
use crate::common::tool::{Tool, described};
use crate::common::values::path;
use crate::common::words::{brief, fact, heading, more, wrong};

/// Show how full the tiles of an executable are, and whether it fits
///
/// Reads the executables of a PopEF file, Poplar's archive.a, or a bare executable. Each tile has a program, an ELF file: its sections and
/// symbols are shown, the fullest tiles first. CODE, CONSTANTS, DATA and ZEROED are what the flags of sections say; Poplar may put all
/// into .text. The memory of a tile is what --tile-memory says, or the metadata's IPU version, or the number of tiles. What is between
/// sections does not count. What is inside a PopEF file's executable is inferred: no sample is public.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles exec model.popef
  popef tiles exec archive.a --tile 3 --top 50
  popef tiles exec archive.a --tile-memory 624KiB -o tiles.svg
  popef tiles exec model.popef --format csv > tiles.csv
  popef tiles exec model.popef --format json | jq -r '.executables[] | [.executable, .verdict] | @tsv'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// Only executables whose name matches GLOB. Can be given several times
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse, help_heading = "Selection")]
    filter: Vec<Glob>,
    /// The tile whose sections and symbols are shown; without it, the fullest
    #[arg(long, value_name = "N", help_heading = "Selection")]
    tile: Option<u32>,
    /// The memory of a tile, such as 624KiB or 638976
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Device")]
    tile_memory: Option<u64>,
    /// Show at most N tiles, sections and symbols
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    top: usize,
    /// Write to this file, above all a picture of all tiles; `-` is standard output
    ///
    /// Without --format, its name says the format: .svg, .json, .ndjson, .csv or .txt. Other names get the picture.
    #[arg(short, long, value_name = "NEW", value_parser = path(), help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,
}

fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is no size; write a number and a unit, such as 624KiB or 638976");
    parse_bytes(text).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

/// What was opened.
enum Opened {
    /// An archive or a bare executable.
    Bare(Box<dyn Read + Send>),
    Popef(File),
}

/// An executable as it was read.
struct Exec {
    /// `None` if the file is an archive or a bare executable.
    name: Option<Text<'static>>,
    summary: Summary,
    fit: Fit,
    /// The tile that is asked for, or the fullest, and what is on it.
    shown: Option<(Tile, Largest)>,
    /// Why not everything was read.
    damage: Option<Error>,
}

/// What is said of an executable as a whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    executable: Option<String>,
    container: Container,
    verified: bool,
    tiles: usize,
    distinct: usize,
    numbering: Numbering,
    #[serde(flatten)]
    fit: Fit,
    size: u64,
    #[serde(flatten)]
    sizes: Sizes,
    fullest_tile: Option<u32>,
    most_size: u64,
    other_members: u64,
    sections: Vec<OfAll>,
    sections_left_out: u64,
    shown_tile: Option<Shown>,
    error: Option<ErrorReport>,
}

/// The sections of one name and kind in all tiles.
#[derive(Serialize)]
struct OfAll {
    #[serde(flatten)]
    name: Name,
    kind: SectionKind,
    count: u64,
    size: u64,
    largest: u64,
}

/// A tile with its sections and symbols.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(flatten)]
    row: Row,
    largest_sections: Vec<Section>,
    more_sections: usize,
    largest_symbols: Vec<Symbol>,
    more_symbols: usize,
}

#[derive(Serialize)]
struct Section {
    #[serde(flatten)]
    name: Name,
    kind: SectionKind,
    address: u32,
    size: u32,
}

#[derive(Serialize)]
struct Symbol {
    #[serde(flatten)]
    name: Name,
    kind: SymbolKind,
    address: u32,
    size: u32,
}

/// A tile in JSON and CSV.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    tile: u32,
    ipu: Option<u32>,
    member: String,
    size: u64,
    #[serde(flatten)]
    sizes: Sizes,
    stack: Option<u64>,
    free: Option<u64>,
    over: Option<u64>,
    verdict: Verdict,
    sections: u32,
    symbols: u32,
}

/// The columns of CSV.
const KEYS: &[&str] = &[
    "executable", "tile", "ipu", "member", "size", "code", "constants", "data", "zeroed", "stack", "free", "over", "verdict",
];

#[derive(Serialize)]
struct OfExecutable<'e> {
    executable: Option<&'e str>,
    #[serde(flatten)]
    row: Row,
}

/// What can be written, and when.
const FORMS: Forms<'static, Form> = Forms {
    command: "popef tiles exec",
    all: &Form::ALL,
    name: Form::name,
    of_file: Form::Svg,
    of_report: Form::Text,
};

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: Option<Form>) -> Result<ExitCode, Error> {
        let form = FORMS.chosen(format, self.output.as_deref())?;
        if self.output.is_some() {
            // A file that must not be replaced is known before the work.
            self.place().begin([&self.file], []).map(drop)?;
        }
        match self.opened(tool)? {
            Opened::Bare(_) if !self.filter.is_empty() => {
                Err(wrong("--filter chooses executables of a PopEF file, which this is not").in_file(&self.file))
            }
            Opened::Bare(reader) => {
                let exec = self.read(None, reader, None)?;
                self.write(tool, form, [Ok(exec)], None)
            }
            Opened::Popef(file) => self.run_popef(tool, form, &file),
        }
    }

    /// Opens the file, whatever it is.
    fn opened(&self, tool: &Tool) -> Result<Opened, Error> {
        // A stream can be read only once.
        let is_folder = self.file.is_dir();
        let is_stream = is_stream(&self.file) && !is_elsewhere(&self.file) && !is_folder;
        let mut opened = if is_stream { None } else { Some(open_any(&self.file)?) };
        let is_popef =
            |opened: &mut popef_open::Opened| is_folder || opened.file().is_none_or(|file| !file.is_empty());
        if let Some(opened) = opened.take_if(is_popef) {
            return whatever_is_popef(tool, opened).map(Opened::Popef);
        }
        let unread = |error| Error::io("read the file", error).in_file(&self.file);
        let mut reader = popef_open::read(&self.file).map_err(unread)?;
        let mut start = Vec::new();
        reader.by_ref().take(8).read_to_end(&mut start).map_err(unread)?;
        let is_bare = [&b"!<arch>\n"[..], b"!<thin>\n", b"GC_EXE_"].iter().any(|mark| start.starts_with(mark));
        let whole = Box::new(io::Cursor::new(start).chain(reader));
        match opened {
            _ if is_bare => Ok(Opened::Bare(whole)),
            Some(opened) => whatever_is_popef(tool, opened).map(Opened::Popef),
            None => whatever_is_popef(tool, open_stream(whole, &self.file)?).map(Opened::Popef),
        }
    }

    fn run_popef(&self, tool: &Tool, form: Form, file: &File) -> Result<ExitCode, Error> {
        let takes = |executable: &ExecutableBlob<'_>| {
            let name = executable.name().to_string_lossy().into_owned();
            self.filter.is_empty() || self.filter.iter().any(|glob| glob.matches(&name, false))
        };
        let damage = file.damage().map(|damage| Error::from(damage.clone()).in_file(&self.file));
        let mut chosen = file.executables().filter(takes).peekable();
        if chosen.peek().is_none() && damage.is_none() {
            let has_none = file.executables().next().is_none();
            let what = if has_none { "the file has no executables" } else { "no executable matches --filter" };
            return Err(Error::new(Code::NothingChosen, what).in_file(&self.file));
        }
        let mut versions = BTreeMap::new();
        for metadata in file.metadata() {
            let version = metadata.read().ok().map(|metadata| metadata.ipu_version);
            versions.entry(metadata.executable()).or_insert(version);
        }
        let read = |executable: ExecutableBlob<'_>| {
            let name = executable.name();
            let version = versions.get(&name).copied().flatten();
            let unpack = executable.unpack().map_err(|error| Error::from(error).in_file(&self.file));
            let exec = unpack.and_then(|unpack| self.read(Some(name.clone().into_owned()), unpack, version));
            exec.map_err(|error| NotRead { name: name.into_owned(), error })
        };
        self.write(tool, form, chosen.map(read), damage)
    }

    /// Reads an executable, tile by tile.
    fn read(&self, name: Option<Text<'static>>, reader: impl Read + Send, version: Option<u32>) -> Result<Exec, Error> {
        // A tile by the number in its name, by its place, and the fullest: which one is meant is known at the end.
        let (mut by_name, mut by_place, mut fullest, mut index) = (None, None, None, 0_usize);
        let mut fullest_key = None;
        let each = |tile: &TileFile<'_>| {
            let place = u32::try_from(tile.position()).unwrap_or(u32::MAX);
            let number = tile.number_in_name();
            if self.tile.is_some() && number == self.tile {
                by_name = Some((index, tile.largest(self.top)));
            }
            if self.tile == Some(place) {
                by_place = Some((index, tile.largest(self.top)));
            }
            let key = Some((tile.sizes().memory(), Reverse(number.unwrap_or(place))));
            if self.tile.is_none() && key > fullest_key {
                fullest = Some((index, tile.largest(self.top)));
                fullest_key = key;
            }
            index = index.saturating_add(1);
        };
        let summary = visit(reader, &Options::default(), each).map_err(|error| self.unread(name.as_ref(), &error))?;
        let shown = match summary.numbering {
            _ if self.tile.is_none() => fullest,
            Numbering::Names => by_name,
            _ => by_place,
        };
        let shown = shown.and_then(|(index, largest)| Some((summary.tiles.get(index)?.clone(), largest)));
        let fit = summary.fit(self.tile_memory, version);
        let damage = summary.damage.as_ref().map(|error| self.unread(name.as_ref(), error));
        Ok(Exec { name, summary, fit, shown, damage })
    }

    /// Why an executable could not be read, or not to its end.
    fn unread(&self, name: Option<&Text<'_>>, error: &poplar_inspect::Error) -> Error {
        let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<popef::Error>());
        match source.filter(|_| error.code() == ErrorCode::Unreadable) {
            Some(source) => Error::from(source.clone()),
            None => {
                let of = name.map(|name| format!("executable {name:?}, ")).unwrap_or_default();
                Error::new(Code::BadTileFile, format!("{of}{error}"))
            }
        }
        .in_file(&self.file)
    }

    /// Where the file goes.
    pub(super) fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: false }
    }

    /// Writes executables to where they are to go.
    fn write(
        &self,
        tool: &Tool,
        form: Form,
        execs: impl IntoIterator<Item = Result<Exec, NotRead>>,
        damage: Option<Error>,
    ) -> Result<ExitCode, Error> {
        if self.output.is_none() {
            return self.write_to(tool, &mut tool.out(), form, execs, damage);
        }
        let noun = if form == Form::Svg { "a picture" } else { "a report" };
        self.place().write_report(tool, &[&self.file], noun, |out| self.write_to(tool, out, form, execs, damage))
    }

    /// Writes executables, one after the other.
    fn write_to(
        &self,
        tool: &Tool,
        out: &mut Out,
        form: Form,
        execs: impl IntoIterator<Item = Result<Exec, NotRead>>,
        damage: Option<Error>,
    ) -> Result<ExitCode, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            schema_version: u32,
            #[serde(flatten)]
            path: FilePath,
        }
        #[derive(Serialize)]
        struct Tail {
            error: Option<ErrorReport>,
            #[serde(flatten)]
            network: Network,
        }
        let (path, file) = (FilePath::from(&*self.file), &InFile::from(&*self.file));
        let mut pictures = Vec::new();
        let mut document = None;
        match form {
            Form::Svg | Form::Ndjson => {}
            Form::Text => {
                out.text(Kind::Group, path.text());
                out.end_line().map_err(unwritten)?;
            }
            Form::Json => {
                let head = Head { schema_version: 1, path: path.clone() };
                document = Some(LongObject::begin(out, &head, "executables").map_err(unwritten)?);
            }
            Form::Csv => csv::heading(out, KEYS).map_err(unwritten)?,
        }
        // That a file is damaged is said after what was read of it.
        let mut complaints = Vec::new();
        let mut shows_tile = self.tile.is_none();
        for exec in execs {
            let exec = match exec {
                Ok(exec) => exec,
                Err(not_read) => {
                    match (&mut document, form) {
                        (Some(document), _) => document.element(out, &not_read.described()),
                        (None, Form::Ndjson) => {
                            json_line(out, "executable", &InFileRow { file, row: not_read.described() })
                        }
                        (None, Form::Text) => not_read.show(out),
                        _ => Ok(()),
                    }
                    .map_err(unwritten)?;
                    complaints.push(not_read.error);
                    continue;
                }
            };
            shows_tile |= exec.shown.is_some();
            match (&mut document, form) {
                (None, Form::Svg) => {
                    pictures.push(exec.picture());
                    Ok(())
                }
                (Some(document), _) => document.element(out, &WithTiles(&exec)),
                (None, Form::Ndjson) => write_lines(out, file, &exec),
                (None, Form::Csv) => write_csv(out, &exec),
                _ => self.show(out, &exec),
            }
            .and_then(|()| out.flush_if_full())
            .map_err(unwritten)?;
            complaints.extend(exec.damage);
        }
        complaints.extend(damage);
        if let (false, Some(tile), true) = (shows_tile, self.tile, complaints.is_empty()) {
            complaints.push(wrong(format!("there is no program for tile {tile}")).in_file(&self.file));
        }
        let error = complaints.first().map(described);
        match (document, form) {
            (Some(document), _) => document.end(out, &Tail { error, network: Network::now() }),
            (None, Form::Ndjson) => json_line(out, "file", &Last { path, error }),
            (None, Form::Svg) => TilesPicture::write_svg(&pictures, out),
            _ => Ok(()),
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        complaints.iter().for_each(|error| tool.complain(error));
        Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    fn show(&self, out: &mut Out, exec: &Exec) -> io::Result<()> {
        let summary = &exec.summary;
        out.end_line()?;
        match (&exec.name, summary.container) {
            (Some(name), _) => out.quoted(Kind::Name, name),
            (None, Container::Archive) => out.put("archive"),
            (None, _) => out.put("executable"),
        };
        if !summary.verified {
            out.put(", unverified: what is inside an executable is inferred");
        }
        out.end_line()?;
        let overview = summary.overview();
        let by = match summary.numbering {
            Numbering::Names => "names",
            _ => "places",
        };
        fact(out, "tiles", &format!("{}, {} different, numbered by their {by}", overview.count, overview.distinct))?;
        let totals = summary.totals();
        let kinds = [("code", totals.code), ("constants", totals.constants), ("data", totals.data), ("zeroed", totals.zeroed)];
        let kinds = kinds.map(|(kind, bytes)| format!("{} {kind}", size(bytes))).join(", ");
        fact(out, "all memory", &format!("{}: {kinds}", size(totals.memory())))?;
        if let Some(tile) = overview.largest_tile {
            let of_memory = exec.fit.tile_memory.map_or(String::new(), |memory| format!(" of {}", size(memory)));
            fact(out, "fullest tile", &format!("{}{of_memory}, tile {tile}", size(overview.largest_bytes)))?;
        }
        if summary.other_members_count > 0 {
            fact(out, "left out", &counted(summary.other_members_count, "file that is no tile", "files that are no tiles"))?;
        }
        let is_advised = exec.fit.tile_memory.is_none() && summary.is_complete() && !summary.tiles.is_empty();
        let advice = if is_advised { "; give --tile-memory" } else { "" };
        fact(out, "fits", &format!("{}{advice}", fit_words(summary, &exec.fit)))?;
        if summary.tiles.is_empty() {
            return Ok(());
        }
        out.end_line()?;
        exec.draw(out)?;
        self.show_tiles(out, exec)?;
        self.show_sections(out, exec)?;
        exec.shown.as_ref().map_or(Ok(()), |(tile, largest)| show_tile(out, exec, tile, largest))
    }

    fn show_tiles(&self, out: &mut Out, exec: &Exec) -> io::Result<()> {
        heading(out, "Fullest tiles")?;
        let mut table = Table::new([
            Column::right("TILE"),
            Column::right("IPU"),
            Column::right("SIZE"),
            Column::right("CODE"),
            Column::right("CONSTANTS"),
            Column::right("DATA"),
            Column::right("ZEROED"),
            Column::right("FREE"),
            Column::left("", Kind::Warning),
        ]);
        let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
        for row in exec.rows().take(self.top) {
            table.row([
                &row.tile.to_string(),
                &number(row.ipu),
                &size(row.size),
                &size(row.sizes.code),
                &size(row.sizes.constants),
                &size(row.sizes.data),
                &size(row.sizes.zeroed),
                &row.free.map_or(String::new(), size),
                &row.over.filter(|over| *over > 0).map_or(String::new(), |over| format!("{} too much", size(over))),
            ]);
        }
        table.write(out)?;
        more(out, exec.summary.tiles.len(), self.top)
    }

    fn show_sections(&self, out: &mut Out, exec: &Exec) -> io::Result<()> {
        heading(out, "Sections of all tiles")?;
        let mut table = Table::new([
            Column::right("SIZE"),
            Column::right("COUNT"),
            Column::right("LARGEST"),
            Column::left("KIND", Kind::Type),
            Column::left("SECTION", Kind::Name),
        ]);
        let sections = exec.summary.sections.iter().filter(|section| section.kind != SectionKind::Table);
        for section in sections.clone().take(self.top) {
            table.row([
                &size(section.bytes),
                &section.count.to_string(),
                &size(section.largest),
                kind_word(section.kind),
                &section.name.to_string_lossy(),
            ]);
        }
        table.write(out)?;
        more(out, sections.count(), self.top)
    }
}

/// An executable of which nothing could be read.
struct NotRead {
    name: Text<'static>,
    error: Error,
}

#[derive(Serialize)]
struct NotReadReport {
    executable: String,
    error: ErrorReport,
}

impl NotRead {
    fn described(&self) -> NotReadReport {
        NotReadReport { executable: self.name.to_string_lossy().into_owned(), error: described(&self.error) }
    }

    fn show(&self, out: &mut Out) -> io::Result<()> {
        out.end_line()?;
        out.quoted(Kind::Name, &self.name).put(" was not read").end_line()
    }
}

#[derive(Serialize)]
struct InFileRow<'e, R: Serialize> {
    #[serde(flatten)]
    file: &'e InFile,
    #[serde(flatten)]
    row: R,
}

fn write_lines(out: &mut Out, file: &InFile, exec: &Exec) -> io::Result<()> {
    let name = exec.brief_name();
    for row in exec.rows() {
        json_line(out, "tile", &InFileRow { file, row: OfExecutable { executable: name.as_deref(), row } })?;
    }
    json_line(out, "executable", &InFileRow { file, row: exec.sums() })
}

#[derive(Serialize)]
struct Last {
    #[serde(flatten)]
    path: FilePath,
    error: Option<ErrorReport>,
}

/// An executable with all its tiles, made while they are written.
struct WithTiles<'e>(&'e Exec);

impl Serialize for WithTiles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields<'e> {
            #[serde(flatten)]
            sums: Sums,
            tile_memories: Rows<'e>,
        }
        Fields { sums: self.0.sums(), tile_memories: Rows(self.0) }.serialize(serializer)
    }
}

struct Rows<'e>(&'e Exec);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.rows())
    }
}

impl Exec {
    fn name(&self) -> Option<String> {
        self.name.as_ref().map(|name| name.to_string_lossy().into_owned())
    }

    /// The same for the row of each tile.
    fn brief_name(&self) -> Option<String> {
        self.name().map(|name| brief(&name, MOST_NAME).into_owned())
    }

    /// The tiles, the fullest first.
    fn rows(&self) -> impl Iterator<Item = Row> {
        self.summary.fullest(usize::MAX).into_iter().map(|tile| self.row(tile))
    }

    fn row(&self, tile: &Tile) -> Row {
        let content = self.summary.content(tile);
        let size = self.summary.memory(tile);
        Row {
            tile: tile.number,
            ipu: self.fit.ipu(tile),
            member: tile.name.to_string_lossy().into_owned(),
            size,
            sizes: content.map(|content| content.sizes).unwrap_or_default(),
            stack: content.and_then(|content| content.stack),
            free: self.fit.tile_memory.map(|memory| memory.saturating_sub(size)),
            over: self.fit.tile_memory.map(|memory| size.saturating_sub(memory)),
            verdict: self.fit.of(&self.summary, tile),
            sections: content.map_or(0, |content| content.sections),
            symbols: content.map_or(0, |content| content.symbols),
        }
    }

    fn sums(&self) -> Sums {
        let summary = &self.summary;
        let overview = summary.overview();
        let of_all = |section: &SectionTotal| OfAll {
            name: section.name.clone().into(),
            kind: section.kind,
            count: section.count,
            size: section.bytes,
            largest: section.largest,
        };
        Sums {
            executable: self.name(),
            container: summary.container,
            verified: summary.verified,
            tiles: summary.tiles.len(),
            distinct: summary.contents.len(),
            numbering: summary.numbering,
            fit: self.fit,
            size: overview.total_bytes,
            sizes: summary.totals(),
            fullest_tile: overview.largest_tile,
            most_size: overview.largest_bytes,
            other_members: summary.other_members_count,
            sections: summary.sections.iter().map(of_all).collect(),
            sections_left_out: summary.sections_left_out,
            shown_tile: self.shown.as_ref().map(|(tile, largest)| Shown {
                row: self.row(tile),
                largest_sections: largest.sections.iter().map(Section::of).collect(),
                more_sections: largest.more_sections,
                largest_symbols: largest.symbols.iter().map(Symbol::of).collect(),
                more_symbols: largest.more_symbols,
            }),
            error: self.damage.as_ref().map(described),
        }
    }

    /// The bytes on each tile, in order of the tiles.
    fn amounts(&self) -> Vec<(u32, u64)> {
        let mut amounts: Vec<_> = self.summary.tiles.iter().map(|tile| (tile.number, self.summary.memory(tile))).collect();
        amounts.sort_unstable();
        amounts
    }

    fn picture(&self) -> TilesPicture {
        TilesPicture {
            title: self.name().unwrap_or_default(),
            amounts: self.amounts(),
            tile_memory: self.fit.tile_memory,
            words: fit_words(&self.summary, &self.fit),
        }
    }

    /// Draws how full each tile is, in characters.
    fn draw(&self, out: &mut Out) -> io::Result<()> {
        let amounts = self.amounts();
        let end = amounts.last().map_or(0, |tile| tile.0).saturating_add(1);
        let tiles_per_ipu = self.fit.tiles_per_ipu.unwrap_or(end);
        let most = size(self.summary.overview().largest_bytes);
        Picture { tiles_per_ipu, ipus: end.div_ceil(tiles_per_ipu), amounts: &amounts, most: &most }.write(out)
    }
}

impl Section {
    fn of(section: &executable::Section<'static>) -> Self {
        let executable::Section { name, kind, address, size, .. } = section.clone();
        Section { name: name.into(), kind, address, size }
    }
}

impl Symbol {
    fn of(symbol: &executable::Symbol<'static>) -> Self {
        let executable::Symbol { name, kind, address, size, .. } = symbol.clone();
        Symbol { name: name.into(), kind, address, size }
    }
}

fn write_csv(out: &mut Out, exec: &Exec) -> io::Result<()> {
    let name = exec.brief_name();
    exec.rows().try_for_each(|row| csv::row(out, KEYS, &OfExecutable { executable: name.as_deref(), row }))
}

fn show_tile(out: &mut Out, exec: &Exec, tile: &Tile, largest: &Largest) -> io::Result<()> {
    heading(out, &format!("Tile {}", tile.number))?;
    let row = exec.row(tile);
    fact(out, "size", &format!("{} in {} and {}", size(row.size), counted(row.sections, "section", "sections"), counted(row.symbols, "symbol", "symbols")))?;
    if let Some(stack) = row.stack {
        fact(out, "stack", &format!("{}, as far as names tell", size(stack)))?;
    }
    out.end_line()?;
    let mut table = Table::new([
        Column::left("LARGEST SECTION", Kind::Name),
        Column::right("SIZE"),
        Column::right("ADDRESS"),
        Column::left("KIND", Kind::Type),
    ]);
    for section in &largest.sections {
        let address = format!("0x{:x}", section.address);
        table.row([&section.name.to_string_lossy(), &size(section.size.into()), &address, kind_word(section.kind)]);
    }
    table.write(out)?;
    more(out, largest.sections.len().saturating_add(largest.more_sections), largest.sections.len())?;
    if largest.symbols.is_empty() {
        return Ok(());
    }
    out.end_line()?;
    let mut table = Table::new([
        Column::left("LARGEST SYMBOL", Kind::Name),
        Column::right("SIZE"),
        Column::right("ADDRESS"),
        Column::left("KIND", Kind::Type),
    ]);
    for symbol in &largest.symbols {
        let kind = match symbol.kind {
            SymbolKind::Function => "function",
            SymbolKind::Object => "object",
            _ => "other",
        };
        table.row([&symbol.name.to_string_lossy(), &size(symbol.size.into()), &format!("0x{:x}", symbol.address), kind]);
    }
    table.write(out)?;
    more(out, largest.symbols.len().saturating_add(largest.more_symbols), largest.symbols.len())
}

fn kind_word(kind: SectionKind) -> &'static str {
    match kind {
        SectionKind::Code => "code",
        SectionKind::Constants => "constants",
        SectionKind::Data => "data",
        SectionKind::Zeroed => "zeroed",
        SectionKind::Table => "table",
        _ => "not in memory",
    }
}
