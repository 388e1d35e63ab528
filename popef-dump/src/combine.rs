//! The job that the options of `popef-dump` ask for, and which of them can be combined. An option that would have no effect is an error, so
//! that nobody relies on it.

use popef_cli::commands::{Checking, Explanation, Listing};
use popef_show::FindingsFormat;
use popef_show::rules::of_library;

use crate::args::{ALL_RULES, Args, Generate, Given};

/// The job of a run.
#[derive(Debug)]
pub(crate) enum Job<'a> {
    Generate(Generate),
    Explain(Explanation<'a>),
    Check(Checking<'a>, FindingsFormat),
    List(Listing<'a>),
}

#[derive(Clone, Copy)]
enum Mode {
    Generate(Generate),
    Explain,
    Validate,
    List,
}

/// The options that only a check uses.
const CHECKING: [&str; 6] = ["deep", "loaders", "policy", "strict", "allow_empty", "quiet"];
/// The options that checks and listings use.
const SHARED: [&str; 5] = ["files", "files_from", "each", "format", "verbose"];

impl Mode {
    fn of(args: &Args) -> Mode {
        match args.other.generate {
            Some(what) => Mode::Generate(what),
            None if !args.explain.is_empty() => Mode::Explain,
            None if args.validate => Mode::Validate,
            None => Mode::List,
        }
    }

    /// Whether an option has an effect. `--color` is allowed with everything, because many people have it in an alias.
    fn uses(self, id: &str) -> bool {
        id == "color"
            || match self {
                Mode::Generate(_) => id == "generate",
                Mode::Explain => ["explain", "format"].contains(&id),
                Mode::Validate => id == "validate" || CHECKING.contains(&id) || SHARED.contains(&id),
                Mode::List => !CHECKING.contains(&id),
            }
    }

    /// The error about options that have no effect.
    fn refuses(self, unused: &[&Given]) -> String {
        let names: Vec<_> = unused.iter().map(|given| given.name.as_str()).collect();
        let verb = if names.len() == 1 { "needs" } else { "need" };
        match self {
            Mode::Generate(_) => format!("{} cannot be used with --generate", joined(&names)),
            Mode::Explain => format!("{} cannot be used with --explain", joined(&names)),
            Mode::Validate => format!("{} cannot be used with --validate", joined(&names)),
            Mode::List => format!("{} {verb} --validate", joined(&names)),
        }
    }
}

/// The job that the options ask for, or why they cannot be combined.
pub(crate) fn job(args: &Args) -> Result<Job<'_>, String> {
    let mode = Mode::of(args);
    let unused: Vec<_> = args.given.iter().filter(|given| !mode.uses(&given.id)).collect();
    if !unused.is_empty() {
        return Err(mode.refuses(&unused));
    }
    Ok(match mode {
        Mode::Generate(what) => Job::Generate(what),
        Mode::Explain => Job::Explain(explanation(args)),
        Mode::Validate => Job::Check(checking(args), args.output.format.findings),
        Mode::List => Job::List(listing(args)?),
    })
}

fn explanation(args: &Args) -> Explanation<'_> {
    let ids = args.explain.iter().map(|id| (id != ALL_RULES).then_some(id.as_str())).collect();
    Explanation { ids, rules: of_library(), codes: Vec::new(), format: args.output.format.findings }
}

fn checking(args: &Args) -> Checking<'_> {
    let Args { files, sources, checks, output, .. } = args;
    let (quiet, verbose) = (output.quiet.quiet, output.verbose);
    Checking { files, sources, checks, quiet, verbose, open: popef_open::open }
}

fn listing(args: &Args) -> Result<Listing<'_>, String> {
    let Args { files, sources, parts, narrow, output, .. } = args;
    let for_findings = || format!("--format {} is for findings: it needs --validate", output.format.name);
    let format = output.format.list.ok_or_else(for_findings)?;
    Ok(Listing {
        files,
        sources,
        parts,
        types: &[],
        narrow,
        format,
        full_names: output.full_names,
        verbose: output.verbose,
    })
}

/// `--all, --sort and --values`
fn joined(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{CHECKING, SHARED};
    use crate::args::Args;

    /// Otherwise, a renamed field would be allowed where its option has no effect.
    #[test]
    fn each_id_is_that_of_an_option() {
        let command = Args::command();
        let others = ["color", "generate", "explain", "format", "validate"];
        for id in CHECKING.iter().chain(&SHARED).chain(&others) {
            assert!(command.get_arguments().any(|arg| arg.get_id() == *id), "{id}");
        }
    }
}
