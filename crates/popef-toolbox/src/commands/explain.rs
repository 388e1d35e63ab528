//! `popef explain`: explains rules, the codes of errors, and policies.

use std::process::ExitCode;

use popef::error::{CodeInfo, ErrorCode};
use popef::types::redact_word;
use popef_cli::commands::Explanation;
use popef_cli::end::{refused, unwritten};
use popef_cli::format::{Format, FormatArgs};
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_cli::values::rule_id;
use popef_ops::{Code, Error};
use popef_show::FindingsFormat;
use popef_show::rules::{CodeEntry, Groups, of_library};

use super::Command;

/// The output of `popef explain policy`.
const POLICY: &str = include_str!("policy.txt");

/// Explain rules of checks, codes of errors, and policies
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef explain                             all rules, one line each
  popef explain PE101 PE012
  popef explain PP201                       one of popef profile
  popef explain blob-cut                    the code of an error, as it stands after its text
  popef explain policy                      what a file for --policy can have, with examples
  popef explain --format json PE101")]
pub(crate) struct Args {
    /// Rules and codes of errors to explain, or "policy"; without any, all rules are listed
    #[arg(value_name = "ID", value_delimiter = ',', value_parser = rule_id(all_rules), hide_possible_values = true)]
    ids: Vec<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.ids.iter().any(|id| id == "policy") {
            return self.policy(tool);
        }
        // An address may contain a comma, which separates ids.
        if self.ids.iter().any(|id| id.contains("://") || redact_word(id) != *id) {
            let problem = "an address is no rule and no code; popef check looks at the file of an address";
            return Err(Error::new(Code::WrongArguments, problem));
        }
        let ids = match self.ids.as_slice() {
            [] => vec![None],
            ids => ids.iter().map(|id| Some(id.as_str())).collect(),
        };
        let format = match self.format.format {
            Format::Text => FindingsFormat::Text,
            Format::Json => FindingsFormat::Json,
            Format::Ndjson => FindingsFormat::Ndjson,
        };
        let explanation = Explanation { ids, rules: all_rules(), codes: all_codes(), format };
        explanation.run(tool.program(), &mut tool.out()).map_err(refused)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.format.format)
    }
}

impl Args {
    fn policy(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.ids.len() > 1 || self.format.format != Format::Text {
            let problem = "\"policy\" is explained alone and as text";
            return Err(Error::new(Code::WrongArguments, problem));
        }
        let mut out = tool.out();
        out.put(POLICY);
        out.send().map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// All rules that the tool has.
fn all_rules() -> Groups {
    let of_profiles = poplar_inspect::profile::rules().map(|(title, rules)| (title, rules.collect()));
    of_library().into_iter().chain(of_profiles).collect()
}

/// The codes of all errors that the tool can show, those of the library first, with the advice that the tool gives.
fn all_codes() -> Vec<CodeEntry> {
    let of_library = ErrorCode::ALL.iter().map(|code| code.info());
    let of_inputs = popef_open::Code::ALL.iter().map(|code| code.info());
    let of_operations = Code::ALL.iter().map(|code| code.info());
    let of_executables = poplar_inspect::ErrorCode::ALL.iter().map(|code| code.info());
    let all = of_library.chain(of_inputs).chain(of_operations).chain(of_stores()).chain(of_executables);
    all.map(CodeEntry::from).collect()
}

/// The codes of errors of files on other machines.
#[cfg(feature = "remote")]
fn of_stores() -> impl Iterator<Item = CodeInfo> {
    popef_remote::Code::ALL.iter().map(|code| code.info())
}

#[cfg(not(feature = "remote"))]
fn of_stores() -> impl Iterator<Item = CodeInfo> {
    std::iter::empty()
}
