//! From the arguments to the exit status.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::check::Rule;
use popef_open::listed;
use popef_show::{FindingsFormat, Out, When, rules};

use crate::args::{Args, Format};
use crate::exit::{complain, no_rule, unread, written};
use crate::log::Log;
use crate::screen::{colors, screen};
use crate::{check, generate, list};

/// Runs the tool. `to` is where the output goes, which is standard output.
pub(crate) fn run(args: &Args, mut to: Box<dyn Write>) -> ExitCode {
    if let Some(what) = args.other.generate {
        return written(generate::write(what, &mut to));
    }
    if let Some(id) = &args.checks.explain {
        return explain(id.as_deref(), args.output.format, &mut Out::new(to, colors(args.output.color)));
    }
    let format = args.output.format;
    if format.list.is_none() && !args.checks.validate {
        return unread(&format!("--format {} is for findings: it needs --validate", format.name));
    }
    if args.output.quiet && !matches!(format.findings, FindingsFormat::Text | FindingsFormat::GitHub) {
        return unread(&format!("--quiet is for --format text and github: {} always has everything", format.name));
    }
    let shows_no_data = args.parts.selected().is_some_and(|select| !select.tensors && !select.feeds);
    if args.narrow.values.is_some() && shows_no_data {
        return unread("--values shows elements of tensors and feeds: it needs --tensors or --feeds");
    }
    let (log, complaints) = Log::from_environment(args.output.verbose);
    complaints.iter().for_each(|complaint| complain(complaint));
    match (files(args), format.list) {
        (Err(error), _) => unread(&error),
        (Ok(files), Some(format)) if !args.checks.validate => list::run(&files, args, format, &log, to),
        (Ok(files), _) => check::run(&files, args, format.findings, &log, to),
    }
}

/// The files that were given, and those that a list names.
fn files(args: &Args) -> Result<Vec<PathBuf>, String> {
    let mut files = args.files.clone();
    let mut empty = Vec::new();
    for list in &args.narrow.files_from {
        let failed = |error| format!("cannot read the list {}: {error}", list.display());
        let named = listed(list).map_err(failed)?;
        if named.is_empty() {
            empty.push(list);
        }
        files.extend(named);
    }
    let from_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if files.iter().chain(&args.narrow.files_from).chain(&args.checks.policy).filter(from_stdin).nth(1).is_some() {
        return Err("standard input (-) can be read only once".to_owned());
    }
    let mistaken = |path: &PathBuf| option_meant(path, args).filter(|_| !path.exists());
    if let Some(meant) = args.files.iter().find_map(mistaken) {
        return Err(meant);
    }
    empty.into_iter().try_for_each(|list| names_no_files(list, files.is_empty(), args))?;
    Ok(files)
}

/// A missing file that looks like the value of an option before it. These options take theirs only after `=`, so that the
/// vendor's `-c FILE` works.
fn option_meant(path: &Path, args: &Args) -> Option<String> {
    let word = path.to_str()?;
    let is_number = args.narrow.values.is_some() && word.parse::<u64>().is_ok();
    let is_when = args.output.color == When::Always && When::ALL.iter().any(|when| when.name() == word);
    let option = if is_number { "--values" } else { "--color" };
    (is_number || is_when).then(|| format!("there is no file {word}; did you mean {option}={word}?"))
}

/// Reports that a list names no files. If `nothing` else is given either, a check would pass without a look at anything.
fn names_no_files(list: &Path, nothing: bool, args: &Args) -> Result<(), String> {
    let problem = format!("the list {} names no files", list.display());
    match args.checks.validate {
        true if args.checks.allow_empty => {}
        true if nothing => {
            return Err(format!("{problem}, so nothing was checked; --allow-empty permits this"));
        }
        _ => complain(&problem),
    }
    Ok(())
}

/// `--explain`: one rule, or all.
fn explain(id: Option<&str>, format: Format, out: &mut Out) -> ExitCode {
    let rule = match id.map(|id| (id, Rule::by_id(id))) {
        None => None,
        Some((_, Some(rule))) => Some(rule),
        Some((id, None)) => return unread(&no_rule(id)),
    };
    let selected = || Rule::all().filter(|&one| rule.is_none_or(|rule| rule == one));
    let width = screen().map(|screen| screen.width);
    let explained = match (format.findings, rule) {
        (FindingsFormat::Text, Some(rule)) => rules::explain(out, rule, width),
        (FindingsFormat::Text, None) => rules::list(out, width),
        (FindingsFormat::Json, _) => rules::document(out, selected()),
        (FindingsFormat::Ndjson, _) => rules::lines(out, selected()),
        _ => return unread(&format!("--format {} is for findings: it explains no rules", format.name)),
    };
    written(explained.and_then(|()| out.send()))
}
