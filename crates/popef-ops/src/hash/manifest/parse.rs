//! Reads a manifest once, to find the files in it.

use std::sync::Arc;

use popef::read::LocalFile;
use serde::de::DeserializeSeed as _;

use super::super::digest::Algorithms;
use super::keys::{Keys, Level, Object, Sink};
use super::rows::{Order, Row};
use super::source::Source;
use super::{KeptRows, ManifestEntry, bad};
use crate::error::Error;
use crate::name::FilePath;

/// The files of all documents and lines.
pub(super) fn entries(text: &Arc<LocalFile>) -> Result<Vec<ManifestEntry>, Error> {
    let mut source = Source::new(text);
    let position = source.position();
    let mut found = Found { text, entries: Vec::new(), rows: Collected::default(), lines: None };
    while source.peek_behind_whitespace()?.is_some() {
        let start = position.at();
        let object = Object { level: Level::Top, position: &position, sink: &mut found };
        let read = object.deserialize(&mut serde_json::Deserializer::from_reader(&mut source));
        let taken = read.map_err(|error| error.to_string()).and_then(|keys| found.top(keys, start));
        taken.map_err(|what| bad(format!("this is no manifest: {what}, in the object at byte {start}")))?;
    }
    match found.lines {
        None => Ok(found.entries),
        Some((file, _)) => Err(bad(format!("the manifest ends after blobs of {file}, before the line of the file"))),
    }
}

/// What was found so far.
struct Found<'m> {
    text: &'m Arc<LocalFile>,
    entries: Vec<ManifestEntry>,
    /// The blobs of the file that is being read.
    rows: Collected,
    /// The file of the last blob lines, and where these begin.
    lines: Option<(FilePath, u64)>,
}

/// Several blobs, kept only as sums.
struct Collected {
    count: u64,
    order: Order,
    data: Algorithms,
    content: Algorithms,
}

impl Default for Collected {
    fn default() -> Self {
        Collected { count: 0, order: Order::default(), data: Algorithms::NONE, content: Algorithms::NONE }
    }
}

impl Collected {
    fn push(&mut self, row: &Row) {
        self.count = self.count.saturating_add(1);
        self.order.push(&row.key());
        self.data = self.data.or(row.data.algorithms());
        self.content = self.content.or(row.content.algorithms());
    }
}

/// Maximum number of files in a manifest. They are held in memory.
const MOST_FILES: usize = 1 << 20;

impl Found<'_> {
    /// Takes a document or a line.
    fn top(&mut self, keys: Keys, start: u64) -> Result<(), String> {
        match keys.kind.as_deref() {
            Some("blob") => self.line(keys, start),
            None if keys.files => Ok(()),
            None | Some("file") => self.entry(keys),
            // Later versions may have other kinds.
            Some(_) if self.lines.is_none() => Ok(()),
            Some(kind) => Err(format!("it is of kind {kind}, among the blobs of a file")),
        }
    }

    /// Takes the line of a blob.
    fn line(&mut self, mut keys: Keys, start: u64) -> Result<(), String> {
        let file = path(keys.file.take(), keys.file_bytes.as_deref())?.ok_or("a blob has no file")?;
        match &self.lines {
            None => self.lines = Some((file, start)),
            Some((of, _)) if *of == file => {}
            Some((of, _)) => return Err(format!("it is a blob of {file}, and the line of {of} is missing")),
        }
        self.rows.push(&Row::of(keys)?);
        Ok(())
    }

    fn entry(&mut self, keys: Keys) -> Result<(), String> {
        let path = path(keys.path, keys.path_bytes.as_deref())?.ok_or("it has neither files nor a path")?;
        let start = match self.lines.take() {
            None => keys.blobs.unwrap_or_default(),
            Some((of, start)) if of == path && keys.blobs.is_none() => start,
            Some((of, _)) => return Err(format!("it is about {path}, and the line of {of} is missing")),
        };
        let Collected { count, order, data, content } = match std::mem::take(&mut self.rows) {
            // A file that could not be hashed to its end has only its first blobs here.
            _ if keys.failed => Collected::default(),
            rows => rows,
        };
        if self.entries.len() >= MOST_FILES {
            return Err(format!("there are more than {MOST_FILES} files"));
        }
        self.entries.push(ManifestEntry {
            path,
            whole: keys.whole,
            content: keys.content,
            headers: keys.headers,
            prefix: keys.prefix,
            blobs: count,
            complete: keys.complete.unwrap_or(true),
            rows: KeptRows { start, order: order.finish(), data, content },
            text: self.text.clone(),
        });
        Ok(())
    }
}

impl Sink for Found<'_> {
    fn blob(&mut self, keys: Keys) -> Result<(), String> {
        self.rows.push(&Row::of(keys)?);
        Ok(())
    }

    fn file(&mut self, keys: Keys) -> Result<(), String> {
        self.entry(keys)
    }
}

fn path(path: Option<String>, bytes: Option<&str>) -> Result<Option<FilePath>, String> {
    let Some(path) = path else { return Ok(None) };
    let path = FilePath::of_keys(path, bytes);
    path.map(Some).ok_or_else(|| "the bytes of a path have two hex digits each".into())
}
