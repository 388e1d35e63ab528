//! `popef split`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_cli::end::unwritten;
use popef_cli::filter::Filter;
use popef_cli::format::FormatArgs;
use popef_cli::input::open_whole;
use popef_cli::output::check_folder;
use popef_cli::common::{Common, Place};
use popef_cli::tool::Tool;
use popef_cli::values::{named, path};
use popef_ops::{Code, Error, Listed, Overwrite, Split, SplitBy, SplitOptions, TargetFolder, split};
use popef_show::counted;
use popef_show::operations::write_split;

use super::Command;

/// Make several files of one
///
/// Each part is a PopEF file. Nothing appears until all parts are written. popef merge makes one file from them again; with
/// --keep all, it makes the same file from parts by size. --type, --filter and --exclude choose the blobs that are written; the
/// others are left out.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef split [OPTIONS] --by <WHAT> -o <DIR> <FILE>\n       popef split [OPTIONS] --max-size <SIZE> -o <DIR> <FILE>", after_help = "\
Examples:
  popef split model.popef --by kind -o parts
      parts/model-executables.popef, parts/model-tensors.popef, parts/model-feeds.popef
  popef split models.popef --by model -o models
      A file for each model, with its executable, tensors and feeds
  popef split model.popef --max-size 4GiB -o parts
      parts/model-1.popef, parts/model-2.popef, ...
  popef split model.popef --max-size 4GiB --type tensor -o weights
      Only the tensors
  popef merge --keep all parts/*.popef -o model.popef
      The file of parts by size again; of parts by kind or model, without --keep all")]
pub(crate) struct Args {
    /// The file to split; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// What becomes a part: kind, model or size
    ///
    /// kind: executables with metadata and opaque blobs; tensors; feeds. model: each executable that metadata names, with all
    /// its blobs; blobs that several models use are in each of their parts, and blobs of no model are in a part of their own.
    /// size: as --max-size says.
    #[arg(long, value_name = "WHAT", value_parser = named(By::ALL.iter().copied(), |by| by.as_str()), required_unless_present = "max_size", hide_possible_values = true)]
    by: Option<By>,
    /// Parts of at most SIZE, such as 4GiB or 500MB, in the order of the file
    ///
    /// A larger blob is a part of its own.
    #[arg(long, value_name = "SIZE", value_parser = popef_cli::values::size_from_one, required_if_eq("by", "size"))]
    max_size: Option<u64>,
    #[command(flatten)]
    filter: Filter,
    /// The folder for the parts; it is made if it is not there
    #[arg(short, long, value_name = "DIR", value_parser = path(), required_unless_present = "dry_run", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Begin the names of all parts with NAME, and not with that of FILE
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    stem: Option<OsString>,
    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    #[command(flatten)]
    format: FormatArgs,
}

popef::seam::named! {
    enum By {
        Kind = "kind",
        Model = "model",
        Size = "size",
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        check_folder(self.output.as_deref())?;
        let stem = self.stem()?;
        let options = SplitOptions { by: self.by()?, stem: &stem, select: &|blob| self.filter.takes(blob) };
        let file = open_whole(tool, &self.file)?;
        self.filter.check([&file], &[&self.file])?;
        let watch = tool.progress("splitting");
        let done = split(&file, self.target(), &options, &watch)?;
        drop(watch);
        let text = |out: &mut _, done: &_| write_split(out, done, self.dry_run);
        self.format.report(&mut tool.out(), &done, text).map_err(unwritten)?;
        warn_of_left_over(&done, tool);
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }).format(self.format.format)
    }
}

/// Warns that merging all files of the folder would include other files.
fn warn_of_left_over(split: &Split, tool: &Tool) {
    let Listed { count, first, .. } = &split.left_over;
    let Some(first) = first.first() else { return };
    let (files, them) = match count.saturating_sub(1) {
        0 => (format!("{first} has the name of a part, but is not one"), "it"),
        more => (format!("{first} and {} have names of parts, but are not parts", counted(more, "other file", "other files")), "them"),
    };
    tool.say(&format!("warning: {files}: if an earlier split left {them}, remove {them} before popef merge includes {them}"));
}

impl Args {
    fn target(&self) -> TargetFolder<'_> {
        let overwrite = if self.force { Overwrite::Others } else { Overwrite::Never };
        match &self.output {
            Some(folder) if self.dry_run => TargetFolder::Trial(folder, overwrite),
            Some(folder) => TargetFolder::At(folder, overwrite),
            None => TargetFolder::Nowhere,
        }
    }

    fn by(&self) -> Result<SplitBy, Error> {
        match (self.by, self.max_size) {
            (None | Some(By::Size), Some(most)) => Ok(SplitBy::Size(most)),
            (Some(By::Kind), None) => Ok(SplitBy::Kind),
            (Some(By::Model), None) => Ok(SplitBy::Model),
            _ => Err(Error::new(Code::WrongArguments, "--max-size is for --by size")),
        }
    }

    fn stem(&self) -> Result<OsString, Error> {
        let wrong = |message: &str| Error::new(Code::WrongArguments, message);
        match &self.stem {
            Some(stem) if Path::new(stem).file_name() == Some(stem) => Ok(stem.clone()),
            Some(_) => Err(wrong("--stem is the beginning of a name, without folders")),
            None if self.file.as_os_str() == "-" => Err(wrong("standard input has no name; give one with --stem")),
            None => popef_open::file_name(&self.file)
                .and_then(|name| Path::new(&name).file_stem().map(OsString::from))
                .ok_or_else(|| wrong("the file has no name; give one with --stem")),
        }
    }
}
