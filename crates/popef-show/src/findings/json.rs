//! Findings as JSON: one document, or lines. Their shape is `docs/findings.schema.json`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use popef::types::{Diagnostic, Text};
use popef_check::{Finding, Rule, Skipped};
use serde::Serialize;

use super::FindingsRenderer;
use super::group::{Group, Totals, Verdict};
use crate::output::json::{Keyed, hex, item, line, member_list, network, object, value};
use crate::output::out::Out;
use crate::rules::{SCHEMA_VERSION, rule_object};

/// One document, written after the last group.
#[derive(Default)]
pub(super) struct Document {
    groups: Vec<Group>,
}

/// One line per finding, one per skipped check, one per file on another machine, and one with the counts at the end.
pub(super) struct Lines;

impl FindingsRenderer for Document {
    fn group(&mut self, _out: &mut Out, group: Group) -> io::Result<()> {
        self.groups.push(group);
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        out.put("{\"schemaVersion\":").put(SCHEMA_VERSION).put(",\"verdict\":");
        value(out, &verdict)?;
        out.put(",\"counts\":");
        value(out, &counts(totals))?;
        if totals.unsafe_pickles > 0 {
            out.put(",\"notSafeToUnpickle\":true");
        }
        member_list(out, "files", self.groups.iter().flat_map(files))?;
        member_list(out, "findings", self.groups.iter().flat_map(findings))?;
        member_list(out, "skipped", self.groups.iter().flat_map(skipped))?;
        member_list(out, "rules", rules(&self.groups).map(rule_object))?;
        out.put("}").end_line()
    }
}

impl FindingsRenderer for Lines {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        findings(&group).try_for_each(|finding| item(out, "finding", &finding))?;
        skipped(&group).try_for_each(|skipped| item(out, "skipped", &skipped))?;
        for file in &group.files {
            if let Some(network) = network(file.network) {
                let file = Keyed::path("file", &file.path);
                line(out, &object! { kind: "network", #[serde(flatten)] file, #[serde(flatten)] network })?;
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        let is_unsafe = not_safe(totals.unsafe_pickles > 0);
        item(out, "end", &object! { verdict, counts: counts(totals), #[serde(flatten)] is_unsafe })
    }
}

/// The rules that found something, in the order of their ids.
pub(super) fn rules(groups: &[Group]) -> impl Iterator<Item = &'static Rule> {
    let findings = groups.iter().flat_map(|group| &group.report.findings);
    findings.map(|finding| (finding.rule.id, finding.rule)).collect::<BTreeMap<_, _>>().into_values()
}

/// `true` or nothing: a file that is not known to be unsafe may not have been checked.
fn not_safe(is_unsafe: bool) -> Option<impl Serialize> {
    is_unsafe.then(|| object! { not_safe_to_unpickle: true })
}

fn counts(totals: &Totals) -> impl Serialize {
    let Totals { files, errors, warnings, notes, left_out, failed, .. } = *totals;
    object! { files, errors, warnings, notes, skipped: left_out + failed }
}

fn files(group: &Group) -> impl Iterator<Item: Serialize> {
    group.files.iter().enumerate().map(|(number, file)| {
        object! {
            #[serde(flatten)]
            path: Keyed::path("path", &file.path),
            size: file.size,
            #[serde(flatten)]
            network: network(file.network),
            #[serde(flatten)]
            is_unsafe: not_safe(group.is_unsafe(number)),
        }
    })
}

fn findings(group: &Group) -> impl Iterator<Item: Serialize> {
    group.report.findings.iter().enumerate().map(|(number, finding)| {
        let Finding { rule, severity, blob, offset, names, message, .. } = finding;
        let bytes = |name: &Text<'_>| name.to_str().is_err().then(|| hex(name.as_bytes()));
        let are_bytes = names.iter().any(|name| name.to_str().is_err());
        object! {
            #[serde(flatten)]
            file: file(group, Some(finding.file)),
            id: rule.id,
            severity,
            blob,
            offset,
            names: names.iter().map(Text::to_string_lossy).collect::<Vec<_>>(),
            #[serde(flatten)]
            names_bytes: are_bytes.then(|| object! { names_bytes: names.iter().map(bytes).collect::<Vec<_>>() }),
            message,
            #[serde(flatten)]
            mend: group.mend(number).map(|mend| object! { mend }),
        }
    })
}

fn skipped(group: &Group) -> impl Iterator<Item: Serialize> {
    group.report.skipped.iter().map(|skipped| {
        object! {
            #[serde(flatten)]
            file: file(group, skipped.file),
            what: &skipped.what,
            why: &skipped.why,
            failed: skipped.failed,
            #[serde(flatten)]
            error: error(group, skipped).map(|error| object! { error }),
        }
    })
}

/// Why nothing of the file could be read, if that is why it was not checked.
fn error<'g>(group: &'g Group, skipped: &Skipped) -> Option<&'g Diagnostic> {
    group.files.get(skipped.file?)?.unread()
}

/// The path under `file`, or null for all files.
fn file(group: &Group, file: Option<usize>) -> impl Serialize {
    let path: Option<&Path> = file.and_then(|file| group.path(file));
    object! {
        #[serde(flatten)]
        path: path.map(|path| Keyed::path("file", path)),
        #[serde(flatten)]
        none: path.is_none().then(|| object! { file: () }),
    }
}
