//! Texts that want more than to be read: no command shows them as they are. The commands, their options and formats are those of the
//! command line itself, so a new one is tried as soon as it exists.

mod corpus;
mod languages;

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::{Arg, ArgAction, Command};
use popef::types::is_hidden;

use crate::common::{Place, Run};
use crate::options::commands;
use corpus::{ORDERS, copy, corpus, odd};

/// What commands need besides a file, and what else must be given so that all their formats can be had. The first is given with all files.
const NEEDS: &[(&str, &[&str])] = &[
    ("cat", &["--blob 2", "--blob 0 --hex", "--blob 0"]),
    ("check", &["", "--deep -v --for triton,tensorflow,poptorch,popart b/model.popef"]),
    ("completions", &["bash"]),
    ("man", &["ls", ""]),
    ("dump", &["-v --values"]),
    ("explain", &["", "policy", "PE101"]),
    ("graph", &["--scheduled", "--scheduled --graph maingraph", ""]),
    ("ls", &["-v --values"]),
    ("merge", &["", "b/model.popef --keep first"]),
    ("profile", &["", "--check -v", "a/execution.json", "a/execution.json --by step", "--by category"]),
    ("report", &["-o -"]),
    ("set", &["--set numIpus=2"]),
    ("split", &["--by kind"]),
    ("strip", &["--drop tensor"]),
    ("tiles plan", &["4 F16"]),
];

/// A command of the tool, and the words that name it.
struct Named {
    words: String,
    command: Command,
}

fn is_path(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

fn values(arg: &Arg) -> Vec<String> {
    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

impl Named {
    fn needs(&self) -> &'static [&'static str] {
        NEEDS.iter().find(|(words, _)| *words == self.words).map_or(&[""], |(_, needs)| needs)
    }

    fn formats(&self) -> Vec<String> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some("format")).map(values).unwrap_or_default()
    }

    /// The files that the command reads: one, or two that belong together.
    fn inputs<'f>(&self, files: &'f [String]) -> Vec<Vec<&'f str>> {
        let places = self.command.get_positionals().filter(|arg| is_path(arg)).collect::<Vec<_>>();
        let (first, second) = files.split_at(files.len() / 2);
        let pairs = || first.iter().zip(second).map(|(first, second)| vec![first.as_str(), second.as_str()]);
        match places.iter().filter(|arg| arg.is_required_set()).count() {
            0 if places.is_empty() => vec![vec![]],
            2.. => pairs().collect(),
            _ => first.iter().map(|file| vec![file.as_str()]).collect(),
        }
    }

    /// The words of a call, with the file that the command makes if it must make one.
    fn line(&self, inputs: &[&str], needs: &str, options: &[String], number: usize) -> Vec<String> {
        let options = options.iter().map(String::as_str);
        let words = self.words.split(' ').chain(options).chain(inputs.iter().copied()).chain(needs.split_whitespace());
        let mut line: Vec<String> = words.map(str::to_owned).collect();
        let usage = self.command.clone().render_usage().to_string();
        if usage.contains(" -o ") && !needs.contains("-o ") {
            line.extend(["-o".to_owned(), format!("new-{number}")]);
        }
        line
    }

    /// Every option with hostile words, with numbers, and with each of its values.
    fn options(&self) -> Vec<String> {
        // Places that a command writes to, what is asked elsewhere, and names as other programs want them.
        let left_out = ["output", "output-dir", "in-place", "trace", "format", "help", "version", "color", "sums"];
        let is_remote = |arg: &Arg| arg.get_help_heading() == Some("Files on other machines");
        let options =
            self.command.get_opts().chain(self.command.get_arguments().filter(|arg| !arg.get_action().takes_values()));
        let mut lines = Vec::new();
        for arg in options.filter(|arg| !is_remote(arg)) {
            let Some(long) = arg.get_long().filter(|long| !left_out.contains(long)) else { continue };
            let option = format!("--{long}");
            if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::Count) {
                lines.push(option);
                continue;
            }
            let mut given = values(arg);
            if given.is_empty() && is_path(arg) {
                given = ORDERS.map(str::to_owned).to_vec();
            }
            given.extend([odd(11), "2".to_owned()]);
            lines.extend(given.into_iter().map(|value| format!("{option}={value}")));
        }
        lines
    }
}

/// Whether the bytes are those of a file among the words.
fn is_part(place: &Place, words: &[String], bytes: &[u8]) -> bool {
    let files = words.iter().filter_map(|word| fs::read(place.path(word)).ok());
    files.into_iter().any(|file| !bytes.is_empty() && file.windows(bytes.len()).any(|part| part == bytes))
}

/// A run, with what is wrong with what it shows. Bytes are data, and not shown.
fn shown(place: &Place, args: &[String], format: &str, faults: &mut Vec<String>) -> Run {
    let run = place.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let is_data = run.out.contains(&0) || args[0] == "cat" && is_part(place, args, &run.out);
    let out = String::from_utf8(run.out.clone()).ok().filter(|_| !is_data).unwrap_or_default();
    let format = if out.starts_with("<!doctype html>") { "html" } else { format };
    let shown = [(out.as_str(), format), (&run.err, "text")].into_iter().filter(|(text, _)| !text.is_empty());
    let found = shown.filter_map(|(text, format)| Some((format, languages::fault(text, format)?)));
    faults.extend(found.map(|(format, fault)| format!("popef {args:?} as {format}: {fault}")));
    assert!([0, 1, 2].contains(&run.status), "{args:?} {run:?}");
    run
}

/// Asks a command all that it can be asked about the files: each file, each format, each option. Returns what is wrong.
fn ask(named: &Named, place: &Place, files: &[String]) -> Vec<String> {
    let (mut number, mut faults) = (0, Vec::new());
    let mut line = |inputs: &[&str], needs: &str, options: &[String]| {
        number += 1;
        named.line(inputs, needs, options, number)
    };
    let is_good = |run: &Run| run.status < 2 && !(run.out.is_empty() && run.err.is_empty());
    let first = named.needs()[0];
    let inputs = named.inputs(files);
    let (good, bad): (Vec<_>, Vec<_>) =
        inputs.into_iter().partition(|inputs| is_good(&shown(place, &line(inputs, first, &[]), "text", &mut faults)));
    let mut lacking: BTreeSet<String> = named.formats().into_iter().collect();
    for (inputs, needs) in
        good.iter().chain(bad.first()).flat_map(|inputs| named.needs().iter().map(move |needs| (inputs, needs)))
    {
        for format in named.formats() {
            let run = shown(place, &line(inputs, needs, &[format!("--format={format}")]), &format, &mut faults);
            if is_good(&run) {
                lacking.remove(&format);
            }
        }
    }
    match good.first() {
        Some(inputs) => {
            for option in named.options() {
                shown(place, &line(inputs, first, &[option]), "text", &mut faults);
            }
        }
        None => faults.push(format!("popef {} did nothing with any file: what does it need?", named.words)),
    }
    faults.extend(lacking.iter().map(|format| format!("popef {}: no call gave {format}", named.words)));
    faults
}

#[test]
fn no_text_has_an_effect_in_any_command_and_format() {
    let from = Place::with(&[]);
    let files = corpus(&from);
    let commands = commands().into_iter().map(|(words, command)| Named { words, command });
    let commands = Mutex::new(commands.collect::<Vec<_>>());
    let ask_some = || {
        let mut faults = Vec::new();
        while let Some(named) = { commands.lock().unwrap().pop() } {
            faults.extend(ask(&named, &copy(&from), &files));
        }
        faults
    };
    let faults = std::thread::scope(|scope| {
        let other = scope.spawn(ask_some);
        [ask_some(), other.join().unwrap()].concat()
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// An error of the command line quotes its words.
#[test]
fn no_word_of_the_command_line_has_an_effect() {
    let place = Place::with(&[]);
    for line in [
        &["X"][..],
        &["ls", "--X", "file"],
        &["ls", "--format", "teXxt", "file"],
        &["split", "file", "--max-size", "X", "-o", "new"],
        &["merge", "-o"],
        &["merge", "X", "-o", "new", "--keep", "X"],
        &["set", "file", "--set", "X"],
        &["tiles", "X"],
    ] {
        for odd in ["\u{202e}", "\u{1b}[31m", "\n", "\u{200b}"] {
            let words: Vec<String> = line.iter().map(|word| word.replace('X', odd)).collect();
            let run = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(run.status, 2, "{words:?}: {run:?}");
            let is_odd = |letter: char| letter != '\n' && is_hidden(letter);
            let is_quoted = words != line && odd == "\n";
            assert!(!run.err.contains(is_odd) && (!is_quoted || run.err.contains("\\n")), "{words:?}: {run:?}");
        }
    }
}
