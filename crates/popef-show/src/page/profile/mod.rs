//! One HTML page about a profiling report.
//!
//! Like the page about files, it needs no network and no other file, shows the most important facts without scripts, and its
//! policy forbids all scripts and styles but its own. It stays small for reports of any size: if there are many steps and
//! rows, it has the largest ones.

mod data;
mod liveness;

use std::io;

use poplar_inspect::profile::{
    ExecutionProfile, Facts, GraphProfile, Selection, categories, compute_sets, exchanges, facts, steps, tiles,
    vertex_types,
};

use super::tables::{brief, table_of};
use super::{STYLE, head};
use crate::output::html::{Html, bdi};
use crate::output::out::Out;
use crate::output::shown::{Show, Shown};
use crate::output::units::{counted, size, thousands};

const OWN_STYLE: &str = include_str!("profile.css");
const SCRIPT: &str = include_str!("profile.js");
/// The policy of the page: it may only use its own styles and script, known by their hashes. A test says what the file
/// must be.
const POLICY: &str = include_str!("policy.txt");

/// The fields of steps, in the order of the page.
const STEP_KEYS: [&str; 12] = [
    "step",
    "type",
    "cycles",
    "cyclesFrom",
    "cyclesOverlapped",
    "activeTiles",
    "tileBalance",
    "activeTileBalance",
    "threadBalance",
    "totalData",
    "dataBalance",
    "name",
];

/// The maximum number of rows of a table on the page.
const ROWS: usize = 200;
/// The number of parts of a picture that have their own colours.
const COLORS: usize = 7;

/// A page about a profiling report.
///
/// ```
/// use popef_show::{Out, ProfilePage, Shown};
/// use poplar_inspect::profile::{ReadOptions, Report};
///
/// let json = r#"{"target":{"numIPUs":1,"numTiles":2,"tilesPerIPU":2,"bytesPerTile":100},
///     "memory":{"byTile":{"total":[70,80],"totalIncludingGaps":[70,120]}}}"#;
/// let report = Report::read(json.as_bytes(), &ReadOptions::default())?;
/// let graph = report.graph.as_ref().expect("it has a target");
/// let mut html = Out::in_memory(false);
/// let title = Shown::own("Two tiles");
/// ProfilePage { title: &title, made_by: "an example", graph, execution: None }.write(&mut html)?;
/// assert!(String::from_utf8(html.into_bytes())?.contains("tile 1 needs 120 B of 100 B"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ProfilePage<'p> {
    /// The heading.
    pub title: &'p Shown<'p>,
    /// The program and its version.
    pub made_by: &'static str,
    /// The graph profile.
    pub graph: &'p GraphProfile,
    /// The execution profile, if there is one.
    pub execution: Option<&'p ExecutionProfile>,
}

impl ProfilePage<'_> {
    /// Writes the page.
    pub fn write(&self, out: &mut Out) -> io::Result<()> {
        let mut html = Html::within(out);
        let facts = facts(self.graph, self.execution);
        head(&mut html, self.title, POLICY, &[STYLE, OWN_STYLE]);
        html.put("<body>\n");
        self.overview(&mut html, &facts);
        html.put("<main>\n");
        self.memory(&mut html);
        self.categories(&mut html);
        liveness::write(&mut html, self.graph, self.execution);
        self.time(&mut html);
        self.parts(&mut html);
        html.put("<section><h2>What this page does not know</h2><ul>");
        html.put("<li>No whole report of Poplar is public. This was tested with synthetic reports only.</li>");
        html.put("<li>Tiles are shown by their numbers, and not where they are on the chip.</li>");
        if self.execution.is_none() {
            html.put("<li>There is no execution profile, so nothing is known of time.</li>");
        }
        html.put(markup!("</ul></section>\n</main>\n<footer>Made by {}.</footer>\n", self.made_by));
        data::write(&mut html, self.graph, self.execution);
        html.put("<script>").put(SCRIPT).put("</script>\n</body>\n</html>\n");
        html.finish()
    }

    fn overview(&self, html: &mut Html<'_>, facts: &Facts<'_>) {
        let target = &self.graph.target;
        html.put(markup!("<header><p class=\"kind\">Profiling report</p>\n<h1>{}</h1>\n", self.title));
        if let Some(memory) = facts.memory.as_ref().filter(|memory| memory.sums.over_memory.fits == Some(false)) {
            let over = &memory.sums.over_memory;
            let needs = memory.sums.with_gaps.as_ref().filter(|_| !over.with_gaps.is_empty());
            html.put("<p class=\"damage\">It does not fit: ");
            html.put(match needs.zip(target.bytes_per_tile) {
                Some((tiles, limit)) => {
                    markup!("tile {} needs {} of {}.</p>\n", tiles.max_tile, size(tiles.max), size(limit))
                }
                None => markup!(
                    "{} have no place in the region of memory that they need.</p>\n",
                    size(over.overflowed_bytes)
                ),
            });
        }
        html.put("<dl class=\"figures\">");
        let ipus = target.num_ipus.unwrap_or(1);
        figure(html, "Tiles", shown!("{} on {}", thousands(target.num_tiles), counted(ipus, "IPU", "IPUs")), "");
        if let Some(memory) = &facts.memory {
            let over = &memory.sums.over_memory;
            let state = over.fits.map_or("", |fits| if fits { "good" } else { "error" });
            if let Some(tiles) = &memory.sums.with_gaps {
                figure(html, "Fullest tile", size(tiles.max), state);
            }
            if let Some(tiles) = &memory.sums.without_gaps {
                figure(html, "All data", size(tiles.sum), "");
            }
            let too_full = over.fits.map_or_else(|| Shown::own("unknown"), |_| thousands(over.with_gaps.len()));
            figure(html, "Tiles over their memory", too_full, state);
        }
        if let Some(simulation) = facts.execution.as_ref().and_then(|execution| execution.simulation.as_ref()) {
            let cycles = simulation.cycles.map_or_else(|| Shown::own("unknown"), thousands);
            figure(html, "Cycles", cycles, "");
            figure(html, "Steps", thousands(simulation.step_count), "");
        }
        html.put("</dl></header>\n");
    }

    fn memory(&self, html: &mut Html<'_>) {
        html.put("<section id=\"memory\"><h2>Memory by tile</h2>\n");
        html.put("<div id=\"map\" hidden><p class=\"choice\"><label>Show <select id=\"metric\"></select></label>");
        html.put(" <output id=\"tile\" aria-live=\"polite\">Point at a tile, or use the arrow keys.</output></p>\n");
        html.put("<div id=\"ipus\"></div>\n<p id=\"scale\" class=\"quiet\"></p></div>\n");
        let rows = tiles(self.graph, &Selection::largest(ROWS), 3);
        let keys = ["tile", "size", "dataSize", "overflowed", "alwaysLive", "maxNotAlwaysLive", "largestCategories"];
        table_of(html, "The fullest tiles", &keys, &rows, self.graph.target.num_tiles as usize);
        html.put("</section>\n");
    }

    fn categories(&self, html: &mut Html<'_>) {
        let rows = categories(self.graph, &Selection::largest(ROWS));
        if rows.is_empty() {
            return;
        }
        html.put("<section id=\"categories\"><h2>What the memory is used for</h2>\n");
        html.put("<svg class=\"stack\" viewBox=\"0 0 1000 24\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Shares of the categories\">");
        // The largest have their own colours.
        let largest = rows.get(..COLORS).unwrap_or(&rows);
        let rest = rows.len() > largest.len();
        let mut parts: Vec<_> =
            largest.iter().map(|row| (brief(&row.category.into()), size(row.size), row.share)).collect();
        if rest {
            let shown = parts.iter().map(|(_, _, share)| share).sum::<f64>();
            parts.push((Shown::own("others"), Shown::default(), (1.0 - shown).max(0.0)));
        }
        let mut from = 0.0;
        for (nth, (name, size, share)) in parts.iter().enumerate() {
            let width = share * 1000.0;
            let place = markup!("x=\"{:.2}\" y=\"0\" height=\"24\" width=\"{:.2}\"", from, width);
            html.put(markup!("<rect class=\"c{}\" {}><title>{} {}</title></rect>", nth, place, name, size));
            from += width;
        }
        html.put("</svg>\n<ul class=\"legend\">");
        for (nth, (name, _, _)) in parts.iter().enumerate() {
            html.put(markup!("<li><i class=\"c{}\"></i>{}</li>", nth, bdi(name)));
        }
        html.put("</ul>\n");
        let keys = ["category", "size", "share", "most", "mostTile", "tiles", "overlapped", "overflowed"];
        let all = self.graph.memory.as_ref().map_or(0, |memory| memory.by_category.len());
        table_of(html, "Categories", &keys, &rows, all);
        html.put("</section>\n");
    }

    fn time(&self, html: &mut Html<'_>) {
        let Some(execution) = self.execution else { return };
        let Some(simulation) = &execution.simulation else { return };
        html.put("<section id=\"time\"><h2>Steps</h2>\n<div id=\"timeline\" hidden>");
        html.put("<p class=\"choice\"><button type=\"button\" id=\"in\">Closer</button> <button type=\"button\" id=\"out\">Farther</button>");
        html.put(" <button type=\"button\" id=\"left\">Earlier</button> <button type=\"button\" id=\"right\">Later</button> ");
        html.put(
            "<output id=\"step\" aria-live=\"polite\">Point at a step.</output></p>\n<canvas id=\"lanes\"></canvas>",
        );
        html.put("<p class=\"quiet\" id=\"range\"></p></div>\n");
        let rows: Vec<_> = steps(execution, &Selection::largest(ROWS)).collect();
        table_of(html, "The longest steps", &STEP_KEYS, &rows, simulation.steps.len());
        html.put("</section>\n");
    }

    fn parts(&self, html: &mut Html<'_>) {
        let largest = Selection::largest(ROWS);
        html.put("<section id=\"parts\"><h2>Parts of the graph</h2>\n");
        let rows = compute_sets(self.graph, self.execution, &largest);
        let keys =
            ["computeSet", "runs", "maxCycles", "maxCyclesTimesRuns", "tiles", "tileBalance", "vertices", "name"];
        table_of(html, "Compute sets", &keys, &rows, self.graph.compute_sets.len());
        let rows = vertex_types(self.graph, self.execution, &largest);
        let keys = ["number", "codeBytes", "tiles", "state", "vertices", "activeCycles", "name"];
        table_of(html, "Vertex types", &keys, &rows, self.graph.vertex_types.names.len());
        let rows = exchanges(self.graph, self.execution, &largest);
        let all = [&self.graph.exchanges, &self.graph.external_exchanges, &self.graph.host_exchanges];
        let keys = ["section", "exchange", "runs", "maxCycles", "tiles", "received", "sent", "codeBytes", "ofProgram"];
        table_of(html, "Exchanges", &keys, &rows, all.iter().map(|all| all.len()).sum());
        html.put("</section>\n");
    }
}

fn figure(html: &mut Html<'_>, what: &'static str, value: impl Show, class: &'static str) {
    html.put(markup!("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>", class, what, value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{hold_nothing_foreign, hold_policy};

    #[test]
    fn the_policy_has_the_hashes_of_styles_and_script() {
        hold_policy("src/page/profile/policy.txt", POLICY, &[STYLE, OWN_STYLE], Some(SCRIPT));
    }

    #[test]
    fn nothing_in_style_and_script_ends_them_or_asks_for_anything() {
        hold_nothing_foreign(&[OWN_STYLE, SCRIPT]);
    }
}
