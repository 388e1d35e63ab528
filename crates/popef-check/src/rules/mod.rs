//! The tables of rules, by subject.

mod content;
mod data;
mod file;
mod inside;
mod links;
mod loaders;
mod metadata;
mod payloads;
mod policy;
mod poptorch;
mod safety;

use super::options::CheckOptions;
use super::policy::Policy;
use super::run::{Check, Run};
use popef_findings::{Rule, Severity, When};

pub(super) use safety::is_credential;

/// All rules, in the order of their ids.
// As a constant, it was copied into crates that list the rules, with the code of all rules.
static GROUPS: &[(&str, &[Check])] = &[
    ("The file itself", file::RULES),
    ("Links", links::RULES),
    ("Metadata", metadata::RULES),
    ("Shapes and data", data::RULES),
    ("Contents", content::RULES),
    ("Safety", safety::RULES),
    ("Loaders", loaders::RULES),
    ("Policy", policy::RULES),
    ("Payloads", payloads::RULES),
    ("PopTorch's payload", poptorch::RULES),
    ("Inside executables", inside::RULES),
];

fn all() -> impl Iterator<Item = &'static Check> {
    GROUPS.iter().flat_map(|(_, rules)| rules.iter())
}

/// The rules that apply in a check, with their severity in it.
pub(super) fn active(options: &CheckOptions) -> impl Iterator<Item = (&'static Rule, Severity, Run)> {
    let applies = |check: &&'static Check| match check.rule.when {
        When::Always => true,
        When::Deep => options.is_deep(),
        When::Inspected => options.inspect().is_some(),
        When::Loader(loader) => options.loaders().contains(&loader),
        When::Policy => options.policy_of().is_some(),
        _ => false,
    };
    all().filter(applies).filter_map(|check| Some((&check.rule, options.severity_of(&check.rule)?, check.run)))
}

/// Iterates over all rules in the order of their ids.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    all().map(|check| &check.rule)
}

/// Iterates over all rules in groups by subject, each with its title.
pub fn rule_groups() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static Rule>)> {
    GROUPS.iter().map(|(title, rules)| (*title, rules.iter().map(|check| &check.rule)))
}

/// Returns the rule with an id such as `PE101`. Case does not matter.
///
/// ```
/// let rule = popef_check::rule_by_id("PE101").expect("there is one");
/// println!("{} ({}): {}\n\n{}\n\n{}", rule.id, rule.severity, rule.title, rule.meaning, rule.fix);
/// ```
pub fn rule_by_id(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

impl Policy {
    /// Iterates over the ids under `rules` that do not exist, which are most likely typing errors.
    pub fn unknown_rules(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str).filter(|id| rule_by_id(id).is_none())
    }
}
