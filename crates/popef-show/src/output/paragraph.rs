//! Text that is broken into lines only on a terminal.

use std::io;

use unicode_width::UnicodeWidthStr as _;

use super::color::Kind;
use super::out::Out;
use super::shown::{Show, Shown};

/// Words, each of one kind, that become lines.
pub(crate) struct Paragraph {
    words: Vec<(Kind, Shown<'static>)>,
    indent: usize,
    hang: usize,
}

/// The minimum width for breaking lines. On narrower terminals, broken lines would be no easier to read.
const LEAST: usize = 30;
/// The maximum width of lines. Longer ones are hard to read, however wide the terminal is.
const MOST: usize = 110;

impl Paragraph {
    /// All lines begin `indent` spaces from the left.
    pub(crate) fn new(indent: usize) -> Self {
        Paragraph { words: Vec::new(), indent, hang: 0 }
    }

    /// Indents all lines but the first by `hang` more spaces.
    pub(crate) fn hanging(self, hang: usize) -> Self {
        Paragraph { hang, ..self }
    }

    /// Adds text after a space.
    pub(crate) fn add(mut self, kind: Kind, text: impl Show) -> Self {
        self.words.extend(shown!("{}", text).split_words().into_iter().map(|word| (kind, word)));
        self
    }

    /// Writes the lines, no wider than the screen if there is one.
    pub(crate) fn write(&self, out: &mut Out, screen: Option<usize>) -> io::Result<()> {
        let most = screen.filter(|&width| width >= LEAST).map_or(usize::MAX, |width| width.min(MOST));
        let mut indent = self.indent;
        let mut rest = &*self.words;
        while !rest.is_empty() {
            let (line, after) =
                rest.split_at_checked(that_fit(rest, most.saturating_sub(indent))).unwrap_or((rest, &[]));
            out.spaces(indent);
            write_line(out, line);
            out.end_line()?;
            (rest, indent) = (after, self.indent + self.hang);
        }
        Ok(())
    }
}

/// The number of words that fit into a line: at least one.
fn that_fit(words: &[(Kind, Shown<'_>)], most: usize) -> usize {
    let mut width = 0_usize;
    let fits = |(_, word): &&(Kind, Shown<'_>)| {
        width += word.width();
        let fits = width <= most;
        width += 1;
        fits
    };
    words.iter().take_while(fits).count().max(1)
}

/// Neighbouring words of one kind are coloured together.
fn write_line(out: &mut Out, words: &[(Kind, Shown<'_>)]) {
    for (at, run) in words.chunk_by(|one, next| one.0 == next.0).enumerate() {
        let Some((kind, _)) = run.first() else { continue };
        let text = Shown::joined(run.iter().map(|(_, word)| word), " ");
        out.put(if at > 0 { " " } else { "" }).put_as(*kind, text);
    }
}
