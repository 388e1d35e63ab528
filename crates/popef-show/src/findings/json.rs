//! Findings as JSON: one document, or lines. Their shape is `docs/findings.schema.json`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use popef::types::Text;
use popef_check::{Finding, Rule, Skipped};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::group::{CheckedFile, Group, Mend, Totals, Verdict};
use super::renderer::FindingsRenderer;
use crate::json::network::{NetworkLine, NetworkObject};
use crate::json::text::{hex, text};
use crate::json::write::{array, line, object};
use crate::output::out::Out;
use crate::rules::json::{RuleEntry, SCHEMA_VERSION};

/// One document, written after the last group.
#[derive(Default)]
pub(super) struct Document {
    groups: Vec<Group>,
}

/// One line per finding, one for each thing that was not looked at, one for each file on another machine, and one with the counts at the end.
pub(super) struct Lines;

impl FindingsRenderer for Document {
    fn group(&mut self, _out: &mut Out, group: Group) -> io::Result<()> {
        self.groups.push(group);
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        out.put("{\"schemaVersion\":").put(&SCHEMA_VERSION.to_string()).put(",\"verdict\":");
        object(out, &verdict)?;
        out.put(",\"counts\":");
        object(out, &Counts::from(totals))?;
        if totals.unsafe_pickles > 0 {
            out.put(",\"notSafeToUnpickle\":true");
        }
        array(out, "files", self.groups.iter().flat_map(files))?;
        array(out, "findings", self.groups.iter().flat_map(findings))?;
        array(out, "skipped", self.groups.iter().flat_map(skipped))?;
        array(out, "rules", rules(&self.groups).map(RuleEntry::from))?;
        out.put("}").end_line()
    }
}

impl FindingsRenderer for Lines {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        findings(&group).try_for_each(|entry| line(out, &Line { kind: "finding", entry }))?;
        skipped(&group).try_for_each(|entry| line(out, &Line { kind: "skipped", entry }))?;
        let of_file = |file: &CheckedFile| file.network.map(|cost| (path_text(&file.path).into_owned(), cost));
        group.files.iter().filter_map(of_file).try_for_each(|(file, cost)| line(out, &NetworkLine { file, cost }))
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        line(out, &Line { kind: "end", entry: End::of(totals, verdict) })
    }
}

fn files(group: &Group) -> impl Iterator<Item = FileEntry<'_>> {
    let numbered = group.files.iter().enumerate();
    numbered.map(|(number, file)| FileEntry { file, is_unsafe: group.is_unsafe(number) })
}

/// The rules that found something, in the order of their ids.
pub(super) fn rules(groups: &[Group]) -> impl Iterator<Item = &'static Rule> {
    let findings = groups.iter().flat_map(|group| &group.report.findings);
    findings.map(|finding| (finding.rule.id, finding.rule)).collect::<BTreeMap<_, _>>().into_values()
}

fn findings(group: &Group) -> impl Iterator<Item = FindingEntry<'_>> {
    group.report.findings.iter().enumerate().map(|(number, finding)| FindingEntry {
        path: path(group, Some(finding.file)),
        finding,
        mend: group.mend(number),
    })
}

fn skipped(group: &Group) -> impl Iterator<Item = SkippedEntry<'_>> {
    group.report.skipped.iter().map(|skipped| SkippedEntry { path: path(group, skipped.file), skipped })
}

fn path(group: &Group, file: Option<usize>) -> Option<&Path> {
    group.path(file?)
}

fn path_text(path: &Path) -> Text<'_> {
    Text::from(path.as_os_str().as_encoded_bytes())
}

/// The path under `file`, or null for all files.
fn file<M: SerializeMap>(map: &mut M, path: Option<&Path>) -> Result<(), M::Error> {
    match path {
        Some(path) => text(map, "file", &path_text(path)),
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
        let Totals { files, errors, warnings, notes, left_out, failed, .. } = *totals;
        Counts { files, errors, warnings, notes, skipped: left_out + failed }
    }
}

/// What makes an entry a line of its own.
#[derive(Serialize)]
struct Line<T> {
    kind: &'static str,
    #[serde(flatten)]
    entry: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct End {
    verdict: Verdict,
    counts: Counts,
    /// Only if it is so: a file that is not known to be unsafe may not have been looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_safe_to_unpickle: bool,
}

impl End {
    fn of(totals: &Totals, verdict: Verdict) -> Self {
        End { verdict, counts: totals.into(), not_safe_to_unpickle: totals.unsafe_pickles > 0 }
    }
}

struct FileEntry<'a> {
    file: &'a CheckedFile,
    /// It has a pickle that is not safe to unpickle.
    is_unsafe: bool,
}

impl Serialize for FileEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let CheckedFile { path, size, network, .. } = self.file;
        text(&mut map, "path", &path_text(path))?;
        map.serialize_entry("size", size)?;
        if let Some(cost) = *network {
            map.serialize_entry("network", &NetworkObject(cost))?;
        }
        if self.is_unsafe {
            map.serialize_entry("notSafeToUnpickle", &true)?;
        }
        map.end()
    }
}

struct FindingEntry<'a> {
    path: Option<&'a Path>,
    finding: &'a Finding,
    mend: Option<&'a Mend>,
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
        if let Some(mend) = self.mend {
            map.serialize_entry("mend", mend)?;
        }
        map.end()
    }
}

struct SkippedEntry<'a> {
    path: Option<&'a Path>,
    skipped: &'a Skipped,
}

impl Serialize for SkippedEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        file(&mut map, self.path)?;
        map.serialize_entry("what", &self.skipped.what)?;
        map.serialize_entry("why", &self.skipped.why)?;
        map.serialize_entry("failed", &self.skipped.failed)?;
        map.end()
    }
}
