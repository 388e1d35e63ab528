//! The head of the page: what it is about, whether it is whole, and the main figures.

use popef::File;
use popef::types::Text;

use super::Page;
use crate::findings::group::{Group, Totals, Verdict, reason};
use crate::output::html::{Html, quiet};
use crate::output::shown::{Show, Shown};
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{MetadataView, Provider};
use crate::report::sums::{KINDS, Sums};

pub(super) fn write(html: &mut Html<'_>, page: &Page<'_, '_>, sums: &Sums) {
    html.put(markup!("<header>\n<p class=\"kind\">PopEF model report</p>\n<h1>{}</h1>\n", page.title));
    page.reports.iter().filter(|report| report.input.failure.is_some()).for_each(|report| damage(html, report));
    files(html, page);
    html.put("<dl class=\"figures\">\n");
    figure(html, "Size", units::size(sums.size), units::many(sums.blobs, "blob", "blobs"));
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
    html.put(" of ").name(&report.path()).put(".</strong> ").text(Shown::message(&failure.to_string()));
    if blobs > 0 {
        html.put(markup!(". This page shows the {} before that.", units::many(blobs, "blob", "blobs")));
    }
    html.put("</p>\n");
}

fn files(html: &mut Html<'_>, page: &Page<'_, '_>) {
    if let [report] = page.reports {
        if Shown::escaped(&report.path()) != *page.title {
            html.put("<p class=\"path\">").name(&report.path()).put("</p>\n");
        }
        return;
    }
    html.put("<ul class=\"path\">\n");
    for report in page.reports {
        html.put("<li>").name(&report.path());
        if let Some(file) = report.input.file {
            let blobs = units::many(file.len(), "blob", "blobs");
            html.put(" ").put(quiet(shown!("{}, {}", units::size(file.size()), blobs)));
        }
        html.put("</li>\n");
    }
    html.put("</ul>\n");
}

fn figure(html: &mut Html<'_>, label: &'static str, value: impl Show, more: impl Show) {
    html.put(markup!("<div><dt>{}</dt><dd>{} <small>{}</small></dd></div>\n", label, value, more));
}

/// What the models need. If there are several, their number.
fn models(html: &mut Html<'_>, reports: &[FileReport<'_>]) {
    let all: Vec<_> = reports.iter().flat_map(FileReport::all_metadata).collect();
    let [view] = *all else {
        let more = if all.is_empty() { "no metadata" } else { "see below" };
        return figure(html, "Models", units::thousands(all.len()), more);
    };
    let Ok(metadata) = &view.value else {
        return figure(html, "Models", "1", "which could not be read");
    };
    let replicas = if metadata.replication_factor == 1 { "replica" } else { "replicas" };
    let replicas = shown!("{} {}", units::thousands(metadata.replication_factor), replicas);
    let version = shown!("version {}, {}", metadata.ipu_version, replicas);
    figure(html, "IPUs", units::thousands(metadata.num_ipus), version);
    let inputs = view.anchors().filter(|view| super::picture::is_input(view));
    let by_user = inputs.filter(super::picture::is_users).count();
    figure(html, "You provide", units::thousands(by_user), if by_user == 1 { "input" } else { "inputs" });
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
    let counts =
        [(totals.errors, "error", "errors"), (totals.warnings, "warning", "warnings"), (totals.notes, "note", "notes")];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = Shown::joined(counts.map(|(count, one, many)| units::many(count, one, many)), ", ");
    let counts = if counts.is_empty() { Shown::own("nothing found") } else { counts };
    html.put(markup!("<div class=\"{}\"><dt>Checks</dt><dd>{} <small>", class, word));
    html.put(markup!("<a href=\"#findings\">{}</a></small></dd></div>\n", counts));
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
        html.put(markup!("<li><strong>{}:</strong> ", class));
        if page.group.files.len() > 1
            && let Some(path) = skipped.file.and_then(|file| page.group.path(file))
        {
            html.name(&Text::from(path.as_os_str().as_encoded_bytes())).put(": ");
        }
        html.text(Shown::message(&reason(skipped))).put("</li>\n");
    }
    html.put("<li>The sizes of blobs are those in the file, with headers. Memory on the IPUs is not the same.</li>\n");
    html.put("</ul>\n</section>\n");
}

fn blobs(html: &mut Html<'_>, sums: &Sums) {
    let unknown = KINDS.len() - 1;
    if let Some(count) = sums.kinds.last().filter(|count| count.blobs > 0) {
        let words = count.words(unknown);
        html.put(markup!("<li>What {} mean: a later version of the format may say.</li>\n", words));
    }
    if sums.others > 0 {
        let size = units::size(sums.others);
        html.put(markup!("<li>{} that belong to no blob that could be read.</li>\n", size));
    }
}

fn anchors(html: &mut Html<'_>, reports: &[FileReport<'_>]) {
    let anchors = reports.iter().flat_map(FileReport::all_metadata).flat_map(MetadataView::all_anchors);
    let unknown = anchors.filter(|view| view.provider == Provider::Unknown).count();
    if unknown > 0 {
        let anchors = units::many(unknown, "anchor", "anchors");
        html.put("<li>Who provides the data of ").text(anchors);
        html.put(": a file that could not be read to its end may have it.</li>\n");
    }
}
