use std::io;

use popef_check::{Rule, Severity};
use serde::Serialize;

use super::code::CodeEntry;
use crate::json::write::{array, line};
use crate::output::out::Out;

/// The version of the shape of all JSON about rules and findings.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Writes rules and codes of errors as one JSON document.
pub fn document(out: &mut Out, rules: impl IntoIterator<Item = &'static Rule>, codes: &[CodeEntry]) -> io::Result<()> {
    out.put("{\"schemaVersion\":").put(&SCHEMA_VERSION.to_string());
    array(out, "rules", rules.into_iter().map(RuleEntry::from))?;
    array(out, "codes", codes.iter())?;
    out.put("}").end_line()
}

/// Writes rules, then codes of errors, as one JSON object per line.
pub fn lines(out: &mut Out, rules: impl IntoIterator<Item = &'static Rule>, codes: &[CodeEntry]) -> io::Result<()> {
    rules.into_iter().try_for_each(|rule| line(out, &RuleLine { kind: "rule", rule: rule.into() }))?;
    codes.iter().try_for_each(|entry| line(out, &CodeLine { kind: "code", entry }))
}

#[derive(Serialize)]
struct CodeLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    entry: &'a CodeEntry,
}

#[derive(Serialize)]
struct RuleLine {
    kind: &'static str,
    #[serde(flatten)]
    rule: RuleEntry,
}

/// A rule in JSON.
#[derive(Serialize)]
pub(crate) struct RuleEntry {
    id: &'static str,
    severity: Severity,
    condition: Option<&'static str>,
    title: &'static str,
    meaning: &'static str,
    fix: &'static str,
}

impl From<&'static Rule> for RuleEntry {
    fn from(rule: &'static Rule) -> Self {
        let Rule { id, severity, title, meaning, fix, .. } = *rule;
        RuleEntry { id, severity, condition: rule.condition(), title, meaning, fix }
    }
}
