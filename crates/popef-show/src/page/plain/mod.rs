//! A page without scripts, whose content a program writes part by part. Style, cards and tables are those of the other pages.

use std::io::{self, Write};

use super::html::Html;
use super::tables::table;
use super::{STYLE, head};
use crate::output::table::Cell;

const OWN_STYLE: &str = include_str!("plain.css");
/// The policy of the page: it may only use its own styles, known by their hashes. A test says what the file must be.
const POLICY: &str = include_str!("policy.txt");

/// A figure at the head of a page: its label, the number, and a remark, which may be empty.
pub(crate) type Figure = (&'static str, String, String);

/// A page without scripts while it is written.
///
/// All texts, names and cells of tables are escaped: no markup is left in them.
/// After a failure, nothing more is written, and [`finish`](PlainPage::finish) returns it.
pub(crate) struct PlainPage<'w>(Html<'w>);

impl<'w> PlainPage<'w> {
    /// Writes the head. `kind` is the kind of subject, and `title` the subject itself. Both must be escaped already.
    pub(crate) fn begin(to: &'w mut dyn Write, kind: &str, title: &str, figures: &[Figure]) -> Self {
        let mut html = Html::new(to);
        head(&mut html, title, POLICY, &[STYLE, OWN_STYLE]);
        html.put("<body>\n<header>\n<p class=\"kind\">").text(kind).put("</p>\n<h1>").text(title).put("</h1>\n");
        html.put("<dl class=\"figures\">\n");
        for (label, value, more) in figures {
            html.put("<div><dt>").text(label).put("</dt><dd>").text(value);
            html.put(" <small>").text(more).put("</small></dd></div>\n");
        }
        html.put("</dl>\n</header>\n<main>\n");
        PlainPage(html)
    }

    /// Writes a part of the page, with its heading.
    pub(crate) fn section(&mut self, heading: &str, write: impl FnOnce(&mut Self)) {
        self.0.put("<section>\n<h2>").text(heading).put("</h2>\n");
        write(self);
        self.0.put("</section>\n");
    }

    /// Writes a warning that must be seen first, such as damage of the file.
    pub(crate) fn warning(&mut self, text: &str) {
        self.0.put("<p class=\"damage\" role=\"alert\">").text(text).put("</p>\n");
    }

    /// Writes a paragraph. The text is escaped already.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.0.put("<p>").text(text).put("</p>\n");
    }

    /// Writes a remark in a fainter style.
    pub(crate) fn remark(&mut self, text: &str) {
        self.0.put("<p class=\"quiet\">").text(text).put("</p>\n");
    }

    /// Writes a table, if it has rows. `all` is the number of all rows; the table may have only the first of them.
    pub(crate) fn table(
        &mut self,
        caption: &str,
        heads: &[&str],
        rows: impl IntoIterator<Item = Vec<Cell>>,
        all: usize,
    ) {
        table(&mut self.0, caption, heads, rows, all);
    }

    /// Writes a picture: an `svg` element without styles of its own.
    pub(crate) fn picture(&mut self, draw: impl FnOnce(&mut Html<'w>)) {
        self.0.put("<div class=\"scroll picture\">");
        draw(&mut self.0);
        self.0.put("</div>\n");
    }

    /// Ends the page. `made_by` is the program and its version.
    pub(crate) fn finish(mut self, made_by: &str) -> io::Result<()> {
        self.0.put("</main>\n<footer>Made by ").text(made_by).put(".</footer>\n</body>\n</html>\n");
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{hold_nothing_foreign, hold_policy};

    #[test]
    fn the_policy_has_the_hashes_of_styles_and_allows_no_script() {
        hold_policy("src/page/plain/policy.txt", POLICY, &[STYLE, OWN_STYLE], None);
    }

    #[test]
    fn nothing_in_the_style_ends_it_or_asks_for_anything() {
        hold_nothing_foreign(&[OWN_STYLE]);
    }
}
