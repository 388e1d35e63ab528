//! `popef extract`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_ops::extract::{Arrays, ExtractOptions, Extracted, ExtractedBlob, ExtractedFile, Note, Replace};
use popef_ops::{Code, Error};
use popef_show::{Kind, Out, counted, size};

use super::Command;
use crate::common::end::unwritten;
use crate::common::filter::{Filter, type_name};
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::input::Inputs;
use crate::common::tool::Tool;
use crate::common::values::{named, path};

/// Take blobs out into files for other programs
///
/// Tensors become files for numpy or PyTorch, a feed one array with the runs in front, metadata JSON; executables and opaque
/// blobs are written as they are. index.json has everything else, so that `popef pack` makes the same file again, byte for byte.
/// One file's blobs go into DIR itself; of several files, each gets a folder in DIR. DIR appears when it is complete.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    /// The folder to make; its parent must exist
    #[arg(short, long, value_name = "DIR", value_parser = path(), required_unless_present = "dry_run", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write tensors and feeds as npy, npz, safetensors or raw bytes
    #[arg(long, value_name = "FORM", value_parser = named(FORMS, form_name), default_value = "npy", hide_default_value = true, hide_possible_values = true, help_heading = "Output")]
    tensors_as: Arrays,
    /// Unpack executables that are compressed; `pack` compresses them anew
    #[arg(long, help_heading = "Output")]
    unpacked: bool,
    /// Replace DIR if nothing but what was extracted is in it
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Only say what would be written
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  popef extract model.popef -o model
      Everything, each tensor as an .npy file, for popef pack model
  popef extract model.popef -o weights -t tensor --filter 'encoder.*'
      Some tensors
  popef extract model.popef -o weights -t tensor --tensors-as safetensors
      All tensors in one file for PyTorch: weights/tensors.safetensors
  popef extract model.popef -o inside -t executable --unpacked
      Executables that other tools can read";

const FORMS: [Arrays; 4] = [Arrays::Npy, Arrays::Npz, Arrays::Safetensors, Arrays::Raw];

fn form_name(form: &Arrays) -> &'static str {
    match form {
        Arrays::Npy => "npy",
        Arrays::Npz => "npz",
        Arrays::Safetensors => "safetensors",
        Arrays::Raw => "raw",
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.output.as_deref() == Some(Path::new("-")) {
            let message = "extract makes a folder, which cannot go to standard output; see popef cat";
            return Err(Error::new(Code::WrongArguments, message));
        }
        let files = self.inputs.open()?;
        self.filter.check(&files)?;
        let mut options = ExtractOptions::new();
        options.arrays(self.tensors_as).unpacked(self.unpacked);
        let choose = |blob: &popef::Blob<'_>| self.filter.takes(blob);
        let extracted = match self.output.as_deref().filter(|_| !self.dry_run) {
            Some(folder) => {
                let replace = if self.force { Replace::Extracted } else { Replace::Never };
                options.extract(&files, choose, folder, replace, &tool.progress("extracting"))?
            }
            None => options.preview(&files, choose),
        };
        let mut out = tool.out();
        self.show(&extracted, &mut out).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Args {
    fn show(&self, extracted: &Extracted, out: &mut Out) -> io::Result<()> {
        match self.format.format {
            Format::Json => json_document(out, extracted),
            Format::Ndjson => extracted.files.iter().try_for_each(|file| json_line(out, "file", file)),
            Format::Text => extracted.files.iter().try_for_each(|file| self.show_file(file, out)),
        }
    }

    fn show_file(&self, file: &ExtractedFile, out: &mut Out) -> io::Result<()> {
        let bytes = file.blobs.iter().fold(0, |sum: u64, blob| sum.saturating_add(blob.bytes));
        let path = file.path.as_deref().unwrap_or("standard input");
        out.text(Kind::Name, &path.into()).put(": ");
        out.put(&counted(file.blobs.len(), "blob", "blobs"));
        out.put(" with ").put(&size(bytes)).put(" of data ");
        out.put(if self.dry_run { "would be extracted" } else { "extracted" });
        if let Some(folder) = &self.output {
            let folder = if file.folder.is_empty() { folder.clone() } else { folder.join(&file.folder) };
            out.put(" to ").text(Kind::Name, &folder.as_os_str().as_encoded_bytes().into());
        }
        if file.left_out > 0 {
            out.put(&format!(", {} left out", file.left_out));
        }
        out.end_line()?;
        for blob in &file.blobs {
            if self.dry_run {
                show_blob(blob, out)?;
            }
        }
        Note::ALL.iter().try_for_each(|note| show_note(*note, &file.blobs, out))
    }
}

/// A line for a blob: what it is, and where it would go.
fn show_blob(blob: &ExtractedBlob, out: &mut Out) -> io::Result<()> {
    out.put("  ").put_as(Kind::Type, type_name(blob.blob_type)).put(" ").text(Kind::Name, blob.name.text());
    if let Some(path) = &blob.path {
        out.put(": ").put(path);
    }
    if let Some(key) = &blob.key {
        out.put(" ").text(Kind::Plain, &key.as_str().into());
    }
    out.put(", ").put(&size(blob.bytes)).end_line()
}

/// A line for all blobs that have something special.
fn show_note(note: Note, blobs: &[ExtractedBlob], out: &mut Out) -> io::Result<()> {
    let mut noted = blobs.iter().filter(|blob| blob.notes.contains(&note));
    let Some(first) = noted.next() else { return Ok(()) };
    out.put("  ").put_as(Kind::Note, "note").put(": ").text(Kind::Name, first.name.text());
    match noted.count() {
        0 => {}
        more => _ = out.put(&format!(" and {}", counted(more, "other", "others"))),
    }
    out.put(": ").put(note.words()).end_line()
}
