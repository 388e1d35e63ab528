//! JSON: one document, or one line a blob. Written as it goes, one blob a line in both, so that memory stays flat
//! and line tools find their way in the document too.

mod fields;
mod info;
mod members;
mod safe;

use std::io;

use popef::types::{BlobType, Text};
use popef::{Blob, Content};
use serde::Serialize;
use serde::ser::{self, SerializeMap as _};
use serde_json::Serializer;

use super::{Out, Renderer};
use crate::report::{Failure, Failures, FileReport};
pub(crate) use fields::{hex, text};
use info::Info;
use members::members_without;
use safe::Safe;

/// The version of this shape, `docs/dump.schema.json`.
const SCHEMA_VERSION: u32 = 1;

/// One document: `{"schemaVersion": 1, "files": [...]}`.
pub(crate) struct Json;

/// One line a blob, with its `file`; a line with an `error` for a file that could not be read to its end.
pub(crate) struct JsonLines;

impl Renderer for Json {
    fn begin(&self, out: &mut Out) -> io::Result<()> {
        out.put("{\"schemaVersion\":").number(SCHEMA_VERSION).put(",\"files\":[");
        Ok(())
    }

    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        out.put(if report.index > 0 { ",\n" } else { "\n" });
        out.put("{");
        out.put(&members(&FileStart(report))?).put(",\"blobs\":[");
        let mut separator = "\n";
        for blob in selected(report) {
            out.put(separator);
            separator = ",\n";
            blob_object(out, report, None, &blob, failures)?;
            out.flush_if_full()?;
        }
        out.put(if separator == "\n" { "]" } else { "\n]" });
        if let Some(failure) = report.failure {
            out.put(",\"error\":");
            object(out, failure)?;
        }
        out.put("}").flush_if_full()
    }

    fn end(&self, files: usize, out: &mut Out) -> io::Result<()> {
        out.put(if files > 0 { "\n]}" } else { "]}" }).end_line()
    }
}

impl Renderer for JsonLines {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        for blob in selected(report) {
            blob_object(out, report, Some(path(report)), &blob, failures)?;
            out.end_line()?;
        }
        if let Some(failure) = report.failure {
            object(out, &FailureLine { file: path(report), failure })?;
            out.end_line()?;
        }
        Ok(())
    }
}

pub(crate) fn object(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Safe))?)
}

/// What stands between the braces of an object.
fn members(value: &impl Serialize) -> io::Result<String> {
    let mut object = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut object, Safe))?;
    let object = String::from_utf8(object).unwrap_or_default();
    Ok(object.trim_start_matches('{').trim_end_matches('}').to_owned())
}

/// The blobs whose type was selected.
fn selected<'f>(report: &FileReport<'f>) -> impl Iterator<Item = Blob<'f>> {
    let select = &report.options.select;
    report.blobs().filter(|blob| match blob.blob_type() {
        BlobType::PoplarExecutable => select.execs,
        BlobType::Metadata => select.metadata || select.anchors || select.user_anchors,
        BlobType::DataTensor => select.tensors,
        BlobType::DataFeed => select.feeds,
        BlobType::Opaque => select.opaques,
        _ => select.all,
    })
}

fn path<'f>(report: &FileReport<'f>) -> Text<'f> {
    Text::from(report.path.as_os_str().as_encoded_bytes())
}

fn blob_object<'f>(
    out: &mut Out,
    report: &FileReport<'f>,
    file: Option<Text<'f>>,
    blob: &Blob<'f>,
    failures: &mut Failures,
) -> io::Result<()> {
    let content = blob.content();
    let info = Info::of(&content, report);
    info.failures().iter().for_each(|failure| failures.push(failure));
    let object_of_blob = BlobObject { file, blob, content: &content, info };
    object(out, &object_of_blob)?;
    object_of_blob.info.late_failure().into_iter().for_each(|failure| failures.push(failure));
    Ok(())
}

/// What is said of a file before its blobs.
struct FileStart<'r, 'f>(&'r FileReport<'f>);

impl Serialize for FileStart<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        text(&mut map, "path", &path(self.0))?;
        map.serialize_entry("size", &self.0.size())?;
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
        text(&mut map, "file", &self.file)?;
        map.serialize_entry("error", self.failure)?;
        map.end()
    }
}

struct BlobObject<'a, 'f> {
    file: Option<Text<'f>>,
    blob: &'a Blob<'f>,
    content: &'a Content<'f>,
    info: Info<'a, 'f>,
}

impl Serialize for BlobObject<'_, '_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(file) = &self.file {
            text(&mut map, "file", file)?;
        }
        members_without(&mut map, &["info", "error"], self.blob)?;
        map.serialize_entry("info", &self.info.with(self.content))?;
        if let Some(failure) = self.info.failure().or(self.info.late_failure()) {
            map.serialize_entry("error", failure)?;
        }
        map.end()
    }
}
