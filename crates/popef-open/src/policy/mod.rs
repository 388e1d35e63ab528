//! Policy files: TOML, in which every unknown key and rule is an error.

mod words;

use std::borrow::Cow;

use popef_check::{Policy, Rule};
use serde::de::DeserializeOwned;
use toml::de::{DeTable, Error};

/// Reads a policy from the text of a file. The error has the line. `no_rule` returns the message that no rule has an
/// id.
///
/// ```
/// let no_rule = |id: &str| format!("there is no rule {id}");
///
/// assert!(popef_open::policy("num-ipus = 4", &no_rule).is_ok());
/// assert_eq!(
///     popef_open::policy("[rules]\nPE999 = \"off\"", &no_rule).unwrap_err(),
///     "line 2, `PE999 = \"off\"`: there is no rule PE999"
/// );
/// ```
pub fn policy(text: &str, no_rule: &dyn Fn(&str) -> String) -> Result<Policy, String> {
    policy_of(text, &popef_check::rule_by_id, no_rule)
}

/// Reads a policy for other rules than those of the library, which `rule` finds by their ids. The type `P` must refuse unknown keys, and
/// have the severities of rules under `rules`.
pub fn policy_of<P: DeserializeOwned>(
    text: &str,
    rule: &dyn Fn(&str) -> Option<&'static Rule>,
    no_rule: &dyn Fn(&str) -> String,
) -> Result<P, String> {
    let policy = toml::from_str(text).map_err(|error| located(text, &error))?;
    unknown_rule(text, rule, no_rule).map_or(Ok(policy), Err)
}

fn located(text: &str, error: &Error) -> String {
    let at = error.span().map(|span| span.start);
    format!("{}{}", at.map(|at| place(text, at)).unwrap_or_default(), words::plain(error.message()))
}

/// ``line 3, `max-size = 3`: ``
fn place(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let number = before.matches('\n').count().saturating_add(1);
    let start = before.rsplit('\n').next().unwrap_or_default();
    let end = after.lines().next().unwrap_or_default();
    let line = format!("{start}{end}");
    match line.trim() {
        "" => format!("line {number}: "),
        line => format!("line {number}, `{}`: ", brief(line)),
    }
}

/// A text that an error repeats, of any length in the file.
fn brief(text: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// The error for the first id under `rules` that no rule has, or that occurs twice.
fn unknown_rule(
    text: &str,
    rule: &dyn Fn(&str) -> Option<&'static Rule>,
    no_rule: &dyn Fn(&str) -> String,
) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let rules = table.get_ref().get("rules")?.get_ref().as_table()?;
    let mut seen: Vec<&Rule> = Vec::new();
    for key in rules.keys() {
        let (id, at) = (key.get_ref().as_ref(), key.span().start);
        match rule(id) {
            None => return Some(format!("{}{}", place(text, at), no_rule(&brief(id)))),
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
    use popef_check::Policy;

    fn parse(text: &str) -> Result<Policy, String> {
        super::policy(text, &|id| format!("there is no rule {id:?}"))
    }

    #[test]
    fn slips_of_the_pen_are_told_with_line_and_key() {
        let cases = [
            ("num-ipus = 1\nmax-size = 3\n", "line 2, `max-size = 3`: there is no key `max-size`; there are `rules`, "),
            (
                "num-ipus = \"four\"",
                "line 1, `num-ipus = \"four\"`: the value must be a number from 0 to 4294967295, not \"four\"",
            ),
            ("num-ipus = -1", "line 1, `num-ipus = -1`: the value must be a number from 0 to 4294967295, not -1"),
            ("num-ipus = 1.5", "line 1, `num-ipus = 1.5`: the value must be a number from 0 to 4294967295, not 1.5"),
            (
                "max-file-size = \"8\"",
                "line 1, `max-file-size = \"8\"`: the value must be a number that is not negative, not \"8\"",
            ),
            ("no-pickles = 1", "line 1, `no-pickles = 1`: the value must be true or false, not 1"),
            ("opaques = true", "line 1, `opaques = true`: the value must be a list in [], not true"),
            ("opaques = [[]]", "line 1, `opaques = [[]]`: the value must be a text in \"\", not a list"),
            (
                "[inputs]",
                "line 1, `[inputs]`: the value must be a list in [], not a table; a list of tables is written [[NAME]]",
            ),
            ("inputs = [\"x\"]", "line 1, `inputs = [\"x\"]`: the value must be a table, not \"x\""),
            (
                "opaques = \"a, expected b\"",
                "line 1, `opaques = \"a, expected b\"`: the value must be a list in [], not \"a, expected b\"",
            ),
            ("rules = \"off\"", "line 1, `rules = \"off\"`: the value must be a table, not \"off\""),
            (
                "[rules]\n\nPE008 = \"no\"\n",
                "line 3, `PE008 = \"no\"`: `no` is not allowed; allowed are `off`, `note`, `warning`, `error`",
            ),
            ("rules.PE008 = 1", "line 1, `rules.PE008 = 1`: the value must be a text in \"\""),
            ("[rules]\nPE999 = \"off\"\n", "line 2, `PE999 = \"off\"`: there is no rule \"PE999\""),
            ("rules.PE1O1 = \"off\"", "line 1, `rules.PE1O1 = \"off\"`: there is no rule \"PE1O1\""),
            (
                "[rules]\nPE008 = \"off\"\npe008 = \"note\"",
                "line 3, `pe008 = \"note\"`: the rule PE008 is listed twice",
            ),
            ("rules.PE1 = \"off\"", "line 1, `rules.PE1 = \"off\"`: there is no rule \"PE1\""),
            ("[[inputs]]\nname = \"x\"\nshape = [-1]", "line 3, `shape = [-1]`: a dimension is"),
            ("[[inputs]]\nname = \"x\"\nshape = [1.5]", "line 3, `shape = [1.5]`: a dimension is"),
            (
                "[[inputs]]\nnam = \"x\"",
                "line 2, `nam = \"x\"`: there is no key `nam`; there are `name`, `data-type`, `shape`",
            ),
            ("[[inputs]]\nshape = [1]", "line 1, `[[inputs]]`: the key `name` is missing"),
            ("no-pickles = true\nno-pickles = false", "line 2, `no-pickles = false`: the key is given twice"),
            ("= 1", "line 1, `= 1`: "),
            ("größe", "line 1, `größe`: "),
        ];
        for (text, start) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(start), "{text:?}: {error}");
            assert!(!error.contains(['\n', '\u{1b}']), "{error}");
            let jargon = ["unknown field", "unknown variant", "invalid type", "u32", "boolean", "sequence", "untagged"];
            assert!(!jargon.iter().any(|jargon| error.contains(jargon)), "{error}");
        }
        assert!(parse("").is_ok());
        let long = "a".repeat(100_000);
        for text in [
            format!("{long} = 1"),
            format!("num-ipus = \"{long}\""),
            format!("rules.{long} = \"off\""),
            "[".repeat(100_000),
        ] {
            assert!(parse(&text).unwrap_err().len() < 1000, "{text:.9}");
        }
    }

    /// `popef-dump` shows them in capitals, and the schema of PopEF has them in small letters.
    #[test]
    fn data_types_are_written_either_way() {
        let input = |data_type| parse(&format!("[[inputs]]\nname = \"x\"\ndata-type = \"{data_type}\""));
        assert_eq!(input("F32").unwrap().inputs[0].data_type, Some(popef::DataType::F32));
        assert_eq!(input("F32").unwrap(), input("f32").unwrap());
    }
}
