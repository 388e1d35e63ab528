//! Findings as JSON: one document, or lines. Their shape is `docs/findings.schema.json`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use popef::check::{Finding, Rule, Severity};
use popef::types::Text;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Show;
use super::group::{Group, Left, Totals, Verdict};
use crate::render::{Out, hex, json_text, object};

/// The version of this shape.
const SCHEMA_VERSION: u32 = 1;

/// One document, written when all is known.
#[derive(Default)]
pub(super) struct Document {
    groups: Vec<Group>,
}

/// One line a finding, one for each thing that was not looked at, and one with the counts at the end.
pub(super) struct Lines;

impl Show for Document {
    fn group(&mut self, _out: &mut Out, group: Group) -> io::Result<()> {
        self.groups.push(group);
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        out.put("{\"schemaVersion\":").number(SCHEMA_VERSION).put(",\"verdict\":");
        object(out, &verdict)?;
        out.put(",\"counts\":");
        object(out, &Counts::from(totals))?;
        let files = self.groups.iter().flat_map(|group| &group.files);
        array(out, "files", files.map(|file| FileEntry { path: &file.path, size: file.size }))?;
        array(out, "findings", self.groups.iter().flat_map(findings))?;
        array(out, "skipped", self.groups.iter().flat_map(skipped))?;
        array(out, "rules", rules(&self.groups).map(RuleEntry::from))?;
        out.put("}").end_line()
    }
}

impl Show for Lines {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        findings(&group).try_for_each(|finding| line(out, &finding))?;
        skipped(&group).try_for_each(|skipped| line(out, &skipped))
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        line(out, &EndLine { verdict, counts: totals.into() })
    }
}

fn line(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    object(out, value)?;
    out.end_line()
}

/// An array under its key, behind others, one element a line.
pub(super) fn array(out: &mut Out, key: &str, elements: impl Iterator<Item: Serialize>) -> io::Result<()> {
    out.put(",\n\"").put(key).put("\":[");
    let mut separator = "\n";
    for element in elements {
        out.put(separator);
        separator = ",\n";
        object(out, &element)?;
        out.flush_if_full()?;
    }
    out.put(if separator == "\n" { "]" } else { "\n]" });
    Ok(())
}

/// The rules that found something, in the order of their ids.
pub(super) fn rules(groups: &[Group]) -> impl Iterator<Item = &'static Rule> {
    let findings = groups.iter().flat_map(|group| &group.findings);
    findings.map(|finding| (finding.rule.id, finding.rule)).collect::<BTreeMap<_, _>>().into_values()
}

fn findings(group: &Group) -> impl Iterator<Item = FindingEntry<'_>> {
    group.findings.iter().map(|finding| FindingEntry { path: path(group, Some(finding.file)), finding })
}

fn skipped(group: &Group) -> impl Iterator<Item = SkippedEntry<'_>> {
    group.left.iter().map(|left| SkippedEntry { path: path(group, left.file), left })
}

fn path(group: &Group, file: Option<usize>) -> Option<&Path> {
    file.and_then(|file| group.path(file)).map(|path| &**path)
}

fn path_text(path: &Path) -> Text<'_> {
    Text::from(path.as_os_str().as_encoded_bytes())
}

/// The path under `file`, or null for all files.
fn file<M: SerializeMap>(map: &mut M, path: Option<&Path>) -> Result<(), M::Error> {
    match path {
        Some(path) => json_text(map, "file", &path_text(path)),
        None => map.serialize_entry("file", &()),
    }
}

#[derive(Serialize)]
struct Counts {
    files: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    skipped: usize,
}

impl From<&Totals> for Counts {
    fn from(totals: &Totals) -> Self {
        let Totals { files, errors, warnings, notes, left, failed } = *totals;
        Counts { files, errors, warnings, notes, skipped: left + failed }
    }
}

#[derive(Serialize)]
struct EndLine {
    verdict: Verdict,
    counts: Counts,
}

struct FileEntry<'a> {
    path: &'a Path,
    size: Option<u64>,
}

impl Serialize for FileEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        json_text(&mut map, "path", &path_text(self.path))?;
        map.serialize_entry("size", &self.size)?;
        map.end()
    }
}

struct FindingEntry<'a> {
    path: Option<&'a Path>,
    finding: &'a Finding,
}

impl Serialize for FindingEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding { rule, severity, blob, offset, names, message, .. } = self.finding;
        let mut map = serializer.serialize_map(None)?;
        file(&mut map, self.path)?;
        map.serialize_entry("id", rule.id)?;
        map.serialize_entry("severity", severity)?;
        map.serialize_entry("blob", blob)?;
        map.serialize_entry("offset", offset)?;
        let shown: Vec<_> = names.iter().map(Text::to_string_lossy).collect();
        map.serialize_entry("names", &shown)?;
        if names.iter().any(|name| name.to_str().is_err()) {
            let bytes = |name: &Text<'_>| name.to_str().is_err().then(|| hex(name.as_bytes()));
            map.serialize_entry("namesBytes", &names.iter().map(bytes).collect::<Vec<_>>())?;
        }
        map.serialize_entry("message", message)?;
        map.end()
    }
}

struct SkippedEntry<'a> {
    path: Option<&'a Path>,
    left: &'a Left,
}

impl Serialize for SkippedEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        file(&mut map, self.path)?;
        map.serialize_entry("what", &self.left.what)?;
        map.serialize_entry("why", &self.left.why)?;
        map.serialize_entry("failed", &self.left.failed)?;
        map.end()
    }
}

#[derive(Serialize)]
struct RuleEntry {
    id: &'static str,
    severity: Severity,
    title: &'static str,
    meaning: &'static str,
    mend: &'static str,
}

impl From<&'static Rule> for RuleEntry {
    fn from(rule: &'static Rule) -> Self {
        let Rule { id, severity, title, meaning, mend, .. } = *rule;
        RuleEntry { id, severity, title, meaning, mend }
    }
}
