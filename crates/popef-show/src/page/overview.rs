//! The head of the page: what it is about, whether it is whole, and the main figures.

use popef::File;
use popef::types::Text;
use popef_check::Severity;

use super::Page;
use super::html::{Html, shown};
use crate::findings::group::{Group, Totals, Verdict, reason};
use crate::output::escape::escape_rest;
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{MetadataView, Provider};
use crate::report::sums::{KINDS, Sums};

pub(super) fn write(html: &mut Html<'_>, page: &Page<'_, '_>, sums: &Sums) {
    html.put("<header>\n<p class=\"kind\">PopEF model report</p>\n<h1>").text(page.title).put("</h1>\n");
    page.reports.iter().filter(|report| report.input.failure.is_some()).for_each(|report| damage(html, report));
    files(html, page);
    html.put("<dl class=\"figures\">\n");
    figure(html, "Size", &units::size(sums.size), &units::many(sums.blobs, "blob", "blobs"));
    models(html, page.reports);
    verdict(html, page.group);
    html.put("</dl>\n</header>\n");
}

/// Says what could not be read, first of all.
fn damage(html: &mut Html<'_>, report: &FileReport<'_>) {
    let Some(failure) = report.input.failure else { return };
    html.put("<p class=\"damage\" role=\"alert\"><strong>");
    let blobs = report.input.file.map_or(0, File::len);
    match blobs {
        0 => html.put("Nothing could be read"),
        _ => html.put("Not everything could be read"),
    };
    html.put(" of ").name(&report.path()).put(".</strong> ").text(&escape_rest(&failure.to_string()));
    if blobs > 0 {
        html.put(". This page shows the ").value(units::many(blobs, "blob", "blobs")).put(" before that.");
    }
    html.put("</p>\n");
}

fn files(html: &mut Html<'_>, page: &Page<'_, '_>) {
    if let [report] = page.reports {
        if shown(&report.path()) != page.title {
            html.put("<p class=\"path\">").name(&report.path()).put("</p>\n");
        }
        return;
    }
    html.put("<ul class=\"path\">\n");
    for report in page.reports {
        html.put("<li>").name(&report.path());
        if let Some(file) = report.input.file {
            let blobs = units::many(file.len(), "blob", "blobs");
            html.put(" <span class=\"quiet\">").value(units::size(file.size())).put(", ").value(blobs).put("</span>");
        }
        html.put("</li>\n");
    }
    html.put("</ul>\n");
}

fn figure(html: &mut Html<'_>, label: &str, value: &str, more: &str) {
    html.put("<div><dt>").put(label).put("</dt><dd>").put(value).put(" <small>").put(more).put("</small></dd></div>\n");
}

/// What the models need. If there are several, their number.
fn models(html: &mut Html<'_>, reports: &[FileReport<'_>]) {
    let all: Vec<_> = reports.iter().flat_map(FileReport::all_metadata).collect();
    let [view] = *all else {
        return figure(
            html,
            "Models",
            &units::thousands(all.len()),
            if all.is_empty() { "no metadata" } else { "see below" },
        );
    };
    let Ok(metadata) = &view.value else {
        return figure(html, "Models", "1", "which could not be read");
    };
    let replicas = match metadata.replication_factor {
        1 => "1 replica".to_owned(),
        many => format!("{} replicas", units::thousands(many)),
    };
    let ipus = units::thousands(metadata.num_ipus);
    figure(html, "IPUs", &ipus, &format!("version {}, {replicas}", metadata.ipu_version));
    let inputs = view.anchors().filter(|view| super::picture::is_input(view));
    let by_user = inputs.filter(super::picture::is_users).count();
    figure(html, "You provide", &units::thousands(by_user), if by_user == 1 { "input" } else { "inputs" });
}

fn verdict(html: &mut Html<'_>, group: &Group) {
    let mut totals = Totals::default();
    totals.add(group);
    let (class, word) = match totals.verdict(false) {
        Verdict::Passed if totals.warnings == 0 => ("good", "Passed"),
        Verdict::Passed => ("warning", "Passed"),
        Verdict::Failed => ("error", "Failed"),
        Verdict::Incomplete => ("error", "Incomplete"),
    };
    let counts: Vec<_> =
        [(totals.errors, Severity::Error), (totals.warnings, Severity::Warning), (totals.notes, Severity::Note)]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, severity)| units::many(count, &severity.to_string(), &format!("{severity}s")))
            .collect();
    let counts = if counts.is_empty() { "nothing found".to_owned() } else { counts.join(", ") };
    html.put("<div class=\"").put(class).put("\"><dt>Checks</dt><dd>").put(word).put(" <small><a href=\"#findings\">");
    html.put(&counts).put("</a></small></dd></div>\n");
}

/// Writes the limits of the page: the parts that were not read, not checked, or have no known meaning.
pub(super) fn write_unknown(html: &mut Html<'_>, page: &Page<'_, '_>, sums: &Sums) {
    html.put("<section id=\"unknown\">\n<h2>What this page does not know</h2>\n<ul>\n");
    if !page.has_values() && sums.kinds.get(2..4).is_some_and(|kinds| kinds.iter().any(|kind| kind.blobs > 0)) {
        html.put("<li>The values of tensors and feeds were not read; <code>--values</code> reads them.</li>\n");
    }
    blobs(html, sums);
    anchors(html, page.reports);
    for skipped in &page.group.report.skipped {
        let class = if skipped.failed { "could not be checked" } else { "not checked" };
        html.put("<li><strong>").put(class).put(":</strong> ");
        if page.group.files.len() > 1
            && let Some(path) = skipped.file.and_then(|file| page.group.path(file))
        {
            html.name(&Text::from(path.as_os_str().as_encoded_bytes())).put(": ");
        }
        html.text(&escape_rest(&reason(skipped))).put("</li>\n");
    }
    html.put("<li>The sizes of blobs are those in the file, with headers. Memory on the IPUs is not the same.</li>\n");
    html.put("</ul>\n</section>\n");
}

fn blobs(html: &mut Html<'_>, sums: &Sums) {
    let unknown = KINDS.len() - 1;
    if let Some(count) = sums.kinds.last().filter(|count| count.blobs > 0) {
        html.put("<li>What ").value(count.words(unknown)).put(" mean: a later version of the format may say.</li>\n");
    }
    if sums.others > 0 {
        html.put("<li>").value(units::size(sums.others)).put(" that belong to no blob that could be read.</li>\n");
    }
}

fn anchors(html: &mut Html<'_>, reports: &[FileReport<'_>]) {
    let anchors = reports.iter().flat_map(FileReport::all_metadata).flat_map(MetadataView::all_anchors);
    let unknown = anchors.filter(|view| view.provider == Provider::Unknown).count();
    if unknown > 0 {
        let anchors = units::many(unknown, "anchor", "anchors");
        html.put("<li>Who provides the data of ").value(anchors);
        html.put(": a file that could not be read to its end may have it.</li>\n");
    }
}
