//! Values that stand out, in words, so that they are on the page without scripts too.

use super::html::Html;
use super::values::Values;
use crate::output::units;

/// The tensors whose values stand out.
#[derive(Default)]
pub(super) struct Odd {
    /// The names of the first few, and what is odd.
    first: Vec<(String, String)>,
    count: usize,
}

impl Odd {
    const FIRST: usize = 50;

    /// Takes the values of a blob. Its name is escaped.
    pub(super) fn add(&mut self, name: &str, values: &Values) {
        let Some(words) = values.odd() else { return };
        self.count += 1;
        if self.first.len() < Self::FIRST {
            self.first.push((name.to_owned(), words));
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
            html.put("<li><code><bdi>").text(name).put("</bdi></code>: ").text(words).put("</li>\n");
        }
        html.put("</ul>\n");
        let more = self.count.saturating_sub(self.first.len());
        if more > 0 {
            html.put("<p>And ").value(units::many(more, "more", "more")).put("; the table shows them.</p>\n");
        }
        html.put("</section>\n");
    }
}
