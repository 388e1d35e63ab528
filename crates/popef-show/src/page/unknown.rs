//! What the page does not know: what was not read, not checked, or has no known meaning.

use popef::types::Text;

use super::Page;
use super::html::Html;
use super::sums::{KINDS, Sums};
use crate::findings::group::reason;
use crate::output::escape::escape_rest;
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{MetadataView, Provider};

pub(super) fn write(html: &mut Html<'_>, page: &Page<'_, '_>, sums: &Sums) {
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
