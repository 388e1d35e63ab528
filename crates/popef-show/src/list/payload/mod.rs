//! The payloads of opaque blobs as text: a headline, and facts in a line each.

mod facts;
mod popart;
mod poptorch;
mod tensorflow;

use std::fmt::{Display, Write as _};
use std::io;

use popef::types::Text;
use popef_payload::Payload;

use crate::failure::Failures;
use crate::output::color::Kind;
use crate::output::out::Out;
use crate::output::shown::Shown;
use crate::report::file::FileReport;
use crate::report::payload::{PayloadView, is_json};
use facts::Facts;

/// The payload in a few words: `PopART, SDK 3.0 to 3.4, inference`.
pub(crate) fn headline(view: &PayloadView<'_>) -> Shown<'static> {
    let words = match &view.value {
        Ok(Payload::Popart(executable)) => popart::headline(executable),
        Ok(Payload::Poptorch(data)) => poptorch::headline(data),
        Ok(Payload::Tensorflow(executable)) => tensorflow::headline(executable),
        Ok(Payload::Text(text)) if is_json(text) => "JSON".to_owned(),
        Ok(Payload::Text(_)) => "text".to_owned(),
        Ok(_) => "bytes of unknown meaning".to_owned(),
        Err(_) => match view.framework {
            Some(framework) => format!("unreadable {} data", framework.title()),
            None => "unreadable data".to_owned(),
        },
    };
    words.into()
}

/// Writes everything else, below the headline.
pub(super) fn write(out: &mut Out, indent: usize, view: &PayloadView<'_>) -> io::Result<()> {
    let mut facts = Facts::new(out, indent);
    match &view.value {
        Ok(Payload::Popart(executable)) => popart::write(&mut facts, executable),
        Ok(Payload::Poptorch(data)) => poptorch::write(&mut facts, data),
        Ok(Payload::Tensorflow(executable)) => tensorflow::write(&mut facts, executable),
        Ok(Payload::Text(text)) => lines(out, indent, text),
        Ok(_) => Ok(()),
        Err(failure) => facts.fact("Not read", &failure.message),
    }
}

/// Writes the pickle before the first blob of a file.
pub(super) fn write_before(out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
    let Some(view) = report.before() else { return Ok(()) };
    out.put("  Before PopEF: ").put_as(Kind::Type, headline(&view)).end_line()?;
    write(out, 4, &view)?;
    view.failure().into_iter().for_each(|failure| failures.push(failure));
    Ok(())
}

/// A text as it is, line by line.
fn lines(out: &mut Out, indent: usize, text: &Text<'_>) -> io::Result<()> {
    text.as_bytes().trim_ascii_end().split(|&byte| byte == b'\n').try_for_each(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        out.spaces(indent).text(Kind::Plain, &Text::from(line)).end_line()
    })
}

/// The maximum number of parts of a shape or the like. No tensor has more dimensions, but a message can claim more.
const MOST_PARTS: usize = 32;

/// Parts with commas between them, up to a number.
fn joined(parts: impl Iterator<Item = impl Display>) -> String {
    let mut text = String::new();
    for (index, part) in parts.take(MOST_PARTS + 1).enumerate() {
        text += if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = if index < MOST_PARTS { write!(text, "{part}") } else { write!(text, "...") };
    }
    text
}

/// A shape: `[2, 3]`.
fn shape(extents: impl Iterator<Item = i64>) -> String {
    format!("[{}]", joined(extents))
}
