//! Lists what is in a PopEF file.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "no input may panic"
)]

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use popef::{Blob, OpenOptions};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: popef-dump FILE");
        return ExitCode::from(2);
    };
    match list(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("popef-dump: {error}");
            ExitCode::from(2)
        }
    }
}

fn list(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut file = OpenOptions::new().damaged(true).open(path)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for blob in file.blobs() {
        writeln!(out, "{}", line(&blob))?;
    }
    out.flush()?;
    file.take_damage().map_or(Ok(()), |damage| Err(damage.into()))
}

/// Index, type, offset, size and name. Names come from untrusted files, so control characters are escaped.
fn line(blob: &Blob<'_>) -> String {
    let name = blob.name().map(|name| name.to_string_lossy().escape_debug().to_string()).unwrap_or_default();
    format!("{:>6}  {:<16} {:>14} {:>14}  {name}", blob.index(), blob.blob_type(), blob.offset(), blob.size())
}
