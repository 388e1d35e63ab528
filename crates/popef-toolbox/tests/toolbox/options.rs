//! `docs/OPTIONS.md`: every option of every command, from the command line itself. One name, one letter, one meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use clap::{Arg, Command};

use crate::common::{Place, testdata};

/// What an option is called besides its name, and what it means.
type Meaning = (String, String, String);

/// All commands that do something, with the words that name them.
pub(crate) fn commands() -> Vec<(String, Command)> {
    fn collect(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let words = format!("{path} {}", inner.get_name()).trim().to_owned();
            if !inner.is_subcommand_required_set() {
                found.push((words.clone(), inner.clone()));
            }
            collect(inner, &words, found);
        }
    }
    let (mut tool, mut found) = (popef_toolbox::command(), Vec::new());
    tool.build();
    collect(&tool, "", &mut found);
    found
}

fn meaning(arg: &Arg) -> Meaning {
    let letter = arg.get_short().map(|letter| format!("-{letter}")).unwrap_or_default();
    let values = arg.get_value_names().filter(|_| arg.get_action().takes_values()).unwrap_or_default();
    let values = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let can_be_missing = !values.is_empty() && arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let values = if can_be_missing { format!("[={values}]") } else { values };
    (letter, values, arg.get_help().unwrap().to_string())
}

/// The options, with what each means in which commands.
fn options() -> BTreeMap<String, BTreeMap<Meaning, Vec<String>>> {
    let mut options: BTreeMap<String, BTreeMap<Meaning, Vec<String>>> = BTreeMap::new();
    for (words, command) in commands() {
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            options.entry(long.to_owned()).or_default().entry(meaning(arg)).or_default().push(words.clone());
        }
    }
    options
}

const INTRODUCTION: &str = "\
# Options

Every option of every command of `popef`. The test `options` of the toolbox writes this page from the command line itself
(`POPEF_RENEW=1 cargo test -p popef-toolbox --test toolbox options::`), and fails if one of these rules does not hold:

- A name has one letter, and one kind of value, in all commands. A letter belongs to one name. Only `popef dump` differs, because it has the
  options of the vendor's tool: there, `--metadata` and `--tensors` choose what is shown.
- What selects, such as `--type` and `--filter`, keeps what it names. `--exclude` leaves out of that. What takes something away is called
  `--drop`.
- A size (SIZE) is a number of bytes, with or without a unit, or in hexadecimal: `4096`, `4KiB`, `500MB`, `0x1000`. `KiB`, `MiB` and `GiB`
  are powers of 1024, `kB`, `MB` and `GB` of 1000.
- A number (N) is whole, without separators. A range `A..B` ends before B.
- The exit status is 0 for yes or done, 1 for no, 2 for what could not be done.

Values in brackets can be left out. `popef COMMAND --help` has the defaults and the possible values.

| option | | value | meaning | commands |
|---|---|---|---|---|
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let all = commands().len();
    for (long, meanings) in options() {
        for ((letter, value, help), commands) in meanings {
            let commands = if commands.len() == all { "all".to_owned() } else { commands.join(", ") };
            let help = help.replace('|', "\\|");
            let row = [format!("`--{long}`"), letter, value, help, commands];
            page.push_str(&format!("| {} |\n", row.join(" | ")).replace("  ", " "));
        }
    }
    page
}

#[test]
fn the_table_of_options_is_current() {
    let path = testdata().join("../docs/OPTIONS.md");
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    let renew = "If the change is wanted: POPEF_RENEW=1 cargo test -p popef-toolbox --test toolbox options::";
    assert!(kept == page(), "{renew}");
}

/// Values that have more than one name, because an option has more than one use of one kind.
const SEVERAL: &[(&str, &[&str])] = &[("output", &["DIR", "NEW"]), ("format", &["FORMAT", "FORMAT[=NEW]"])];

#[test]
fn an_option_has_one_name_one_letter_and_one_kind_of_value() {
    let mut of_letters = BTreeMap::new();
    for (long, mut meanings) in options() {
        // Its options are those of the vendor's tool.
        meanings.retain(|_, commands| *commands != ["dump"]);
        let letters: BTreeSet<_> = meanings.keys().map(|(letter, ..)| letter.as_str()).collect();
        assert!(letters.len() < 2, "--{long} has the letters {letters:?}");
        for letter in letters.iter().filter(|letter| !letter.is_empty()) {
            let other = of_letters.insert((*letter).to_owned(), long.clone());
            assert_eq!(other, None, "{letter} is also --{long}");
        }
        // A value that can be left out is one that a flag does not have.
        let values: BTreeSet<_> = meanings.keys().map(|(_, value, _)| value.as_str()).collect();
        let values: Vec<_> = values.into_iter().filter(|value| !value.starts_with("[=")).collect();
        let is_known = SEVERAL.iter().any(|(name, known)| *name == long && *known == values);
        assert!(values.len() < 2 || is_known, "--{long} has the values {values:?}");
        let drops = ["remove", "delete", "omit", "discard"].iter().any(|other| long.starts_with(other));
        assert!(!drops, "--{long}: what takes away is called drop");
    }
}

#[test]
fn sizes_and_numbers_are_written_in_one_way() {
    let place = Place::with(&[]);
    for (words, command) in commands() {
        for arg in command.get_arguments() {
            let (Some(long), (_, value, _)) = (arg.get_long(), meaning(arg)) else { continue };
            let kind = match value.trim_matches(['[', ']', '=']) {
                "SIZE" => "size",
                "N" => "number",
                _ => continue,
            };
            let words: Vec<_> = words.split(' ').chain([&*format!("--{long}=many")]).map(str::to_owned).collect();
            let run = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let said = run.err.lines().next().unwrap_or_default();
            assert!(run.status == 2 && said.contains("'many'") && said.contains(kind), "{words:?}: {said}");
        }
    }
}
