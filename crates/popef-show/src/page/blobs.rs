//! The blobs: sizes by kind, a place for the treemap, and a table. Without scripts the table has the largest blobs; the script
//! puts all into it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use popef::read::Value;

use super::Page;
use super::values::{Place, Values, ValuesOf};
use crate::list::overview::holds::Holds;
use crate::output::html::{Html, quiet};
use crate::output::shown::Shown;
use crate::output::units;
use crate::report::file::{FileReport, blob_name};
use crate::report::sums::{KINDS, Sums, kind_of};

/// The maximum number of blobs in the table without scripts.
const LARGEST: usize = 50;

/// The largest blobs, the largest first. Of equally large ones, those that come first.
pub(super) fn largest(reports: &[FileReport<'_>]) -> Vec<Place> {
    let mut heap = BinaryHeap::new();
    for (number, report) in reports.iter().enumerate() {
        for blob in report.input.file.into_iter().flat_map(popef::File::blobs) {
            heap.push((Reverse(blob.size()), Place { file: number, blob: blob.index() }));
            if heap.len() > LARGEST {
                heap.pop();
            }
        }
    }
    heap.into_sorted_vec().into_iter().map(|(_, place)| place).collect()
}

pub(super) fn write<'f>(
    html: &mut Html<'_>,
    page: &Page<'_, 'f>,
    sums: &Sums,
    largest: &[Place],
    values: &ValuesOf<'_, 'f>,
) {
    html.put("<section id=\"blobs\">\n<h2>What takes the space</h2>\n");
    bar(html, sums);
    if largest.is_empty() {
        html.put("<p>There are no blobs.</p>\n</section>\n");
        return;
    }
    controls(html, sums);
    html.put("<div id=\"map\" hidden></div>\n<div class=\"scroll\">\n<table id=\"table\">\n");
    match sums.blobs.saturating_sub(largest.len()) {
        0 => html.put("<caption>All blobs, the largest first</caption>\n"),
        more => {
            html.put(markup!("<caption>The largest blobs, without {} smaller ones</caption>\n", units::thousands(more)))
        }
    };
    headings(html, page);
    html.put("<tbody>\n");
    largest.iter().for_each(|&place| row(html, page, place, values.kept(place)));
    html.put("</tbody>\n</table>\n</div>\n<p id=\"pages\" hidden></p>\n</section>\n");
}

/// How large each kind is, as a bar and in words.
fn bar(html: &mut Html<'_>, sums: &Sums) {
    let scale = |bytes: u64| bytes as f64 / sums.size.max(1) as f64 * 1000.0;
    html.put("<svg class=\"bar\" viewBox=\"0 0 1000 16\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut start = 0;
    for (kind, count) in sums.present() {
        let (x, width) = (scale(start), scale(count.bytes));
        html.put(markup!("<rect class=\"kind-{}\" x=\"{:.1}\" width=\"{:.1}\" height=\"16\"/>", kind, x, width));
        start = start.saturating_add(count.bytes);
    }
    html.put("</svg>\n<ul class=\"legend\">\n");
    for (kind, count) in sums.present() {
        html.put(markup!("<li><i class=\"kind-{}\"></i>{} ", kind, count.words(kind)));
        html.put(quiet(units::size(count.bytes))).put("</li>\n");
    }
    if sums.others > 0 {
        html.put(markup!("<li><i></i>other bytes {}</li>\n", quiet(units::size(sums.others))));
    }
    html.put("</ul>\n");
}

/// The controls that need the script, which shows them.
fn controls(html: &mut Html<'_>, sums: &Sums) {
    html.put("<form id=\"controls\" role=\"search\" hidden>\n<label>Filter <input type=\"search\" id=\"filter\" ");
    html.put("autocomplete=\"off\" spellcheck=\"false\" placeholder=\"words of a name\"></label>\n");
    html.put("<label>Kind <select id=\"kind\"><option value=\"\">all</option>");
    for (kind, _) in sums.present() {
        let (one, many) = KINDS.get(kind).copied().unwrap_or_default();
        html.put(markup!("<option value=\"{}\">{}</option>", one, many));
    }
    html.put("</select></label>\n<output id=\"count\" aria-live=\"polite\"></output>\n</form>\n");
}

fn headings(html: &mut Html<'_>, page: &Page<'_, '_>) {
    html.put("<thead><tr><th scope=\"col\" data-sort=\"name\">Name</th><th scope=\"col\" data-sort=\"kind\">Kind</th>");
    html.put("<th scope=\"col\" data-sort=\"holds\">Holds</th>");
    if page.has_values() {
        html.put("<th scope=\"col\" class=\"number value\" data-sort=\"min\">Least</th>");
        html.put("<th scope=\"col\" class=\"number value\" data-sort=\"mean\">Mean</th>");
        html.put("<th scope=\"col\" class=\"number value\" data-sort=\"max\">Greatest</th>");
        html.put("<th scope=\"col\" data-sort=\"odd\">Values</th>");
    }
    html.put("<th scope=\"col\" class=\"number\" data-sort=\"size\">Size</th></tr></thead>\n");
}

fn row<'f>(html: &mut Html<'_>, page: &Page<'_, 'f>, place: Place, values: &Values) {
    let Some(report) = page.reports.get(place.file) else { return };
    let Some(blob) = report.input.file.and_then(|file| file.blob(place.blob)) else { return };
    html.put("<tr><th scope=\"row\">").name(&blob_name(&blob));
    let kind = kind_of(&blob);
    let word = KINDS.get(kind).map_or("", |(one, _)| one);
    html.put(markup!("</th><td><i class=\"kind-{}\"></i><span>{}</span></td>", kind, word));
    html.put(markup!("<td>{}</td>", Holds::of(&blob, report).text()));
    if page.has_values() {
        cells(html, values);
    }
    html.put(markup!("<td class=\"number\">{}</td></tr>\n", units::size(blob.size())));
}

fn cells(html: &mut Html<'_>, values: &Values) {
    let Values::Known(stats) = values else {
        html.put("<td class=\"value\"></td><td class=\"value\"></td><td class=\"value\"></td>");
        html.put(markup!("<td>{}</td>", values.odd().unwrap_or_default()));
        return;
    };
    for value in [stats.min, stats.mean.map(Value::F64), stats.max] {
        let text = value.map(brief).unwrap_or_default();
        html.put(markup!("<td class=\"number value\">{}</td>", text));
    }
    html.put(markup!("<td>{}</td>", values.odd().unwrap_or_default()));
}

/// A value, in four digits if it is long, so that the columns stay narrow. The script shows it in full.
fn brief(value: Value) -> Shown<'static> {
    let text = Shown::from(value);
    let Ok(number) = text.parse::<f64>() else { return text };
    if text.len() <= 9 {
        return text;
    }
    let scientific = format!("{number:.3e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -4..=8) => format!("{number:.*}", usize::try_from(3 - exponent).unwrap_or(0)).into(),
        _ => scientific.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_have_four_digits() {
        let cases = [
            (Value::F64(-0.00017806643058363054), "-0.0001781"),
            (Value::F64(8.134130553116847e-5), "8.134e-5"),
            (Value::F64(123456.789012), "123457"),
            (Value::F32(0.1), "0.1"),
            (Value::Int(i64::MIN), "-9.223e18"),
            (Value::Int(-65535), "-65535"),
            (Value::Bool(true), "true"),
        ];
        for (value, shown) in cases {
            assert_eq!(&*brief(value), shown);
        }
    }
}
