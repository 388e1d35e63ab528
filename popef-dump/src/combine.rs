//! Which options can be combined. An option that would have no effect is an error, so that nobody relies on it.

use popef_show::{FindingsFormat, ListFormat};

use crate::args::{Args, Given};

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Generate,
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
        match args {
            _ if args.other.generate.is_some() => Mode::Generate,
            _ if !args.checks.explain.is_empty() => Mode::Explain,
            _ if args.checks.validate => Mode::Validate,
            _ => Mode::List,
        }
    }

    /// Whether an option has an effect. Colours are for everything, because many people have them in an alias.
    fn uses(self, id: &str) -> bool {
        id == "color"
            || match self {
                Mode::Generate => id == "generate",
                Mode::Explain => ["explain", "format"].contains(&id),
                Mode::Validate => id == "validate" || CHECKING.contains(&id) || SHARED.contains(&id),
                Mode::List => !CHECKING.contains(&id),
            }
    }

    /// What is wrong with options that have no effect.
    fn refuses(self, unused: &[&Given]) -> String {
        let names: Vec<_> = unused.iter().map(|given| given.name.as_str()).collect();
        let verb = if names.len() == 1 { "needs" } else { "need" };
        match self {
            Mode::Generate => format!("{} cannot be used with --generate", joined(&names)),
            Mode::Explain => format!("{} cannot be used with --explain", joined(&names)),
            Mode::Validate => format!("{} cannot be used with --validate", joined(&names)),
            Mode::List => format!("{} {verb} --validate", joined(&names)),
        }
    }
}

/// What the options ask for, or why they cannot be combined.
pub(crate) fn mode(args: &Args) -> Result<Mode, String> {
    let mode = Mode::of(args);
    let unused: Vec<_> = args.given.iter().filter(|given| !mode.uses(&given.id)).collect();
    if !unused.is_empty() {
        return Err(mode.refuses(&unused));
    }
    match mode {
        Mode::Generate | Mode::Explain => None,
        Mode::Validate => wrong_check(args),
        Mode::List => wrong_listing(args),
    }
    .map_or(Ok(mode), Err)
}

fn wrong_check(args: &Args) -> Option<String> {
    let format = args.output.format;
    let has_everything = !matches!(format.findings, FindingsFormat::Text | FindingsFormat::GitHub);
    (args.output.quiet && has_everything)
        .then(|| format!("--quiet is for --format text and github: {} always has everything", format.name))
}

fn wrong_listing(args: &Args) -> Option<String> {
    let Args { parts, narrow, output, .. } = args;
    let Some(format) = output.format.list else {
        return Some(format!("--format {} is for findings: it needs --validate", output.format.name));
    };
    let selected = parts.selected();
    let wrong = match selected {
        Some(select) if narrow.values.is_some() && !select.tensors && !select.feeds => {
            "--values shows elements of tensors and feeds: it needs --tensors or --feeds"
        }
        _ if narrow.ignore_case && narrow.filter.is_empty() && narrow.exclude.is_empty() => {
            "--ignore-case needs --filter or --exclude"
        }
        _ if output.full_names && (selected.is_some() || format != ListFormat::Text) => {
            "--full-names is for the overview: other listings always have full names"
        }
        _ => return None,
    };
    Some(wrong.to_owned())
}

/// `--all, --sort and --values`
fn joined(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
