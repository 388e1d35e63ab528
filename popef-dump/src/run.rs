//! From the arguments to the exit status.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::check::Rule;
use popef_open::listed;
use popef_show::{FindingsFormat, Out, When, rules};

use crate::args::{ALL_RULES, Args};
use crate::combine::{self, Mode};
use crate::exit::{complain, no_rule, unread, written};
use crate::log::Log;
use crate::screen::{colors, screen};
use crate::{check, generate, list};

/// Runs the tool. `to` is where the output goes, which is standard output.
pub(crate) fn run(args: &Args, to: Box<dyn Write>) -> ExitCode {
    if let Some(meant) = args.files.iter().find_map(|path| option_meant(path, args)) {
        return unread(&meant);
    }
    match combine::mode(args) {
        Err(error) => unread(&error),
        Ok(Mode::Generate) => generate(args, to),
        Ok(Mode::Explain) => explain(args, &mut Out::new(to, colors(args.output.color))),
        Ok(mode) => read(args, mode, to),
    }
}

fn generate(args: &Args, mut to: Box<dyn Write>) -> ExitCode {
    written(args.other.generate.map_or(Ok(()), |what| generate::write(what, &mut to)))
}

/// Shows or checks files.
fn read(args: &Args, mode: Mode, to: Box<dyn Write>) -> ExitCode {
    let (log, complaints) = Log::from_environment(args.output.verbose);
    complaints.iter().for_each(|complaint| complain(complaint));
    let format = args.output.format;
    match (files(args), format.list) {
        (Err(error), _) => unread(&error),
        (Ok(files), Some(format)) if mode == Mode::List => list::run(&files, args, format, &log, to),
        (Ok(files), _) => check::run(&files, args, format.findings, &log, to),
    }
}

/// The files that were given, and those that a list names.
fn files(args: &Args) -> Result<Vec<PathBuf>, String> {
    let mut files = args.files.clone();
    let mut empty = Vec::new();
    for list in &args.narrow.files_from {
        let failed = |error| format!("cannot read {}: {error}", name_of(list));
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
    empty.into_iter().try_for_each(|list| names_no_files(list, files.is_empty(), args))?;
    Ok(files)
}

/// What was meant by a missing file that looks like the value of an option. Some options take theirs only after `=`, so that
/// the vendor's `-c FILE` works.
fn option_meant(path: &Path, args: &Args) -> Option<String> {
    let word = path.to_str()?;
    let is_number = args.narrow.values.is_some() && word.parse::<u64>().is_ok();
    let is_when = args.output.color == When::Always && When::ALL.iter().any(|when| when.name() == word);
    let option = match word {
        _ if is_number => "--values=",
        _ if is_when => "--color=",
        _ if !args.checks.explain.is_empty() && Rule::by_id(word).is_some() => "--explain ",
        _ => return None,
    };
    (!path.exists()).then(|| format!("there is no file {word}; did you mean {option}{word}?"))
}

/// A list in a message.
fn name_of(list: &Path) -> String {
    match list.as_os_str() == "-" {
        true => "the list on standard input".to_owned(),
        false => format!("the list {}", list.display()),
    }
}

/// Reports that a list names no files. If `nothing` else is given either, a check would pass without a look at anything.
fn names_no_files(list: &Path, nothing: bool, args: &Args) -> Result<(), String> {
    let problem = format!("{} names no files", name_of(list));
    match args.checks.validate {
        true if args.checks.allow_empty => {}
        true if nothing => {
            return Err(format!("{problem}, so nothing was checked; --allow-empty permits this"));
        }
        _ => complain(&problem),
    }
    Ok(())
}

/// `--explain`: some rules, or all.
fn explain(args: &Args, out: &mut Out) -> ExitCode {
    let explained: Result<Vec<_>, _> = args.checks.explain.iter().map(|id| explained(id)).collect();
    let (explained, format) = match explained {
        Ok(explained) => (explained, args.output.format),
        Err(error) => return unread(&error),
    };
    let selected = || Rule::all().filter(|&rule| explained.iter().any(|one| one.is_none_or(|one| one == rule)));
    let shown = match format.findings {
        FindingsFormat::Text => explain_in_text(&explained, out),
        FindingsFormat::Json => rules::document(out, selected()),
        FindingsFormat::Ndjson => rules::lines(out, selected()),
        _ => return unread(&format!("--format {} is for findings: it explains no rules", format.name)),
    };
    written(shown.and_then(|()| out.send()))
}

/// The rule of an id; none for all rules.
fn explained(id: &str) -> Result<Option<&'static Rule>, String> {
    match id {
        ALL_RULES => Ok(None),
        id => Rule::by_id(id).map(Some).ok_or_else(|| no_rule(id)),
    }
}

/// Rules in the order given, with an empty line between them.
fn explain_in_text(explained: &[Option<&Rule>], out: &mut Out) -> io::Result<()> {
    let width = screen().map(|screen| screen.width);
    for (index, rule) in explained.iter().enumerate() {
        if index > 0 {
            out.end_line()?;
        }
        match rule {
            Some(rule) => rules::explain(out, rule, width)?,
            None => rules::list(out, width)?,
        }
    }
    Ok(())
}
