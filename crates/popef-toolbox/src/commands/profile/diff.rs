//! `popef profile diff`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_ops::Error;
use popef_show::{Column, Kind, Out, Table, counted, escape, size};
use poplar_inspect::profile::{
    DiffSubject, DiffTolerance, DiffUnit, DiffValue, NotCompared, ProfileDiff, ProfileDifference, ProfileVerdict, Report,
    profile_diff,
};
use serde::Serialize;

use super::form::Form;
use super::bars::percent;
use super::input::Keep;
use super::tables::{TableRow, csv};
use super::{Head, input, summary};
use crate::common::end::{FAILED, NO, unwritten};
use crate::common::format::{json_document, json_line};
use crate::common::tool::Tool;
use crate::common::values::{named, path, tolerance};
use crate::common::words::wrong;

/// Compare two profiling reports
///
/// Memory is compared by category and by the fullest tile, cycles by the names of compute sets and of steps. Several of one name are
/// summed up. What only one report tells is not compared, and said.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef profile diff before.graph.json after.graph.json
  popef profile diff a.graph.json b.graph.json --executions a.execution.json b.execution.json
  popef profile diff -q before.json after.json --by tile --rtol 0.05 || echo 'the fullest tile changed by more than 5 %'")]
pub(super) struct Args {
    /// The first report; `-` is standard input
    #[arg(value_name = "A", value_parser = path())]
    a: PathBuf,
    /// The second report; `-` is standard input
    #[arg(value_name = "B", value_parser = path())]
    b: PathBuf,
    /// The execution profiles of both, if they are files of their own
    #[arg(long, value_names = ["A", "B"], num_args = 2, value_parser = path(), help_heading = "Comparison")]
    executions: Vec<PathBuf>,
    /// Compare only this: category, tile, computeset or step; may be given more than once
    #[arg(long, value_name = "WHAT", value_parser = named(By::ALL, |by| by.name()), hide_possible_values = true, help_heading = "Comparison")]
    by: Vec<By>,
    /// Numbers are the same if |a - b| <= ATOL + RTOL * |b|
    #[arg(long, value_name = "ATOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    atol: f64,
    /// See --atol
    #[arg(long, value_name = "RTOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    rtol: f64,
    /// Print nothing
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// As text, show at most N differences of each kind
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    top: usize,
}

/// What can be compared alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Category,
    Tile,
    ComputeSet,
    Step,
}

impl By {
    const ALL: [By; 4] = [By::Category, By::Tile, By::ComputeSet, By::Step];

    fn name(self) -> &'static str {
        match self {
            By::Category => "category",
            By::Tile => "tile",
            By::ComputeSet => "computeset",
            By::Step => "step",
        }
    }

    fn subject(self) -> DiffSubject {
        match self {
            By::Category => DiffSubject::Category,
            By::Tile => DiffSubject::Memory,
            By::ComputeSet => DiffSubject::ComputeSet,
            By::Step => DiffSubject::Step,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums<'d> {
    a: &'d Head<'d>,
    b: &'d Head<'d>,
    verdict: ProfileVerdict,
    same_values: u64,
    not_compared: &'d [NotCompared],
}

#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    sums: Sums<'d>,
    differences: &'d [ProfileDifference<'d>],
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, form: Form) -> Result<ExitCode, Error> {
        if !matches!(form, Form::Text | Form::Json | Form::Ndjson | Form::Csv) {
            return Err(wrong("popef profile diff has the formats text, json, ndjson and csv"));
        }
        let mut files = [&self.a, &self.b].into_iter().chain(&self.executions);
        if files.by_ref().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(wrong("standard input (-) can be read only once"));
        }
        let [executed_a, executed_b] = [0, 1].map(|nth| self.executions.get(nth).map(PathBuf::as_path));
        let (a, b) = (input::read(&self.a, executed_a, Keep::Sums)?.report, input::read(&self.b, executed_b, Keep::Sums)?.report);
        let subjects: Vec<_> = self.by.iter().map(|by| by.subject()).collect();
        let subjects = if subjects.is_empty() { &DiffSubject::ALL } else { subjects.as_slice() };
        let diff = profile_diff(&a, &b, subjects, DiffTolerance { absolute: self.atol, relative: self.rtol });
        let status = match diff.verdict {
            ProfileVerdict::Same => 0,
            ProfileVerdict::Different => NO,
            ProfileVerdict::NotComparable => FAILED,
        };
        let mut out = tool.out();
        let written = if self.quiet { Ok(()) } else { self.write(&mut out, form, [(&self.a, executed_a, &a), (&self.b, executed_b, &b)], &diff) };
        written.and_then(|()| out.send()).map_err(unwritten)?;
        Ok(ExitCode::from(status))
    }

    fn write(&self, out: &mut Out, form: Form, sides: [(&PathBuf, Option<&Path>, &Report); 2], diff: &ProfileDiff<'_>) -> io::Result<()> {
        let heads = sides.map(|(path, execution, report)| Head::new(path, execution, &report.remarks));
        let [a, b] = &heads;
        let sums = Sums { a, b, verdict: diff.verdict, same_values: diff.same_values, not_compared: &diff.not_compared };
        match form {
            Form::Text => {
                for (sign, (_, _, report), head) in [("---", sides[0], a), ("+++", sides[1], b)] {
                    out.put(sign).put(" ").text(Kind::Group, head.path.text());
                    if let Some(graph) = &report.graph {
                        out.put(&format!("  {}", summary::target(graph)));
                    }
                    out.end_line()?;
                }
                self.text(out, diff)
            }
            Form::Json => json_document(out, &Document { sums, differences: &diff.differences }),
            Form::Ndjson => {
                diff.differences.iter().try_for_each(|difference| json_line(out, "difference", difference))?;
                json_line(out, "report", &sums)
            }
            _ => csv::<ProfileDifference<'_>>(out, &diff.differences),
        }
    }

    fn text(&self, out: &mut Out, diff: &ProfileDiff<'_>) -> io::Result<()> {
        let of_subject: Vec<_> = diff.differences.chunk_by(|one, other| one.subject == other.subject).collect();
        let shown = of_subject.iter().flat_map(|differences| differences.iter().take(self.top));
        let shown: Vec<_> = shown.cloned().collect();
        if !shown.is_empty() {
            ProfileDifference::write(&shown, out)?;
        }
        for (subject, more) in of_subject.iter().filter_map(|all| Some((all.first()?.subject, all.len().checked_sub(self.top)?))) {
            if more > 0 {
                out.put(&format!("... and {more} more of {}, which --top shows", plural(subject))).end_line()?;
            }
        }
        for missing in &diff.not_compared {
            let side = if missing.in_a { "second" } else { "first" };
            let what = missing.measure.map_or_else(|| plural(missing.subject).to_owned(), |measure| {
                format!("{} of {} ({})", words(measure), plural(missing.subject), counted(missing.values, "value", "values"))
            });
            out.put_as(Kind::Warning, "not compared").put(&format!(": {what}, which the {side} report does not have")).end_line()?;
        }
        let same = counted(diff.same_values, "value is the same", "values are the same");
        let verdict = match diff.verdict {
            ProfileVerdict::Same => format!("The profiles are the same: {same}"),
            ProfileVerdict::Different => format!("{same}, {}", counted(diff.differences.len(), "differs", "differ")),
            ProfileVerdict::NotComparable if diff.same_values == 0 => "There is nothing that both reports tell".to_owned(),
            ProfileVerdict::NotComparable => format!("{same}, but not all could be compared"),
        };
        out.put(&verdict).end_line()
    }
}

impl TableRow for ProfileDifference<'_> {
    const KEYS: &'static [&'static str] = &["subject", "name", "type", "measure", "unit", "a", "b"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::left("WHAT", Kind::Type),
            Column::left("VALUE", Kind::Plain),
            Column::right("A"),
            Column::right("B"),
            Column::right("CHANGE"),
            Column::right("PERCENT"),
            Column::left("NAME", Kind::Name),
        ]);
        for row in rows {
            let [a, b] = [row.a, row.b].map(|value| value.map_or_else(|| "-".to_owned(), |value| shown(row.unit, value)));
            let change = row.change().map_or_else(String::new, |change| {
                let sign = if change < 0 { "-" } else { "+" };
                let amount = u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX);
                format!("{sign}{}", shown(row.unit, DiffValue::Number(amount)))
            });
            let name = row.name.or(row.kind.filter(|_| row.subject == DiffSubject::Step));
            table.row([single(row.subject), words(row.measure), &a, &b, &change, &share(row), name.unwrap_or_default()]);
        }
        table.write(out)
    }
}

/// How much of the first value was added or taken away.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs no more")]
fn share(row: &ProfileDifference<'_>) -> String {
    match (row.a, row.change()) {
        (Some(DiffValue::Number(a)), Some(change)) if a > 0 => {
            let words = percent(change as f64 / a as f64);
            if change < 0 { words } else { format!("+{words}") }
        }
        _ => String::new(),
    }
}

fn shown(unit: DiffUnit, value: DiffValue<'_>) -> String {
    match value {
        DiffValue::Number(bytes) if unit == DiffUnit::Bytes => size(bytes),
        DiffValue::Number(number) => number.to_string(),
        DiffValue::Word(word) => escape(word).into_owned(),
    }
}

fn single(subject: DiffSubject) -> &'static str {
    match subject {
        DiffSubject::Target => "target",
        DiffSubject::Graph => "graph",
        DiffSubject::Memory => "memory",
        DiffSubject::Category => "category",
        DiffSubject::ComputeSet => "compute set",
        DiffSubject::Execution => "execution",
        DiffSubject::Step => "step",
        _ => "other",
    }
}

fn plural(subject: DiffSubject) -> &'static str {
    match subject {
        DiffSubject::Category => "categories",
        DiffSubject::ComputeSet => "compute sets",
        DiffSubject::Step => "steps",
        other => single(other),
    }
}

/// A value in words, by its key in JSON.
fn words(measure: &'static str) -> &'static str {
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
        "tileCycles" => "cycles of all tiles",
        "profilerMode" => "mode",
        other => other,
    }
}
