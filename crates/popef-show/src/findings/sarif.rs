//! Findings as SARIF 2.1.0, which code scanners read.
//!
//! What was not looked at becomes notifications of the run. The run has failed if something that was asked for could not be
//! looked at.

use std::io;

use popef_check::{Finding, Rule, Severity, Skipped};
use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::group::{Group, Totals, Verdict, reason};
use super::json::rules;
use super::renderer::FindingsRenderer;
use super::uri;
use crate::json::write::{array, object};
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
        object(out, &tool(self.tool, &rules))?;
        let files = || self.groups.iter().flat_map(|group| &group.files);
        array(
            out,
            "artifacts",
            files().map(|file| Artifact { location: Uri { uri: uri::of(&file.path) }, length: file.size }),
        )?;
        out.put(",\n\"invocations\":[");
        object(out, &self.invocation(verdict))?;
        out.put("]");
        let results = self.groups.iter().flat_map(|group| results(group, &rules));
        array(out, "results", results)?;
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

    fn invocation(&self, verdict: Verdict) -> Invocation {
        let notification = |group: &Group, skipped: &Skipped| Notification {
            level: if skipped.failed { "error" } else { "note" },
            message: Message::plain(&format!("not checked: {}", reason(skipped))),
            locations: skipped.file.map(|file| location(group, file, None, None)).into_iter().collect(),
        };
        let notified = self
            .groups
            .iter()
            .flat_map(|group| group.report.skipped.iter().map(move |skipped| notification(group, skipped)));
        Invocation {
            execution_successful: verdict != Verdict::Incomplete,
            exit_code: verdict.status(),
            tool_execution_notifications: notified.collect(),
        }
    }
}

fn tool(name: &'static str, rules: &[&'static Rule]) -> Tool {
    Tool {
        driver: Driver {
            name,
            version: env!("CARGO_PKG_VERSION"),
            semantic_version: env!("CARGO_PKG_VERSION"),
            information_uri: env!("CARGO_PKG_REPOSITORY"),
            rules: rules.iter().map(|rule| descriptor(rule)).collect(),
        },
    }
}

fn descriptor(rule: &Rule) -> Descriptor {
    let sentence = |text: &str| {
        let mut letters = text.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>() + ".").unwrap_or_default()
    };
    let text = |text: String| Message { text };
    Descriptor {
        id: rule.id,
        short_description: text(sentence(rule.title)),
        full_description: text(rule.meaning.to_owned()),
        help: Help {
            text: format!("{}\n\nTo fix it: {}", rule.meaning, rule.fix),
            markdown: format!("{}\n\n**To fix it:** {}", rule.meaning, rule.fix),
        },
        default_configuration: Configuration { level: level(rule.severity) },
    }
}

fn results(group: &Group, rules: &[&'static Rule]) -> impl Iterator<Item = Found> {
    let mut fingerprints = Fingerprints::default();
    group.report.findings.iter().map(move |finding| {
        let fingerprints = PartialFingerprints { primary_location_line_hash: fingerprints.of(finding) };
        result(group, finding, rules, fingerprints)
    })
}

fn result(group: &Group, finding: &Finding, rules: &[&'static Rule], fingerprints: PartialFingerprints) -> Found {
    Found {
        rule_id: finding.rule.id,
        rule_index: rules.iter().position(|rule| *rule == finding.rule).unwrap_or_default(),
        level: level(finding.severity),
        message: Message::plain(&finding.message),
        locations: vec![location(group, finding.file, finding.blob, finding.offset)],
        partial_fingerprints: fingerprints,
        properties: (!finding.names.is_empty()).then(|| Properties {
            names: finding.names.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
        }),
    }
}

fn location(group: &Group, file: usize, blob: Option<usize>, offset: Option<u64>) -> Location {
    let logical =
        |blob: usize| Logical { name: format!("blob {blob}"), kind: "object", properties: BlobNumber { blob } };
    Location {
        physical_location: Physical {
            artifact_location: Uri { uri: group.path(file).map(uri::of).unwrap_or_default() },
            region: Region { start_line: 1, byte_offset: offset },
        },
        logical_locations: blob.map(logical).into_iter().collect(),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Message,
    full_description: Message,
    help: Help,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

impl Message {
    /// Readers of SARIF make a link of `[text](target)`, and put arguments in place of `{0}`. A file may have names that
    /// look like these, so they are escaped as §3.11.5 and §3.11.6 of the standard say. Other brackets stay, because few
    /// readers take the backslashes out again.
    fn plain(text: &str) -> Self {
        let has_link = text.contains("](");
        let mut escaped = String::with_capacity(text.len());
        let is_argument = |rest: &str| {
            let digits = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            digits.len() < rest.len() && digits.starts_with('}')
        };
        let mut is_inside = false;
        for (at, letter) in text.char_indices() {
            let rest = text.get(at..).unwrap_or_default();
            is_inside |= letter == '{' && rest.strip_prefix('{').is_some_and(is_argument);
            match letter {
                '[' | ']' if has_link => escaped.push('\\'),
                '{' | '}' if is_inside => escaped.push(letter),
                _ => {}
            }
            is_inside &= letter != '}';
            escaped.push(letter);
        }
        Message { text: escaped }
    }
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Artifact {
    location: Uri,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
}

#[derive(Serialize)]
struct Uri {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    partial_fingerprints: PartialFingerprints,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

/// The key is the only one that GitHub knows. Without it, GitHub hashes the line, and the findings of one rule in one file become
/// one, because all are on line 1.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialFingerprints {
    primary_location_line_hash: String,
}

#[derive(Serialize)]
struct Properties {
    names: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Uri,
    region: Region,
}

/// A line means nothing in a PopEF file, but GitHub shows no finding without one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u64>,
}

#[derive(Serialize)]
struct Logical {
    name: String,
    kind: &'static str,
    properties: BlobNumber,
}

#[derive(Serialize)]
struct BlobNumber {
    blob: usize,
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn names_become_neither_links_nor_arguments() {
        for (text, escaped) in [
            ("a shape of [2, 3] and {}", "a shape of [2, 3] and {}"),
            ("\"[Click](https://x.example/)\"", "\"\\[Click\\](https://x.example/)\""),
            ("\"{0}\" and {a} and {12}", "\"{{0}}\" and {a} and {{12}}"),
            ("{1", "{1"),
        ] {
            assert_eq!(Message::plain(text).text, escaped);
        }
    }
}
