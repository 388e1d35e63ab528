//! Digests of files and their blobs.

use std::io;
use std::path::Path;

use popef::types::Diagnostic;
use popef_ops::hash::{BlobHash, Digests, FileHash, ManifestLine, PrefixHash};
use popef_ops::{FilePath, InFile};
use serde::Serialize;

use crate::output::json::{LongObject, item_in};
use crate::{Kind, Out, ReportFormat, counted, json_line, size, type_name};

/// Shows the digests of a file and its blobs, one after the other.
#[derive(Debug)]
pub struct HashRenderer {
    format: ReportFormat,
    path: FilePath,
    in_file: InFile,
    document: Option<LongObject>,
    /// Whether text has digests of data as stored, and not of contents.
    pub shows_data: bool,
    /// Whether text names the algorithm of each digest.
    pub names_algorithms: bool,
}

impl HashRenderer {
    /// Begins a file. `index` is the number of files before it.
    pub fn begin(out: &mut Out, index: usize, path: &Path, format: ReportFormat) -> io::Result<Self> {
        let (path, in_file) = (FilePath::from(path), InFile::from(path));
        let is_document = format == ReportFormat::Json;
        let document = is_document.then(|| LongObject::begin_nth(out, index, &path, "blobs")).transpose()?;
        Ok(HashRenderer { format, path, in_file, document, shows_data: false, names_algorithms: false })
    }

    /// The path of the file.
    pub fn path(&self) -> &FilePath {
        &self.path
    }

    /// Writes how large the file is, and how many of its blobs are chosen.
    pub fn opened(&self, out: &mut Out, bytes: u64, blobs: usize) -> io::Result<()> {
        if self.format != ReportFormat::Text {
            return Ok(());
        }
        out.text(Kind::Group, self.path.text());
        out.put(shown!("  {}, {}", size(bytes), counted(blobs, "blob", "blobs"))).end_line()
    }

    /// Writes the digests of a blob.
    pub fn blob(&mut self, out: &mut Out, blob: &BlobHash) -> io::Result<()> {
        match (self.format, &mut self.document) {
            (ReportFormat::Text, _) => self.write_blob(out, blob),
            (ReportFormat::Json, Some(document)) => document.element(out, blob),
            _ => json_line(out, &ManifestLine::Blob { file: &self.in_file, blob }),
        }
    }

    /// Writes the digests of the whole file.
    pub fn end(self, out: &mut Out, hash: &FileHash) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => self.write_sums_of(out, hash),
            _ => self.write_members(out, FileMembers::of(hash)),
        }
    }

    /// Writes why the whole file has no digests. Text leaves that to the caller.
    pub fn failed(self, out: &mut Out, error: Diagnostic) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => Ok(()),
            _ => self.write_members(out, FileMembers { error: Some(error), ..FileMembers::default() }),
        }
    }

    fn write_members(self, out: &mut Out, members: FileMembers) -> io::Result<()> {
        match self.document {
            // The list of blobs takes the place of their number.
            Some(document) => document.end(out, &FileMembers { blobs: None, ..members }),
            None => item_in(out, "file", &self.path, &members),
        }
    }

    fn write_blob(&self, out: &mut Out, blob: &BlobHash) -> io::Result<()> {
        let digests = if self.shows_data { &blob.data } else { &blob.content };
        if digests.is_empty() {
            out.put(shown!("{:<64}  ", "none"));
            name_of(out, blob);
            out.end_line()?;
        }
        self.line(out, digests, |out| name_of(out, blob))
    }

    fn write_sums_of(&self, out: &mut Out, hash: &FileHash) -> io::Result<()> {
        if let Some(prefix) = &hash.prefix {
            self.line(out, &prefix.data, |out| _ = out.put("what comes before PopEF"))?;
        }
        self.line(out, &hash.content, |out| _ = out.put("content of all blobs"))?;
        self.line(out, &hash.whole, |out| _ = out.put("whole file"))
    }

    /// A line for each digest, if there are any.
    fn line(&self, out: &mut Out, digests: &Digests, name: impl Fn(&mut Out)) -> io::Result<()> {
        for (algorithm, digest) in digests.named() {
            if self.names_algorithms {
                out.put(algorithm).put("  ");
            }
            out.put_as(Kind::Number, digest).put("  ");
            name(out);
            out.end_line()?;
        }
        Ok(())
    }
}

/// The members about a file as a whole.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileMembers {
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blobs: Option<u64>,
    damaged: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<PrefixHash>,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    content: Digests,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    headers: Digests,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    whole: Digests,
    error: Option<Diagnostic>,
}

impl FileMembers {
    fn of(hash: &FileHash) -> Self {
        let &FileHash { size, blobs, damaged, complete, prefix, content, headers, whole, .. } = hash;
        FileMembers {
            size: Some(size),
            blobs: Some(blobs),
            damaged,
            complete,
            prefix,
            content,
            headers,
            whole,
            error: None,
        }
    }
}

fn name_of(out: &mut Out, blob: &BlobHash) {
    out.put_as(Kind::Type, shown!("{:<10}", type_name(blob.blob_type))).put("  ");
    out.quoted(Kind::Name, blob.name.text());
}
