//! Groups of options that `popef-dump` and commands of the toolbox have.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use clap::{ArgAction, Args};
use popef_check::Loader;
use popef_open::{expanded, is_stdin, listed};
use popef_show::{Glob, Select, Sort};

use crate::program::Refusal;
use crate::values::{count, loader, path, sort};

/// What to show. Several can be combined. The program says what is shown without any, in the heading.
#[derive(Clone, Debug, Default, Args)]
pub struct Parts {
    /// All of the following
    #[arg(long)]
    pub all: bool,
    /// Metadata: target, options, program flow, programs
    #[arg(short, long)]
    pub metadata: bool,
    /// Anchors: the model's inputs and outputs, and who provides their data
    #[arg(short, long)]
    pub anchors: bool,
    /// Only the inputs that you must feed, and the outputs for you to fetch
    ///
    /// These are the anchors without a tensor or feed of their name in any of the files. If a file cannot be read to its end,
    /// anchors whose data may be in the rest of it are shown too.
    #[arg(short, long)]
    pub user_anchors: bool,
    /// Poplar executables
    #[arg(short, long)]
    pub execs: bool,
    /// Tensors, such as weights
    #[arg(short, long)]
    pub tensors: bool,
    /// Feeds: the data of one input for several runs
    #[arg(short, long)]
    pub feeds: bool,
    /// Opaque blobs: bytes for the framework that wrote them
    #[arg(short, long)]
    pub opaques: bool,
}

impl Parts {
    /// The selected parts. `None` if no option was given.
    pub fn selected(&self) -> Option<Select> {
        let Parts { all, metadata, anchors, user_anchors, execs, tensors, feeds, opaques } = *self;
        let selected =
            Select { metadata, anchors, user_anchors, executables: execs, tensors, feeds, opaques, unknown: false };
        if all {
            return Some(Select { user_anchors, ..Select::ALL });
        }
        (selected != Select::default()).then_some(selected)
    }
}

/// How much of it, and in which order.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection and order")]
pub struct Narrow {
    /// Only blobs and anchors whose name matches GLOB
    ///
    /// `*` matches any characters, `?` one character, `[a-c]` one of these letters. Metadata matches by the name of its
    /// executable or of an anchor. Can be given several times.
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    pub filter: Vec<Glob>,
    /// Leave out blobs and anchors whose name matches GLOB
    ///
    /// This counts more than --filter. Metadata matches by the name of its executable. Can be given several times.
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    pub exclude: Vec<Glob>,
    /// Ignore the case of ASCII letters in --filter and --exclude
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Sort blobs and anchors
    ///
    /// Each file is sorted on its own. offset: by position in the file, the default; name: by name, t2 before t10; size: the largest first.
    #[arg(long, value_name = "ORDER", value_parser = sort(), default_value = "offset", hide_default_value = true)]
    pub sort: Sort,
    /// Also show N values (default 10) and statistics of tensors and feeds
    ///
    /// These are the first values; of a feed, those of its first tensor. The statistics are of all values; minimum, maximum and mean are of
    /// the finite ones.
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10"
    )]
    pub values: Option<u64>,
}

/// More files, and whether files belong together. The program gives the heading.
#[derive(Clone, Debug, Default, Args)]
pub struct Sources {
    /// Treat each file on its own, for models that are independent of each other
    ///
    /// By default, all files together are one set, because a model can be spread over several files.
    #[arg(long)]
    pub each: bool,
    /// Lists of more files.
    #[command(flatten)]
    pub lists: Lists,
}

/// More files. The program gives the heading.
#[derive(Clone, Debug, Default, Args)]
pub struct Lists {
    /// Also read the files that LIST names; `-` is standard input
    ///
    /// Then FILE can be missing. LIST has one name per line, or names with NUL between them, as `find -print0` writes them.
    #[arg(long, value_name = "LIST", value_parser = path(), action = ArgAction::Append)]
    pub files_from: Vec<PathBuf>,
}

impl Lists {
    /// The given files with those that lists name, and the empty lists. `others` are further inputs: only one input can be standard input.
    pub(crate) fn with(&self, given: &[PathBuf], others: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<&PathBuf>), Refusal> {
        let mut files = given.to_owned();
        let mut empty = Vec::new();
        for list in &self.files_from {
            let named = listed(list).map_err(|source| unlisted(list.clone(), source))?;
            if named.is_empty() {
                empty.push(list);
            }
            files.extend(named);
        }
        let from_stdin = |path: &&PathBuf| is_stdin(path);
        match files.iter().chain(&self.files_from).chain(others).filter(from_stdin).nth(1) {
            Some(_) => Err(Refusal::Options("standard input (-) can be read only once".to_owned())),
            None => Ok((files, empty)),
        }
    }
}

/// The files, with the objects in place of prefixes of buckets.
pub(crate) fn with_objects(files: Vec<PathBuf>) -> Result<Vec<PathBuf>, Refusal> {
    expanded(files).map_err(|(path, source)| Refusal::Unread { doing: "list the objects", path, source })
}

/// Says why a list of files cannot be read or is not a list, from the error of [`listed`].
fn unlisted(path: PathBuf, source: io::Error) -> Refusal {
    match source.kind() {
        ErrorKind::InvalidData => Refusal::List { path, problem: source.to_string() },
        _ => Refusal::Unread { doing: "read the list", path, source },
    }
}

/// How much is printed of a check. The program gives the heading.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Quiet {
    /// Print only findings, and what could not be checked
    ///
    /// If nothing was found, print nothing. For --format text and github.
    #[arg(short, long)]
    pub quiet: bool,
}

/// What to check, and what is a failure.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct Checks {
    /// Also read all executables, tensors and feeds
    #[arg(long)]
    pub deep: bool,
    /// Check for LOADER
    ///
    /// This adds what LOADER requires. Separate several with commas.
    #[arg(long = "for", value_name = "LOADER", value_parser = loader(), value_delimiter = ',')]
    pub loaders: Vec<Loader>,
    /// Also check what POLICY, a TOML file, requires; `-` is standard input
    ///
    /// A policy has the requirements of your team, and the severity of rules.
    #[arg(long, value_name = "POLICY", value_parser = path(), action = ArgAction::Append)]
    pub policy: Vec<PathBuf>,
    /// Fail on warnings too
    ///
    /// With --format github, warnings are annotated as errors.
    #[arg(long)]
    pub strict: bool,
    /// Pass if there are no files to check
    ///
    /// The default is an error, because a mistyped list would pass.
    #[arg(long)]
    pub allow_empty: bool,
}
