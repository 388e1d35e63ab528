//! The data for the script: JSON in which nothing can end the element that it is in.

use std::collections::HashMap;
use std::io;

use popef::{Blob, File};

use super::Page;
use super::values::{Odd, Place, Values, ValuesOf};
use crate::failure::Failures;
use crate::list::overview::holds::Holds;
use crate::output::html::Html;
use crate::output::shown::Shown;
use crate::report::file::{FileReport, blob_name};
use crate::report::sums::{KINDS, kind_of};

/// Writes the data of all blobs.
///
/// It is small, because there can be a hundred thousand blobs. A blob is four values in a flat list: how many letters its
/// name shares with the one before, the rest of the name, the number of its kind and content in the list `holds`, and its
/// size. If values were read, they are the fifth.
pub(super) fn write<'f>(
    html: &mut Html<'_>,
    page: &Page<'_, 'f>,
    values: &mut ValuesOf<'_, 'f>,
    odd: &mut Odd,
    failures: &mut Failures,
) {
    html.put("<script type=\"application/json\" id=\"data\">{\"kinds\":");
    html.json(&KINDS).put(",\"values\":").json(&page.has_values()).put(",\"files\":[");
    let mut holds = Contents::default();
    for (number, report) in page.reports.iter().enumerate() {
        html.put(if number == 0 { "\n" } else { ",\n" });
        file(html, page, (number, report), values, &mut holds, (odd, failures));
    }
    html.put("\n],\"holds\":").json(&holds.list).put("}</script>\n");
}

fn file<'f>(
    html: &mut Html<'_>,
    page: &Page<'_, 'f>,
    (number, report): (usize, &FileReport<'f>),
    values: &mut ValuesOf<'_, 'f>,
    holds: &mut Contents,
    (odd, failures): (&mut Odd, &mut Failures),
) {
    let first = report.input.file.and_then(|file| file.blob(0));
    html.put("{\"path\":").json(&Shown::escaped(&report.path())).put(",\"start\":");
    html.text(first.map_or(0, |blob| blob.offset())).put(",\"blobs\":[");
    let mut before = Shown::default();
    for blob in report.input.file.into_iter().flat_map(File::blobs) {
        if (page.stopped)() {
            html.fail(io::Error::other("stopped"));
        }
        if html.failed() {
            return;
        }
        html.put(if blob.index() == 0 { "\n" } else { ",\n" });
        let name = Shown::escaped(&blob_name(&blob)).into_owned();
        let shared = shared(&before, &name);
        html.text(shared).put(",").json(name.get(shared..).unwrap_or_default());
        before = name;
        html.put(",").text(holds.number(&blob, report)).put(",").text(blob.size());
        if page.has_values() {
            let values = values.of(Place { file: number, blob: blob.index() }, &blob);
            html.put(",").json(&values);
            odd.add(&before, &values);
            if let Values::NotRead(failure) = &values {
                failures.push(failure);
            }
        }
    }
    html.put("\n]}");
}

/// The number of letters that two names share at their beginnings. Only ASCII letters count, which JavaScript counts in the
/// same way.
fn shared(before: &str, name: &str) -> usize {
    before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b && a.is_ascii()).count()
}

/// The contents of blobs in words, each once, in the order of their numbers.
#[derive(Default)]
struct Contents {
    numbers: HashMap<(usize, Shown<'static>), usize>,
    list: Vec<(usize, Shown<'static>)>,
}

impl Contents {
    fn number<'f>(&mut self, blob: &Blob<'f>, report: &FileReport<'f>) -> usize {
        let key = (kind_of(blob), Holds::of(blob, report).text());
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.list.len();
        self.list.push(key.clone());
        self.numbers.insert(key, number);
        number
    }
}
