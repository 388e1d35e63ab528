//! A page without scripts, whose content a program writes part by part. Style, cards and tables are those of the other pages.

use std::io;

use super::tables::table;
use super::{STYLE, head};
use crate::output::html::Html;
use crate::output::table::Cell;
use crate::{Out, Show, Shown};

const OWN_STYLE: &str = include_str!("plain.css");
/// The policy of the page: it may only use its own styles, known by their hashes. A test says what the file must be.
const POLICY: &str = include_str!("policy.txt");

/// A figure at the head of a page: its label, the number, and a remark, which may be empty.
pub(crate) type Figure = (&'static str, Shown<'static>, Shown<'static>);

/// A page without scripts while it is written.
///
/// After a failure, nothing more is written, and [`finish`](PlainPage::finish) returns it.
pub(crate) struct PlainPage<'w>(Html<'w>);

impl<'w> PlainPage<'w> {
    /// Writes the head. `kind` is the kind of subject, and `title` the subject itself.
    pub(crate) fn begin(out: &'w mut Out, kind: &'static str, title: &Shown<'_>, figures: &[Figure]) -> Self {
        let mut html = Html::within(out);
        head(&mut html, title, POLICY, &[STYLE, OWN_STYLE]);
        html.put(markup!("<body>\n<header>\n<p class=\"kind\">{}</p>\n<h1>{}</h1>\n", kind, title));
        html.put("<dl class=\"figures\">\n");
        for (label, value, more) in figures {
            html.put(markup!("<div><dt>{}</dt><dd>{} <small>{}</small></dd></div>\n", label, value, more));
        }
        html.put("</dl>\n</header>\n<main>\n");
        PlainPage(html)
    }

    /// Writes a part of the page, with its heading.
    pub(crate) fn section(&mut self, heading: &'static str, write: impl FnOnce(&mut Self)) {
        self.0.put(markup!("<section>\n<h2>{}</h2>\n", heading));
        write(self);
        self.0.put("</section>\n");
    }

    /// Writes a warning that must be seen first, such as damage of the file.
    pub(crate) fn warning(&mut self, text: impl Show) {
        self.0.put(markup!("<p class=\"damage\" role=\"alert\">{}</p>\n", text));
    }

    /// Writes a paragraph.
    pub(crate) fn paragraph(&mut self, text: impl Show) {
        self.0.put(markup!("<p>{}</p>\n", text));
    }

    /// Writes a remark in a fainter style.
    pub(crate) fn remark(&mut self, text: impl Show) {
        self.0.put(markup!("<p class=\"quiet\">{}</p>\n", text));
    }

    /// Writes a table, if it has rows. `all` is the number of all rows; the table may have only the first of them.
    pub(crate) fn table(
        &mut self,
        caption: &'static str,
        heads: &[&'static str],
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
    pub(crate) fn finish(mut self, made_by: &'static str) -> io::Result<()> {
        self.0.put(markup!("</main>\n<footer>Made by {}.</footer>\n</body>\n</html>\n", made_by));
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
