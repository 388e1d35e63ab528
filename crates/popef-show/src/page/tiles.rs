//! The memory of tiles: a picture, for the page and on its own, and a section of the page.

use popef::read::ExecutableBlob;
use poplar_inspect::Error;
use poplar_inspect::executable::{Options, Summary, Verdict, read_blob};

use super::Page;
use crate::failure::Failures;
use crate::output::code::{Code, Markup};
use crate::output::html::Html;
use crate::output::shown::{Show, Shown};
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::tiles::{failure_of, fit_words};

/// The maximum number of executables that are shown.
const MOST_EXECUTABLES: usize = 12;
/// The maximum number of tiles and sections in tables.
const MOST_ROWS: usize = 10;

/// How full each tile of an executable is, as a picture.
#[derive(Clone, Debug)]
pub(crate) struct TilesPicture {
    /// The tiles and their bytes, in order of the tiles.
    pub(crate) amounts: Vec<(u32, u64)>,
    /// The memory of a tile, if it is known.
    pub(crate) tile_memory: Option<u64>,
}

/// The number of cells in a row of a picture, and the maximum number of all cells.
const COLUMNS: usize = 64;
const MOST_CELLS: usize = 1 << 14;
/// The side of a cell with the gap after it, and the room for numbers before a row.
const SIDE: usize = 10;
const LABELS: usize = 60;

/// The shades from almost empty to full.
const SHADES: [&str; 8] = ["#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"];
const IDLE: &str = "#d9d9d9";
const TOO_FULL: &str = "#d62728";

/// One or more tiles of a picture: the fullest of them.
#[derive(Clone, Copy, Default)]
struct Cell {
    tile: u32,
    bytes: u64,
}

impl TilesPicture {
    pub(crate) const WIDTH: usize = LABELS + COLUMNS * SIDE;

    /// How high it is, with the words below the cells.
    pub(crate) fn height(&self) -> usize {
        self.rows() * SIDE + 30
    }

    /// The number of tiles that share a cell.
    fn each(&self) -> usize {
        let tiles =
            self.amounts.last().map_or(0, |tile| usize::try_from(tile.0).unwrap_or(usize::MAX)).saturating_add(1);
        tiles.div_ceil(MOST_CELLS)
    }

    fn count(&self) -> usize {
        let last = self.amounts.last().map(|tile| usize::try_from(tile.0).unwrap_or(usize::MAX));
        last.map_or(0, |last| last.checked_div(self.each()).unwrap_or_default().saturating_add(1))
    }

    fn rows(&self) -> usize {
        self.count().div_ceil(COLUMNS)
    }

    /// Draws the cells, and below them their meaning.
    pub(crate) fn draw(&self, html: &mut Html<'_>, top: usize) {
        let each = self.each();
        let mut cells = vec![None::<Cell>; self.count()];
        for &(tile, bytes) in &self.amounts {
            let place = usize::try_from(tile).unwrap_or(usize::MAX).checked_div(each);
            let Some(cell) = place.and_then(|place| cells.get_mut(place)) else { continue };
            if cell.is_none_or(|cell| cell.bytes < bytes) {
                *cell = Some(Cell { tile, bytes });
            }
        }
        let fullest = self.amounts.iter().map(|tile| tile.1).max().unwrap_or_default();
        let full = self.tile_memory.unwrap_or(fullest);
        for (nth, cell) in cells.iter().enumerate() {
            let (row, column) = (nth / COLUMNS, nth % COLUMNS);
            let y = top + row * SIDE;
            if column == 0 {
                let place = markup!("x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#767676\"", LABELS - 6, y + 9);
                html.put(markup!("<text {}>{}</text>\n", place, nth.saturating_mul(each)));
            }
            let (x, side) = (LABELS + column * SIDE, SIDE - 1);
            html.put(markup!("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" ", x, y, side, side));
            match *cell {
                None => html.put(markup!("fill=\"{}\"/>\n", IDLE)),
                Some(Cell { tile, bytes }) => {
                    let over = if self.tile_memory.is_some_and(|memory| bytes > memory) { ", too much" } else { "" };
                    let shade = if over.is_empty() { shade(bytes, full) } else { TOO_FULL };
                    let title = markup!("<title>tile {}: {}{}</title>", tile, units::size(bytes), over);
                    html.put(markup!("fill=\"{}\">{}</rect>\n", shade, title))
                }
            };
        }
        let what = if each > 1 { shown!("the fullest of {} tiles", each) } else { Shown::own("a tile") };
        let more = if self.tile_memory.is_some() { ", red is more, " } else { ", " };
        html.put(markup!("<text x=\"{}\" y=\"{}\" fill=\"#767676\">", LABELS, top + self.rows() * SIDE + 16));
        html.put(markup!("Each square is {}; the darkest blue is {}{}", what, units::size(full), more));
        html.put("grey has no program</text>\n");
    }
}

fn shade(bytes: u64, full: u64) -> &'static str {
    let level = u128::from(bytes) * 8 / u128::from(full.max(1));
    let level = usize::try_from(level).unwrap_or(usize::MAX).min(SHADES.len() - 1);
    SHADES.get(level).copied().unwrap_or(IDLE)
}

/// The section of the page. It reads executables, if that was requested.
pub(super) fn write(html: &mut Html<'_>, page: &Page<'_, '_>, failures: &mut Failures) {
    let reports = || page.reports.iter().filter(|report| report.options.tiles);
    let all = || {
        reports().flat_map(|report| {
            report.input.file.into_iter().flat_map(popef::File::executables).map(move |it| (report, it))
        })
    };
    if all().next().is_none() {
        return;
    }
    html.put("<section id=\"tiles\">\n<h2>Whether it fits the tiles</h2>\n");
    for (report, found) in all().take(MOST_EXECUTABLES) {
        if (page.stopped)() {
            return;
        }
        html.put("<h3>").name(&found.name()).put("</h3>\n");
        executable(html, report, &found, failures);
    }
    let more = all().count().saturating_sub(MOST_EXECUTABLES);
    if more > 0 {
        let more = units::many(more, "more executable", "more executables");
        html.put(markup!("<p>And {}; <code>popef tiles exec</code> shows all.</p>\n", more));
    }
    html.put("</section>\n");
}

fn executable(html: &mut Html<'_>, report: &FileReport<'_>, found: &ExecutableBlob<'_>, failures: &mut Failures) {
    let summary = match read_blob(found, &Options::default()) {
        Ok(summary) => summary,
        Err(error) => {
            failure_of(&error).iter().for_each(|failure| failures.push(failure));
            damaged(html, "Its tiles were not read", &error);
            return;
        }
    };
    if let Some(damage) = &summary.damage {
        failure_of(damage).iter().for_each(|failure| failures.push(failure));
        damaged(html, "Not all was read", damage);
    }
    let metadata = report.all_metadata().iter().find(|view| view.blob.executable() == found.name());
    let version = metadata.and_then(|view| view.value.as_ref().ok()).map(|metadata| metadata.ipu_version);
    let fit = summary.fit(None, version);
    let words = fit_words(&summary, &fit);
    let class = if fit.verdict == Verdict::DoesNotFit { "<p class=\"damage\">" } else { "<p>" };
    html.put(class).put(markup!("Fits: <strong>{}</strong>.", words));
    if !summary.verified {
        html.put(" This is unverified: what is inside an executable is inferred, because no sample is public.");
    }
    html.put("</p>\n");
    if summary.tiles.is_empty() {
        return;
    }
    let mut amounts: Vec<_> = summary.tiles.iter().map(|tile| (tile.number, summary.memory(tile))).collect();
    amounts.sort_unstable();
    let picture = TilesPicture { amounts, tile_memory: fit.tile_memory };
    let (width, height) = (TilesPicture::WIDTH, picture.height());
    html.put("<div class=\"scroll\">");
    html.put(markup!("<svg width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" ", width, height, width, height));
    html.put("font-size=\"11\" role=\"img\" ");
    html.put("aria-label=\"How full each tile is\">\n");
    picture.draw(html, 0);
    html.put("</svg></div>\n");
    tables(html, &summary);
}

fn tables(html: &mut Html<'_>, summary: &Summary) {
    html.put("<div class=\"scroll\"><table>\n<caption>The fullest of ");
    html.put(units::many(summary.tiles.len(), "tile", "tiles")).put("</caption>\n<thead><tr>");
    head(html, &["Tile", "Memory", "Code", "Constants", "Data", "Zeroed"]);
    for tile in summary.fullest(MOST_ROWS) {
        let sizes = summary.content(tile).map(|content| content.sizes).unwrap_or_default();
        html.put(markup!("<tr><th scope=\"row\" class=\"number\">{}</th>", tile.number));
        for bytes in [sizes.memory(), sizes.code, sizes.constants, sizes.data, sizes.zeroed] {
            html.put(number(units::size(bytes)));
        }
        html.put("</tr>\n");
    }
    html.put("</tbody></table></div>\n<div class=\"scroll\"><table>\n<caption>The largest sections of all tiles</caption>\n<thead><tr>");
    head(html, &["Section", "Number", "Memory", "Largest"]);
    for section in summary.sections.iter().filter(|section| section.kind.is_in_memory()).take(MOST_ROWS) {
        html.put("<tr><th scope=\"row\">")
            .name(&section.name)
            .put("</th>")
            .put(number(units::thousands(section.count)));
        html.put(number(units::size(section.bytes))).put(number(units::size(section.largest))).put("</tr>\n");
    }
    html.put("</tbody></table></div>\n");
}

fn number(number: impl Show) -> Code<Markup> {
    markup!("<td class=\"number\">{}</td>", number)
}

/// Says why not everything was read.
fn damaged(html: &mut Html<'_>, what: &'static str, error: &Error) {
    html.put(markup!("<p class=\"damage\">{}: {}</p>\n", what, Shown::message(&error.to_string())));
}

/// The rest of a table's head. All columns but the names are numbers.
fn head(html: &mut Html<'_>, columns: &[&'static str]) {
    for column in columns {
        html.put(if *column == "Section" { "<th scope=\"col\">" } else { "<th scope=\"col\" class=\"number\">" });
        html.put(*column).put("</th>");
    }
    html.put("</tr></thead>\n<tbody>\n");
}
