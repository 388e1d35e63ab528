//! `popef pack`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use popef::types::redact_word;
use popef::write::Packing;
use popef_cli::end::{unwritten, wrong};
use popef_cli::format::{Format, FormatArgs, NETWORK, json_line};
use popef_cli::output::OutputArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_cli::values::path;
use popef_open::{is_stdin, path_of};
use popef_ops::pack::{LeftBehind, PackInput, PackOptions, Packed, PackedBlob, pack};
use popef_ops::{Error, OutputPath};
use popef_show::Network;
use popef_show::operations::PackedText;

use serde::Serialize;

use super::Command;
use super::set::document;
use crate::common::findings::{check_strict, say_findings};
use crate::common::rows::Rows;
use crate::common::values::{GivenArrays, named_arrays};

/// Make a file from an extracted folder, or from other parts
///
/// A folder gives the same file again, byte for byte, with what was changed in the folder since: an array that was replaced,
/// metadata that was edited. Before anything is written, tensors and feeds are compared with their anchors.
///
/// Blobs are written in this order: those of the folder, executables, metadata, opaque blobs, tensors, feeds.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "popef pack [OPTIONS] -o <NEW> <DIR>\n       popef pack [OPTIONS] -o <NEW> --tensors <FILE>...",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// A folder that popef extract made
    #[arg(value_name = "DIR", value_parser = path(), required_unless_present_any = ["executables", "metadata", "tensors", "feeds", "opaques"])]
    folder: Option<PathBuf>,
    /// An executable; without NAME, it is named as the metadata says, or as the file
    #[arg(long = "executable", value_name = "FILE[:NAME]", help_heading = "Blobs")]
    executables: Vec<String>,
    /// Metadata as JSON, as popef extract writes it; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Blobs")]
    metadata: Vec<PathBuf>,
    /// Tensors: all arrays of an .npy, .npz or .safetensors file; that of an .npy file has the file's name, or NAME
    #[arg(long, value_name = "[NAME=]FILE", value_hint = ValueHint::AnyPath, value_parser = named_arrays(), num_args = 1.., help_heading = "Blobs")]
    tensors: Vec<GivenArrays>,
    /// A feed: the one array of FILE, or its array NAME; its first dimension is the runs
    #[arg(long = "feed", value_name = "NAME=FILE", value_parser = named_file, help_heading = "Blobs")]
    feeds: Vec<NamedFile>,
    /// An opaque blob, for the executable if there is one
    #[arg(long = "opaque", value_name = "NAME=FILE", value_parser = named_file, help_heading = "Blobs")]
    opaques: Vec<NamedFile>,
    /// Compress executables if they become smaller: zlib or gzip, with or without :0 to :9
    #[arg(long, value_name = "FORMAT[:LEVEL]", value_parser = str::parse::<Packing>, help_heading = "Output")]
    compression: Option<Packing>,
    /// Also write data that does not fit its anchor
    #[arg(long, help_heading = "Output")]
    unchecked: bool,
    #[command(flatten)]
    output: OutputArgs,
    /// Write nothing if the checks find errors or warnings in the new file
    #[arg(long, conflicts_with = "unchecked", help_heading = "Output")]
    strict: bool,
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
  popef pack model --compression zlib:6 -o small.popef
      The same with its executables compressed";

fn metadata(path: &Path) -> Result<PackInput, Error> {
    match is_stdin(path) {
        true => document(path, "read the metadata").map(PackInput::MetadataJson),
        false => Ok(PackInput::Metadata(path.to_owned())),
    }
}

fn tensors(given: GivenArrays) -> PackInput {
    match given {
        GivenArrays::At(path) => PackInput::Tensors(path),
        GivenArrays::For(name, path) => PackInput::TensorOf(name.into(), path),
    }
}

#[derive(Clone, Debug)]
struct NamedFile {
    name: String,
    path: PathBuf,
}

fn named_file(text: &str) -> Result<NamedFile, &'static str> {
    match text.split_once('=') {
        Some(("", _)) => Err("the NAME of NAME=FILE is empty; is a variable of the shell not set?"),
        Some((_, path)) if redact_word(path) == path && redact_word(text) != text => Err("it is not NAME=FILE"),
        Some((_, "-")) => Err("it is not read from standard input (-); give a file"),
        Some((name, path)) if !path.is_empty() => Ok(NamedFile { name: name.to_owned(), path: path_of(path.into()) }),
        _ => Err("it is not NAME=FILE"),
    }
}

/// The file, and the name after the last colon. A file whose own name has a colon is used as a whole, and so is an address with
/// secrets: only as a whole is it known as one, and shown without them.
fn executable(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, name)) if !Path::new(text).exists() && redact_word(text) == text => (Path::new(file), Some(name)),
        _ => (Path::new(text), None),
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        check_strict(self.strict, self.output.place())?;
        let mut out = tool.report();
        let (inputs, watch) = (self.inputs()?, tool.progress("packing"));
        let options = PackOptions { compress: self.compression, unchecked: self.unchecked, strict: self.strict };
        let run = |each: Each<'_>| pack(&inputs, self.output.target(), &options, &watch, each);
        let packed = match self.format.format {
            Format::Json => {
                let mut rows = Rows::new();
                let packed = run(&mut |blob| rows.push(0, &blob))?;
                let document = Document { schema_version: 1, report: self.shown(&packed), network: NETWORK };
                rows.write_objects(&mut out, &[document], "blobs")?;
                out.end_line().map_err(unwritten)?;
                packed
            }
            Format::Ndjson => {
                let packed = run(&mut |blob| json_line(&mut out, "blob", &blob).map_err(unwritten))?;
                json_line(&mut out, "report", &self.shown(&packed)).map_err(unwritten)?;
                packed
            }
            Format::Text => {
                let mut text = PackedText::new(self.folder.is_some());
                let packed = run(&mut |blob| {
                    text.add(blob);
                    Ok(())
                })?;
                text.write(&mut out, &packed, self.output.dry_run).map_err(unwritten)?;
                packed
            }
        };
        drop(watch);
        out.send().map_err(unwritten)?;
        say_warnings(&packed, tool);
        say_findings(tool, packed.new_findings.as_deref());
        say_left_out(&packed, tool);
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.output.place()).format(self.format.format)
    }
}

/// A function that gets each blob.
type Each<'e> = &'e mut dyn FnMut(PackedBlob) -> Result<(), Error>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'p> {
    schema_version: u32,
    #[serde(flatten)]
    report: Shown<'p>,
    #[serde(flatten)]
    network: Network,
}

#[derive(Serialize)]
struct Shown<'p> {
    #[serde(flatten)]
    output: Option<OutputPath>,
    #[serde(flatten)]
    packed: &'p Packed,
}

impl Args {
    /// The inputs, in the order in which their blobs are written.
    fn inputs(&self) -> Result<Vec<PackInput>, Error> {
        if self.metadata.iter().filter(|path| is_stdin(path)).nth(1).is_some() {
            return Err(wrong("standard input (-) can be read only once"));
        }
        let mut inputs: Vec<PackInput> = self.folder.iter().cloned().map(PackInput::Folder).collect();
        inputs.extend(self.executables.iter().map(|text| {
            let (path, name) = executable(text);
            PackInput::Executable(path_of(path.as_os_str().to_owned()), name.map(str::to_owned))
        }));
        for path in &self.metadata {
            inputs.push(metadata(path)?);
        }
        inputs.extend(self.opaques.iter().map(|file| PackInput::Opaque(file.name.clone().into(), file.path.clone())));
        inputs.extend(self.tensors.iter().cloned().map(tensors));
        inputs.extend(self.feeds.iter().map(|file| PackInput::Feed(file.name.clone().into(), file.path.clone())));
        Ok(inputs)
    }

    fn shown<'p>(&self, packed: &'p Packed) -> Shown<'p> {
        Shown { output: self.output.path().map(OutputPath::from), packed }
    }
}

/// The maximum number of warnings on stderr, and of files and arrays that are left out.
const MOST_TOLD: usize = 10;

fn say_warnings(packed: &Packed, tool: &Tool) {
    packed.warnings.iter().take(MOST_TOLD).for_each(|warning| tool.say(&format!("warning: {warning}")));
    let more = packed.warning_count.saturating_sub(u64::try_from(MOST_TOLD).unwrap_or(u64::MAX));
    if more > 0 {
        tool.say(&format!("warning: {more} more; popef check shows them"));
    }
}

fn say_left_out(packed: &Packed, tool: &Tool) {
    for LeftBehind { file, array, .. } in packed.left_out.iter().take(MOST_TOLD) {
        tool.say(&match array {
            Some(array) => format!(
                "warning: array \"{array}\" of {file} was left out, because index.json does not name it; --tensors FILE adds arrays of another file"
            ),
            None => format!(
                "warning: {file} was left out, because index.json does not name it; --tensors FILE, --feed and the like add files"
            ),
        });
    }
    let more = packed.left_out_count.saturating_sub(u64::try_from(MOST_TOLD).unwrap_or(u64::MAX));
    if more > 0 {
        tool.say(&format!("warning: {more} more were left out"));
    }
}
