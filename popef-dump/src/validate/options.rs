use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use popef::check::Loader;

/// What to check, and what counts.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct Checks {
    /// Say what would fail when the files are loaded; they count as one model set, as models can lie in several files
    #[arg(long, conflicts_with_all = SHOWING)]
    pub(crate) validate: bool,
    /// Read all executables, tensors and feeds too
    #[arg(long, requires = "validate")]
    pub(crate) deep: bool,
    /// What this loader demands on top; several with commas between them
    #[arg(long = "for", value_name = "LOADER", value_parser = loader(), value_delimiter = ',', requires = "validate")]
    pub(crate) loaders: Vec<Loader>,
    /// What your team demands on top, and how severe each rule is: a TOML file
    #[arg(long, value_name = "FILE", requires = "validate")]
    pub(crate) policy: Option<PathBuf>,
    /// Warnings count too
    #[arg(long, requires = "validate")]
    pub(crate) strict: bool,
    /// Check each file by itself, as models that have nothing to do with each other
    #[arg(long, requires = "validate")]
    pub(crate) each: bool,
    /// Say what a rule means and how to mend what it finds, and end; without ID: list all rules
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with_all = ["files", "validate", "format"])]
    pub(crate) explain: Option<Option<String>>,
}

/// The options that say what to show of the files, which a check does not.
const SHOWING: [&str; 12] = [
    "all",
    "metadata",
    "anchors",
    "user_anchors",
    "execs",
    "tensors",
    "feeds",
    "opaques",
    "filter",
    "sort",
    "values",
    "generate",
];

fn loader() -> impl TypedValueParser<Value = Loader> {
    PossibleValuesParser::new(Loader::ALL.iter().map(|loader| loader.as_str())).try_map(|name| name.parse())
}
