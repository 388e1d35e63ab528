//! How full the tiles of executables are, and whether they fit.

use std::io;
use std::path::Path;

use popef::seam::List;
use popef::types::{Diagnostic, Text};
use popef_ops::{FilePath, InFile, Name};
use poplar_inspect::executable::{
    Container, Fit, Largest, Numbering, SectionKind, SectionTotal, Sizes, Summary, SymbolKind, Tile, Verdict,
};
use serde::Serialize;

use super::MOST_NAME;
use super::picture::Picture;
use crate::output::html::Html;
use crate::output::json::{LongObject, item_in, object};
use crate::output::table::{
    Cell, Field, Table, TableRow, brief, fact, heading, more, write_csv_heading, write_csv_rows, write_table,
};
use crate::page::tiles::TilesPicture;
use crate::report::tiles::fit_words;
use crate::{Kind, Network, Out, Shown, counted, json_item, size};
use popef::seam::named;

named! {
    /// The formats of executables and their tiles.
    pub enum TilesFormat {
        /// For people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// Lines of JSON.
        Ndjson = "ndjson",
        /// A row for each tile.
        Csv = "csv",
        /// A picture of all tiles.
        Svg = "svg",
    }
}

/// An executable as it was read.
#[derive(Debug)]
pub struct ExecutableTiles {
    /// Its name. `None` if the file is an archive or a bare executable.
    pub name: Option<Text<'static>>,
    /// Its tiles.
    pub summary: Summary,
    /// Whether they fit.
    pub fit: Fit,
    /// The requested tile, or the fullest one, and what is on it.
    pub shown: Option<(Tile, Largest)>,
    /// Why not everything was read.
    pub damage: Option<Diagnostic>,
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

#[derive(Serialize)]
struct OfExecutable<'e> {
    executable: Option<&'e str>,
    #[serde(flatten)]
    row: Row,
}

impl TableRow for OfExecutable<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::data("executable"),
            Field::number("tile", "Tile", |of| Cell::Number(of.row.tile.into())),
            Field::number("ipu", "IPU", |of| Cell::number(of.row.ipu)),
            Field::data("member"),
            Field::number("size", "Size", |of| Cell::Bytes(of.row.size)),
            Field::number("code", "Code", |of| Cell::Bytes(of.row.sizes.code)),
            Field::number("constants", "Constants", |of| Cell::Bytes(of.row.sizes.constants)),
            Field::number("data", "Data", |of| Cell::Bytes(of.row.sizes.data)),
            Field::number("zeroed", "Zeroed", |of| Cell::Bytes(of.row.sizes.zeroed)),
            Field::data("stack"),
            Field::number("free", "Free", |of| Cell::bytes(of.row.free)),
            Field::words("over", "", Kind::Warning, |of| Cell::text(too_much(&of.row))),
            Field::data("verdict"),
        ]
    }
}

fn too_much(row: &Row) -> Shown<'static> {
    row.over.filter(|over| *over > 0).map_or(Shown::default(), |over| shown!("{} too much", size(over)))
}

/// Shows the executables of a file, one after the other.
#[derive(Debug)]
pub struct ExecutablesRenderer {
    path: FilePath,
    file: InFile,
    format: TilesFormat,
    top: usize,
    network: Network,
    document: Option<LongObject>,
    /// The name of each executable, whether it fits, and its picture.
    pictures: Vec<(Shown<'static>, Shown<'static>, TilesPicture)>,
}

impl ExecutablesRenderer {
    /// Writes the part before the executables. At most `top` tiles, sections and symbols are shown as text.
    pub fn begin(out: &mut Out, path: &Path, format: TilesFormat, top: usize, network: Network) -> io::Result<Self> {
        let (path, file) = (FilePath::from(path), InFile::from(path));
        let mut document = None;
        match format {
            TilesFormat::Svg | TilesFormat::Ndjson => {}
            TilesFormat::Text => out.text(Kind::Group, path.text()).end_line()?,
            TilesFormat::Json => {
                let head = object! { schema_version: 1, #[serde(flatten)] path: &path };
                document = Some(LongObject::begin(out, &head, "executables")?);
            }
            TilesFormat::Csv => write_csv_heading::<OfExecutable<'_>>(out)?,
        }
        Ok(ExecutablesRenderer { path, file, format, top, network, document, pictures: Vec::new() })
    }

    /// Writes an executable.
    pub fn executable(&mut self, out: &mut Out, exec: &ExecutableTiles) -> io::Result<()> {
        match (&mut self.document, self.format) {
            (Some(document), _) => document.element(out, &exec.with_tiles())?,
            (None, TilesFormat::Svg) => self.pictures.push(exec.picture()),
            (None, TilesFormat::Ndjson) => write_lines(out, &self.file, exec)?,
            (None, TilesFormat::Csv) => exec.write_csv(out)?,
            _ => show(out, exec, self.top)?,
        }
        out.flush_if_full()
    }

    /// Writes that an executable could not be read at all.
    pub fn not_read(&mut self, out: &mut Out, name: &Text<'_>, error: &Diagnostic) -> io::Result<()> {
        let row = object! { executable: name.to_string_lossy(), error };
        match (&mut self.document, self.format) {
            (Some(document), _) => document.element(out, &row),
            (None, TilesFormat::Ndjson) => item_in(out, "executable", &self.file, &row),
            (None, TilesFormat::Text) => {
                out.end_line()?;
                out.quoted(Kind::Name, name).put(" was not read").end_line()
            }
            _ => Ok(()),
        }
    }

    /// Writes the part after the executables. `error` is the first error.
    pub fn end(self, out: &mut Out, error: Option<Diagnostic>) -> io::Result<()> {
        match (self.document, self.format) {
            (Some(document), _) => document.end(out, &object! { error, #[serde(flatten)] network: self.network }),
            (None, TilesFormat::Ndjson) => {
                json_item(out, "file", &object! { #[serde(flatten)] path: self.path, error })
            }
            (None, TilesFormat::Svg) => write_svg(out, &self.pictures),
            _ => Ok(()),
        }
    }
}

fn show(out: &mut Out, exec: &ExecutableTiles, top: usize) -> io::Result<()> {
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
    fact(out, "tiles", shown!("{}, {} different, numbered by their {}", overview.count, overview.distinct, by))?;
    let totals = summary.totals();
    let kinds =
        [("code", totals.code), ("constants", totals.constants), ("data", totals.data), ("zeroed", totals.zeroed)];
    let kinds = Shown::joined(kinds.map(|(kind, bytes)| shown!("{} {}", size(bytes), kind)), ", ");
    fact(out, "all memory", shown!("{}: {}", size(totals.memory()), kinds))?;
    if let Some(tile) = overview.largest_tile {
        let of_memory = exec.fit.tile_memory.map_or(Shown::default(), |memory| shown!(" of {}", size(memory)));
        fact(out, "fullest tile", shown!("{}{}, tile {}", size(overview.largest_bytes), of_memory, tile))?;
    }
    if summary.other_members_count > 0 {
        fact(out, "left out", counted(summary.other_members_count, "file that is no tile", "files that are no tiles"))?;
    }
    let is_advised = exec.fit.tile_memory.is_none() && summary.is_complete() && !summary.tiles.is_empty();
    let advice = if is_advised { "; give --tile-memory" } else { "" };
    fact(out, "fits", shown!("{}{}", fit_words(summary, &exec.fit), advice))?;
    if summary.tiles.is_empty() {
        return Ok(());
    }
    out.end_line()?;
    exec.draw(out)?;
    show_tiles(out, exec, top)?;
    show_sections(out, exec, top)?;
    exec.shown.as_ref().map_or(Ok(()), |(tile, largest)| show_tile(out, exec, tile, largest))
}

fn show_tiles(out: &mut Out, exec: &ExecutableTiles, top: usize) -> io::Result<()> {
    heading(out, "Fullest tiles")?;
    let rows: Vec<_> = exec.rows().take(top).map(|row| OfExecutable { executable: None, row }).collect();
    write_table(out, &rows)?;
    more(out, exec.summary.tiles.len(), top)
}

fn show_sections(out: &mut Out, exec: &ExecutableTiles, top: usize) -> io::Result<()> {
    heading(out, "Sections of all tiles")?;
    Table::of(exec.summary.sections.iter().filter(|section| section.kind != SectionKind::Table))
        .number("Size", |section| size(section.bytes))
        .number("Count", |section| section.count)
        .number("Largest", |section| size(section.largest))
        .column("Kind", Kind::Type, |section| kind_word(section.kind))
        .column("Section", Kind::Name, |section| section.name.to_string_lossy())
        .write_first(out, top)
}

fn write_lines(out: &mut Out, file: &InFile, exec: &ExecutableTiles) -> io::Result<()> {
    let name = exec.brief_name();
    for row in exec.rows() {
        item_in(out, "tile", file, &OfExecutable { executable: name.as_deref(), row })?;
    }
    item_in(out, "executable", file, &exec.sums())
}

impl ExecutableTiles {
    fn name(&self) -> Option<String> {
        self.name.as_ref().map(|name| name.to_string_lossy().into_owned())
    }

    /// The name for the row of each tile, cut if it is long.
    fn brief_name(&self) -> Option<String> {
        self.name().map(|name| brief(&name, MOST_NAME).into_owned())
    }

    /// The tiles, the fullest first.
    fn rows(&self) -> impl Iterator<Item = Row> {
        self.summary.fullest(usize::MAX).into_iter().map(|tile| self.row(tile))
    }

    fn write_csv(&self, out: &mut Out) -> io::Result<()> {
        let name = self.brief_name();
        write_csv_rows(out, self.rows().map(|row| OfExecutable { executable: name.as_deref(), row }))
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

    /// The JSON about an executable as a whole.
    fn sums(&self) -> impl Serialize {
        let summary = &self.summary;
        let overview = summary.overview();
        let of_all = |section: &SectionTotal| {
            object! {
                #[serde(flatten)]
                name: Name::from(section.name.clone()),
                kind: section.kind,
                count: section.count,
                size: section.bytes,
                largest: section.largest,
            }
        };
        object! {
            executable: self.name(),
            container: summary.container,
            verified: summary.verified,
            tiles: summary.tiles.len(),
            distinct: summary.contents.len(),
            numbering: summary.numbering,
            #[serde(flatten)]
            fit: self.fit,
            size: overview.total_bytes,
            #[serde(flatten)]
            sizes: summary.totals(),
            fullest_tile: overview.largest_tile,
            most_size: overview.largest_bytes,
            other_members: summary.other_members_count,
            sections: summary.sections.iter().map(of_all).collect::<Vec<_>>(),
            sections_left_out: summary.sections_left_out,
            shown_tile: self.shown.as_ref().map(|(tile, largest)| self.tile_object(tile, largest)),
            error: &self.damage,
        }
    }

    /// The JSON with all its tiles, made while they are written.
    fn with_tiles(&self) -> impl Serialize {
        object! { #[serde(flatten)] sums: self.sums(), tile_memories: List(|| self.rows()) }
    }

    /// A tile with its sections and symbols.
    fn tile_object(&self, tile: &Tile, largest: &Largest) -> impl Serialize + use<> {
        let sections = largest.sections.iter().map(|it| piece(&it.name, it.kind, it.address, it.size));
        let symbols = largest.symbols.iter().map(|it| piece(&it.name, it.kind, it.address, it.size));
        object! {
            #[serde(flatten)]
            row: self.row(tile),
            largest_sections: sections.collect::<Vec<_>>(),
            more_sections: largest.more_sections,
            largest_symbols: symbols.collect::<Vec<_>>(),
            more_symbols: largest.more_symbols,
        }
    }

    /// The bytes on each tile, in order of the tiles.
    fn amounts(&self) -> Vec<(u32, u64)> {
        let mut amounts: Vec<_> =
            self.summary.tiles.iter().map(|tile| (tile.number, self.summary.memory(tile))).collect();
        amounts.sort_unstable();
        amounts
    }

    fn picture(&self) -> (Shown<'static>, Shown<'static>, TilesPicture) {
        let picture = TilesPicture { amounts: self.amounts(), tile_memory: self.fit.tile_memory };
        (self.name().map(Shown::from).unwrap_or_default(), fit_words(&self.summary, &self.fit), picture)
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

/// A section or a symbol.
fn piece<K: Serialize>(name: &Text<'_>, kind: K, address: u32, size: u32) -> impl Serialize + use<K> {
    object! { #[serde(flatten)] name: Name::from(name.clone().into_owned()), kind, address, size }
}

fn show_tile(out: &mut Out, exec: &ExecutableTiles, tile: &Tile, largest: &Largest) -> io::Result<()> {
    heading(out, shown!("Tile {}", tile.number))?;
    let row = exec.row(tile);
    fact(
        out,
        "size",
        shown!(
            "{} in {} and {}",
            size(row.size),
            counted(row.sections, "section", "sections"),
            counted(row.symbols, "symbol", "symbols")
        ),
    )?;
    if let Some(stack) = row.stack {
        fact(out, "stack", shown!("{}, as far as names tell", size(stack)))?;
    }
    out.end_line()?;
    Table::of(&largest.sections)
        .column("Largest section", Kind::Name, |section| section.name.to_string_lossy())
        .number("Size", |section| size(section.size.into()))
        .number("Address", |section| shown!("0x{:x}", section.address))
        .column("Kind", Kind::Type, |section| kind_word(section.kind))
        .write(out)?;
    more(out, largest.sections.len().saturating_add(largest.more_sections), largest.sections.len())?;
    if largest.symbols.is_empty() {
        return Ok(());
    }
    out.end_line()?;
    let kind = |kind| match kind {
        SymbolKind::Function => "function",
        SymbolKind::Object => "object",
        _ => "other",
    };
    Table::of(&largest.symbols)
        .column("Largest symbol", Kind::Name, |symbol| symbol.name.to_string_lossy())
        .number("Size", |symbol| size(symbol.size.into()))
        .number("Address", |symbol| shown!("0x{:x}", symbol.address))
        .column("Kind", Kind::Type, |symbol| kind(symbol.kind))
        .write(out)?;
    more(out, largest.symbols.len().saturating_add(largest.more_symbols), largest.symbols.len())
}

/// Writes pictures below each other, as one SVG file.
fn write_svg(out: &mut Out, pictures: &[(Shown<'_>, Shown<'_>, TilesPicture)]) -> io::Result<()> {
    const HEAD: usize = 44;
    let width = TilesPicture::WIDTH;
    let height = |picture: &TilesPicture| HEAD + picture.height();
    let all = pictures.iter().fold(0_usize, |sum, (.., picture)| sum.saturating_add(height(picture)));
    let mut html = Html::within(out);
    html.put("<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    html.put(markup!("width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" ", width, all, width, all));
    html.put("font-family=\"sans-serif\" font-size=\"11\">\n");
    html.put(markup!("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", width, all));
    let mut y = 0;
    for (title, words, picture) in pictures {
        html.put(markup!("<text x=\"4\" y=\"{}\" font-size=\"14\">{}</text>\n", y + 18, title));
        html.put(markup!("<text x=\"4\" y=\"{}\">Fits: {}</text>\n", y + 36, words));
        picture.draw(&mut html, y + HEAD);
        y += height(picture);
    }
    html.put("</svg>\n");
    html.finish()
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
