//! Runs `popef-dump`, and returns its exit status.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use popef_cli::commands::{Shown, meant, values_meant};
use popef_cli::program::{Program, Refusal};
use popef_cli::screen::colors;
use popef_show::{Out, UntilClosed, When};

use crate::args::Args;
use crate::combine::{self, Job};
use crate::generate;

/// The tool itself.
pub(crate) const POPEF_DUMP: Program =
    Program { name: "popef-dump", explain: "popef-dump --explain", tells_unread: false };

/// Runs the tool. The output goes to `to`, which is standard output.
pub(crate) fn run(args: &Args, mut to: Box<dyn Write>) -> ExitCode {
    popef_cli::advice::name_options();
    let meant = || args.files.iter().find_map(|path| option_meant(path, args));
    if let Some(meant) = values_meant(&args.files, args.narrow.values).or_else(meant) {
        return POPEF_DUMP.unread(&meant);
    }
    #[cfg(feature = "remote")]
    if let Err(wrong) = args.remote.apply(None) {
        return POPEF_DUMP.unread(&wrong);
    }
    let out = |to| Out::new(to, colors(args.output.color));
    match combine::job(args) {
        Err(error) => POPEF_DUMP.unread(&error),
        Ok(Job::Generate(what)) => POPEF_DUMP.written(generate::write(what, &mut to)),
        Ok(Job::Explain(explanation)) => ended(explanation.run(POPEF_DUMP, &mut out(to))),
        // A listing that nobody reads ends early, and a check does not.
        Ok(Job::Check(checking, format)) => {
            let out = &mut out(Box::new(UntilClosed::new(to)));
            ended(checking.run(POPEF_DUMP, &mut [Shown { format, out, on_screen: true }]).map(|ended| ended.status))
        }
        Ok(Job::List(listing)) => ended(listing.run(POPEF_DUMP, &mut out(to))),
    }
}

fn ended(done: Result<ExitCode, Refusal>) -> ExitCode {
    done.unwrap_or_else(|refusal| POPEF_DUMP.unread(&refusal))
}

/// Advice if a missing file looks like the value of an option. --color takes its value only after `=`, so that the vendor's `-c FILE`
/// works.
fn option_meant(path: &Path, args: &Args) -> Option<String> {
    let word = path.to_str()?;
    let is_when = args.output.color == When::Always && When::ALL.iter().any(|when| when.as_str() == word);
    let option = match word {
        _ if is_when => "--color=",
        _ if !args.explain.is_empty() && popef_check::rule_by_id(word).is_some() => "--explain ",
        _ => return None,
    };
    meant(path, option)
}
