//! Whether files are as their manifest has them.

use std::io;
use std::path::Path;

use popef::types::Diagnostic;
use popef_ops::hash::{BlobVerdict, Verification, WrongBlob};
use popef_ops::{FilePath, InFile};
use serde::Serialize;

use crate::output::json::{LongObject, item_in};
use crate::{Kind, Out, ReportFormat, counted, type_name};

/// The outcome for a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileOutcome {
    /// Whether the file is unchanged.
    pub status: FileStatus,
    /// The result of the comparison.
    #[serde(flatten)]
    pub verification: Option<Verification>,
    /// Why it could not be compared.
    pub error: Option<Diagnostic>,
    /// The error in words, with its place in the file.
    #[serde(skip)]
    pub words: Option<String>,
    /// The part that was not compared, in words. The JSON then has no `whole`.
    #[serde(skip)]
    pub uncompared: Option<&'static str>,
}

/// How a file compares with its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileStatus {
    /// It is the same, as far as it was compared.
    Same,
    /// Nothing was compared, because neither the file nor the manifest has a chosen blob.
    NothingChosen,
    /// It is not the same.
    Different,
    /// There is no such file.
    Missing,
    /// It is no longer a PopEF file, or only a part of one.
    Damaged,
    /// The system cannot read it, or the manifest does not fit.
    Unreadable,
}

impl FileStatus {
    fn shown(self) -> &'static str {
        match self {
            FileStatus::Same => "OK",
            FileStatus::NothingChosen => "NOTHING CHOSEN",
            FileStatus::Different => "FAILED",
            FileStatus::Missing => "MISSING",
            FileStatus::Damaged => "DAMAGED",
            FileStatus::Unreadable => "UNREADABLE",
        }
    }
}

/// Shows the blobs of a file that have changed, and then the outcome for the file.
#[derive(Debug)]
pub struct VerifyRenderer<'a> {
    format: ReportFormat,
    is_quiet: bool,
    path: &'a FilePath,
    in_file: InFile,
    document: Option<LongObject>,
    /// The blobs to show as text, after the verdict.
    shown: Vec<WrongBlob>,
}

/// The maximum number of wrong blobs of a file in text.
const MOST_BLOBS: usize = 100;

impl<'a> VerifyRenderer<'a> {
    /// Begins a file, which is shown as `shown`. `index` is the number of files before it.
    pub fn begin(
        out: &mut Out,
        index: usize,
        path: &Path,
        shown: &'a FilePath,
        format: ReportFormat,
        is_quiet: bool,
    ) -> io::Result<Self> {
        let is_document = format == ReportFormat::Json;
        let document = is_document.then(|| LongObject::begin_nth(out, index, shown, "blobs")).transpose()?;
        Ok(VerifyRenderer { format, is_quiet, path: shown, in_file: path.into(), document, shown: Vec::new() })
    }

    /// Writes a blob. As text, it comes after the verdict.
    pub fn blob(&mut self, out: &mut Out, blob: WrongBlob) -> io::Result<()> {
        match (self.format, &mut self.document) {
            (ReportFormat::Text, _) if self.shown.len() < MOST_BLOBS => self.shown.push(blob),
            (ReportFormat::Text, _) => {}
            (ReportFormat::Json, Some(document)) => document.element(out, &blob)?,
            _ => item_in(out, "blob", &self.in_file, &blob)?,
        }
        Ok(())
    }

    /// Writes the outcome for the file.
    pub fn end(self, out: &mut Out, outcome: &FileOutcome) -> io::Result<()> {
        match self.document {
            Some(document) => document.end(out, outcome),
            None if self.format == ReportFormat::Ndjson => item_in(out, "file", self.path, outcome),
            None => self.write_text(out, outcome),
        }
    }

    fn write_text(&self, out: &mut Out, outcome: &FileOutcome) -> io::Result<()> {
        if matches!(outcome.status, FileStatus::Same | FileStatus::NothingChosen) && self.is_quiet {
            return Ok(());
        }
        out.text(Kind::Group, self.path.text()).put(": ");
        let kind = match outcome.status {
            FileStatus::Same => Kind::Added,
            FileStatus::NothingChosen => Kind::Warning,
            _ => Kind::Error,
        };
        out.put_as(kind, outcome.status.shown());
        if let Some(words) = &outcome.words {
            out.put(": ").text(Kind::Plain, &words.as_str().into());
        }
        if let Some(Verification { chosen: Some(chosen), .. }) = outcome.verification {
            let chosen = counted(chosen, "blob", "blobs");
            out.put(shown!(" ({} chosen; the file as a whole was not compared)", chosen));
        }
        out.end_line()?;
        if let Some(words) = outcome.uncompared {
            out.put("  note: ").put(words).end_line()?;
        }
        let Some(found) = outcome.verification else { return Ok(()) };
        let Verification { whole, content, prefix, changed, missing, added, .. } = found;
        if prefix == Some(false) {
            out.put("  ~ what comes before PopEF").end_line()?;
        }
        self.shown.iter().try_for_each(|blob| write_blob(out, blob))?;
        let wrong = found.wrong();
        if let Some(more @ 1..) = wrong.checked_sub(u64::try_from(self.shown.len()).unwrap_or(u64::MAX)) {
            let sums = shown!("{} changed, {} missing, {} new", changed, missing, added);
            out.put(shown!("  ... and {} more ({}); the JSON has all of them", more, sums)).end_line()?;
        }
        if whole == Some(false) && wrong == 0 && prefix != Some(false) {
            // Only then was all content compared.
            let is_meaning_same = content == Some(true) && prefix == Some(true);
            let only_form = "  ~ only order, versions, the encoding of messages or bytes after tensors";
            let unknown = "  ~ the bytes differ; the manifest does not say where";
            out.put(if is_meaning_same { only_form } else { unknown }).end_line()?;
        }
        Ok(())
    }
}

fn write_blob(out: &mut Out, blob: &WrongBlob) -> io::Result<()> {
    let (mark, kind, words) = match (blob.verdict, blob.data, blob.content) {
        (BlobVerdict::Missing, ..) => ("- ", Kind::Removed, " is missing"),
        (BlobVerdict::Added, ..) => ("+ ", Kind::Added, " is new"),
        (_, Some(false), Some(true)) => ("~ ", Kind::Number, " is stored in another way, and means the same"),
        _ => ("~ ", Kind::Number, " differs"),
    };
    out.put("  ").put_as(kind, mark).put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
    out.quoted(Kind::Name, blob.name.text()).put(words).end_line()
}
