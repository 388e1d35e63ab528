//! How two profiling reports differ.

use std::io;

use poplar_inspect::profile::{
    DiffSubject, DiffUnit, DiffValue, DifferentTiles, ProfileDiff, ProfileDifference, ProfileVerdict, Report,
};
use serde::Serialize;

use super::{ProfileFormat, ProfileHead, summary};
use crate::output::json::object;
use crate::output::table::{Cell, Field, TableRow, percent, write_csv, write_table};
use crate::{Kind, Network, Out, Shown, counted, json_document, json_item, size};

/// How two profiling reports differ.
#[derive(Debug)]
pub struct ProfileDiffReport<'d> {
    sides: [(ProfileHead<'d>, &'d Report); 2],
    diff: &'d ProfileDiff<'d>,
}

impl<'d> ProfileDiffReport<'d> {
    /// A report about two profiling reports and their difference.
    pub fn new(a: (ProfileHead<'d>, &'d Report), b: (ProfileHead<'d>, &'d Report), diff: &'d ProfileDiff<'d>) -> Self {
        ProfileDiffReport { sides: [a, b], diff }
    }

    /// Writes it. Text has at most `top` differences of each kind.
    pub fn write(&self, out: &mut Out, format: ProfileFormat, top: usize, network: Network) -> io::Result<()> {
        let differences = &self.diff.differences;
        match format {
            ProfileFormat::Text => {
                self.sides(out)?;
                self.text(out, top)
            }
            ProfileFormat::Json => {
                json_document(out, &object! { #[serde(flatten)] sums: self.sums(), differences }, network)
            }
            ProfileFormat::Ndjson => {
                differences.iter().try_for_each(|difference| json_item(out, "difference", difference))?;
                json_item(out, "report", &self.sums())
            }
            _ => write_csv::<ProfileDifference<'_>>(out, differences),
        }
    }

    fn sums(&self) -> impl Serialize {
        let ([(a, _), (b, _)], diff) = (&self.sides, self.diff);
        object! { a, b, verdict: diff.verdict, same_values: diff.same_values, not_compared: &diff.not_compared }
    }

    fn sides(&self, out: &mut Out) -> io::Result<()> {
        for (sign, (head, report)) in ["---", "+++"].into_iter().zip(&self.sides) {
            out.put(sign).put(" ").text(Kind::Group, head.path.text());
            if let Some(graph) = &report.graph {
                out.put(shown!("  {}", summary::target(graph)));
            }
            out.end_line()?;
        }
        Ok(())
    }

    fn text(&self, out: &mut Out, top: usize) -> io::Result<()> {
        let diff = self.diff;
        let of_subject: Vec<_> = diff.differences.chunk_by(|one, other| one.subject == other.subject).collect();
        let shown = of_subject.iter().flat_map(|differences| differences.iter().take(top));
        let shown: Vec<_> = shown.cloned().collect();
        if !shown.is_empty() {
            write_table(out, &shown)?;
        }
        for (subject, more) in
            of_subject.iter().filter_map(|all| Some((all.first()?.subject, all.len().checked_sub(top)?)))
        {
            if more > 0 {
                out.put(shown!("... and {} more of {}, which --top shows", more, plural(subject))).end_line()?;
            }
        }
        for missing in &diff.not_compared {
            let side = if missing.in_a { "second" } else { "first" };
            let what = missing.measure.map_or_else(
                || Shown::own(plural(missing.subject)),
                |measure| {
                    shown!(
                        "{} of {} ({})",
                        measure_words(measure),
                        plural(missing.subject),
                        counted(missing.values, "value", "values")
                    )
                },
            );
            out.put_as(Kind::Warning, "not compared")
                .put(shown!(": {}, which the {} report does not have", what, side))
                .end_line()?;
        }
        let same = counted(diff.same_values, "value is the same", "values are the same");
        let verdict = match diff.verdict {
            ProfileVerdict::Same => {
                let same = counted(diff.same_values, "value", "values");
                shown!("What is compared is the same: {}. Not compared: {}", same, NEVER_COMPARED)
            }
            ProfileVerdict::Different => shown!("{}, {}", same, counted(diff.differences.len(), "differs", "differ")),
            ProfileVerdict::NotComparable if diff.same_values == 0 => {
                Shown::own("There is nothing that both reports tell")
            }
            ProfileVerdict::NotComparable => shown!("{}, but not all could be compared", same),
        };
        out.put(verdict).end_line()
    }
}

const NEVER_COMPARED: &str =
    "the order of programs and steps, single exchanges, the categories on each tile, what is live during each program";

impl TableRow for ProfileDifference<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::words("subject", "What", Kind::Type, |row| Cell::text(single(row.subject))),
            Field::words("name", "Name", Kind::Name, |row: &Self| {
                row.tiles.map_or_else(|| Cell::name(row.name.or(row.kind)), |tiles| Cell::text(tile_words(tiles)))
            })
            .turn(1),
            Field::data("type"),
            Field::data("tile"),
            Field::data("tiles"),
            Field::words("measure", "Value", Kind::Plain, |row| Cell::text(measure_words(row.measure))),
            Field::data("unit"),
            Field::number("a", "A", |row| Cell::text(side(row.unit, row.a))),
            Field::number("b", "B", |row| Cell::text(side(row.unit, row.b))),
            Field::number("", "Change", |row| Cell::text(change(row))),
            Field::number("", "Percent", |row| Cell::text(share(row))),
        ]
    }
}

fn tile_words(tiles: DifferentTiles) -> Shown<'static> {
    match tiles.count {
        1 => shown!("tile {}", tiles.largest),
        count => shown!("tile {}, which differs most of {} tiles", tiles.largest, count),
    }
}

fn side(unit: DiffUnit, value: Option<DiffValue<'_>>) -> Shown<'static> {
    value.map_or_else(|| Shown::own("-"), |value| shown(unit, value))
}

fn change(row: &ProfileDifference<'_>) -> Shown<'static> {
    row.change().map_or_else(Shown::default, |change| {
        let sign = if change < 0 { "-" } else { "+" };
        let amount = u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX);
        shown!("{}{}", sign, shown(row.unit, DiffValue::Number(amount)))
    })
}

/// The change as a share of the first value.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs no more")]
fn share(row: &ProfileDifference<'_>) -> Shown<'static> {
    match (row.a, row.change()) {
        (Some(DiffValue::Number(a)), Some(change)) if a > 0 => {
            let words = percent(change as f64 / a as f64);
            if change < 0 { words } else { shown!("+{}", words) }
        }
        _ => Shown::default(),
    }
}

fn shown(unit: DiffUnit, value: DiffValue<'_>) -> Shown<'static> {
    match value {
        DiffValue::Number(bytes) if unit == DiffUnit::Bytes => size(bytes),
        DiffValue::Number(number) => number.into(),
        DiffValue::Word(word) => Shown::escaped(word).into_owned(),
    }
}

fn single(subject: DiffSubject) -> &'static str {
    match subject {
        DiffSubject::Target => "target",
        DiffSubject::Graph => "graph",
        DiffSubject::Memory => "memory",
        DiffSubject::Tile => "tile",
        DiffSubject::Category => "category",
        DiffSubject::VertexType => "vertex type",
        DiffSubject::ComputeSet => "compute set",
        DiffSubject::Exchange => "exchange",
        DiffSubject::Program => "program",
        DiffSubject::Execution => "execution",
        DiffSubject::Step => "step",
        _ => "other",
    }
}

fn plural(subject: DiffSubject) -> &'static str {
    match subject {
        DiffSubject::Tile => "tiles",
        DiffSubject::Category => "categories",
        DiffSubject::VertexType => "vertex types",
        DiffSubject::ComputeSet => "compute sets",
        DiffSubject::Exchange => "exchanges",
        DiffSubject::Program => "programs",
        DiffSubject::Step => "steps",
        other => single(other),
    }
}

/// A value in words, by its key in JSON.
fn measure_words(measure: &'static str) -> &'static str {
    match measure {
        "numTiles" => "tiles",
        "numIPUs" => "IPUs",
        "bytesPerTile" => "bytes per tile",
        "clockFrequency" => "clock in Hz",
        "numComputeSets" => "compute sets",
        "numEdges" => "edges",
        "numVars" => "variables",
        "numVertices" => "vertices",
        "fullestTile" => "fullest tile",
        "allTiles" => "all tiles",
        "fullestTileData" => "fullest tile without gaps",
        "allTilesData" => "all tiles without gaps",
        "alwaysLive" => "always live",
        "peakNotAlwaysLive" => "most of the rest at once",
        "most" => "most on a tile",
        "dataSize" => "size without gaps",
        "vertexData" => "data of vertices",
        "tileCycles" => "cycles of all tiles",
        "profilerMode" => "mode",
        other => other,
    }
}
