//! `popef extract`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::Blob;
use popef_cli::end::unwritten;
use popef_cli::filter::Filter;
use popef_cli::format::{Format, FormatArgs, end_of_files, json_line, json_line_in};
use popef_cli::input::{Inputs, open_all};
use popef_cli::output::check_folder;
use popef_cli::common::{Common, Place};
use popef_cli::plain::refuse_elsewhere;
use popef_cli::tool::Tool;
use popef_cli::values::{named, path};
use popef_open::is_stdin;
use popef_ops::extract::{
    Arrays, ExtractOptions, Extracted, ExtractedBlob, ExtractedFile, OneFile, extract, extract_one,
};
use popef_ops::{Code, Error, FilePath, InFile, OutputPath, Overwrite, Target, TargetFolder};
use popef_show::operations::ExtractedText;
use popef_show::{Out, escape};
use serde::Serialize;

use super::Command;
use crate::common::rows::Rows;

/// Take blobs out into files for other programs
///
/// Tensors become files for numpy or PyTorch, a feed one array with the runs in front, metadata JSON; executables and opaque
/// blobs are written as they are. index.json has everything else, so that `popef pack` makes the same file again, byte for byte.
/// One file's blobs go into DIR itself; of several files, each gets a folder in DIR. DIR appears when it is complete, and so do the folders that
/// it is in.
///
/// A name that ends with .npy, .npz, .safetensors, .bin or .json is that of one file, without index.json: .npy is for one tensor or
/// feed, .npz and .safetensors for all that are chosen, .bin for the bytes of one blob, and .json for one metadata.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "popef extract [OPTIONS] -o <DIR> <FILE>...\n       popef extract [OPTIONS] -o <NEW.npy> <FILE>",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    /// The folder to make, with its parent folders; or one file: .npy, .npz, .safetensors, .bin or .json
    #[arg(short, long, value_name = "DIR", value_parser = path(), required_unless_present = "dry_run", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write tensors and feeds as npy (the default), npz, safetensors or raw bytes
    #[arg(long, value_name = "FORMAT", value_parser = named(Arrays::ALL.iter().copied(), |form| form.as_str()), hide_possible_values = true, help_heading = "Output")]
    tensors_as: Option<Arrays>,
    /// Unpack executables that are compressed; `pack` compresses them anew
    #[arg(long, help_heading = "Output")]
    unpacked: bool,
    /// Replace the one file, or DIR if it has only extracted files
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
  popef extract model.popef -o weights --type tensor --filter 'encoder.*'
      Some tensors
  popef extract model.popef -o weights --type tensor --tensors-as safetensors
      All tensors in one file for PyTorch: weights/tensors.safetensors
  popef extract model.popef -o w.npy --filter encoder/w
      One tensor in one file
  popef extract model.popef -o weights.safetensors
      All tensors and feeds in one file
  popef extract model.popef -o inside --type executable --unpacked
      Executables that other tools can read";

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let paths = self.inputs.paths()?;
        let one = self.one_file(&paths)?;
        let files = open_all(tool, &paths)?;
        self.filter.check(&files, &paths)?;
        let select = |blob: &Blob<'_>| self.filter.takes(blob);
        let arrays = self.tensors_as.unwrap_or_default();
        let options = ExtractOptions { arrays, unpacked: self.unpacked, select: &select };
        let mut out = tool.out();
        let watch = tool.progress("extracting");
        let run = |each: Each<'_>| match one.zip(files.first()) {
            Some(((path, form), file)) => extract_one(file, &self.file_target(path), form, &options, &watch, each),
            None => extract(&files, self.target(), &options, &watch, each),
        };
        match self.format.format {
            Format::Json => self.json(&paths, run, &mut out)?,
            Format::Ndjson => self.ndjson(&paths, run, &mut out)?,
            Format::Text => self.text(&paths, run, &mut out)?,
        }
        drop(watch);
        out.send().map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        let common = Common::of(Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run });
        let common = common.format(self.format.format);
        // One file is for one input, so a folder is no list of files then.
        if self.output.as_deref().and_then(OneFile::of).is_some() { common } else { common.lists() }
    }
}

/// A function that gets each blob.
type Each<'e> = &'e mut dyn FnMut(ExtractedBlob) -> Result<(), Error>;

impl Args {
    fn json(
        &self,
        paths: &[PathBuf],
        run: impl FnOnce(Each<'_>) -> Result<Extracted, Error>,
        out: &mut Out,
    ) -> Result<(), Error> {
        let mut rows = Rows::new();
        let extracted = run(&mut |blob| rows.push(blob.input, &blob))?;
        let files: Vec<_> = extracted.files.iter().zip(paths).map(|(file, path)| self.shown(file, path)).collect();
        out.put("{\"schemaVersion\":1,\"files\":[");
        rows.write_objects(out, &files, "blobs")?;
        end_of_files(out).map_err(unwritten)
    }

    fn ndjson(
        &self,
        paths: &[PathBuf],
        run: impl FnOnce(Each<'_>) -> Result<Extracted, Error>,
        out: &mut Out,
    ) -> Result<(), Error> {
        let in_files: Vec<InFile> = paths.iter().map(|path| path.as_path().into()).collect();
        let extracted = run(&mut |blob| {
            json_line_in(out, "blob", &in_files.get(blob.input), &blob).map_err(unwritten)
        })?;
        let mut files = extracted.files.iter().zip(paths);
        files.try_for_each(|(file, path)| json_line(out, "file", &self.shown(file, path))).map_err(unwritten)
    }

    fn text(
        &self,
        paths: &[PathBuf],
        run: impl FnOnce(Each<'_>) -> Result<Extracted, Error>,
        out: &mut Out,
    ) -> Result<(), Error> {
        let mut text: Vec<ExtractedText> = paths.iter().map(|_| ExtractedText::default()).collect();
        let mut room = if self.dry_run { MOST_ROWS } else { 0 };
        let extracted = run(&mut |blob| {
            text.get_mut(blob.input).into_iter().for_each(|text| text.add(&blob, &mut room));
            Ok(())
        })?;
        let mut files = extracted.files.iter().zip(paths).zip(&text);
        let write = |((file, path), text): ((_, &PathBuf), &ExtractedText)| {
            text.write(out, path, self.folder(file).as_deref(), file, self.dry_run)
        };
        files.try_for_each(write).map_err(unwritten)
    }
}

/// The maximum number of blobs that text lists.
const MOST_ROWS: usize = 1000;

/// A file in JSON.
#[derive(Serialize)]
struct FileShown<'f> {
    #[serde(flatten)]
    path: FilePath,
    #[serde(flatten)]
    output: Option<OutputPath>,
    #[serde(flatten)]
    file: &'f ExtractedFile,
}

impl Args {
    /// The one file to make, if the output is not a folder. Fails if it cannot be made from these inputs.
    fn one_file(&self, paths: &[PathBuf]) -> Result<Option<(&Path, OneFile)>, Error> {
        let wrong = |message: String| Err(Error::new(Code::WrongArguments, message));
        let Some(output) = self.output.as_deref() else { return Ok(None) };
        if is_stdin(output) {
            return wrong("extract makes files, which cannot go to standard output; see popef cat, also for --format npy".to_owned());
        }
        let Some(form) = OneFile::of(output).filter(|_| !output.is_dir()) else {
            return check_folder(Some(output)).map(|()| None);
        };
        refuse_elsewhere(Some(output))?;
        let name = escape(&output.to_string_lossy()).into_owned();
        match self.tensors_as {
            _ if paths.len() != 1 => wrong(format!("{name} is one file, for the blobs of one input; for several, name a folder")),
            Some(arrays) if form.arrays() != Some(arrays) => {
                wrong(format!("--tensors-as {} does not fit {name}; leave it out, or name a folder", arrays.as_str()))
            }
            _ => Ok(Some((output, form))),
        }
    }

    fn overwrite(&self) -> Overwrite {
        if self.force { Overwrite::Others } else { Overwrite::Never }
    }

    fn file_target<'t>(&self, path: &'t Path) -> Target<'t> {
        if self.dry_run { Target::Trial(path, self.overwrite()) } else { Target::Path(path, self.overwrite()) }
    }

    fn target(&self) -> TargetFolder<'_> {
        let overwrite = self.overwrite();
        match self.output.as_deref() {
            None => TargetFolder::Nowhere,
            Some(folder) if self.dry_run => TargetFolder::Trial(folder, overwrite),
            Some(folder) => TargetFolder::At(folder, overwrite),
        }
    }

    /// The folder for a file, or the one file.
    fn folder(&self, file: &ExtractedFile) -> Option<PathBuf> {
        let folder = self.output.as_ref()?;
        Some(if file.folder.is_empty() { folder.clone() } else { folder.join(&file.folder) })
    }

    fn shown<'f>(&self, file: &'f ExtractedFile, path: &Path) -> FileShown<'f> {
        FileShown { path: path.into(), output: self.folder(file).map(|folder| folder.as_path().into()), file }
    }
}
