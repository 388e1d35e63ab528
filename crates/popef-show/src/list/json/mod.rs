//! JSON: one document, or one line per blob. The document has one blob per line too, so that line tools can read it. Both
//! are written blob by blob, so that memory stays small.

mod info;
mod payload;
mod values;

use std::io;

use popef::types::Text;
use popef::{Blob, Content};
use serde::Serialize;
use serde::ser::{self, SerializeMap as _};

use super::renderer::ListRenderer;
use crate::failure::{Failure, Failures};
use crate::json::members::members_without;
use crate::json::text::text;
use crate::json::write::{line, object};
use crate::output::out::Out;
use crate::report::file::FileReport;
use info::Info;
use payload::PayloadObject;

/// The version of this shape, `docs/dump.schema.json`.
const SCHEMA_VERSION: u32 = 1;

/// One document: `{"schemaVersion": 1, "files": [...]}`.
pub(crate) struct Json;

/// One line per blob, with its `file`, and one with an `error` for a file that could not be read to its end. Each has its `kind`.
pub(crate) struct JsonLines;

impl ListRenderer for Json {
    fn begin(&self, out: &mut Out) -> io::Result<()> {
        out.put("{\"schemaVersion\":").put(&SCHEMA_VERSION.to_string()).put(",\"files\":[");
        Ok(())
    }

    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        out.put(if report.input.index > 0 { ",\n" } else { "\n" });
        file_start(out, report)?;
        let mut separator = "\n";
        for blob in report.selected() {
            out.put(separator);
            separator = ",\n";
            blob_object(out, report, None, &blob, failures)?;
            out.flush_if_full()?;
        }
        out.put(if separator == "\n" { "]" } else { "\n]" });
        if let Some(failure) = report.input.failure {
            out.put(",\"error\":");
            object(out, failure)?;
        }
        out.put("}").flush_if_full()
    }

    fn end(&self, files: usize, out: &mut Out) -> io::Result<()> {
        out.put(if files > 0 { "\n]}" } else { "]}" }).end_line()
    }
}

impl ListRenderer for JsonLines {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        for blob in report.selected() {
            blob_object(out, report, Some(report.path()), &blob, failures)?;
            out.end_line()?;
        }
        if let Some(failure) = report.input.failure {
            line(out, &FailureLine { file: report.path(), failure })?;
        }
        Ok(())
    }
}

/// The beginning of a file's object, up to its first blob.
fn file_start(out: &mut Out, report: &FileReport<'_>) -> io::Result<()> {
    let mut start = Out::in_memory(false);
    object(&mut start, &FileStart(report))?;
    let mut start = start.into_bytes();
    start.pop_if(|&mut last| last == b'}');
    out.append(start)?;
    out.put(",\"blobs\":[");
    Ok(())
}

fn blob_object<'f>(
    out: &mut Out,
    report: &FileReport<'f>,
    file: Option<Text<'f>>,
    blob: &Blob<'f>,
    failures: &mut Failures,
) -> io::Result<()> {
    let content = blob.content();
    let info = Info::of(blob, &content, report);
    info.failures().for_each(|failure| failures.push(failure));
    let object_of_blob = BlobObject { file, blob, content: &content, info };
    object(out, &object_of_blob)?;
    object_of_blob.info.late_failure().into_iter().for_each(|failure| failures.push(failure));
    Ok(())
}

/// The members of a file's object before its blobs.
struct FileStart<'r, 'f>(&'r FileReport<'f>);

impl Serialize for FileStart<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        text(&mut map, "path", &self.0.path())?;
        map.serialize_entry("size", &self.0.size())?;
        if let Some(before) = self.0.before() {
            map.serialize_entry("prefix", &PayloadObject(&before))?;
        }
        map.end()
    }
}

struct FailureLine<'a> {
    file: Text<'a>,
    failure: &'a Failure,
}

impl Serialize for FailureLine<'_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "error")?;
        text(&mut map, "file", &self.file)?;
        map.serialize_entry("error", self.failure)?;
        map.end()
    }
}

struct BlobObject<'a, 'f> {
    /// The path of the file, if the object is a line.
    file: Option<Text<'f>>,
    blob: &'a Blob<'f>,
    content: &'a Content<'f>,
    info: Info<'a, 'f>,
}

impl Serialize for BlobObject<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(file) = &self.file {
            map.serialize_entry("kind", "blob")?;
            text(&mut map, "file", file)?;
        }
        members_without(&mut map, &["info", "error"], self.blob)?;
        map.serialize_entry("info", &self.info.with(self.content))?;
        if let Some(payload) = self.info.payload() {
            map.serialize_entry("payload", &PayloadObject(payload))?;
        }
        if let Some(failure) = self.info.failure().or(self.info.late_failure()) {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
