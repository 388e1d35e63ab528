//! The report as one page. It has no scripts, and needs nothing from elsewhere.

mod chart;

use std::io;

use popef_show::{Out, SchedulePicture, counted, escape, size};
use poplar_graph::CallRow;

use super::code::{STEPS, finding, live, why};
use super::Sections;
use super::report::Report;
use super::text::{numbers, places, remark};
use super::words::{info, many, times};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:.5rem 0}\
th,td{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}\
th{border-bottom:1px solid}\
.n{text-align:right;font-variant-numeric:tabular-nums}\
.b{white-space:pre;font-family:ui-monospace,monospace}\
.q{opacity:.75}\
.chart{overflow-x:auto}\
svg{font:13px system-ui,sans-serif;fill:currentColor}\
svg rect{fill:#7f9fd022;stroke:#5b7db1}\
svg .strong rect{fill:#7f9fd055;stroke-width:2}\
svg .faint rect{fill:none;stroke-dasharray:5 4}\
svg path{fill:none;stroke:#7b8796}\
svg .maybe{stroke-dasharray:5 4}";

/// A page while it is written. Texts from files go through [`text`](Page::text), which leaves no markup in them.
pub(super) struct Page<'o>(&'o mut Out);

impl Page<'_> {
    /// Adds the program's own markup.
    pub(super) fn put(&mut self, markup: &str) -> &mut Self {
        self.0.put(markup);
        self
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        let mut markup = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '&' => markup.push_str("&amp;"),
                '<' => markup.push_str("&lt;"),
                '>' => markup.push_str("&gt;"),
                '"' => markup.push_str("&quot;"),
                '\'' => markup.push_str("&#39;"),
                _ => markup.push(letter),
            }
        }
        self.put(&markup)
    }

    /// Adds a name from a file. Its direction of writing does not change that of what is around it.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.put("<bdi>").text(&escape(name)).put("</bdi>")
    }

    fn number(&mut self, number: &str) -> &mut Self {
        self.put("<td class=n>").text(number)
    }

    fn heading(&mut self, text: &str) -> &mut Self {
        self.put("</table>\n<h2>").text(text).put("</h2>\n<table>\n")
    }

    fn line(&mut self) -> io::Result<()> {
        self.0.end_line()
    }
}

pub(super) fn write(out: &mut Out, report: &Report<'_>, sections: Sections, top: usize) -> io::Result<()> {
    let mut page = Page(out);
    let path = report.path.text().to_string();
    page.put("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>");
    page.put("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    page.put("<meta name=viewport content=\"width=device-width\"><title>").text(&path).put("</title><style>");
    page.put(STYLE).put("</style></head><body>\n<h1>").name(&path).put("</h1>\n<p>");
    let counts = [
        counted(report.dump.ir.graphs().len(), "graph", "graphs"),
        counted(report.ops.ops, "op", "ops"),
        counted(report.tensors(), "tensor", "tensors"),
    ];
    page.text(&counts.join(", ")).put("</p>\n<table>").line()?;
    if report.dump.damage.is_some() {
        page.put("</table><p><strong>The dump is damaged. This is what comes before the damage.</strong></p><table>").line()?;
    }
    if sections.has(|sections| sections.calls) {
        write_calls(&mut page, report, top)?;
    }
    if sections.has(|sections| sections.ops) {
        write_ops(&mut page, report, top)?;
    }
    if sections.has(|sections| sections.parameters) {
        write_parameters(&mut page, report, top)?;
    }
    if sections.has(|sections| sections.code) {
        write_code(&mut page, report, top)?;
    }
    write_notes(&mut page, report)?;
    page.put("</table>\n</body></html>").line()
}

/// More rows of calls are not shown.
const CALLS: usize = 1000;

fn write_calls(page: &mut Page<'_>, report: &Report<'_>, top: usize) -> io::Result<()> {
    page.heading("Calls").put("</table>");
    if let Some(words) = report.without_branches() {
        page.put("<p class=q>").text(&words).put("</p>").line()?;
    }
    chart::write(page, report)?;
    page.put("<table><tr><th>Runs<th>Per caller<th>Ops<th>Graph<th>").line()?;
    for row in report.tree.iter().take(CALLS) {
        write_call(page, report, row)?;
    }
    more(page, report.tree.len(), CALLS)?;
    let unused = &report.calls.unused;
    if unused.is_empty() {
        return Ok(());
    }
    page.heading("Never called, as far as the dump says");
    for id in unused.iter().take(top) {
        page.put("<tr><td>").name(&report.name(*id)).line()?;
    }
    more(page, unused.len(), top)
}

fn write_call(page: &mut Page<'_>, report: &Report<'_>, row: &CallRow) -> io::Result<()> {
    let each = if row.depth == 0 { String::new() } else { times(row.times) };
    let ops = report.graph(row.graph).map_or(0, |graph| graph.ops.len()).to_string();
    page.put("<tr>").number(&times(report.calls.of(row.graph).runs)).number(&each).number(&ops).put("<td>");
    let deep = many(row.depth);
    page.put("<span class=b>").put(&"   ".repeat(deep.min(24))).put("</span>");
    if deep > 24 {
        page.put(&format!("<span class=q>{deep} deep:</span> "));
    }
    page.name(&report.name(row.graph)).put("<td class=q>").text(remark(report, row)).line()
}

fn write_ops(page: &mut Page<'_>, report: &Report<'_>, top: usize) -> io::Result<()> {
    page.heading("Ops").put("<tr><th>Ops<th>Runs<th>Type").line()?;
    for count in report.ops.by_type.iter().take(top) {
        page.put("<tr>").number(&count.ops.to_string()).number(&times(count.runs)).put("<td>").name(&count.op_type).line()?;
    }
    more(page, report.ops.by_type.len(), top)?;
    for (what, counts) in places(report) {
        page.put("<tr><td colspan=3>").text(&format!("{what}: {}", numbers(counts, top))).line()?;
    }
    Ok(())
}

fn write_parameters(page: &mut Page<'_>, report: &Report<'_>, top: usize) -> io::Result<()> {
    page.heading("Parameters: what the main graph uses and no op makes");
    let sums = format!("{}, {}", counted(report.parameters.len(), "tensor", "tensors"), size(report.parameter_size()));
    page.put("<tr><td colspan=4>").text(&sums).put("<tr><th>Size<th>Type<th>Name<th>").line()?;
    for parameter in report.parameters.iter().take(top) {
        if let Some(tensor) = report.tensor(parameter) {
            let bytes = parameter.bytes.map_or_else(|| "?".to_owned(), size);
            page.put("<tr>").number(&bytes).put("<td>").text(&info(tensor)).put("<td>").name(&tensor.name);
            page.put(if parameter.updated { "<td class=q>updated" } else { "<td>" }).line()?;
        }
    }
    more(page, report.parameters.len(), top)
}

fn write_code(page: &mut Page<'_>, report: &Report<'_>, top: usize) -> io::Result<()> {
    if !report.loads_code() {
        return Ok(());
    }
    page.heading("Code that is loaded from Streaming Memory");
    if let Some(unknown) = report.code.unknown {
        page.put("<tr><td colspan=4>").text(why(unknown)).line()?;
    }
    if let Some(words) = report.without_branches() {
        page.put("<tr><td class=q colspan=4>").text(&words).line()?;
    }
    page.put("<tr><th>Loads<th>Calls<th>Graph<th>Live").line()?;
    for code in report.loaded().take(top) {
        page.put("<tr>").number(&code.loads.to_string()).number(&code.calls.to_string());
        page.put("<td>").name(&report.name(code.graph)).put("<td>").text(&escape(&live(report, code))).line()?;
    }
    more(page, report.loaded().count(), top)?;
    for found in report.code.findings.iter().take(top) {
        page.put("<tr><td colspan=4>").text(&format!("{}: {}", found.id, finding(report, found))).line()?;
    }
    more(page, report.code.findings.len().saturating_add(many(report.code.findings_left_out)), top)?;
    if report.code.unknown.is_none() {
        let svg = SchedulePicture::new(&report.schedule(STEPS), &report.dump.ir).to_svg();
        page.put("</table><div class=chart>").put(&svg).put("</div><table>").line()?;
    }
    Ok(())
}

fn write_notes(page: &mut Page<'_>, report: &Report<'_>) -> io::Result<()> {
    if report.dump.notes.is_empty() {
        return Ok(());
    }
    page.heading("Noted");
    for note in &report.dump.notes {
        page.put("<tr>").number(&note.count.to_string()).put("<td>").text(note.kind.words(note.count));
        page.put("<td class=q>first: ").name(&note.first).text(&format!(", byte {}", note.offset)).line()?;
    }
    Ok(())
}

fn more(page: &mut Page<'_>, count: usize, shown: usize) -> io::Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        more => page.put("<tr><td class=q colspan=4>").text(&format!("... and {more} more")).line(),
    }
}
