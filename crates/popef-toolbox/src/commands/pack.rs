//! `popef pack`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::write::Packing;
use popef_ops::{Error, Progress};
use popef_ops::pack::{Pack, Packed, State};
use popef_show::{Kind, Out, counted, size};

use super::Command;
use crate::common::end::unwritten;
use crate::common::filter::type_name;
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::output::OutputArgs;
use crate::common::tool::Tool;
use crate::common::values::path;

/// Make a file of what `extract` took out, or of other parts
///
/// A folder gives the same file again, byte for byte, with what was changed in the folder since: an array that was replaced,
/// metadata that was edited. Before anything is written, tensors and feeds are compared with their anchors.
///
/// Blobs are written in this order: those of the folder, executables, metadata, opaque blobs, tensors, feeds.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A folder that popef extract made
    #[arg(value_name = "DIR", value_parser = path(), required_unless_present_any = ["executables", "metadata", "tensors", "feeds", "opaques"])]
    folder: Option<PathBuf>,
    /// An executable; without NAME, it is named as the metadata says, or as the file
    #[arg(long = "executable", value_name = "FILE[:NAME]", help_heading = "Blobs")]
    executables: Vec<String>,
    /// Metadata as JSON, as popef extract writes it
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Blobs")]
    metadata: Vec<PathBuf>,
    /// Tensors: all arrays of an .npy, .npz or .safetensors file; that of an .npy file has the file's name
    #[arg(long, value_name = "FILE", value_parser = path(), num_args = 1.., help_heading = "Blobs")]
    tensors: Vec<PathBuf>,
    /// A feed: the one array of FILE, whose first dimension is the runs
    #[arg(long = "feed", value_name = "NAME=FILE", value_parser = named_file, help_heading = "Blobs")]
    feeds: Vec<NamedFile>,
    /// An opaque blob, for the executable if there is one
    #[arg(long = "opaque", value_name = "NAME=FILE", value_parser = named_file, help_heading = "Blobs")]
    opaques: Vec<NamedFile>,
    /// Compress executables: zlib or gzip, and perhaps :0 to :9
    #[arg(long, value_name = "FORMAT[:LEVEL]", value_parser = str::parse::<Packing>, help_heading = "Output")]
    compress: Option<Packing>,
    /// Also write data that does not fit its anchor
    #[arg(long, help_heading = "Output")]
    unchecked: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  popef pack model -o model.popef
      The folder of popef extract model.popef -o model, with what was changed in it
  popef pack --tensors weights.safetensors -o weights.popef
      Weights from PyTorch, under their own names
  popef pack --executable model.bin --metadata model.json --tensors w/*.npy --feed images=x.npy -o model.popef
      A whole model
  popef pack model --compress zlib:6 -o small.popef
      The same with its executables compressed";

#[derive(Clone, Debug)]
struct NamedFile {
    name: String,
    path: PathBuf,
}

fn named_file(text: &str) -> Result<NamedFile, &'static str> {
    match text.split_once('=') {
        Some((name, path)) if !path.is_empty() => Ok(NamedFile { name: name.to_owned(), path: path.into() }),
        _ => Err("it is not NAME=FILE"),
    }
}

/// The file, and the name after the last colon. A file whose own name has a colon is taken as it is.
fn executable(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, name)) if !Path::new(text).exists() => (Path::new(file), Some(name)),
        _ => (Path::new(text), None),
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let watch = tool.progress("packing");
        let packed = self.gathered(&watch)?.write(self.output.target(), &watch)?;
        drop(watch);
        let mut out = tool.report(self.output.is_stdout());
        self.show(&packed, &mut out).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Args {
    fn gathered(&self, progress: &dyn Progress) -> Result<Pack, Error> {
        let mut pack = Pack::new();
        if let Some(folder) = &self.folder {
            pack.folder(folder, progress)?;
        }
        for text in &self.executables {
            let (path, name) = executable(text);
            pack.executable(path, name)?;
        }
        for path in &self.metadata {
            pack.metadata(path)?;
        }
        for NamedFile { name, path } in &self.opaques {
            pack.opaque(name, path)?;
        }
        for path in &self.tensors {
            pack.tensors(path, progress)?;
        }
        for NamedFile { name, path } in &self.feeds {
            pack.feed(name, path, progress)?;
        }
        if let Some(packing) = self.compress {
            pack.compress(packing);
        }
        pack.unchecked(self.unchecked);
        Ok(pack)
    }

    fn show(&self, packed: &Packed, out: &mut Out) -> io::Result<()> {
        match self.format.format {
            Format::Json => json_document(out, packed),
            Format::Ndjson => packed.blobs.iter().try_for_each(|blob| json_line(out, "blob", blob)),
            Format::Text => self.show_text(packed, out),
        }
    }

    fn show_text(&self, packed: &Packed, out: &mut Out) -> io::Result<()> {
        let verb = if self.output.dry_run { "would be packed" } else { "packed" };
        out.put(&counted(packed.blobs.len(), "blob", "blobs")).put(&format!(" {verb}, {}", size(packed.size)));
        // Of what was not extracted, nothing differs.
        let differing = packed.blobs.iter().filter(|blob| blob.state != State::Same);
        if self.folder.is_some() {
            match differing.clone().count() {
                0 => out.put("; nothing was changed since it was extracted"),
                1 => out.put("; 1 differs from what was extracted:"),
                count => out.put(&format!("; {count} differ from what was extracted:")),
            };
        }
        out.end_line()?;
        for blob in differing.filter(|_| self.folder.is_some()) {
            out.put("  ").put(state_words(blob.state)).put(": ").put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
            out.text(Kind::Name, blob.name.text()).end_line()?;
        }
        for problem in &packed.problems {
            out.put("  ").put_as(Kind::Warning, "warning").put(": ").put(problem).end_line()?;
        }
        Ok(())
    }
}

fn state_words(state: State) -> &'static str {
    match state {
        State::Same => "same",
        State::Changed => "changed",
        State::Compressed => "compressed anew",
        _ => "new",
    }
}
