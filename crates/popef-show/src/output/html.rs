use std::io::{self, Write};

use popef::types::Text;

use super::code::{Code, Language as _, Markup};
use super::shown::{Show, Shown};

/// A page or a picture while it is written. It takes only code in [`Markup`], and words, which it escapes.
///
/// After a failure, nothing more is written, and [`finish`](Html::finish) returns it.
pub(crate) struct Html<'w> {
    gathered: String,
    to: Box<dyn Write + 'w>,
    failure: Option<io::Error>,
}

impl<'w> Html<'w> {
    /// The number of bytes that are gathered before they are written.
    const PIECE: usize = 64 << 10;

    pub(crate) fn new(to: &'w mut dyn Write) -> Self {
        Html { gathered: String::with_capacity(Self::PIECE + (4 << 10)), to: Box::new(to), failure: None }
    }

    /// A page that goes to an output.
    #[cfg(feature = "reports")]
    pub(crate) fn within(out: &'w mut super::out::Out) -> Self {
        Html { gathered: String::new(), to: Box::new(out.raw()), failure: None }
    }

    /// Adds the program's own markup, in which words are escaped.
    pub(crate) fn put(&mut self, markup: impl Into<Code<Markup>>) -> &mut Self {
        self.add(markup.into().as_str())
    }

    /// Adds words.
    pub(crate) fn text(&mut self, text: impl Show) -> &mut Self {
        match text.words() {
            Some(words) => self.add(&Markup::escaped(words)),
            None => self.add(&text.to_string()),
        }
    }

    /// Adds a name from a file. Its direction of writing does not change the text around it.
    pub(crate) fn name(&mut self, name: &Text<'_>) -> &mut Self {
        self.put(bdi(Shown::escaped(name)))
    }

    /// Adds a value as JSON, in which nothing ends the element that it is in. `<` is only in texts, where it can be written in another way.
    pub(crate) fn json(&mut self, value: &(impl serde::Serialize + ?Sized)) -> &mut Self {
        match serde_json::to_string(value) {
            Ok(text) if text.contains('<') => self.add(&text.replace('<', "\\u003c")),
            Ok(text) => self.add(&text),
            Err(error) => {
                self.fail(error.into());
                self
            }
        }
    }

    fn add(&mut self, text: &str) -> &mut Self {
        self.gathered.push_str(text);
        if self.gathered.len() >= Self::PIECE {
            self.send();
        }
        self
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

/// A name whose direction of writing does not change the text around it.
pub(crate) fn bdi(name: impl Show) -> Code<Markup> {
    markup!("<bdi>{}</bdi>", name)
}

/// Words in a fainter style.
pub(crate) fn quiet(words: impl Show) -> Code<Markup> {
    markup!("<span class=\"quiet\">{}</span>", words)
}

/// The attributes of a picture of this size.
#[cfg(feature = "reports")]
pub(crate) fn view(width: usize, height: usize) -> Code<Markup> {
    markup!("viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\"", width, height, width, height)
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
