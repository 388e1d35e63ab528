//! `popef explain`: what the rules of `popef check` mean.

use std::process::ExitCode;

use popef_dump_tool::Explanation;
use popef_ops::Error;
use popef_show::FindingsFormat;

use super::Command;
use crate::common::end::refused;
use crate::common::format::{Format, FormatArgs};
use crate::common::tool::Tool;
use crate::common::values::rule_id;

/// Explain rules of checks, and how to fix what they find
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef explain                             all rules, one line each
  popef explain PE101 PE012
  popef explain --format json PE101")]
pub(crate) struct Args {
    /// Rules to explain; without any, all are listed
    #[arg(value_name = "ID", value_delimiter = ',', value_parser = rule_id(), hide_possible_values = true)]
    ids: Vec<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let ids = match self.ids.as_slice() {
            [] => vec![None],
            ids => ids.iter().map(|id| Some(id.as_str())).collect(),
        };
        let format = match self.format.format {
            Format::Text => FindingsFormat::Text,
            Format::Json => FindingsFormat::Json,
            Format::Ndjson => FindingsFormat::Ndjson,
        };
        Explanation { ids, format }.run(tool.program(), &mut tool.out()).map_err(refused)
    }
}
