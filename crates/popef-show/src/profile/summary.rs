//! The summary: whether the model fits, and where the time goes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use popef::seam::List;
use popef_check::Finding;
use poplar_inspect::profile::{
    Bucket, Consistency, CopyOverlap, GraphProfile, LivenessSums, MemoryFacts, Remarks, Selection, SimulationSums,
    StepTypeSums, Summary, categories,
};

use super::ProfileHead;
use super::model::{ComparedModels, write as write_models};
use crate::output::json::object;
use crate::output::table::{fact, percent};
use crate::rules::kind;
use crate::{Kind, Network, Out, ReportFormat, Show, Shown, counted, size};

/// The facts about a profiling report as a whole.
#[derive(Debug)]
pub struct SummaryReport<'r> {
    /// The files.
    pub head: ProfileHead<'r>,
    /// The graph profile.
    pub graph: &'r GraphProfile,
    /// The computed summary.
    pub summary: Summary<'r>,
    /// The items per second, if they were requested.
    pub items_per_second: Option<f64>,
    /// The models of a PopEF file, if there is one.
    pub model: Option<ComparedModels>,
}

impl SummaryReport<'_> {
    /// Writes it.
    pub fn write(&self, out: &mut Out, format: ReportFormat, network: Network) -> io::Result<()> {
        let Summary { facts, tile_sizes, consistency, findings, .. } = &self.summary;
        // The worst first.
        let mut found: Vec<_> = findings.findings.iter().collect();
        found.sort_by_key(|finding| (Reverse(finding.severity), finding.rule.id));
        let object = |it: &&Finding| {
            let names: Vec<_> = it.names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            object! { id: it.rule.id, severity: it.severity, names, message: it.message.clone() }
        };
        let skipped = || findings.skipped.iter().map(|it| object! { what: &it.what, why: &it.why });
        let report = object! {
            #[serde(flatten)]
            head: &self.head,
            facts,
            tile_sizes,
            consistency,
            items_per_second: self.items_per_second,
            findings: List(|| found.iter().map(object)),
            skipped: List(skipped),
            model: &self.model,
        };
        format.write(out, &report, network, |out, _| write(out, self, &found))
    }
}

/// The maximum number of categories and activities that are shown.
const ROWS: usize = 6;

fn write(out: &mut Out, report: &SummaryReport<'_>, found: &[&Finding]) -> io::Result<()> {
    let SummaryReport { head, graph, summary, items_per_second, model } = report;
    out.text(Kind::Group, head.path.text());
    out.put(shown!("  {}", target(graph))).end_line()?;
    match &summary.facts.memory {
        Some(memory) => show_memory(out, graph, memory, &summary.tile_sizes)?,
        None => fact(out, "memory", "not in the report")?,
    }
    let code = &summary.facts.exchange_code;
    if code.values().any(|bytes| *bytes > 0) {
        fact(out, "exchange code", exchange_code(code))?;
    }
    match &summary.facts.execution {
        Some(execution) => {
            let mode = execution.profiler_mode.unwrap_or("unknown");
            match &execution.simulation {
                Some(steps) => show_execution(out, mode, steps, *items_per_second)?,
                None => fact(out, "execution", shown!("mode {}, without steps", Shown::escaped(mode)))?,
            }
        }
        None => fact(out, "execution", "not in the report")?,
    }
    if let Some(consistency) = &summary.consistency {
        fact(out, "recomputed", recomputed(consistency))?;
    }
    if let Some(models) = model {
        write_models(out, models)?;
    }
    findings(out, found)?;
    remarks(out, head.remarks)
}

/// The worst rules, each with its first finding.
fn findings(out: &mut Out, findings: &[&Finding]) -> io::Result<()> {
    const SHOWN: usize = 5;
    let rules: Vec<_> = findings.chunk_by(|one, other| one.rule.id == other.rule.id).collect();
    for (Finding { rule, severity, message, .. }, others) in
        rules.iter().filter_map(|rule| rule.split_first()).take(SHOWN)
    {
        let kind = kind(*severity);
        let label = shown!("{} {}", severity, rule.id);
        let others = if others.is_empty() { Shown::default() } else { shown!(" (and {} more)", others.len()) };
        out.put("  ").put_as(kind, &label).spaces(14_usize.saturating_sub(label.len()));
        out.put(Shown::message(message)).put(others).end_line()?;
    }
    if rules.is_empty() {
        return Ok(());
    }
    let more = counted(rules.len().saturating_sub(SHOWN), "more rule found something", "more rules found something");
    let others = if rules.len() > SHOWN { shown!("{}; ", more) } else { Shown::default() };
    fact(out, "to do", shown!("{}--check tells what to do about it", others))
}

pub(super) fn target(graph: &GraphProfile) -> Shown<'static> {
    let target = &graph.target;
    let mut words = vec![counted(target.num_tiles, "tile", "tiles")];
    if let Some(ipus) = target.num_ipus {
        words.push(shown!("on {}", counted(ipus, "IPU", "IPUs")));
    }
    if let Some(kind) = &target.kind {
        words.push(shown!("({})", Shown::escaped(&**kind)));
    }
    if let Some(bytes) = target.bytes_per_tile {
        words.push(shown!("with {} each", size(bytes)));
    }
    Shown::joined(words, " ")
}

fn show_memory(out: &mut Out, graph: &GraphProfile, memory: &MemoryFacts<'_>, sizes: &[Bucket]) -> io::Result<()> {
    if let Some(tiles) = &memory.sums.with_gaps {
        let mut words = shown!("tile {} needs {}", tiles.max_tile, size(tiles.max));
        if let Some(bytes) = graph.target.bytes_per_tile {
            words.push(shown!(" of {}", size(bytes)));
        }
        if let Some(data) = &memory.sums.without_gaps {
            words.push(shown!("; most data: {} on tile {}", size(data.max), data.max_tile));
        }
        fact(out, "fullest tile", words)?;
    }
    let over = &memory.sums.over_memory;
    if over.fits == Some(true) {
        fact(out, "memory", "all tiles fit")?;
    } else if over.fits.is_none() {
        fact(
            out,
            "memory",
            "whether tiles fit is not known: the report does not say what they need, or have, or contradicts itself",
        )?;
    } else if over.with_gaps.is_empty() {
        out.put(shown!("  {:<14}", "memory"));
        let words = shown!("all tiles have enough, but {} did not fit into their regions", size(over.overflowed_bytes));
        out.put_as(Kind::Error, words).end_line()?;
    } else {
        let tiles = counted(over.with_gaps.len(), "tile does not fit", "tiles do not fit");
        let first: Vec<_> = over.with_gaps.iter().take(8).collect();
        let more = if over.with_gaps.len() > first.len() { ", ..." } else { "" };
        out.put(shown!("  {:<14}", "memory"));
        // The report may count only data, and not gaps.
        let too_much = match over.overflowed_bytes {
            0 => Shown::default(),
            bytes => shown!(": {} too much", size(bytes)),
        };
        let words = shown!("{} ({}{}){}", tiles, Shown::joined(first, ", "), more, too_much);
        out.put_as(Kind::Error, words).end_line()?;
    }
    if let Some(liveness) = &memory.liveness {
        fact(out, "always live", live(liveness))?;
        if let Some(path) = &liveness.peak_path {
            let name = path.names.iter().flatten().next_back().map(|name| Shown::escaped(name).into_owned());
            let program = path.steps.programs.last().zip(path.types.last());
            let program = program
                .map_or_else(Shown::default, |(number, kind)| shown!("program {}, {}", number, Shown::escaped(kind)));
            let named = name.map_or_else(Shown::default, |name| shown!(", in {}", name));
            fact(out, "peak in", shown!("{}{}", program, named))?;
        }
    }
    let most = sizes.iter().map(|bucket| bucket.tiles).max().unwrap_or_default();
    for bucket in sizes.iter().filter(|bucket| bucket.tiles > 0) {
        let tiles = counted(bucket.tiles, "tile", "tiles");
        chart(out, shown!("{} to {}", size(bucket.from), size(bucket.to)), tiles, bucket.tiles, most)?;
    }
    let rows = categories(graph, &Selection::largest(ROWS));
    let most = rows.first().map_or(0, |row| row.size);
    for row in rows.iter().filter(|row| row.size > 0) {
        chart(out, Shown::escaped(row.category), shown!("{} {}", size(row.size), percent(row.share)), row.size, most)?;
    }
    Ok(())
}

fn live(liveness: &LivenessSums) -> Shown<'static> {
    let (always, peak) = (size(liveness.always_live_sum), size(liveness.peak_not_always_live_bytes));
    shown!("{}, and up to {} at one moment", always, peak)
}

/// The instructions that most of the code of exchanges is for.
fn exchange_code(code: &BTreeMap<&str, u64>) -> Shown<'static> {
    const SHOWN: usize = 3;
    let mut largest: Vec<_> = code.iter().filter(|(_, bytes)| **bytes > 0).collect();
    largest.sort_by_key(|(_, bytes)| Reverse(**bytes));
    let words = |(name, bytes): &(&&str, &u64)| shown!("{} {}", Shown::escaped(name), size(**bytes));
    let first: Vec<_> = largest.iter().take(SHOWN).map(words).collect();
    let more = if largest.len() > SHOWN { ", ..." } else { "" };
    let all = code.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    shown!("{}: {}{}", size(all), Shown::joined(first, ", "), more)
}

/// A line with a bar.
#[expect(clippy::cast_precision_loss, reason = "bars need no more")]
fn chart(out: &mut Out, name: impl Show, amount: impl Show, part: u64, whole: u64) -> io::Result<()> {
    let width = WIDTH as usize;
    let bar = bar(part as f64, whole as f64);
    out.put(shown!("  {:<27} ", name)).put_as(Kind::Type, &bar).spaces(width.saturating_sub(bar.chars().count()));
    out.put_as(Kind::Number, shown!(" {}", amount)).end_line()
}

fn show_execution(out: &mut Out, mode: &str, steps: &SimulationSums<'_>, items: Option<f64>) -> io::Result<()> {
    let cycles = steps.cycles.map_or_else(|| Shown::own("unknown cycles"), |cycles| shown!("{} cycles", cycles));
    let seconds = steps.seconds.map_or_else(Shown::default, |seconds| shown!(" ({})", time(seconds)));
    let items = items.map_or_else(Shown::default, |items| shown!(", {:.1} items per second", items));
    let step_count = counted(steps.step_count, "step", "steps");
    let count = shown!("{}{} in {}, mode {}{}", cycles, seconds, step_count, Shown::escaped(mode), items);
    fact(out, "execution", count)?;
    let mut activities: Vec<_> = steps.tile_cycles.iter().filter(|(key, _)| **key != "activeCompute").collect();
    activities.sort_by_key(|(_, cycles)| Reverse(**cycles));
    for (key, cycles) in activities.into_iter().filter(|(_, cycles)| **cycles > 0).take(ROWS) {
        let share = steps.tile_cycles_share.get(key).copied().unwrap_or_default();
        chart(out, Shown::escaped(key), percent(share), *cycles, steps.tile_cycles_sum)?;
    }
    let mut kinds: Vec<_> = steps.by_step_type.iter().filter(|(_, sums)| sums.cycles > 0).collect();
    kinds.sort_by_key(|(_, sums)| Reverse(sums.cycles));
    let words = |(kind, sums): &(&String, &StepTypeSums)| {
        shown!("{} {} with {} cycles", sums.steps, Shown::escaped(kind), sums.cycles)
    };
    let words: Vec<_> = kinds.iter().take(ROWS).map(words).collect();
    if !words.is_empty() {
        fact(out, "steps", Shown::joined(words, ", "))?;
    }
    if let Some(overlap) = steps.copy_overlap.filter(|overlap| overlap.copy_cycles > 0) {
        let CopyOverlap { copy_cycles, overlapped_cycles, .. } = overlap;
        fact(out, "host copies", shown!("in {} cycles, of which tiles compute in {}", copy_cycles, overlapped_cycles))?;
    }
    if let Some(step) = steps.top_steps.first() {
        let name = Shown::escaped(step.name.unwrap_or(step.kind.as_str()));
        fact(out, "longest step", shown!("step {}: {} cycles, {}", step.step, step.cycles, name))?;
    }
    if let Some(step) = &steps.least_balanced_heavy_step {
        let name = step.name.map_or_else(Shown::default, |name| shown!(", {}", Shown::escaped(name)));
        let words = shown!(
            "step {}: {} of the tiles' time, {} cycles{}",
            step.step,
            percent(step.tile_balance),
            step.cycles,
            name
        );
        fact(out, "uneven step", &words)?;
    }
    match steps.unknown_compute_steps {
        0 => Ok(()),
        count => fact(
            out,
            "not known",
            shown!("the cycles of {} compute steps: they were neither measured nor estimated", count),
        ),
    }
}

fn recomputed(consistency: &Consistency) -> Shown<'static> {
    let mut words = counted(consistency.compared, "value of the steps", "values of the steps");
    match consistency.differences.first() {
        None => _ = words.push(", all as the report has them"),
        Some(first) if first.key == "type" => {
            let step = first.step.unwrap_or_default();
            words.push(shown!("; from step {} on, other steps are there than in the trace", step));
        }
        Some(first) => {
            let different = counted(consistency.all().different, "differs", "differ");
            let place = first.step.map_or_else(|| Shown::own("the whole"), |step| shown!("step {}", step));
            words.push(shown!(
                ", {}: {} of {} is {}, not {}",
                different,
                first.key,
                place,
                first.stated,
                first.recomputed
            ));
        }
    }
    if let Some(step) = consistency.clocks_unknown_from {
        words.push(shown!("; times only before step {}", step));
    }
    words
}

fn remarks(out: &mut Out, remarks: &Remarks) -> io::Result<()> {
    const SHOWN: usize = 5;
    for remark in remarks.list.iter().take(SHOWN) {
        out.put("  ").put_as(Kind::Warning, "odd").put(shown!(
            "           {}: {}",
            Shown::message(&remark.path),
            Shown::message(&remark.message)
        ));
        out.end_line()?;
    }
    let more = (remarks.list.len().saturating_sub(SHOWN) as u64).saturating_add(remarks.more);
    if more > 0 {
        out.put(shown!("  ... and {} more oddities, which --format json has", more)).end_line()?;
    }
    Ok(())
}

/// The width of a full bar.
pub(super) const WIDTH: u32 = 24;

/// A bar for a part of a whole, in eighths of a character.
pub(super) fn bar(part: f64, whole: f64) -> Shown<'static> {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most eight times the width")]
    let eighths = (share * f64::from(WIDTH) * 8.0).round() as usize;
    // Anything above 0 is visible.
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    let full = std::iter::repeat_n("█", eighths / 8);
    Shown::joined(full.chain(EIGHTHS.get(eighths % 8).copied()), "")
}

pub(super) fn time(seconds: f64) -> Shown<'static> {
    let (scale, unit) = match seconds {
        _ if seconds < 1e-6 => (1e9, "ns"),
        _ if seconds < 1e-3 => (1e6, "µs"),
        _ if seconds < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    shown!("{:.2} {}", seconds * scale, unit)
}
