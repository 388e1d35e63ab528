//! Statistics and histograms of the values of tensors. Each tensor is read once.

use std::collections::HashMap;

use popef::Blob;
use popef::types::Diagnostic;
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::Page;
use crate::output::html::Html;
use crate::output::shown::Shown;
use crate::output::units;
use crate::output::units::thousands;
use crate::report::options::Options;
use crate::report::stats::Stats;
use crate::report::tensor::TensorView;

/// The values of a blob, as far as they are known.
pub(super) enum Values {
    /// The blob has none, or they were not requested.
    None,
    /// Their bits have no known meaning.
    Unknown,
    /// Known values. For a feed, those of the first tensor.
    Known(Box<Stats>),
    NotRead(Diagnostic),
}

/// The values of blobs: those of the largest are kept, because they are shown twice.
pub(super) struct ValuesOf<'p, 'f> {
    page: &'p Page<'p, 'f>,
    kept: HashMap<Place, Values>,
}

impl<'p, 'f> ValuesOf<'p, 'f> {
    pub(super) fn new(page: &'p Page<'p, 'f>) -> Self {
        ValuesOf { page, kept: HashMap::new() }
    }

    /// Reads the values of blobs now.
    pub(super) fn keep(&mut self, places: &[Place]) {
        if !self.page.has_values() {
            return;
        }
        for &place in places {
            let Some(report) = self.page.reports.get(place.file) else { continue };
            let Some(blob) = report.input.file.and_then(|file| file.blob(place.blob)) else { continue };
            if (self.page.stopped)() {
                return;
            }
            self.kept.insert(place, read(&blob, report.options));
        }
    }

    /// The values of a blob for which they are kept.
    pub(super) fn kept(&self, place: Place) -> &Values {
        self.kept.get(&place).unwrap_or(&Values::None)
    }

    /// The values of any blob.
    pub(super) fn of(&mut self, place: Place, blob: &Blob<'f>) -> Values {
        match self.kept.remove(&place) {
            Some(values) => values,
            None => self.page.reports.get(place.file).map_or(Values::None, |report| read(blob, report.options)),
        }
    }
}

impl Values {
    /// Oddities of the values, in words. `None` if there are none.
    pub(super) fn odd(&self) -> Option<Shown<'static>> {
        let stats = match self {
            Values::None => return None,
            Values::Unknown => return Some(Shown::own(UNKNOWN)),
            Values::NotRead(failure) => return Some(shown!("not read: {}", Shown::message(&failure.message))),
            Values::Known(stats) => stats,
        };
        let counts = [(stats.nan, "NaN"), (stats.infinite, "infinite")].into_iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<_> = counts.map(|(count, word)| shown!("{} {}", thousands(count), word)).collect();
        if stats.finite > 0 && stats.zeros == stats.finite {
            words.push(Shown::own("all 0"));
        }
        (!words.is_empty()).then(|| Shown::joined(words, ", "))
    }
}

/// The words for types such as `F8`.
const UNKNOWN: &str = "the bits of this type have no known meaning";

fn read(blob: &Blob<'_>, options: &Options) -> Values {
    let Some(view) = TensorView::of(&blob.content()) else { return Values::None };
    let (Some(_), Some(elements)) = (options.values, &view.elements) else { return Values::None };
    match Stats::with_bins(elements, &*options.workers, &options.progress) {
        Ok(Some(stats)) => Values::Known(Box::new(stats)),
        Ok(None) => Values::Unknown,
        Err(error) => Values::NotRead(error.into()),
    }
}

/// For the script: `null`, a text that says why they are not known, or a list of figures. The least and the greatest element
/// are texts, because JavaScript has no integers of 64 bits.
impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Values::None => serializer.serialize_unit(),
            Values::Unknown => serializer.serialize_str(UNKNOWN),
            Values::NotRead(_) => serializer.serialize_str(&self.odd().unwrap_or_default()),
            Values::Known(stats) => {
                let mut list = serializer.serialize_seq(None)?;
                let text = |value: Option<popef::read::Value>| value.map(|value| value.to_string());
                list.serialize_element(&stats.finite)?;
                list.serialize_element(&text(stats.min))?;
                list.serialize_element(&text(stats.max))?;
                list.serialize_element(&stats.mean)?;
                list.serialize_element(&[stats.nan, stats.infinite, stats.zeros])?;
                if let Some(bins) = &stats.bins {
                    list.serialize_element(&[bins.start(), bins.width()])?;
                    list.serialize_element(&bins.counts)?;
                }
                list.end()
            }
        }
    }
}

/// The tensors with odd values.
#[derive(Default)]
pub(super) struct Odd {
    /// The names of the first few, and their oddities.
    first: Vec<(Shown<'static>, Shown<'static>)>,
    count: usize,
}

impl Odd {
    const FIRST: usize = 50;

    /// Takes the values of a blob.
    pub(super) fn add(&mut self, name: &Shown<'_>, values: &Values) {
        let Some(words) = values.odd() else { return };
        self.count += 1;
        if self.first.len() < Self::FIRST {
            self.first.push((name.clone().into_owned(), words));
        }
    }

    pub(super) fn write(&self, html: &mut Html<'_>) {
        html.put("<section id=\"values\">\n<h2>Values that stand out</h2>\n");
        if self.count == 0 {
            html.put("<p>All values are finite, and no tensor is all 0.</p>\n</section>\n");
            return;
        }
        html.put("<ul>\n");
        for (name, words) in &self.first {
            html.put(markup!("<li><code><bdi>{}</bdi></code>: {}</li>\n", name, words));
        }
        html.put("</ul>\n");
        let more = self.count.saturating_sub(self.first.len());
        if more > 0 {
            html.put("<p>And ").text(units::many(more, "more", "more")).put("; the table shows them.</p>\n");
        }
        html.put("</section>\n");
    }
}

/// Where a blob is: the file and the blob, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) blob: usize,
}
