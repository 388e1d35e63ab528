//! The models: what each needs, its inputs and outputs, and its options.

use popef::Metadata;
use popef::types::{EngineOption, Text};
use popef_check::shown_option;

use super::Page;
use super::picture;
use crate::list::payload;
use crate::output::code::Code;
use crate::output::html::Html;
use crate::output::shown::{Show, Shown};
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};

/// The maximum number of models that are shown in full.
const MOST_MODELS: usize = 12;
/// The maximum number of anchors in the table of a model. The table of blobs has all that are in the files.
const MOST_ANCHORS: usize = 500;

pub(super) fn write(html: &mut Html<'_>, page: &Page<'_, '_>) {
    let all = || page.reports.iter().flat_map(FileReport::all_metadata);
    for (number, view) in all().take(MOST_MODELS).enumerate() {
        html.put("<section class=\"model\">\n<h2>Model ").name(&view.blob.executable()).put("</h2>\n");
        match &view.value {
            Err(failure) => {
                let why = Shown::message(&failure.message);
                html.put(markup!("<p class=\"damage\">Its metadata could not be read: {}</p>\n", why));
            }
            Ok(metadata) => model(html, page, number, view, metadata),
        }
        html.put("</section>\n");
    }
    let more = all().count().saturating_sub(MOST_MODELS);
    if more > 0 {
        let more = units::many(more, "more model", "more models");
        html.put(markup!("<p>And {}; <code>popef dump --metadata</code> shows all.</p>\n", more));
    }
    opaques(html, page.reports);
}

fn model(html: &mut Html<'_>, page: &Page<'_, '_>, number: usize, view: &MetadataView<'_>, metadata: &Metadata) {
    html.put("<dl class=\"facts\">\n");
    let needs = if metadata.num_ipus == 1 { Shown::own("1 IPU") } else { shown!("{} IPUs", metadata.num_ipus) };
    let pod = if metadata.is_pod { ", in a POD" } else { "" };
    fact(html, "Needs", shown!("{}, IPU version {}{}", needs, metadata.ipu_version, pod));
    executable(html, page, &metadata.executable);
    fact(html, "Made for", if metadata.is_inference { "inference" } else { "training" });
    fact(html, "Replicas", units::thousands(metadata.replication_factor));
    fact(html, "Iterations per call", units::thousands(metadata.device_iterations));
    if metadata.num_processes != 1 {
        fact(html, "Processes", units::thousands(metadata.num_processes));
    }
    if !metadata.seed_handle.is_empty() {
        html.put("<div><dt>Random seed</dt><dd>").name(&metadata.seed_handle).put("</dd></div>\n");
    }
    html.put("</dl>\n");
    picture::write(html, page.reports, number, view, metadata);
    anchors(html, view);
    options(html, ["Engine", "engine"], &metadata.engine_options);
    options(html, ["Device", "device"], &metadata.device_options);
}

fn fact(html: &mut Html<'_>, label: &'static str, value: impl Show) {
    html.put(markup!("<div><dt>{}</dt><dd>{}</dd></div>\n", label, value));
}

/// The executable that the metadata names, if one of the files has it.
fn executable(html: &mut Html<'_>, page: &Page<'_, '_>, name: &Text<'_>) {
    let files = page.reports.iter().filter_map(|report| report.input.file);
    let Some(found) = files.into_iter().find_map(|file| file.executable(name.as_bytes())) else {
        return fact(html, "Executable", "in none of the files");
    };
    let size = units::size(found.blob().size());
    let words = if found.is_compressed() {
        shown!("{} compressed, {} unpacked", size, units::size(found.uncompressed_size()))
    } else {
        shown!("{}, not compressed", size)
    };
    fact(html, "Executable", words);
}

fn anchors(html: &mut Html<'_>, view: &MetadataView<'_>) {
    let count = view.anchors().count();
    if count == 0 {
        return;
    }
    let anchors = units::many(count, "anchor", "anchors");
    html.put(markup!("<details class=\"anchors\"><summary>{} in a table</summary>\n", anchors));
    html.put("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Name</th>");
    html.put("<th scope=\"col\">Direction</th><th scope=\"col\">Holds</th><th scope=\"col\">Data</th>");
    html.put("<th scope=\"col\">Programs</th><th scope=\"col\">Handle</th></tr></thead>\n<tbody>\n");
    view.anchors().take(MOST_ANCHORS).for_each(|view| anchor(html, &view));
    html.put("</tbody>\n</table></div>\n");
    if count > MOST_ANCHORS {
        let first = units::thousands(MOST_ANCHORS);
        html.put(markup!("<p>The first {}; <code>popef dump --anchors</code> shows all.</p>\n", first));
    }
    html.put("</details>\n");
}

fn anchor(html: &mut Html<'_>, view: &AnchorView<'_>) {
    let anchor = view.anchor;
    let data = match view.provider {
        Provider::User if picture::is_input(view) => "from you",
        Provider::User => "to you",
        Provider::Popef => "in the files",
        Provider::Unknown => "not known",
    };
    let cells = [picture::holds(view), Shown::own(data), picture::numbers(&anchor.programs)];
    html.put("<tr><th scope=\"row\">").name(&anchor.name).put(markup!("</th><td>{}</td><td>", anchor.tensor_type));
    html.put(Code::joined(cells, "</td><td>")).put("</td><td>").name(&anchor.handle).put("</td></tr>\n");
}

fn options(html: &mut Html<'_>, [what, of]: [&'static str; 2], options: &[EngineOption]) {
    const MOST: usize = 1000;
    if options.is_empty() {
        return;
    }
    let count = units::thousands(options.len());
    html.put(markup!("<details><summary>{} {} options</summary>\n", count, of));
    html.put(markup!(
        "<div class=\"scroll\"><table class=\"options\">\n<thead><tr><th scope=\"col\">{} options</th>",
        what
    ));
    html.put("<th scope=\"col\">Value</th></tr></thead>\n<tbody>\n");
    for option in options.iter().take(MOST).map(shown_option) {
        html.put("<tr><th scope=\"row\">").name(&option.name).put("</th><td>").name(&option.value).put("</td></tr>\n");
    }
    html.put("</tbody>\n</table></div>\n</details>\n");
}

/// Writes the payloads of opaque blobs, as far as they are read by default.
fn opaques(html: &mut Html<'_>, reports: &[FileReport<'_>]) {
    const MOST: usize = 20;
    let all = reports.iter().filter_map(|report| Some((report, report.input.file?)));
    let all = all.flat_map(|(report, file)| file.opaques().map(move |opaque| (report, opaque)));
    let mut said = all.filter_map(|(report, opaque)| Some((opaque, report.payload(&opaque)?))).take(MOST).peekable();
    if said.peek().is_none() {
        return;
    }
    html.put("<section>\n<h2>What the framework says</h2>\n<ul>\n");
    for (opaque, view) in said {
        html.put("<li>").name(&opaque.name()).put(markup!(": {}</li>\n", payload::headline(&view)));
    }
    html.put("</ul>\n</section>\n");
}
