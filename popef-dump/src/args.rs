//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::parser::ValueSource;
use clap::{
    ArgAction, ArgMatches, Args as ClapArgs, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum,
};
use popef_cli::groups::{Checks, Narrow, Parts, Quiet, Sources};
use popef_cli::line::matches;
use popef_cli::screen::help_width;
use popef_cli::values::{named, path, rule_id, when};
use popef_cli::version::built_with;
use popef_show::rules::of_library;
use popef_show::{FindingsFormat, ListFormat, When};

use crate::sections;

/// Shows what is in PopEF files: compiled models for Graphcore IPUs.
///
/// Without an option that says what to show, prints an overview with one line per blob.
#[derive(Debug, Parser)]
#[command(
    name = "popef-dump",
    version,
    long_version = built_with(),
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

    #[command(flatten, next_help_heading = "What to show (default: an overview)")]
    pub(crate) parts: Parts,

    #[command(flatten)]
    pub(crate) narrow: Narrow,

    #[command(flatten, next_help_heading = "Selection and order")]
    pub(crate) sources: Sources,

    /// Check what would fail when the files are loaded
    ///
    /// All files are one model set, unless --each is given.
    #[arg(long, help_heading = "Checks")]
    pub(crate) validate: bool,

    #[command(flatten)]
    pub(crate) checks: Checks,

    /// Explain a rule and how to fix what it finds, and exit
    ///
    /// Separate several with commas. Without ID, list all rules. --format json and ndjson are for programs.
    #[arg(
        long,
        help_heading = "Checks",
        value_name = "ID",
        value_parser = rule_id(of_library),
        hide_possible_values = true,
        num_args = 0..=1,
        value_delimiter = ',',
        default_missing_value = ALL_RULES,
        action = ArgAction::Append
    )]
    pub(crate) explain: Vec<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[cfg(feature = "remote")]
    #[command(flatten)]
    pub(crate) remote: popef_cli::remote::RemoteArgs,

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

/// What `--explain` without an ID means.
pub(crate) const ALL_RULES: &str = "all";

/// Options for the look of the output.
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
    #[command(flatten)]
    pub(crate) quiet: Quiet,
    /// Log what is read, and show more of executables, opaque blobs and findings
    ///
    /// The log goes to stderr. Executables are shown with their Poplar headers, with -e or --all also with their tiles,
    /// opaque blobs with what a framework wrote into them, and findings with what they mean.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The remaining options.
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
        let line: Vec<OsString> = line.into_iter().map(Into::into).map(in_full).collect();
        let matches = matches(&mut command, &line)?;
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

impl Format {
    /// Every format of a listing is one of findings too.
    fn all() -> impl Iterator<Item = Format> {
        FindingsFormat::ALL.iter().map(|&findings| {
            let name = findings.as_str();
            Format { name, list: ListFormat::ALL.iter().copied().find(|list| list.as_str() == name), findings }
        })
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    named(Format::all(), |format| format.name)
}
