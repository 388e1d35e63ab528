//! The errors of serde and of the TOML parser in plain words.

use super::brief;

/// A message in plain words, in one line. Unknown forms of messages stay as they are.
pub(super) fn plain(message: &str) -> String {
    let (problem, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let (words, subject) = problem.split_once(['`', ':']).unwrap_or((problem, ""));
    let subject = &*brief(subject.trim_matches(['`', ' ']));
    match words.trim_end() {
        "unknown field" => format!("there is no key `{subject}`; there are {}", choices(expected)),
        "unknown variant" => format!("`{subject}` is not allowed; allowed are {}", choices(expected)),
        "missing field" => format!("the key `{subject}` is missing"),
        "duplicate key" => "the key is given twice".to_owned(),
        "wanted string or table" => format!("the value must be {}", kind("a string")),
        "invalid type" | "invalid value" => wrong_value(subject, expected),
        _ => message.replace('\n', ", "),
    }
}

/// `one of `a`, `b``, without the words before it.
fn choices(expected: &str) -> &str {
    expected.strip_prefix("one of ").unwrap_or(expected)
}

fn wrong_value(found: &str, expected: &str) -> String {
    let advice = match (found, expected) {
        ("map", "a sequence") => "; a list of tables is written [[NAME]]",
        _ => "",
    };
    format!("the value must be {}, not {}{advice}", kind(expected), value(found))
}

fn kind(expected: &str) -> &str {
    match expected {
        "u32" => "a number from 0 to 4294967295",
        "u64" => "a number that is not negative",
        "a boolean" => "true or false",
        "a string" => "a text in \"\"",
        "a sequence" => "a list in []",
        expected if expected == "a map" || expected.starts_with("struct ") => "a table",
        expected => expected,
    }
}

/// The value that was found: `string "four"` and ``integer `-1` `` without the type.
fn value(found: &str) -> &str {
    match found {
        "sequence" => "a list",
        "map" => "a table",
        found => {
            let after = |mark: char| found.find(mark).and_then(|at| found.get(at..));
            let quoted = found.starts_with("string ").then(|| after('"')).flatten();
            let ticked = || after('`').map(|rest| rest.trim_matches('`').split('`').next().unwrap_or_default());
            quoted.or_else(ticked).unwrap_or(found)
        }
    }
}
