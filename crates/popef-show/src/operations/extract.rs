//! The report of an extraction.

use std::io;
use std::path::Path;

use popef_ops::extract::{ExtractedBlob, ExtractedFile, Note};

use crate::{Kind, Out, counted, size, type_name};

/// The blobs of a file as text.
#[derive(Debug, Default)]
pub struct ExtractedText {
    /// The first blobs.
    blobs: Vec<ExtractedBlob>,
    more: u64,
    /// The first blob with each note, and how many others have it.
    notes: Vec<(Note, ExtractedBlob, u64)>,
}

impl ExtractedText {
    /// Takes a blob. `room` is the number of blobs that may still be listed, for all files together.
    pub fn add(&mut self, blob: &ExtractedBlob, room: &mut usize) {
        for note in &blob.notes {
            match self.notes.iter_mut().find(|(known, ..)| known == note) {
                Some((.., others)) => *others = others.saturating_add(1),
                None => self.notes.push((*note, blob.clone(), 0)),
            }
        }
        match room.checked_sub(1) {
            Some(left) => {
                *room = left;
                self.blobs.push(blob.clone());
            }
            None => self.more = self.more.saturating_add(1),
        }
    }

    /// Writes the text of a file, which went to `folder`. A dry run has written nothing.
    pub fn write(
        &self,
        out: &mut Out,
        path: &Path,
        folder: Option<&Path>,
        file: &ExtractedFile,
        dry_run: bool,
    ) -> io::Result<()> {
        let name = path.as_os_str().as_encoded_bytes();
        out.text(Kind::Name, &name.into()).put(": ");
        out.put(counted(file.extracted, "blob", "blobs"));
        out.put(" with ").put(size(file.data_size)).put(" of data ");
        out.put(if dry_run { "would be extracted" } else { "extracted" });
        if let Some(folder) = folder {
            out.put(" to ").text(Kind::Name, &folder.as_os_str().as_encoded_bytes().into());
        }
        if file.left_out > 0 {
            out.put(shown!(", {} left out", file.left_out));
        }
        out.end_line()?;
        self.blobs.iter().try_for_each(|blob| show_blob(blob, out))?;
        if dry_run && self.more > 0 {
            out.put(shown!("  ... and {} more", self.more)).end_line()?;
        }
        if dry_run {
            file.others.iter().try_for_each(|part| {
                out.put("  ").text(Kind::Plain, &part.path.as_str().into()).put(", ").put(size(part.size)).end_line()
            })?;
        }
        let notes = Note::ALL.iter().filter_map(|note| self.notes.iter().find(|(noted, ..)| noted == note));
        notes.into_iter().try_for_each(|(note, first, others)| show_note(*note, first, *others, out))
    }
}

/// A line for each file of a blob: what it is, where it would go, and how many bytes are written.
fn show_blob(blob: &ExtractedBlob, out: &mut Out) -> io::Result<()> {
    let of_surplus = blob.surplus.as_ref().map_or(0, |surplus| surplus.size);
    begin_line(blob, out);
    if let Some(path) = &blob.path {
        out.put(": ").text(Kind::Plain, &path.as_str().into());
    }
    if let Some(key) = &blob.key {
        out.put(" ").text(Kind::Plain, &key.as_str().into());
    }
    out.put(", ").put(size(blob.extracted_size.saturating_sub(of_surplus))).end_line()?;
    let Some(surplus) = &blob.surplus else { return Ok(()) };
    begin_line(blob, out);
    out.put(": ").text(Kind::Plain, &surplus.path.as_str().into()).put(", ").put(size(surplus.size)).end_line()
}

fn begin_line(blob: &ExtractedBlob, out: &mut Out) {
    out.put("  ").put_as(Kind::Type, type_name(blob.blob_type)).put(" ").text(Kind::Name, blob.name.text());
}

/// A line for all blobs that have something special.
fn show_note(note: Note, first: &ExtractedBlob, others: u64, out: &mut Out) -> io::Result<()> {
    out.put("  ").put_as(Kind::Note, "note").put(": ").text(Kind::Name, first.name.text());
    match others {
        0 => {}
        more => _ = out.put(shown!(" and {}", counted(more, "other", "others"))),
    }
    out.put(": ").put(note.words());
    if let Some(key) = first.key.as_ref().filter(|_| matches!(note, Note::Renamed | Note::NameKept)) {
        out.put("; KEY is ").text(Kind::Plain, &key.as_str().into());
    }
    out.end_line()
}
