//! Options that protect a user work in every command that has them, whatever the name of their field.

use clap::{Arg, Command as Definition};
use popef_cli::common::Common;
use popef_cli::format::Format;

/// A line for each command that has one of the options.
const LINES: &[&str] = &[
    "cat f n",
    "check f",
    "compress f",
    "decompress f",
    "diff f g",
    "dump f",
    "explain",
    "extract f",
    "graph f",
    "graph diff f g",
    "hash f",
    "ls f",
    "man",
    "merge f",
    "pack f",
    "profile f",
    "profile diff f g",
    "recover f",
    "report f",
    "set f",
    "split f --by kind",
    "strip f --drop tensor",
    "tiles exec f",
    "tiles map f",
    "tiles model f",
    "tiles plan 4 F16",
    "tiles vars f",
    "verify f",
];

/// The answer of a line's command. The line has the name of a file, because some commands need one.
fn said<T>(line: &str, more: &str, ask: impl FnOnce(&Common<'_>) -> T) -> T {
    let words = format!("popef {line} {more}");
    let (args, _) = crate::parsed(words.split_whitespace()).unwrap_or_else(|error| panic!("{words}: {error}"));
    ask(&args.command.given().common())
}

fn fills_stdout(common: &Common<'_>) -> bool {
    common.fills_stdout()
}

/// The lines of the commands that have an option, with the option.
fn with_option(option: &str) -> Vec<(&'static str, Arg)> {
    let mut tool = crate::command();
    tool.build();
    let mut found = Vec::new();
    collect(&tool, "", option, &mut found);
    assert!(!found.is_empty(), "no command has --{option}");
    found
}

fn collect(command: &Definition, path: &str, option: &str, found: &mut Vec<(&'static str, Arg)>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let is_inner = !path.is_empty();
        let path = format!("{path}{} ", inner.get_name());
        collect(inner, &path, option, found);
        let own = |arg: &&Arg| arg.get_long() == Some(option) && !(is_inner && arg.is_global_set());
        if let Some(arg) = inner.get_arguments().find(own) {
            let line = LINES.iter().find(|line| format!("{line} ").starts_with(&path));
            found.push((line.unwrap_or_else(|| panic!("LINES has no popef {path}")), arg.clone()));
        }
    }
}

/// The option for a file with this name, if the command has one.
fn output(line: &str, name: &str) -> String {
    let has_one = with_option("output").iter().any(|(with, _)| *with == line);
    if has_one { format!("-o {name}") } else { String::new() }
}

#[test]
fn every_command_with_force_says_whether_it_is_given() {
    for (line, _) in with_option("force") {
        let to = output(line, "n");
        assert!(!said(line, &to, |common| common.output.force), "{line}");
        assert!(said(line, &format!("{to} --force"), |common| common.output.force), "{line}");
    }
}

#[test]
fn every_command_with_output_says_whether_it_fills_standard_output() {
    let trials = with_option("dry-run");
    for (line, _) in with_option("output") {
        // Findings and pictures are text.
        let is_for_files = !["check f", "tiles exec f"].contains(&line);
        assert_eq!(said(line, "-o -", fills_stdout), is_for_files, "{line}");
        assert!(!said(line, "-o n", fills_stdout), "{line}");
        if trials.iter().any(|(trial, _)| *trial == line) {
            assert!(!said(line, "-o - --dry-run", fills_stdout), "{line}");
        }
    }
}

#[test]
fn every_command_with_json_says_whether_it_is_asked_for() {
    for (line, arg) in with_option("format") {
        let names = arg.get_possible_values();
        for format in [Format::Json, Format::Ndjson] {
            if names.iter().any(|name| name.get_name() == format.as_str()) {
                let more = format!("{} --format {}", output(line, "n"), format.as_str());
                assert_eq!(said(line, &more, |common| common.format), Some(format), "{line}");
            }
        }
    }
}

#[test]
fn every_command_with_lists_says_so() {
    let (with, in_folder) = (with_option("files-from"), with_option("output-dir"));
    for line in LINES {
        let takes = with.iter().any(|(with, _)| with == line);
        // One file is the output of one input.
        let has_folder = in_folder.iter().any(|(with, _)| with == line);
        let to = if has_folder { "--output-dir n".to_owned() } else { output(line, "n") };
        assert_eq!(said(line, &to, |common| common.takes_lists), takes, "{line}");
    }
}
