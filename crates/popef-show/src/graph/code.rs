//! When the code of graphs is on the tiles, as text.

use std::io;

use crate::output::table::{Table, heading, more};
use crate::{Kind, Out, Shown, counted};
use poplar_graph::{CodeState, Finding, GraphCode, Unknown};

use super::many;
use super::report::GraphReport;
use super::schedule::SchedulePicture;

/// The maximum number of steps of a schedule in a picture.
pub(super) const STEPS: usize = 200;

/// Writes the code of graphs that ops load. Programs that load no code need no words about it.
pub(super) fn write(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    if !report.loads_code() {
        return Ok(());
    }
    heading(out, "Code that is loaded from Streaming Memory")?;
    if let Some(unknown) = report.facts.code.unknown {
        out.put("  ").put_as(Kind::Warning, why(unknown)).end_line()?;
    }
    if let Some(words) = report.without_branches() {
        out.put("  ").put(words).end_line()?;
    }
    write_states(out, report, top)?;
    if report.facts.code.unknown.is_some() {
        return Ok(());
    }
    write_findings(out, report, top)?;
    out.end_line()?;
    let schedule = report.schedule(STEPS);
    SchedulePicture::new(&schedule, &report.dump.ir).write_text(out)
}

fn write_states(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    Table::of(report.facts.loaded())
        .number("Loads", |code| code.loads)
        .number("Calls", |code| code.calls)
        .column("Graph", Kind::Name, |code| report.name(code.graph))
        .column("Live", Kind::Plain, |code| live(report, code))
        .write_first(out, top)
}

fn write_findings(out: &mut Out, report: &GraphReport<'_>, top: usize) -> io::Result<()> {
    let findings = &report.facts.code.findings;
    for found in findings.iter().take(top) {
        let kind = if found.id.is_warning() { Kind::Warning } else { Kind::Plain };
        out.put("  ").put_as(kind, found.id.id()).put(": ").put(finding(report, found)).end_line()?;
    }
    more(out, findings.len().saturating_add(many(report.facts.code.findings_left_out)), top)
}

/// The words for why liveness is unknown.
pub(super) fn why(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Order => {
            "When it is live depends on the order of ops. If the dump is from Session._serializeIr, say --scheduled"
        }
        Unknown::Recursion => "When it is live is not known: graphs call themselves",
        _ => "When it is live is not known",
    }
}

/// When the code of a graph is live, in words.
pub(super) fn live(report: &GraphReport<'_>, code: &GraphCode) -> Shown<'static> {
    match code.state {
        CodeState::Loaded => spans(report, code),
        CodeState::CallWithoutLoad => Shown::own("always: it is called before it is loaded on some path"),
        CodeState::NeverLoaded => Shown::own("always"),
        CodeState::OrderUndefined => Shown::own("undefined: nothing orders a load and a call"),
        CodeState::NeverCalled => Shown::own("never: nothing calls it"),
        _ => Shown::own("unknown"),
    }
}

/// Where code is live, graph by graph.
fn spans(report: &GraphReport<'_>, code: &GraphCode) -> Shown<'static> {
    const SHOWN: usize = 3;
    let text = |span: &poplar_graph::Span| shown!("in {} {}", report.name(span.within), span);
    let mut texts: Vec<_> = code.spans.iter().take(SHOWN).map(text).collect();
    let count = code.spans.len().saturating_add(many(code.spans_left_out));
    if count > SHOWN {
        texts.push(shown!("and {} more", counted(count.saturating_sub(SHOWN), "place", "places")));
    }
    Shown::joined(texts, "; ")
}

/// A finding, with its place.
pub(super) fn finding(report: &GraphReport<'_>, finding: &Finding) -> Shown<'static> {
    let (name, within) = (report.name(finding.graph), report.name(finding.within));
    shown!("{}, at op {} of {}: {}", name, finding.op.0, within, finding.id.words())
}
