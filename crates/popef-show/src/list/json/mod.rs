//! JSON: one document, or one line per blob. The document has one blob per line too, so that line tools can read it. Both
//! are written blob by blob, so that memory stays small.

mod info;
mod payload;
mod values;

use std::io;

use popef::types::Text;
use popef::{Blob, Content};
use serde::Serialize;
use serde::ser::{self, SerializeMap};

use super::renderer::ListRenderer;
use crate::failure::{Failure, Failures};
use crate::json::members::members_without;
use crate::json::network::{NetworkLine, NetworkObject};
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
            blob_object(out, report, None, blob, failures)?;
            out.flush_if_full()?;
        }
        out.put(if separator == "\n" { "]" } else { "\n]" });
        if let Some(cost) = report.network() {
            out.put(",\"network\":");
            object(out, &NetworkObject(cost))?;
        }
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
            blob_object(out, report, Some(report.path()), blob, failures)?;
            out.end_line()?;
        }
        if let Some(cost) = report.network() {
            line(out, &NetworkLine { file: report.path(), cost })?;
        }
        if let Some(failure) = report.input.failure {
            line(out, &FailureLine { file: report.path(), failure })?;
        }
        Ok(())
    }
}

/// What JSON has of a file, for programs that make something else of it.
impl<'f> FileReport<'f> {
    /// The object of the file, without its blobs.
    pub fn file_object(&self) -> impl Serialize {
        FileObject(self)
    }

    /// The objects of the selected blobs. What they show of data is read when the iterator comes to them.
    pub fn blob_objects(&self) -> impl Iterator<Item: Serialize> {
        self.selected().map(|blob| BlobObject::new(self, None, blob))
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
    blob: Blob<'f>,
    failures: &mut Failures,
) -> io::Result<()> {
    let object_of_blob = BlobObject::new(report, file, blob);
    object_of_blob.info.failures().for_each(|failure| failures.push(failure));
    object(out, &object_of_blob)?;
    object_of_blob.info.late_failure().into_iter().for_each(|failure| failures.push(failure));
    Ok(())
}

/// The members of a file's object before its blobs.
struct FileStart<'r, 'f>(&'r FileReport<'f>);

impl Serialize for FileStart<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        file_members(&mut map, self.0)?;
        map.end()
    }
}

fn file_members<M: SerializeMap>(map: &mut M, report: &FileReport<'_>) -> Result<(), M::Error> {
    text(map, "path", &report.path())?;
    map.serialize_entry("size", &report.size())?;
    match report.before() {
        Some(before) => map.serialize_entry("prefix", &PayloadObject(&before)),
        None => Ok(()),
    }
}

/// The members of a file's object except its blobs.
struct FileObject<'r, 'f>(&'r FileReport<'f>);

impl Serialize for FileObject<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        file_members(&mut map, self.0)?;
        if let Some(failure) = self.0.input.failure {
            map.serialize_entry("error", failure)?;
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
    blob: Blob<'f>,
    content: Content<'f>,
    info: Info<'a, 'f>,
}

impl<'a, 'f> BlobObject<'a, 'f> {
    fn new(report: &'a FileReport<'f>, file: Option<Text<'f>>, blob: Blob<'f>) -> Self {
        let content = blob.content();
        let info = Info::of(&blob, &content, report);
        BlobObject { file, blob, content, info }
    }
}

impl Serialize for BlobObject<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(file) = &self.file {
            map.serialize_entry("kind", "blob")?;
            text(&mut map, "file", file)?;
        }
        members_without(&mut map, &["info", "error"], &self.blob)?;
        map.serialize_entry("info", &self.info.with(&self.content))?;
        if let Some(payload) = self.info.payload() {
            map.serialize_entry("payload", &PayloadObject(payload))?;
        }
        if let Some(failure) = self.info.failure().or(self.info.late_failure()) {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
