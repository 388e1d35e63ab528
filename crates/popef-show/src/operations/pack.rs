//! The report of packing.

use std::borrow::Cow;
use std::io;

use popef_ops::pack::{Packed, PackedBlob, State};

use crate::{Kind, Out, counted, size, type_name};

/// The maximum number of blobs that are listed.
const MOST_ROWS: usize = 1000;

/// The report of packing as text. Add the blobs first.
#[derive(Debug)]
pub struct PackedText {
    of_folder: bool,
    first: Vec<PackedBlob>,
    more: u64,
}

impl PackedText {
    /// `of_folder` says whether a folder was packed, which may have changed since it was extracted.
    pub fn new(of_folder: bool) -> Self {
        PackedText { of_folder, first: Vec::new(), more: 0 }
    }

    /// Takes a blob, if it has a line. A blob that was not extracted cannot differ.
    pub fn add(&mut self, blob: PackedBlob) {
        let differs = self.of_folder && blob.state != State::Same;
        if !(differs || blob.state == State::WouldGrow || blob.taken_as.is_some()) {
            return;
        }
        if self.first.len() < MOST_ROWS {
            self.first.push(blob);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Writes the text. A dry run has written nothing.
    pub fn write(&self, out: &mut Out, packed: &Packed, dry_run: bool) -> io::Result<()> {
        let verb = if dry_run { "would be packed" } else { "packed" };
        let blobs = counted(packed.blobs, "blob", "blobs");
        out.put(&blobs).put(&format!(" {verb}, {}", size(packed.size)));
        let count = packed.blobs.saturating_sub(packed.same).saturating_sub(packed.would_grow);
        match count {
            0 if self.of_folder => _ = out.put("; its files have the times of the extraction"),
            1 if self.of_folder => _ = out.put("; 1 differs from what was extracted:"),
            count if self.of_folder => _ = out.put(&format!("; {count} differ from what was extracted:")),
            _ => {}
        }
        out.end_line()?;
        self.first.iter().try_for_each(|blob| show_blob(blob, out))?;
        show_more(self.more, out)?;
        for problem in &packed.problems {
            out.put("  ").put_as(Kind::Warning, "warning").put(": ").put(problem).end_line()?;
        }
        let shown = u64::try_from(packed.problems.len()).unwrap_or(u64::MAX);
        show_more(packed.problem_count.saturating_sub(shown), out)
    }
}

fn show_blob(blob: &PackedBlob, out: &mut Out) -> io::Result<()> {
    out.put("  ").put(&state_words(blob));
    if let Some(data_type) = blob.taken_as {
        out.put(&format!(", its bytes taken as {data_type} like its anchor"));
    }
    out.put(": ").put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
    out.text(Kind::Name, blob.name.text()).end_line()
}

fn show_more(more: u64, out: &mut Out) -> io::Result<()> {
    if more == 0 { Ok(()) } else { out.put(&format!("  ... and {more} more")).end_line() }
}

fn state_words(blob: &PackedBlob) -> Cow<'static, str> {
    match (blob.state, blob.was, blob.now) {
        (State::Same, ..) => "same".into(),
        (State::Changed, ..) => "changed".into(),
        (State::Compressed, None, Some(now)) => format!("compressed with {now}").into(),
        (State::Compressed, Some(was), Some(now)) if was == now => format!("compressed anew with {now}").into(),
        (State::Compressed, Some(was), Some(now)) => {
            format!("compressed anew with {now}, and no longer with {was}").into()
        }
        (State::WouldGrow, ..) => "left as it is, because it would not become smaller".into(),
        _ => "new".into(),
    }
}
