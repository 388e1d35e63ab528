use std::fmt::Display;
use std::io::{self, Write};

use popef::types::Text;

use crate::output::escape::{escape, push_markup};

/// A page while it is written. Texts from files go through [`name`](Html::name) and [`text`](Html::text), which leave no
/// markup in them; [`put`](Html::put) is for the program's own markup.
///
/// After a failure, nothing more is written, and [`finish`](Html::finish) returns it.
pub(crate) struct Html<'w> {
    gathered: String,
    to: &'w mut dyn Write,
    failure: Option<io::Error>,
}

impl<'w> Html<'w> {
    /// The number of bytes that are gathered before they are written.
    const PIECE: usize = 64 << 10;

    pub(crate) fn new(to: &'w mut dyn Write) -> Self {
        Html { gathered: String::with_capacity(Self::PIECE + (4 << 10)), to, failure: None }
    }

    /// Adds the program's own markup.
    pub(crate) fn put(&mut self, markup: &str) -> &mut Self {
        self.gathered.push_str(markup);
        if self.gathered.len() >= Self::PIECE {
            self.send();
        }
        self
    }

    /// Adds a number or another of the program's own values.
    pub(crate) fn value(&mut self, value: impl Display) -> &mut Self {
        self.put(&value.to_string())
    }

    /// Adds text. Names in it must be escaped already, as in the library's messages.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        push_markup(&mut self.gathered, text);
        self.put("")
    }

    /// Adds a name from a file. Its direction of writing does not change the text around it.
    pub(crate) fn name(&mut self, name: &Text<'_>) -> &mut Self {
        self.put("<bdi>").text(&shown(name)).put("</bdi>")
    }

    /// Whether writing has failed, so that no more work is worth doing.
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Makes the page fail for another reason.
    pub(crate) fn fail(&mut self, failure: io::Error) {
        self.failure.get_or_insert(failure);
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.send();
        match self.failure {
            Some(failure) => Err(failure),
            None => self.to.flush(),
        }
    }

    /// Writes the gathered bytes.
    pub(crate) fn send(&mut self) {
        if self.failure.is_none() {
            self.failure = self.to.write_all(self.gathered.as_bytes()).err();
        }
        self.gathered.clear();
    }
}

/// A name as the tools show it, with escapes for invisible and misleading characters.
pub(crate) fn shown(name: &Text<'_>) -> String {
    escape(&name.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_no_markup() {
        let mut page = Vec::new();
        let mut html = Html::new(&mut page);
        html.name(&"<b onclick='x' id=\"y\">a & b</b>".into()).name(&"\u{202e}\0".into());
        html.finish().unwrap();
        let expected =
            "<bdi>&lt;b onclick=&#39;x&#39; id=&quot;y&quot;&gt;a &amp; b&lt;/b&gt;</bdi><bdi>\\u{202e}\\0</bdi>";
        assert_eq!(String::from_utf8(page).unwrap(), expected);
    }
}
