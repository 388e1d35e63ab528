//! Policy files: TOML, in which every unknown key and rule is an error.

use std::fs;
use std::io;
use std::path::Path;

use popef::check::{Policy, Rule};
use toml::de::{DeTable, Error};

use crate::exit::no_rule;

/// Reads a policy from a file, or for `-` from standard input. The error names the line.
pub(crate) fn read(path: &Path) -> Result<Policy, String> {
    let named = |problem: String| format!("{}: {problem}", path.display());
    let read = if path.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = read.map_err(|error| named(format!("cannot read the policy: {error}")))?;
    parse(&text).map_err(named)
}

fn parse(text: &str) -> Result<Policy, String> {
    let policy: Policy = toml::from_str(text).map_err(|error| located(text, &error))?;
    unknown_rule(text).map_or(Ok(policy), Err)
}

fn located(text: &str, error: &Error) -> String {
    let at = error.span().map(|span| span.start);
    format!("{}{}", at.map(|at| place(text, at)).unwrap_or_default(), error.message().replace('\n', ", "))
}

/// ``line 3, `max-size = 3`: ``
fn place(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let number = before.matches('\n').count() + 1;
    let start = before.rsplit('\n').next().unwrap_or_default();
    let end = after.lines().next().unwrap_or_default();
    let line = format!("{start}{end}");
    match line.trim() {
        "" => format!("line {number}: "),
        line => format!("line {number}, `{line}`: "),
    }
}

/// What is wrong with the first id under `rules` that no rule has, or that occurs twice.
fn unknown_rule(text: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let rules = table.get_ref().get("rules")?.get_ref().as_table()?;
    let mut seen: Vec<&Rule> = Vec::new();
    for key in rules.keys() {
        let (id, at) = (key.get_ref().as_ref(), key.span().start);
        match Rule::by_id(id) {
            None => return Some(format!("{}{}", place(text, at), no_rule(id))),
            Some(rule) if seen.contains(&rule) => {
                return Some(format!("{}the rule {} is listed twice", place(text, at), rule.id));
            }
            Some(rule) => seen.push(rule),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn slips_of_the_pen_are_told_with_line_and_key() {
        let cases = [
            ("num-ipus = 1\nmax-size = 3\n", "line 2, `max-size = 3`: unknown field `max-size`"),
            ("num-ipus = \"four\"\n", "line 1, `num-ipus = \"four\"`: invalid type: string \"four\""),
            ("num-ipus = -1", "line 1, `num-ipus = -1`: invalid value: integer `-1`"),
            ("[rules]\n\nPE008 = \"no\"\n", "line 3, `PE008 = \"no\"`: unknown variant `no`"),
            (
                "[rules]\nPE999 = \"off\"\n",
                "line 2, `PE999 = \"off\"`: there is no rule \"PE999\"; popef-dump --explain ",
            ),
            (
                "rules.PE1O1 = \"off\"",
                "line 1, `rules.PE1O1 = \"off\"`: there is no rule \"PE1O1\"; did you mean PE101 or PE111?",
            ),
            (
                "[rules]\nPE008 = \"off\"\npe008 = \"note\"",
                "line 3, `pe008 = \"note\"`: the rule PE008 is listed twice",
            ),
            ("rules.PE1 = \"off\"", "line 1, `rules.PE1 = \"off\"`: there is no rule \"PE1\""),
            ("[[inputs]]\nname = \"x\"\nshape = [-1]", "line 3, `shape = [-1]`: a dimension is"),
            ("[[inputs]]\nnam = \"x\"", "line 2, `nam = \"x\"`: unknown field `nam`"),
            ("[[inputs]]\nshape = [1]", "line 1, `[[inputs]]`: missing field `name`"),
            ("no-pickles = true\nno-pickles = false", "line 2, `no-pickles = false`: duplicate key"),
            ("= 1", "line 1, `= 1`: "),
            ("größe", "line 1, `größe`: "),
        ];
        for (text, start) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(start), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(parse("").is_ok());
    }

    /// `popef-dump` shows them in capitals, and the schema of PopEF has them in small letters.
    #[test]
    fn data_types_are_written_either_way() {
        let input = |data_type| parse(&format!("[[inputs]]\nname = \"x\"\ndata-type = \"{data_type}\""));
        assert_eq!(input("F32").unwrap().inputs[0].data_type, Some(popef::DataType::F32));
        assert_eq!(input("F32").unwrap(), input("f32").unwrap());
    }
}
