//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, Parser, ValueEnum};

use crate::validate::Checks;

/// Shows what is in PopEF files: compiled models for Graphcore IPUs.
///
/// Without a selecting option: an overview, one line a blob.
#[derive(Debug, Parser)]
#[command(
    name = "popef-dump",
    version,
    long_version = LONG_VERSION,
    override_usage = "popef-dump [OPTIONS] FILE [FILE]...",
    infer_long_args = true,
    after_help = "More, with examples: popef-dump --help",
    after_long_help = after_help(),
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 100
)]
pub(crate) struct Args {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["files_from", "generate", "explain"])]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) select: Select,

    #[command(flatten)]
    pub(crate) narrow: Narrow,

    #[command(flatten)]
    pub(crate) checks: Checks,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) other: Other,
}

/// What to show. Several add up.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "What to show (none: an overview)")]
pub(crate) struct Select {
    /// All of the following
    #[arg(long)]
    pub(crate) all: bool,
    /// Metadata: target, options, program flow, programs
    #[arg(short, long)]
    pub(crate) metadata: bool,
    /// Anchors: the model's inputs and outputs, and who provides their data
    #[arg(short, long)]
    pub(crate) anchors: bool,
    /// Only the anchors whose data you must provide: no tensor or feed of their name is in any of the files given
    #[arg(short, long)]
    pub(crate) user_anchors: bool,
    /// Poplar executables
    // The two beginnings that it shares with newer options stay its own, for scripts that use them.
    #[arg(short, long, aliases = ["e", "ex"])]
    pub(crate) execs: bool,
    /// Tensors: the data of one tensor each, such as weights
    #[arg(short, long)]
    pub(crate) tensors: bool,
    /// Feeds: the data of one input for several runs
    #[arg(short, long)]
    pub(crate) feeds: bool,
    /// Opaque blobs: bytes that only the framework which wrote them can read
    #[arg(short, long)]
    pub(crate) opaques: bool,
}

/// Which of it, and in which order.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Which of it")]
pub(crate) struct Narrow {
    /// Only blobs and anchors whose name matches: `*` any letters, `?` one, `[a-c]` one of these; metadata goes by the
    /// name of its executable and of its anchors. Can be given several times
    #[arg(long, value_name = "GLOB", value_parser = glob::Pattern::new)]
    pub(crate) filter: Vec<glob::Pattern>,
    /// The order within a file: as they lie in it, by name (t2 before t10), or the largest first
    #[arg(long, value_name = "ORDER", default_value = "offset", hide_default_value = true)]
    pub(crate) sort: Sort,
    /// The first N elements (10 if not said) of each tensor and of each feed's first item, with count, minimum,
    /// maximum, mean and the number of NaN, infinities and zeros
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub(crate) values: Option<u64>,
    /// Also the files that are named in LIST, one a line (or with NUL between them); `-` reads the list from standard input
    #[arg(long, value_name = "LIST")]
    pub(crate) files_from: Option<PathBuf>,
}

/// What the output looks like.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "How to show it")]
pub(crate) struct OutputArgs {
    /// text for people; json: one document; ndjson: one line a blob or finding; sarif: findings, for code scanners
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub(crate) format: Format,
    /// Colours: auto (on a terminal, by NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM), always, never; alone it is always
    #[arg(
        short,
        long,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_value = "auto",
        default_missing_value = "always",
        hide_default_value = true
    )]
    pub(crate) color: When,
    /// Log what is read to stderr; show of executables what their Poplar header says, of findings what they mean
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The rest.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Other")]
pub(crate) struct Other {
    /// Print shell completions or the manual page, and end
    #[arg(long, value_name = "WHAT")]
    pub(crate) generate: Option<Generate>,
    /// Print help; -h is the short one
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print version; --version with features
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    #[default]
    Offset,
    Name,
    Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Ndjson,
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generate {
    CompletionsBash,
    CompletionsZsh,
    CompletionsFish,
    Man,
}

impl Select {
    /// Whether anything was selected; if not, it is the overview in text and everything in JSON.
    pub(crate) fn any(&self) -> bool {
        let Select { all, metadata, anchors, user_anchors, execs, tensors, feeds, opaques } = *self;
        all || metadata || anchors || user_anchors || execs || tensors || feeds || opaques
    }

    /// The same with `--all`, or nothing at all, spelt out.
    pub(crate) fn resolved(&self) -> Select {
        if !self.all && self.any() {
            return self.clone();
        }
        let user_anchors = self.user_anchors;
        Select {
            all: true,
            metadata: true,
            anchors: true,
            user_anchors,
            execs: true,
            tensors: true,
            feeds: true,
            opaques: true,
        }
    }
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nfeatures: text, json, ndjson, sarif; executables unpacked from zlib, gzip, zstd, lz4"
);

/// What stands behind the options: a heading and its lines each. The manual page takes them too.
pub(crate) const SECTIONS: [(&str, &str); 3] =
    [("Examples", EXAMPLES), ("Exit status", EXIT_STATUS), ("Environment", ENVIRONMENT)];

fn after_help() -> String {
    let indented = |lines: &str| lines.lines().map(|line| format!("  {line}\n")).collect::<String>();
    SECTIONS.map(|(heading, lines)| format!("{heading}:\n{}", indented(lines))).join("\n")
}

const EXAMPLES: &str = "\
popef-dump model.popef                        what is in the file, one line a blob
popef-dump -u model.popef                     the inputs you must feed, the outputs to fetch
popef-dump -u model.popef weights.popef       the same for a model in two files
popef-dump --values --filter '*bias' m.popef  the numbers in all biases
popef-dump --format json m.popef | jq '.files[].blobs[].info.name'
popef-dump --format ndjson --files-from list.txt
ssh host cat model.popef | popef-dump -       a file that lies elsewhere
popef-dump --validate --deep model.popef      what would fail when it is loaded
popef-dump --explain PE101                    what a finding means
popef-dump --generate man | man -l -          the manual page
";

const EXIT_STATUS: &str = "\
0  every file was read whole
2  something could not be read, or what was to be shown is damaged (the rest
   was shown); or the options are wrong
A reader that closes the pipe early, as head does, is no error.
With --validate:
0  nothing worse than a warning was found; with --strict, than a note
1  something worse was found; damage is among what is looked for
2  something could not be looked at, as a file that is not there; or the
   policy or the options are wrong
";

const ENVIRONMENT: &str = "\
NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM      whether auto means colours
POPEF_LOG_LEVEL                               TRACE, DEBUG, INFO, WARN, ERR or OFF
POPEF_LOG_DEST                                stdout, stderr or a file
";
