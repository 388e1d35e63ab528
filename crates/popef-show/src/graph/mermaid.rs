//! Pictures in the language of Mermaid, which shows them in Markdown.

use std::io;

use crate::Out;

use super::picture::{Look, Picture};

pub(super) fn write(out: &mut Out, picture: &Picture) -> io::Result<()> {
    out.put("flowchart TD").end_line()?;
    for (number, node) in picture.nodes.iter().enumerate() {
        let lines: Vec<_> = node.lines.iter().map(|line| quoted(line)).collect();
        let (open, close) = if node.look == Look::Tensor { ("([", "])") } else { ("[", "]") };
        out.put(&format!("  n{number}{open}\"{}\"{close}{}", lines.join("<br/>"), class(node.look))).end_line()?;
    }
    for edge in &picture.edges {
        let arrow = if edge.is_certain { "-->" } else { "-.->" };
        let label = if edge.label.is_empty() { String::new() } else { format!("|\"{}\"|", quoted(&edge.label)) };
        out.put(&format!("  n{} {arrow}{label} n{}", edge.from, edge.to)).end_line()?;
    }
    out.put("  classDef strong stroke-width:3px").end_line()?;
    out.put("  classDef faint stroke-dasharray:5 5").end_line()
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Strong => ":::strong",
        Look::Faint => ":::faint",
        Look::Plain | Look::Tensor => "",
    }
}

/// A text inside quotes. What Mermaid, Markdown or HTML could take for its own is written by its number.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_word = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphanumeric());
        let is_special = match letter {
            '"' | '#' | '&' | '<' | '>' | '`' | '*' | '\\' | '%' | ';' => true,
            // Within a word it is a letter.
            '_' => !(is_word(before.as_ref()) && is_word(letters.peek())),
            // A list would begin.
            '-' | '+' => before.is_none(),
            '.' | ')' => quoted.bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        if is_special {
            quoted.push_str(&format!("#{};", u32::from(letter)));
        } else {
            quoted.push(letter);
        }
        before = Some(letter);
    }
    quoted
}
