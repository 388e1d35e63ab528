//! The report as one page. It has no scripts, and needs nothing from elsewhere.

mod chart;

use std::io;

use crate::Out;
use crate::output::shown::Shown;
use crate::output::table::Cell;
use crate::output::units::{size, thousands};
use crate::page::plain::{Figure, PlainPage};
use poplar_graph::{CallRow, DumpParameter, GraphCode, TypeCount};

use super::GraphOptions;
use super::code::{STEPS, finding, live, why};
use super::report::GraphReport;
use super::schedule::SchedulePicture;
use super::text::{numbers, places, remark};
use super::{grouped, grouped_times, info, many};

/// The maximum number of rows of calls.
const CALLS: usize = 1000;

pub(super) fn write(out: &mut Out, report: &GraphReport<'_>, options: &GraphOptions<'_>) -> io::Result<()> {
    let GraphOptions { sections, top, kind, title, made_by, .. } = *options;
    let mut page = PlainPage::begin(out, kind, title, &figures(report));
    if report.dump.damage.is_some() {
        page.warning("The dump is damaged. This is what comes before the damage.");
    }
    if sections.has(|sections| sections.calls) {
        write_calls(&mut page, report, top);
    }
    if sections.has(|sections| sections.ops) {
        write_ops(&mut page, report, top);
    }
    if sections.has(|sections| sections.parameters) {
        write_parameters(&mut page, report, top);
    }
    if sections.has(|sections| sections.code) && report.loads_code() {
        page.section("Code that is loaded from Streaming Memory", |page| write_code(page, report, top));
    }
    write_notes(&mut page, report);
    page.finish(made_by)
}

/// The figures in the cards at the head.
fn figures(report: &GraphReport<'_>) -> [Figure; 4] {
    let unused = report.facts.calls.unused.len();
    let unused = if unused == 0 { Shown::default() } else { shown!("{} never called", thousands(unused)) };
    let types = report.facts.ops.by_type.len();
    let types = shown!("of {} {}", thousands(types), if types == 1 { "type" } else { "types" });
    [
        ("Graphs", thousands(report.dump.ir.graphs().len()), unused),
        ("Ops", thousands(report.facts.ops.ops), types),
        ("Tensors", thousands(report.facts.tensors()), Shown::default()),
        ("Parameters", thousands(report.facts.parameters.len()), size(report.facts.parameter_size())),
    ]
}

fn write_calls(page: &mut PlainPage<'_>, report: &GraphReport<'_>, top: usize) {
    page.section("Calls", |page| {
        report.without_branches().iter().for_each(|words| page.remark(words));
        if let Some(picture) = chart::of(report) {
            page.picture(|html| chart::draw(html, report, &picture));
        }
        let rows = report.facts.tree.iter().take(CALLS).map(|row| call(report, row));
        page.table("Calls", &["Runs", "Per caller", "Ops", "Graph", "Remark"], rows, report.facts.tree.len());
        let unused = &report.facts.calls.unused;
        let rows = unused.iter().take(top).map(|id| vec![Cell::Name(report.name(*id).into_owned())]);
        page.table("Never called, as far as the dump says", &["Graph"], rows, unused.len());
    });
}

fn call(report: &GraphReport<'_>, row: &CallRow) -> Vec<Cell> {
    let ops = report.graph(row.graph).map_or(0, |graph| graph.ops.len());
    vec![
        Cell::Amount(grouped_times(report.facts.calls.of(row.graph).runs)),
        if row.depth == 0 { Cell::None } else { Cell::Amount(grouped_times(row.times)) },
        count(ops),
        Cell::Branch(row.depth, report.name(row.graph).into_owned()),
        Cell::text(remark(report, row)),
    ]
}

fn write_ops(page: &mut PlainPage<'_>, report: &GraphReport<'_>, top: usize) {
    let by_type = &report.facts.ops.by_type;
    let row = |it: &TypeCount| vec![Cell::Count(it.ops), Cell::Amount(grouped_times(it.runs)), name(&it.op_type)];
    page.section("Ops", |page| {
        page.table("Types", &["Ops", "Runs", "Type"], by_type.iter().take(top).map(row), by_type.len());
        for (what, counts) in places(report) {
            page.paragraph(shown!("{}: {}", what, numbers(counts, top, grouped)));
        }
    });
}

fn write_parameters(page: &mut PlainPage<'_>, report: &GraphReport<'_>, top: usize) {
    let all = &report.facts.parameters;
    page.section("Parameters", |page| {
        page.remark(shown!(
            "What the main graph uses and no op makes: {} in all.",
            size(report.facts.parameter_size())
        ));
        let rows = all.iter().take(top).filter_map(|it| parameter(report, it));
        page.table("Parameters", &["Size", "Type", "Name", "Remark"], rows, all.len());
    });
}

fn parameter(report: &GraphReport<'_>, parameter: &DumpParameter) -> Option<Vec<Cell>> {
    let tensor = report.facts.tensor(parameter)?;
    let bytes = parameter.bytes.map_or_else(|| Cell::Amount(Shown::own("?")), Cell::Bytes);
    let updated = if parameter.updated { "updated" } else { "" };
    Some(vec![bytes, Cell::Text(info(tensor)), name(&tensor.name), Cell::text(updated)])
}

fn write_code(page: &mut PlainPage<'_>, report: &GraphReport<'_>, top: usize) {
    report.facts.code.unknown.iter().for_each(|unknown| page.paragraph(why(*unknown)));
    report.without_branches().iter().for_each(|words| page.remark(words));
    let row = |code: &GraphCode| {
        let live = Cell::Text(live(report, code));
        vec![Cell::Count(code.loads), Cell::Count(code.calls), Cell::Name(report.name(code.graph).into_owned()), live]
    };
    let rows = report.facts.loaded().take(top).map(row);
    page.table("Graphs", &["Loads", "Calls", "Graph", "Live"], rows, report.facts.loaded().count());
    let findings = &report.facts.code.findings;
    let all = findings.len().saturating_add(many(report.facts.code.findings_left_out));
    let rows = findings.iter().take(top);
    let rows = rows.map(|found| vec![Cell::text(found.id.id()), Cell::Text(finding(report, found))]);
    page.table("Findings", &["Rule", "What it found"], rows, all);
    if report.facts.code.unknown.is_none() {
        page.picture(|html| SchedulePicture::new(&report.schedule(STEPS), &report.dump.ir).draw(html));
    }
}

fn write_notes(page: &mut PlainPage<'_>, report: &GraphReport<'_>) {
    let notes = &report.dump.notes;
    if notes.is_empty() {
        return;
    }
    let rows = notes.iter().map(|note| {
        let what = Cell::text(note.kind.words(note.count));
        vec![Cell::Count(note.count), what, name(&note.first), Cell::Count(note.offset)]
    });
    page.section("Noted", |page| {
        page.table("What is odd in the file", &["Number", "What", "First", "At byte"], rows, notes.len());
    });
}

fn count(count: usize) -> Cell {
    Cell::Count(u64::try_from(count).unwrap_or(u64::MAX))
}

fn name(name: &str) -> Cell {
    Cell::name(Some(name))
}
