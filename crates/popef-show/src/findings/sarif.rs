//! Findings as SARIF 2.1.0, which code scanners read.
//!
//! What was not looked at becomes notifications of the run. The run has failed if something that was asked for could not be
//! looked at.

use std::collections::HashMap;
use std::io;

use popef_check::{Finding, Rule, Skipped};
use serde::Serialize;

use super::FindingsRenderer;
use super::group::{CheckedFile, Group, Totals, Verdict, reason};
use super::json::rules;
use super::uri;
use crate::output::json::{member_list, object, value};
use crate::output::out::Out;

const START: &str = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{";

pub(super) struct Sarif {
    /// The program that checks.
    tool: &'static str,
    groups: Vec<Group>,
}

impl FindingsRenderer for Sarif {
    fn group(&mut self, _out: &mut Out, group: Group) -> io::Result<()> {
        self.groups.push(group);
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        let rules: Vec<&'static Rule> = rules(&self.groups).collect();
        out.put(START).put("\"tool\":");
        value(out, &tool(self.tool, &rules))?;
        member_list(out, "artifacts", self.groups.iter().flat_map(|group| &group.files).map(artifact))?;
        out.put(",\n\"invocations\":[");
        value(out, &self.invocation(verdict))?;
        out.put("]");
        member_list(out, "results", self.groups.iter().flat_map(|group| results(group, &rules)))?;
        if totals.unsafe_pickles > 0 {
            out.put(",\n\"properties\":{\"notSafeToUnpickle\":true}");
        }
        out.put("}]}").end_line()
    }
}

impl Sarif {
    pub(super) fn new(tool: &'static str) -> Self {
        Sarif { tool, groups: Vec::new() }
    }

    fn invocation(&self, verdict: Verdict) -> impl Serialize {
        let skipped = self.groups.iter().flat_map(|group| group.report.skipped.iter().map(move |it| (group, it)));
        object! {
            execution_successful: verdict != Verdict::Incomplete,
            exit_code: verdict.status(),
            tool_execution_notifications: skipped.map(|(group, skipped)| notification(group, skipped)).collect::<Vec<_>>(),
        }
    }
}

fn notification(group: &Group, skipped: &Skipped) -> impl Serialize {
    let locations = skipped.file.map(|file| object! { locations: [location(group, file, None, None)] });
    object! {
        level: if skipped.failed { "error" } else { "note" },
        message: message(plain(&format!("not checked: {}", reason(skipped)))),
        #[serde(flatten)]
        locations,
    }
}

fn message(text: impl Serialize) -> impl Serialize {
    object! { text }
}

/// Readers of SARIF make a link of `[text](target)`. A file may have a name that looks like one, so its brackets are escaped, as
/// §3.11.6 of the standard says. Other brackets stay, because few readers take the backslashes out again.
fn plain(text: &str) -> String {
    if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() }
}

fn tool(name: &'static str, rules: &[&'static Rule]) -> impl Serialize {
    let driver = object! {
        name,
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
    };
    object! { driver }
}

fn artifact(file: &CheckedFile) -> impl Serialize {
    let length = file.size.map(|length| object! { length });
    object! { location: object! { uri: uri::of(&file.path) }, #[serde(flatten)] length }
}

fn descriptor(rule: &Rule) -> impl Serialize {
    let sentence = |text: &str| {
        let mut letters = text.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>() + ".").unwrap_or_default()
    };
    object! {
        id: rule.id,
        short_description: message(sentence(rule.title)),
        full_description: message(rule.meaning),
        help: object! {
            text: format!("{}\n\nTo fix it: {}", rule.meaning, rule.fix),
            markdown: format!("{}\n\n**To fix it:** {}", rule.meaning, rule.fix),
        },
        default_configuration: object! { level: rule.severity },
    }
}

fn results(group: &Group, rules: &[&'static Rule]) -> impl Iterator<Item: Serialize> {
    let mut fingerprints = Fingerprints::default();
    group.report.findings.iter().map(move |finding| {
        let names: Vec<_> = finding.names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        object! {
            rule_id: finding.rule.id,
            rule_index: rules.iter().position(|rule| *rule == finding.rule).unwrap_or_default(),
            level: finding.severity,
            message: message(plain(&finding.message)),
            locations: [location(group, finding.file, finding.blob, finding.offset)],
            // The key is the only one that GitHub knows. Without it, GitHub hashes the line, and the findings of one rule in one file
            // become one, because all are on line 1.
            partial_fingerprints: object! { primary_location_line_hash: fingerprints.of(finding) },
            #[serde(flatten)]
            properties: (!names.is_empty()).then(|| object! { properties: object! { names } }),
        }
    })
}

fn location(group: &Group, file: usize, blob: Option<usize>, offset: Option<u64>) -> impl Serialize {
    let byte_offset = offset.map(|byte_offset| object! { byte_offset });
    let physical = object! {
        artifact_location: object! { uri: group.path(file).map(uri::of).unwrap_or_default() },
        // A line means nothing in a PopEF file, but GitHub shows no finding without one.
        region: object! { start_line: 1, #[serde(flatten)] byte_offset },
    };
    let logical = blob.map(|blob| {
        let properties = object! { blob };
        object! { logical_locations: [object! { name: format!("blob {blob}"), kind: "object", properties }] }
    });
    object! { physical_location: physical, #[serde(flatten)] logical }
}

/// Gives each finding of a group a text that stays the same when the file changes elsewhere. Code scanners recognise a finding
/// by it.
///
/// It depends on the rule and on the names that the finding is about. Positions are left out, because they shift with unrelated
/// blobs, and so is the message, because it has figures. If these are the same for several findings of a file, they are
/// counted, so that they stay apart.
#[derive(Default)]
pub(super) struct Fingerprints {
    seen: HashMap<(usize, u64), usize>,
}

impl Fingerprints {
    pub(super) fn of(&mut self, finding: &Finding) -> String {
        let hash = hash(finding);
        let nth = self.seen.entry((finding.file, hash)).or_default();
        *nth += 1;
        format!("{hash:016x}:{nth}")
    }
}

fn hash(finding: &Finding) -> u64 {
    let mut hash = Fnv::default();
    hash.add(finding.rule.id.as_bytes());
    for name in &finding.names {
        hash.add(name.as_bytes());
    }
    hash.0
}

/// FNV-1a. The hashes of the standard library can change with its version.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a text and its length, so that "ab" and "c" differ from "a" and "bc".
    fn add(&mut self, text: &[u8]) {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes();
        for &byte in length.iter().chain(text) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_name_becomes_a_link() {
        assert_eq!(plain("a shape of [2, 3]"), "a shape of [2, 3]");
        assert_eq!(plain("\"[Click](https://x.example/)\""), "\"\\[Click\\](https://x.example/)\"");
    }
}
