//! Compares a file with its entry in a manifest: see [`verify`].

use std::cmp::Ordering;

use popef::File;
use popef::types::{BlobType, Text};
use serde::Serialize;

use super::digest::{Algorithms, Digests};
use super::manifest::{BlobHash, FileHash};
use super::whole::of_file;
use super::{HashOptions, hash};
use crate::error::{Code, Error};
use crate::name::Name;
use crate::progress::Progress;

/// How a file compares with its entry in a manifest. What is `None` was not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Verification {
    /// Whether everything that was compared is the same.
    pub ok: bool,
    /// Whether all bytes of the file are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// Whether the file means the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<bool>,
    /// Whether the bytes before the first blob are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<bool>,
    /// The blobs that are not as they should be.
    pub blobs: Vec<WrongBlob>,
}

/// A blob that is not as it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WrongBlob {
    /// What is wrong with it.
    pub verdict: BlobVerdict,
    /// The type of the blob.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// The executable that an opaque blob belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<Text<'static>>,
    /// Whether its data as stored is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<bool>,
    /// Whether it means the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<bool>,
}

/// What is wrong with a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum BlobVerdict {
    /// It differs.
    Changed,
    /// The file does not have it.
    Missing,
    /// The manifest does not have it.
    Added,
}

/// Compares a file with its entry in a manifest, by all digests that the entry has, or only by those of the content.
///
/// If the entry has a digest of the whole file and that is right, nothing else is computed. Otherwise the result says which
/// blobs differ. Fails if the entry has no digests of the kind that is asked for.
pub fn verify(
    file: &File,
    entry: &FileHash,
    only_content: bool,
    progress: &dyn Progress,
) -> Result<Verification, Error> {
    let whole = match only_content || entry.whole.is_empty() {
        true => None,
        false => {
            progress.expect(file.size());
            Some(of_file(file, entry.whole.algorithms(), progress)? == entry.whole)
        }
    };
    if whole == Some(true) {
        return Ok(Verification { ok: true, whole, content: None, prefix: None, blobs: Vec::new() });
    }
    let options = wanted(entry, only_content);
    if !options.data && !options.content && whole.is_none() {
        let kind = if only_content { "digests of the content" } else { "digests" };
        return Err(Error::new(Code::BadManifest, format!("the manifest has no {kind}")));
    }
    let found = hash(file, &options, &|_| true, progress)?;
    let content = same(&entry.content, &found.content, options.content);
    let prefix = (!entry.blobs.is_empty() || entry.prefix.is_some()).then(|| match (&entry.prefix, &found.prefix) {
        (Some(kept), Some(found)) => kept.data.agree(&found.data),
        (kept, found) => kept.is_none() && found.is_none(),
    });
    let blobs = if entry.blobs.is_empty() { Vec::new() } else { wrong_blobs(&entry.blobs, &found.blobs, &options) };
    let ok = [whole, content, prefix].iter().all(|same| *same != Some(false)) && blobs.is_empty();
    Ok(Verification { ok, whole, content, prefix, blobs })
}

/// The digests that an entry can be compared by.
fn wanted(entry: &FileHash, only_content: bool) -> HashOptions {
    let kept = |of: fn(&BlobHash) -> &Digests| entry.blobs.iter().map(of).filter(|digests| !digests.is_empty());
    let (data, contents) = (kept(|blob| &blob.data), kept(|blob| &blob.content));
    let content = std::iter::once(&entry.content).filter(|digests| !digests.is_empty()).chain(contents);
    let data: Vec<&Digests> = if only_content { Vec::new() } else { data.collect() };
    let content: Vec<&Digests> = content.collect();
    let any = |of: fn(Algorithms) -> bool| data.iter().chain(&content).any(|digests| of(digests.algorithms()));
    HashOptions {
        algorithms: Algorithms { sha256: any(|found| found.sha256), blake3: any(|found| found.blake3) },
        whole: false,
        data: !data.is_empty(),
        content: !content.is_empty(),
    }
}

/// Whether digests are the same, if they are compared.
fn same(kept: &Digests, found: &Digests, compared: bool) -> Option<bool> {
    (compared && !kept.is_empty()).then(|| kept.agree(found))
}

/// Pairs blobs by type, name and executable, and several of the same in their order.
fn wrong_blobs(kept: &[BlobHash], found: &[BlobHash], options: &HashOptions) -> Vec<WrongBlob> {
    fn key(blob: &BlobHash) -> (BlobType, &Name, &Option<Text<'static>>) {
        (blob.blob_type, &blob.name, &blob.executable)
    }
    fn sorted(blobs: &[BlobHash]) -> Vec<&BlobHash> {
        let mut sorted: Vec<&BlobHash> = blobs.iter().collect();
        sorted.sort_by(|one, other| key(one).cmp(&key(other)));
        sorted
    }
    let mut wrong = Vec::new();
    let mut found = sorted(found).into_iter().peekable();
    for kept in sorted(kept) {
        while let Some(added) = found.next_if(|found| key(found).cmp(&key(kept)) == Ordering::Less) {
            wrong.push(wrong_blob(added, BlobVerdict::Added, None, None));
        }
        let Some(found) = found.next_if(|found| key(found) == key(kept)) else {
            wrong.push(wrong_blob(kept, BlobVerdict::Missing, None, None));
            continue;
        };
        let data = same(&kept.data, &found.data, options.data);
        let content = same(&kept.content, &found.content, options.content);
        if data == Some(false) || content == Some(false) {
            wrong.push(wrong_blob(kept, BlobVerdict::Changed, data, content));
        }
    }
    wrong.extend(found.map(|added| wrong_blob(added, BlobVerdict::Added, None, None)));
    wrong
}

fn wrong_blob(blob: &BlobHash, verdict: BlobVerdict, data: Option<bool>, content: Option<bool>) -> WrongBlob {
    let BlobHash { blob_type, name, executable, .. } = blob.clone();
    WrongBlob { verdict, blob_type, name, executable, data, content }
}
