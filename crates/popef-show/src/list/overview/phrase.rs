use std::io;

use unicode_width::UnicodeWidthStr as _;

use crate::output::color::Kind::Number;
use crate::output::out::Out;

/// A piece of a sentence with a number in it: `min `, `1.5`, and nothing after it.
pub(super) struct Phrase {
    pub(super) before: &'static str,
    pub(super) number: String,
    pub(super) after: String,
}

impl Phrase {
    pub(super) fn new(before: &'static str, number: &impl ToString, after: impl Into<String>) -> Self {
        Phrase { before, number: number.to_string(), after: after.into() }
    }

    fn width(&self) -> usize {
        self.before.width() + self.number.width() + self.after.width()
    }
}

/// Writes phrases with commas between them, on as many lines as the width needs.
pub(super) fn write(out: &mut Out, indent: &str, phrases: &[Phrase], width: Option<usize>) -> io::Result<()> {
    let width = width.unwrap_or(usize::MAX);
    let mut used = indent.len();
    out.put(indent);
    for (index, phrase) in phrases.iter().enumerate() {
        let ends = index + 1 == phrases.len() || phrase.after.ends_with(':');
        let comma = if ends { "" } else { "," };
        let needed = phrase.width() + comma.len() + 1;
        if index > 0 && used.saturating_add(needed) > width {
            out.end_line()?;
            out.put(indent);
            used = indent.len();
        } else if index > 0 {
            out.put(" ");
        }
        out.put(phrase.before).put_as(Number, &phrase.number).put(&phrase.after).put(comma);
        used = used.saturating_add(needed);
    }
    out.end_line()
}
