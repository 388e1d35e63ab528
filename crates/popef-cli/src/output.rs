//! Where a command writes a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use popef_open::{is_stdin, is_stream};
use popef_ops::{Code, Error, Overwrite, Target, TargetFolder};

use crate::common::{Common, Place};
use crate::elsewhere;
use crate::tool::raw_stdout;
use crate::values::path;

/// Options of commands that make one file of several.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "NEW", value_parser = path(), required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Replace NEW if it exists
    #[arg(long)]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of commands that change a file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ChangeArgs {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "NEW", value_parser = path(), required_unless_present_any = ["dry_run", "in_place"], conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace the input when the new file is complete and checked
    #[arg(long)]
    in_place: bool,
    /// Replace NEW if it exists
    #[arg(long, conflicts_with = "in_place")]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of commands that change several files, each on its own.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct EachArgs {
    /// The file to write, if there is one input; `-` is standard output
    #[arg(short, long, value_name = "NEW", value_parser = path(), required_unless_present_any = ["dry_run", "in_place", "output_dir"], conflicts_with_all = ["in_place", "output_dir"])]
    output: Option<PathBuf>,
    /// Replace each input when its new file is complete and checked
    #[arg(long, conflicts_with = "output_dir")]
    in_place: bool,
    /// Write each new file into DIR, under the name of its input; DIR is made if it is not there
    #[arg(long, value_name = "DIR", value_parser = path())]
    output_dir: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, conflicts_with = "in_place")]
    force: bool,
    /// Only say what would be written, and how large it would be
    #[arg(long)]
    pub dry_run: bool,
}

/// The destination of the new file of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goes {
    /// Nowhere: only the size is wanted.
    Nowhere,
    /// To standard output.
    Stdout,
    /// To a path, which may be that of the input.
    To(PathBuf, Overwrite),
    /// Nowhere, in a dry run for a path.
    Trial(PathBuf, Overwrite),
    /// To a path in a folder for several files.
    Into(PathBuf, Overwrite),
    /// Nowhere, in a dry run for a path in a folder for several files.
    IntoTrial(PathBuf, Overwrite),
}

impl Goes {
    /// The target for operations.
    pub fn target(&self) -> Target<'_> {
        match self {
            Goes::Nowhere => Target::Nowhere,
            Goes::Stdout => Target::Stream(stdout()),
            Goes::To(path, overwrite) => elsewhere::target(path, *overwrite),
            Goes::Trial(path, overwrite) => elsewhere::trial(path, *overwrite),
            Goes::Into(path, overwrite) => folder_target(path, |folder| TargetFolder::At(folder, *overwrite)),
            Goes::IntoTrial(path, overwrite) => folder_target(path, |folder| TargetFolder::Trial(folder, *overwrite)),
        }
    }

    /// The path of the new file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Goes::Nowhere | Goes::Stdout => None,
            Goes::To(path, _) | Goes::Trial(path, _) | Goes::Into(path, _) | Goes::IntoTrial(path, _) => Some(path),
        }
    }
}

/// The target of a path that was joined from a folder and a name.
fn folder_target<'p>(path: &'p Path, at: impl Fn(&'p Path) -> TargetFolder<'p>) -> Target<'p> {
    let both = path.parent().zip(path.file_name());
    both.map_or(Target::Nowhere, |(folder, name)| Target::In(at(folder), name))
}

impl EachArgs {
    /// Where the new file of each input goes.
    pub fn places(&self, inputs: &[PathBuf]) -> Result<Vec<Goes>, Error> {
        if self.output.is_some() && inputs.len() > 1 {
            let message = "--output is for one input; use --output-dir or --in-place for several";
            return Err(Error::new(Code::WrongArguments, message));
        }
        let places: Vec<Goes> = inputs.iter().map(|input| self.goes(input)).collect::<Result<_, _>>()?;
        let mut paths: Vec<&Path> = places.iter().filter_map(Goes::path).collect();
        paths.sort();
        if let Some(twice) = paths.windows(2).find_map(|pair| pair.first().filter(|first| pair.get(1) == Some(first))) {
            let message = format!("two of the inputs would be written to {}", twice.display());
            return Err(Error::new(Code::WrongArguments, message));
        }
        if let Some(dir) = self.output_dir.as_deref().filter(|dir| !popef_open::is_elsewhere(dir)) {
            TargetFolder::Trial(dir, Overwrite::Never).check()?;
        }
        Ok(places)
    }

    fn goes(&self, input: &Path) -> Result<Goes, Error> {
        let overwrite = if self.force { Overwrite::Others } else { Overwrite::Never };
        let no_stdin =
            |option| Error::new(Code::WrongArguments, format!("{option} needs inputs with a name, and - has none"));
        if self.in_place && is_stdin(input) {
            return Err(no_stdin("--in-place"));
        }
        let to = |path, overwrite| if self.dry_run { Goes::Trial(path, overwrite) } else { Goes::To(path, overwrite) };
        if self.in_place {
            return Ok(to(input.to_owned(), Overwrite::Inputs));
        }
        match (&self.output, &self.output_dir) {
            (Some(output), _) if is_stdin(output) && self.dry_run => Ok(Goes::Nowhere),
            (Some(output), _) if is_stdin(output) => Ok(Goes::Stdout),
            (Some(output), _) => Ok(to(output.clone(), overwrite)),
            (None, Some(dir)) => {
                let name = popef_open::file_name(input)
                    .filter(|_| !is_stdin(input))
                    .ok_or_else(|| no_stdin("--output-dir"))?;
                let path = dir.join(name);
                Ok(if popef_open::is_elsewhere(dir) {
                    to(path, overwrite)
                } else if self.dry_run {
                    Goes::IntoTrial(path, overwrite)
                } else {
                    Goes::Into(path, overwrite)
                })
            }
            (None, None) => Ok(Goes::Nowhere),
        }
    }

    /// Whether the inputs are replaced. Inputs that do not change are then left alone.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// What the tool must know about these options. `--output` takes one input, so a folder is not read as a list of files.
    pub fn common(&self) -> Common<'_> {
        let common = Common::of(self.place());
        if self.output.is_some() { common } else { common.lists() }
    }

    /// Where the new file of a single input goes, or would go.
    fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }
    }
}

impl OutputArgs {
    /// The target of the command.
    pub fn target(&self) -> Target<'_> {
        target(self.place())
    }

    /// Where the file goes, or would go: a path or `-`. `None` if a dry run names none.
    pub fn path(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Where the file goes, or would go.
    pub fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }
    }
}

impl ChangeArgs {
    /// Whether the input itself is replaced.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// The target for an input.
    pub fn target<'t>(&'t self, input: &'t Path) -> Result<Target<'t>, Error> {
        if !self.in_place {
            return Ok(target(self.place()));
        }
        if is_stream(input) && !popef_open::is_elsewhere(input) {
            let message = "what comes through a pipe cannot be changed in place; use --output";
            return Err(Error::new(Code::WrongArguments, message).in_file(input));
        }
        let at = if self.dry_run { elsewhere::trial } else { elsewhere::target };
        Ok(at(input, Overwrite::Inputs))
    }

    /// Where the file goes, or would go: a path or `-`. `None` if a dry run names none.
    pub fn path<'t>(&'t self, input: &'t Path) -> Option<&'t Path> {
        if self.in_place { Some(input) } else { self.output.as_deref() }
    }

    /// Where the file goes, or would go.
    pub fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: self.dry_run }
    }
}

fn target(Place { path, force, dry_run }: Place<'_>) -> Target<'_> {
    let overwrite = if force { Overwrite::Others } else { Overwrite::Never };
    match path {
        Some(path) if is_stdin(path) && !dry_run => Target::Stream(stdout()),
        Some(path) if is_stdin(path) => Target::Nowhere,
        Some(path) if dry_run => elsewhere::trial(path, overwrite),
        Some(path) => elsewhere::target(path, overwrite),
        None => Target::Nowhere,
    }
}

/// Standard output, without Rust's buffer if possible.
fn stdout() -> Box<dyn Write + Send> {
    match raw_stdout() {
        Ok(stdout) => Box::new(stdout),
        Err(_) => Box::new(io::stdout()),
    }
}

/// Fails if a folder is not on this machine.
pub fn check_folder(folder: Option<&Path>) -> Result<(), Error> {
    match folder.filter(|folder| popef_open::is_elsewhere(folder)) {
        Some(folder) => {
            let message = "several files cannot be put into a bucket at once; write them here, and copy them with the store's own tool";
            Err(Error::new(Code::WrongArguments, message).in_file(folder))
        }
        None => Ok(()),
    }
}
