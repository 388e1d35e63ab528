//! The report of packing.

use std::io;

use popef_ops::pack::{Packed, PackedBlob, State};

use crate::{Kind, Out, Shown, counted, size, type_name};

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
        out.put(blobs).put(shown!(" {}, {}", verb, size(packed.size)));
        let count = packed.blobs.saturating_sub(packed.same).saturating_sub(packed.would_grow);
        match count {
            0 if self.of_folder => _ = out.put("; its files have the times of the extraction"),
            1 if self.of_folder => _ = out.put("; 1 differs from what was extracted:"),
            count if self.of_folder => _ = out.put(shown!("; {} differ from what was extracted:", count)),
            _ => {}
        }
        out.end_line()?;
        self.first.iter().try_for_each(|blob| show_blob(blob, out))?;
        show_more(self.more, out)?;
        for problem in &packed.problems {
            out.put("  ").put_as(Kind::Warning, "warning").put(": ").put(Shown::message(problem)).end_line()?;
        }
        let shown = u64::try_from(packed.problems.len()).unwrap_or(u64::MAX);
        show_more(packed.problem_count.saturating_sub(shown), out)
    }
}

fn show_blob(blob: &PackedBlob, out: &mut Out) -> io::Result<()> {
    out.put("  ").put(state_words(blob));
    if let Some(data_type) = blob.taken_as {
        out.put(shown!(", its bytes taken as {} like its anchor", data_type));
    }
    out.put(": ").put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
    out.text(Kind::Name, blob.name.text()).end_line()
}

fn show_more(more: u64, out: &mut Out) -> io::Result<()> {
    if more == 0 { Ok(()) } else { out.put(shown!("  ... and {} more", more)).end_line() }
}

fn state_words(blob: &PackedBlob) -> Shown<'static> {
    match (blob.state, blob.was, blob.now) {
        (State::Same, ..) => Shown::own("same"),
        (State::Changed, ..) => Shown::own("changed"),
        (State::Compressed, None, Some(now)) => shown!("compressed with {}", now),
        (State::Compressed, Some(was), Some(now)) if was == now => shown!("compressed anew with {}", now),
        (State::Compressed, Some(was), Some(now)) => {
            shown!("compressed anew with {}, and no longer with {}", now, was)
        }
        (State::WouldGrow, ..) => Shown::own("left as it is, because it would not become smaller"),
        _ => Shown::own("new"),
    }
}
