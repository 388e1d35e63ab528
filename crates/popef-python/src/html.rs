//! The HTML that notebooks show for a file.

use popef::{Blob, File};
use popef_show::{Code, Markup, Shown, counted, markup, size};

/// Maximum number of blobs that are shown.
const ROWS: usize = 20;
/// Maximum width of a name, in columns.
const WIDTH: usize = 80;

/// A table of the first blobs. Names from the file are escaped, so they cannot be markup.
pub(crate) fn table(file: &File) -> String {
    let path = file.path().map(|path| path.as_os_str().as_encoded_bytes());
    let path = path.map(|path| markup!("<b>{}</b>: ", Shown::escaped(path))).unwrap_or_default();
    let damaged = if file.damage().is_some() { ", damaged" } else { "" };
    let blobs = counted(file.len(), "blob", "blobs");
    let head = markup!("<div><p>{}{}, {}{}</p><table><thead><tr>", path, blobs, size(file.size()), damaged);
    let heads = Code::from("<th></th><th>type</th><th>name</th><th>elements</th><th>size</th></tr></thead><tbody>");
    let rows = file.blobs().take(ROWS).map(|blob| row(&blob));
    let rows = rows.fold(markup!("{}{}", head, heads), |table, row| markup!("{}{}", table, row));
    let more = match file.len().saturating_sub(ROWS) {
        0 => Code::default(),
        more => markup!("<p>and {} more</p>", more),
    };
    markup!("{}</tbody></table>{}</div>", rows, more).as_str().to_owned()
}

fn row(blob: &Blob<'_>) -> Code<Markup> {
    let name = blob.name().or_else(|| blob.as_metadata().map(|metadata| metadata.executable())).unwrap_or_default();
    let elements = blob.as_data().map(|data| {
        let runs = if data.is_feed() { format!("{} \u{d7} ", data.num_tensors()) } else { String::new() };
        format!("{} {runs}{:?}", data.data_type(), data.shape())
    });
    markup!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        blob.index(),
        Shown::from(blob.blob_type().to_string()),
        Shown::escaped(&name).shortened(WIDTH),
        elements.map(Shown::from).unwrap_or_default().shortened(WIDTH),
        size(blob.size())
    )
}
