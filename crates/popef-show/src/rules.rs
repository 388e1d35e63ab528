//! Rules and codes of errors, explained: the rules of the library's checks, and others of the same shape.

use std::io;

use popef::error::{CodeInfo, ErrorKind};
use popef_check::{Rule, Severity};
use serde::Serialize;
use strsim::levenshtein;

use crate::output::color::Kind;
use crate::output::json::{item, member_list, object};
use crate::output::out::Out;
use crate::output::paragraph::Paragraph;
use crate::output::shown::Shown;

/// Rules in groups by subject, each with its title.
pub type Groups = Vec<(&'static str, Vec<&'static Rule>)>;

/// The rules of the library.
pub fn of_library() -> Groups {
    popef_check::rule_groups().map(|(title, rules)| (title, rules.collect())).collect()
}

/// Explains one rule: what it means, and how to fix its findings. Lines are no wider than the screen.
pub fn explain(out: &mut Out, rule: &Rule, width: Option<usize>) -> io::Result<()> {
    let title = Paragraph::new(0).add(Kind::Group, shown!("{}:", rule.id)).add(Kind::Group, rule.title);
    title.write(out, width)?;
    out.put_as(kind(rule.severity), rule.severity);
    if let Some(condition) = rule.condition() {
        out.put(", ").put(condition);
    }
    out.end_line()?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Plain, rule.meaning).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Group, "To fix it:").add(Kind::Plain, rule.fix).write(out, width)
}

/// Lists rules in groups, each with its title. Lines are no wider than the screen.
pub fn list(out: &mut Out, groups: &[(&'static str, Vec<&'static Rule>)], width: Option<usize>) -> io::Result<()> {
    for (at, (title, rules)) in groups.iter().enumerate() {
        if at > 0 {
            out.end_line()?;
        }
        out.put_as(Kind::Group, *title).end_line()?;
        for rule in rules {
            let mut title = Shown::default();
            title.push_spaces("warning".len().saturating_sub(rule.severity.as_str().len())).push(rule.title);
            let line = Paragraph::new(2).add(Kind::Group, rule.id).add(kind(rule.severity), rule.severity);
            line.add(Kind::Plain, title).write(out, width)?;
        }
    }
    Ok(())
}

/// The code of an error, explained. Each crate has a table of its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CodeEntry {
    /// The name of the code, such as `blob-cut`.
    pub code: &'static str,
    /// The kind of the errors with this code, such as `damaged`.
    #[serde(rename = "errorKind")]
    pub kind: ErrorKind,
    /// What happened.
    pub meaning: &'static str,
    /// What to do.
    pub advice: &'static str,
}

impl From<CodeInfo> for CodeEntry {
    fn from(info: CodeInfo) -> Self {
        CodeEntry { code: info.name, kind: info.kind, meaning: info.meaning, advice: info.advice.words() }
    }
}

/// The code that a mistyped name may mean.
pub fn nearest_code<'c>(name: &str, codes: &'c [CodeEntry]) -> Option<&'c CodeEntry> {
    const LONGEST: usize = 64;
    codes.iter().find(|entry| name.len() <= LONGEST && levenshtein(name, entry.code) <= 2)
}

/// Explains a code: what happened, and what to do. Lines are no wider than the screen.
pub fn explain_code(out: &mut Out, entry: &CodeEntry, width: Option<usize>) -> io::Result<()> {
    let title = Paragraph::new(0).add(Kind::Group, shown!("{}:", entry.code));
    title.add(Kind::Group, shown!("an error of the kind {}", entry.kind)).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Plain, entry.meaning).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Group, "What to do:").add(Kind::Plain, entry.advice).write(out, width)
}

/// The version of the shape of all JSON about rules and findings.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Writes rules and codes of errors as one JSON document.
pub fn document(out: &mut Out, rules: impl IntoIterator<Item = &'static Rule>, codes: &[CodeEntry]) -> io::Result<()> {
    out.put("{\"schemaVersion\":").put(SCHEMA_VERSION);
    member_list(out, "rules", rules.into_iter().map(rule_object))?;
    member_list(out, "codes", codes.iter())?;
    out.put("}").end_line()
}

/// Writes rules, then codes of errors, as one JSON object per line.
pub fn lines(out: &mut Out, rules: impl IntoIterator<Item = &'static Rule>, codes: &[CodeEntry]) -> io::Result<()> {
    rules.into_iter().try_for_each(|rule| item(out, "rule", &rule_object(rule)))?;
    codes.iter().try_for_each(|entry| item(out, "code", entry))
}

/// A rule in JSON.
pub(crate) fn rule_object(rule: &'static Rule) -> impl Serialize {
    let Rule { id, severity, title, meaning, fix, .. } = *rule;
    object! { id, severity, condition: rule.condition(), title, meaning, fix }
}

/// The colour of a severity.
pub(crate) fn kind(severity: Severity) -> Kind {
    match severity {
        Severity::Error => Kind::Error,
        Severity::Warning => Kind::Warning,
        Severity::Note => Kind::Note,
    }
}

/// The rules that a mistyped id may mean: `did you mean PE101 or PE111?`. `None` if no id is similar.
///
/// ```
/// use popef_check::Rule;
/// use popef_show::rules::did_you_mean;
///
/// assert_eq!(did_you_mean("PE1O1", popef_check::rules()).as_deref(), Some("did you mean PE101 or PE111?"));
/// assert_eq!(did_you_mean("PE999", popef_check::rules()), None);
/// ```
pub fn did_you_mean(id: &str, rules: impl IntoIterator<Item = &'static Rule>) -> Option<String> {
    let nearest: Vec<_> = nearest(id, rules.into_iter().collect()).iter().map(|rule| rule.id).collect();
    (!nearest.is_empty()).then(|| format!("did you mean {}?", nearest.join(" or ")))
}

/// At most three rules whose ids are like a text, in order: a number, perhaps after the same letters, the beginning of an id, or an id with
/// one wrong character.
fn nearest(id: &str, mut rules: Vec<&'static Rule>) -> Vec<&'static Rule> {
    let id: String = id.chars().take(10).flat_map(char::to_uppercase).collect();
    let number = |id: &str| id.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<u32>().ok();
    let wanted = number(&id);
    let letters = id.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_like = |rule: &Rule| {
        let begins = wanted.is_some() && rule.id.starts_with(&id);
        let has_number = wanted.is_some() && wanted == number(rule.id) && rule.id.starts_with(letters);
        begins || has_number || levenshtein(&id, rule.id) <= 1
    };
    let apart = |rule: &Rule| match (wanted, number(rule.id)) {
        (Some(wanted), Some(found)) => wanted.abs_diff(found),
        _ => 0,
    };
    rules.retain(|rule| is_like(rule));
    rules.sort_by_key(|rule| apart(rule));
    rules.truncate(3);
    rules.sort_by_key(|rule| rule.id);
    rules
}

#[cfg(test)]
mod tests {

    fn did_you_mean(id: &str) -> Option<String> {
        super::did_you_mean(id, popef_check::rules())
    }

    #[test]
    fn slips_of_the_pen_are_near() {
        assert_eq!(did_you_mean("PE1O1").unwrap(), "did you mean PE101 or PE111?");
        assert!(did_you_mean("pe10").unwrap().contains("PE101"));
        assert_eq!(did_you_mean("PE12").unwrap(), "did you mean PE012 or PE102 or PE112?");
        assert_eq!(did_you_mean("101").unwrap(), "did you mean PE101?");
        assert_eq!(did_you_mean("PE1").unwrap(), "did you mean PE001 or PE101 or PE102?");
        assert_eq!(did_you_mean("7").unwrap(), "did you mean PE007?");
    }

    #[test]
    fn other_ids_have_no_neighbours() {
        for id in ["", "PE999", "xyz", "PE1000000000000"] {
            assert_eq!(did_you_mean(id), None, "{id}");
        }
    }
}
