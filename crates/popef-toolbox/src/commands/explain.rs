//! `popef explain`: what the rules of `popef check` and `popef profile` mean.

use std::process::ExitCode;

use popef_dump_tool::Explanation;
use popef_ops::Error;
use popef_show::FindingsFormat;
use popef_show::rules::{Groups, of_library};

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
  popef explain PP201                       one of popef profile
  popef explain --format json PE101")]
pub(crate) struct Args {
    /// Rules to explain; without any, all are listed
    #[arg(value_name = "ID", value_delimiter = ',', value_parser = rule_id(all_rules), hide_possible_values = true)]
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
        Explanation { ids, rules: all_rules(), format }.run(tool.program(), &mut tool.out()).map_err(refused)
    }
}

/// All rules that the tool has.
fn all_rules() -> Groups {
    let of_profiles = poplar_inspect::profile::rules().map(|(title, rules)| (title, rules.collect()));
    of_library().into_iter().chain(of_profiles).collect()
}
