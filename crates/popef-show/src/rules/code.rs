use std::io;

use serde::Serialize;
use strsim::levenshtein;

use crate::output::color::Kind;
use crate::output::out::Out;
use crate::output::paragraph::Paragraph;

/// The code of an error, explained. Each crate has a table of its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CodeEntry {
    /// The name of the code, such as `blob-cut`.
    pub code: &'static str,
    /// The kind of the errors with this code, such as `damaged`.
    #[serde(rename = "errorKind")]
    pub kind: &'static str,
    /// What happened.
    pub meaning: &'static str,
    /// What to do.
    pub advice: &'static str,
}

/// The code that a mistyped name may mean.
pub fn nearest_code<'c>(name: &str, codes: &'c [CodeEntry]) -> Option<&'c CodeEntry> {
    const LONGEST: usize = 64;
    codes.iter().find(|entry| name.len() <= LONGEST && levenshtein(name, entry.code) <= 2)
}

/// Explains a code: what happened, and what to do. Lines are no wider than the screen.
pub fn explain_code(out: &mut Out, entry: &CodeEntry, width: Option<usize>) -> io::Result<()> {
    let title = Paragraph::new(0).add(Kind::Group, &format!("{}:", entry.code));
    title.add(Kind::Group, &format!("an error of the kind {}", entry.kind)).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Plain, &sentence(entry.meaning)).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Group, "What to do:").add(Kind::Plain, &sentence(entry.advice)).write(out, width)
}

/// Some tables have parts of sentences, which messages are made of.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| if text.contains("://") { first } else { first.to_ascii_uppercase() });
    let end = if text.ends_with('.') { "" } else { "." };
    first.into_iter().chain(letters).chain(end.chars()).collect()
}
