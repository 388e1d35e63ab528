//! The HTML that notebooks show for a file.

use std::fmt::Write as _;

use popef::File;
use popef_show::{counted, escape, shorten, size};

/// Maximum number of blobs that are shown.
const ROWS: usize = 20;
/// Maximum width of a name, in columns.
const WIDTH: usize = 80;

/// A table of the first blobs. Names from the file are escaped, so they cannot be markup.
pub(crate) fn table(file: &File) -> String {
    let mut html = String::from("<div><p>");
    if let Some(path) = file.path() {
        let _ = write!(html, "<b>{}</b>: ", plain(&path.to_string_lossy()));
    }
    let damaged = if file.damage().is_some() { ", damaged" } else { "" };
    let _ = write!(html, "{}, {}{damaged}</p>", counted(file.len(), "blob", "blobs"), size(file.size()));
    html.push_str(
        "<table><thead><tr><th></th><th>type</th><th>name</th><th>elements</th><th>size</th></tr></thead><tbody>",
    );
    for blob in file.blobs().take(ROWS) {
        let name = blob.name().or_else(|| blob.as_metadata().map(|metadata| metadata.executable()));
        let elements = blob.as_data().map(|data| {
            let runs = if data.is_feed() { format!("{} \u{d7} ", data.num_tensors()) } else { String::new() };
            format!("{} {runs}{:?}", data.data_type(), data.shape())
        });
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            blob.index(),
            plain(&blob.blob_type().to_string()),
            shown(&name.unwrap_or_default().to_string_lossy()),
            shown(&elements.unwrap_or_default()),
            size(blob.size())
        );
    }
    html.push_str("</tbody></table>");
    let more = file.len().saturating_sub(ROWS);
    if more > 0 {
        let _ = write!(html, "<p>and {more} more</p>");
    }
    html.push_str("</div>");
    html
}

/// A text that may be long.
fn shown(text: &str) -> String {
    without_markup(&shorten(&escape(text), WIDTH))
}

/// The text without markup and without characters that hide what is there.
fn plain(text: &str) -> String {
    without_markup(&escape(text))
}

fn without_markup(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
    html
}
