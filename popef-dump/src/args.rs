//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{
    ArgAction, ArgMatches, Args as ClapArgs, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum,
};
use popef::check::Loader;
use popef_show::{FindingsFormat, Glob, ListFormat, Select, Sort, When};

use crate::screen::help_width;
use crate::sections;

/// Shows what is in PopEF files: compiled models for Graphcore IPUs.
///
/// Without an option that says what to show, prints an overview with one line per blob.
#[derive(Debug, Parser)]
#[command(
    name = "popef-dump",
    version,
    long_version = LONG_VERSION,
    override_usage = "popef-dump [OPTIONS] [FILE]...",
    infer_long_args = true,
    args_override_self = true,
    after_help = "More, with examples: popef-dump --help",
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Args {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present_any = ["files_from", "allow_empty", "generate", "explain"])]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) parts: Parts,

    #[command(flatten)]
    pub(crate) narrow: Narrow,

    #[command(flatten)]
    pub(crate) checks: Checks,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) other: Other,

    /// The options that are on the command line.
    #[arg(skip)]
    pub(crate) given: Vec<Given>,
}

/// An option that is on the command line.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) id: String,
    /// As users write it: `--filter`.
    pub(crate) name: String,
}

/// What to show. Several can be combined.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "What to show (default: an overview)")]
pub(crate) struct Parts {
    /// All of the following
    #[arg(long)]
    pub(crate) all: bool,
    /// Metadata: target, options, program flow, programs
    #[arg(short, long)]
    pub(crate) metadata: bool,
    /// Anchors: the model's inputs and outputs, and who provides their data
    #[arg(short, long)]
    pub(crate) anchors: bool,
    /// Only the inputs that you must feed, and the outputs for you to fetch
    ///
    /// These are the anchors without a tensor or feed of their name in any of the files. If a file cannot be read to its end,
    /// anchors whose data may be in the rest of it are shown too.
    #[arg(short, long)]
    pub(crate) user_anchors: bool,
    /// Poplar executables
    #[arg(short, long)]
    pub(crate) execs: bool,
    /// Tensors, such as weights
    #[arg(short, long)]
    pub(crate) tensors: bool,
    /// Feeds: the data of one input for several runs
    #[arg(short, long)]
    pub(crate) feeds: bool,
    /// Opaque blobs: bytes for the framework that wrote them
    #[arg(short, long)]
    pub(crate) opaques: bool,
}

/// How much of it, and in which order.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Selection and order")]
pub(crate) struct Narrow {
    /// Only blobs and anchors whose name matches GLOB
    ///
    /// `*` matches any characters, `?` one character, `[a-c]` one of these letters. Metadata matches by the name of its
    /// executable or of an anchor. Can be given several times.
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    pub(crate) filter: Vec<Glob>,
    /// Leave out blobs and anchors whose name matches GLOB
    ///
    /// This counts more than --filter. Metadata matches by the name of its executable. Can be given several times.
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    pub(crate) exclude: Vec<Glob>,
    /// Ignore the case of ASCII letters in --filter and --exclude
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Sort blobs and anchors
    ///
    /// Each file is sorted on its own. offset: by position in the file, the default; name: by name, t2 before t10; size: the largest first.
    #[arg(long, value_name = "ORDER", value_parser = sort(), default_value = "offset", hide_default_value = true)]
    pub(crate) sort: Sort,
    /// Also show N values (default 10) and statistics of tensors and feeds
    ///
    /// These are the first values; of a feed, those of its first tensor. The statistics are of all values; minimum, maximum and mean are of
    /// the finite ones.
    #[arg(
        long,
        value_name = "N",
        value_parser = count(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10"
    )]
    pub(crate) values: Option<u64>,
    /// Treat each file on its own, for models that are independent of each other
    ///
    /// By default, all files together are one set, because a model can be spread over several files.
    #[arg(long)]
    pub(crate) each: bool,
    /// Also read the files that LIST names; `-` is standard input
    ///
    /// LIST has one name per line, or names with NUL between them, as `find -print0` writes them.
    #[arg(long, value_name = "LIST", value_parser = path(), action = ArgAction::Append)]
    pub(crate) files_from: Vec<PathBuf>,
}

/// What to check, and what is a failure.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Checks")]
pub(crate) struct Checks {
    /// Check what would fail when the files are loaded
    ///
    /// All files are one model set, unless --each is given.
    #[arg(long)]
    pub(crate) validate: bool,
    /// Also read all executables, tensors and feeds
    #[arg(long)]
    pub(crate) deep: bool,
    /// Check for LOADER
    ///
    /// This adds what LOADER requires. Separate several with commas.
    #[arg(long = "for", value_name = "LOADER", value_parser = loader(), value_delimiter = ',')]
    pub(crate) loaders: Vec<Loader>,
    /// Also check what POLICY, a TOML file, requires; `-` is standard input
    ///
    /// A policy has the requirements of your team, and the severity of rules.
    #[arg(long, value_name = "POLICY", value_parser = path(), action = ArgAction::Append)]
    pub(crate) policy: Vec<PathBuf>,
    /// Fail on warnings too
    ///
    /// With --format github, warnings are annotated as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Pass if there are no files to check
    ///
    /// The default is an error, because a mistyped list would pass.
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Explain a rule and how to fix what it finds, and exit
    ///
    /// Separate several with commas. Without ID, list all rules. --format json and ndjson are for programs.
    #[arg(
        long,
        value_name = "ID",
        num_args = 0..=1,
        value_delimiter = ',',
        default_missing_value = ALL_RULES,
        action = ArgAction::Append
    )]
    pub(crate) explain: Vec<String>,
}

/// What `--explain` without an ID means.
pub(crate) const ALL_RULES: &str = "all";

/// What the output looks like.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Output format
    ///
    /// text: for people; json: one document; ndjson: one line per blob or finding. With --validate also sarif: for code
    /// scanners; github: annotations in GitHub Actions; junit: JUnit XML, for CI systems.
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "text", hide_default_value = true)]
    pub(crate) format: Format,
    /// When to use colours
    ///
    /// auto: on a terminal, depending on NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM. Without WHEN: always.
    #[arg(
        short,
        long,
        value_name = "WHEN",
        value_parser = when(),
        num_args = 0..=1,
        require_equals = true,
        default_value = "auto",
        default_missing_value = "always",
        hide_default_value = true
    )]
    pub(crate) color: When,
    /// Do not shorten names in the overview to fit the terminal
    #[arg(long)]
    pub(crate) full_names: bool,
    /// Print only findings, and what could not be checked
    ///
    /// If nothing was found, print nothing. For --format text and github.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Log what is read, and show more of executables, opaque blobs and findings
    ///
    /// The log goes to stderr. Executables are shown with their Poplar headers, with -e or --all also with their tiles,
    /// opaque blobs with what a framework wrote into them, and findings with what they mean.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The rest.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Other")]
pub(crate) struct Other {
    /// Print shell completions or the manual page, and exit
    ///
    /// WHAT is completions-bash, completions-zsh, completions-fish or man.
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) generate: Option<Generate>,
    /// Print help; -h prints a summary
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print version; --version also prints features
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// What `--format` means for a listing, if anything, and for findings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) list: Option<ListFormat>,
    pub(crate) findings: FindingsFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generate {
    CompletionsBash,
    CompletionsZsh,
    CompletionsFish,
    Man,
}

/// Beginnings of options that are unambiguous in the vendor's tool, and mean the same here although newer options share them.
const BEGINNINGS: [(&str, &str); 3] = [("--al", "--all"), ("--e", "--execs"), ("--ex", "--execs")];

impl Args {
    /// Parses a command line, which begins with the name of the program.
    pub(crate) fn of(line: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Args, clap::Error> {
        let mut options = true;
        let in_full = |word: OsString| {
            options = options && word != "--";
            let known = BEGINNINGS.iter().find(|(beginning, _)| options && word == *beginning);
            known.map_or(word, |(_, option)| option.into())
        };
        let width = help_width();
        let mut command = Args::command().after_long_help(sections::text(width)).term_width(width);
        let matches = command.try_get_matches_from_mut(line.into_iter().map(Into::into).map(in_full))?;
        let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok(Args { given: given(&command, &matches), ..args })
    }
}

fn given(command: &Command, matches: &ArgMatches) -> Vec<Given> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let given = command.get_arguments().filter(|arg| is_given(arg.get_id().as_str()));
    given
        .map(|arg| Given {
            id: arg.get_id().to_string(),
            name: arg.get_long().map_or_else(|| "FILE".to_owned(), |long| format!("--{long}")),
        })
        .collect()
}

impl Parts {
    /// The parts that were selected; none if no option was given.
    pub(crate) fn selected(&self) -> Option<Select> {
        let Parts { all, metadata, anchors, user_anchors, execs, tensors, feeds, opaques } = *self;
        let selected =
            Select { metadata, anchors, user_anchors, executables: execs, tensors, feeds, opaques, unknown: false };
        match all {
            true => Some(Select { user_anchors, ..Select::ALL }),
            false => (selected != Select::default()).then_some(selected),
        }
    }
}

impl Format {
    /// Every format of a listing is one of findings too.
    fn all() -> impl Iterator<Item = Format> {
        FindingsFormat::ALL.into_iter().map(|findings| {
            let name = findings.name();
            Format { name, list: ListFormat::ALL.into_iter().find(|list| list.name() == name), findings }
        })
    }
}

/// One of several values, by its name.
fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
    name: fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<T> = values.into_iter().collect();
    PossibleValuesParser::new(values.iter().map(name)).try_map(move |given| {
        let value = values.iter().find(|value| name(value) == given);
        value.cloned().ok_or_else(|| format!("there is no {given}"))
    })
}

fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|path| match path.is_empty() {
        true => Err("the name is empty; is a variable of the shell not set?"),
        false => Ok(PathBuf::from(path)),
    })
}

/// A number that is as large as it likes: no tensor has more elements than the largest.
fn count() -> impl TypedValueParser<Value = u64> {
    StringValueParser::new().try_map(|text| match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(text.parse().unwrap_or(u64::MAX)),
        false => Err("this is not a whole number, such as 10"),
    })
}

fn loader() -> impl TypedValueParser<Value = Loader> {
    named(Loader::ALL.iter().copied(), |loader| loader.as_str())
}

fn sort() -> impl TypedValueParser<Value = Sort> {
    named(Sort::ALL, |sort| sort.name())
}

fn when() -> impl TypedValueParser<Value = When> {
    named(When::ALL, |when| when.name())
}

fn format() -> impl TypedValueParser<Value = Format> {
    named(Format::all(), |format| format.name)
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nfeatures: text, json, ndjson, sarif, github, junit; executables unpacked from zlib, gzip, zstd, lz4"
);
