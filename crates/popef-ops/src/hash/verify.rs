//! Compares a file with its entry in a manifest: see [`verify`].

use std::fmt;

use popef::error::ErrorCode;
use popef::read::ReadAt as _;
use popef::types::{BlobType, Text};
use popef::{Blob, File};
use serde::Serialize;

use super::digest::{Algorithms, Digests};
use super::manifest::{ManifestEntry, Row, Rows, digest_of, order_of};
use super::report::{BlobHash, PrefixHash};
use super::whole::of_file;
use super::{HashOptions, hash};
use crate::error::{Code, Error};
use crate::listed::name_of;
use crate::name::Name;
use crate::progress::Progress;

/// How to compare a file with its entry in a manifest.
#[derive(Clone, Copy, Default)]
pub struct VerifyOptions<'o> {
    /// Whether only the digests of the content are compared. Otherwise all digests of the entry are.
    pub only_content: bool,
    /// Which blobs are compared, by their type and name; metadata has the name of its executable. Then the file as a
    /// whole is not compared. `None` for all blobs.
    pub select: Option<SelectNamed<'o>>,
}

/// Chooses blobs of a file and of a manifest, by their type and name.
pub type SelectNamed<'o> = &'o (dyn Fn(BlobType, &Text<'_>) -> bool + Sync);

impl VerifyOptions<'_> {
    fn chooses(&self, blob_type: BlobType, name: &Text<'_>) -> bool {
        self.select.is_none_or(|select| select(blob_type, name))
    }
}

impl fmt::Debug for VerifyOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions").field("only_content", &self.only_content).finish_non_exhaustive()
    }
}

/// The result of comparing a file with its entry in a manifest. A `None` was not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Verification {
    /// Whether everything that was compared is the same.
    pub ok: bool,
    /// Whether all bytes of the file are the same. The digest of the whole file shows it, or those of the headers and
    /// of the data of all blobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// Whether the file means the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<bool>,
    /// Whether the bytes before the first blob are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<bool>,
    /// How many blobs of the file and of the manifest were compared, if they were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<u64>,
    /// How many blobs differ.
    pub changed: u64,
    /// How many blobs the file does not have.
    pub missing: u64,
    /// How many blobs the manifest does not have.
    pub added: u64,
}

/// A blob that differs, is missing or is new.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WrongBlob {
    /// What is wrong with it.
    pub verdict: BlobVerdict,
    /// Its number in the file, counted from 0, if the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
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

/// Compares a file with its entry in a manifest, by all digests of the entry, or only by those of the content.
///
/// If the entry has a digest of the whole file and that is right, nothing else is computed. Otherwise `each` is called
/// with the blobs that differ or are new, in file order, and then with those that are missing. Blobs are found by type,
/// name and executable, and several with the same key in their order. Fails if the entry has no digests of the
/// requested kind.
///
/// The blobs of the entry are read while those of the file are hashed, and are not kept. If their order differs, 32
/// bytes of each are kept.
///
/// ```
/// use popef_ops::Silent;
/// use popef_ops::hash::{HashOptions, Manifest, ManifestLine, VerifyOptions, hash, verify};
///
/// # let file = popef::File::open("../../popef/examples/data/executable.popef")?;
/// # let other = popef::File::open("../../popef/examples/data/all-types.popef")?;
/// # use std::path::Path;
/// let (path, in_file) = (Path::new("model.popef").into(), Path::new("model.popef").into());
/// let mut lines = Vec::new();
/// let hashed = hash(&file, &HashOptions::default(), &Silent, &mut |blob| {
///     lines.push(serde_json::to_string(&ManifestLine::Blob { file: &in_file, blob: &blob }).unwrap());
///     Ok(())
/// })?;
/// lines.push(serde_json::to_string(&ManifestLine::File { path: &path, hash: &hashed })?);
///
/// let manifest = Manifest::read(&mut lines.join("\n").as_bytes())?;
/// let Manifest::Entries(entries) = manifest else { panic!("lines of JSON are entries") };
/// let check = |file| verify(file, &entries[0], &VerifyOptions::default(), &Silent, &mut |_| Ok(()));
/// assert!(check(&file)?.ok);
/// assert_eq!(check(&other)?.content, Some(false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(
    file: &File,
    entry: &ManifestEntry,
    options: &VerifyOptions<'_>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(WrongBlob) -> Result<(), Error>,
) -> Result<Verification, Error> {
    let mut found = Verification::default();
    let is_all = options.select.is_none();
    if is_all && !options.only_content && !entry.whole.is_empty() {
        progress.expect(file.end());
        found.whole = Some(of_file(file, entry.whole.algorithms(), progress)? == entry.whole);
        if found.whole == Some(true) {
            return Ok(Verification { ok: true, ..found });
        }
    }
    let chosen = |blob: &Blob<'_>| options.chooses(blob.blob_type(), &name_of(blob));
    let wanted = HashOptions { select: &chosen, ..wanted(entry, options) };
    let has_none = !is_all && has_no_blobs(entry);
    if !wanted.data && !wanted.content && !wanted.headers && found.whole.is_none() && !has_none {
        let kind = match (is_all, options.only_content) {
            (false, _) => "digests of blobs of the wanted kind",
            (true, true) => "digests of the content",
            (true, false) => "digests",
        };
        return Err(Error::new(Code::BadManifest, format!("the manifest has no {kind}")));
    }
    let mut blobs = Blobs::of(entry, file, options)?;
    let mut same_data = 0u64;
    let hashed = hash(file, &wanted, progress, &mut |blob| match blobs.judge(&blob, &wanted)? {
        Judged::Wrong(wrong) => {
            found.count(wrong.verdict);
            each(*wrong)
        }
        Judged::Right { same_data: is_same } => {
            same_data = same_data.saturating_add(is_same.into());
            Ok(())
        }
    })?;
    blobs.missing(&mut |wrong| {
        found.count(wrong.verdict);
        each(wrong)
    })?;
    if is_all {
        found.content = same(&entry.content, &hashed.content, wanted.content);
        found.prefix = same_prefix(entry, hashed.prefix.as_ref());
        found.whole = found.whole.or_else(|| {
            let headers = same(&entry.headers, &hashed.headers, wanted.headers)?;
            let is_same = headers && found.prefix != Some(false) && found.wrong() == 0;
            // All bytes are covered only if each blob has a digest of its data.
            (!is_same || same_data == hashed.blobs).then_some(is_same)
        });
    } else {
        found.chosen = Some(hashed.blobs.saturating_add(found.missing));
    }
    let is_same = [found.whole, found.content, found.prefix].iter().all(|same| *same != Some(false));
    found.ok = is_same && found.wrong() == 0;
    check_unchanged(entry)?;
    Ok(found)
}

impl Verification {
    fn count(&mut self, verdict: BlobVerdict) {
        let count = match verdict {
            BlobVerdict::Changed => &mut self.changed,
            BlobVerdict::Missing => &mut self.missing,
            BlobVerdict::Added => &mut self.added,
        };
        *count = count.saturating_add(1);
    }

    /// The number of blobs that differ, are missing or are new.
    pub fn wrong(&self) -> u64 {
        [self.changed, self.missing, self.added].into_iter().fold(0, u64::saturating_add)
    }
}

/// The blobs were read twice: first to find their keys, then to compare them.
fn check_unchanged(entry: &ManifestEntry) -> Result<(), Error> {
    match entry.text.is_unchanged() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::new(ErrorCode::FileChanged, "the manifest was changed while it was read")),
        Err(error) => Err(Error::io("look at the manifest", error)),
    }
}

/// Whether the file of an entry had no blobs. Of an entry with only a digest of the whole file, nobody knows.
fn has_no_blobs(entry: &ManifestEntry) -> bool {
    entry.blobs == 0 && entry.complete && !(entry.content.is_empty() && entry.headers.is_empty())
}

/// The digests that an entry can be compared by.
fn wanted(entry: &ManifestEntry, options: &VerifyOptions<'_>) -> HashOptions<'static> {
    let of_file = |algorithms| if options.select.is_none() { algorithms } else { Algorithms::NONE };
    let exactly = |algorithms| if options.only_content { Algorithms::NONE } else { algorithms };
    let content = of_file(entry.content.algorithms()).or(entry.rows.content);
    let (data, headers) = (exactly(entry.rows.data), of_file(exactly(entry.headers.algorithms())));
    HashOptions {
        algorithms: content.or(data).or(headers),
        data: data != Algorithms::NONE,
        content: content != Algorithms::NONE,
        headers: headers != Algorithms::NONE,
        ..HashOptions::default()
    }
}

/// Whether the bytes before the first blob are the same, if the manifest says so.
fn same_prefix(entry: &ManifestEntry, found: Option<&PrefixHash>) -> Option<bool> {
    let has_parts = entry.blobs > 0 || !entry.headers.is_empty();
    (has_parts || entry.prefix.is_some()).then(|| match (&entry.prefix, found) {
        (Some(kept), Some(found)) => kept.data.agree(&found.data),
        (kept, found) => kept.is_none() && found.is_none(),
    })
}

/// Whether digests are the same, if they are compared.
fn same(kept: &Digests, found: &Digests, compared: bool) -> Option<bool> {
    (compared && !kept.is_empty()).then(|| kept.agree(found))
}

/// The blobs of an entry, which those of a file are compared with.
struct Blobs<'m> {
    rows: Rows<'m>,
    options: VerifyOptions<'m>,
    found_by: FoundBy,
    /// Whether a blob that the entry does not have is wrong.
    complete: bool,
}

/// The result of comparing a blob of the file with the entry's.
enum Judged {
    Wrong(Box<WrongBlob>),
    /// It is right, as far as it was compared.
    Right {
        /// Whether its data was compared.
        same_data: bool,
    },
}

/// How to find the entry's blob for a blob of the file.
enum FoundBy {
    /// The entry has no blobs.
    Nothing,
    /// It is always the next one.
    Order,
    Index(Vec<Indexed>),
}

/// A blob of an entry, by the digest of its key. They are ordered by the digest, and then by their places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Indexed {
    key: u128,
    place: u64,
    /// For the first one with a key: the number of blobs with that key that were found in the file.
    found: u32,
}

impl<'m> Blobs<'m> {
    fn of(entry: &'m ManifestEntry, file: &File, options: &VerifyOptions<'m>) -> Result<Self, Error> {
        let mut rows = Rows::new(entry);
        let found_by = match entry.blobs {
            // Any that is chosen was added.
            0 if options.select.is_some() && has_no_blobs(entry) => FoundBy::Index(Vec::new()),
            0 => FoundBy::Nothing,
            _ if order_of(file) == entry.rows.order => FoundBy::Order,
            _ => FoundBy::Index(indexed(&mut rows, options)?),
        };
        Ok(Blobs { rows, options: *options, found_by, complete: entry.complete })
    }

    /// The next chosen blob of the entry.
    fn next(&mut self) -> Result<Option<Row>, Error> {
        while let Some((_, row)) = self.rows.next()? {
            if self.options.chooses(row.blob_type, row.name.text()) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Compares a blob of the file.
    fn judge(&mut self, blob: &BlobHash, wanted: &HashOptions<'_>) -> Result<Judged, Error> {
        let uncompared = Judged::Right { same_data: false };
        let kept = match &mut self.found_by {
            FoundBy::Nothing => return Ok(uncompared),
            FoundBy::Order => self.next()?,
            FoundBy::Index(index) => {
                find(index, key_of(&digest_of(&blob.key()))).map(|place| self.rows.at(place)).transpose()?
            }
        };
        let Some(kept) = kept else {
            return Ok(if self.complete { wrong(blob, BlobVerdict::Added, None, None) } else { uncompared });
        };
        if kept.key() != blob.key() {
            return Err(Error::new(ErrorCode::FileChanged, "the manifest was changed while it was read"));
        }
        let data = same(&kept.data, &blob.data, wanted.data);
        let content = same(&kept.content, &blob.content, wanted.content);
        Ok(match (data, content) {
            (Some(false), _) | (_, Some(false)) => wrong(blob, BlobVerdict::Changed, data, content),
            _ => Judged::Right { same_data: data == Some(true) },
        })
    }

    /// Reports the blobs that were not found in the file, in the order of the manifest.
    fn missing(&mut self, each: &mut dyn FnMut(WrongBlob) -> Result<(), Error>) -> Result<(), Error> {
        let FoundBy::Index(index) = &mut self.found_by else { return Ok(()) };
        let mut places: Vec<u64> = Vec::new();
        for same in index.chunk_by(|one, other| one.key == other.key) {
            let found = same.first().map_or(0, |first| usize::try_from(first.found).unwrap_or(usize::MAX));
            places.extend(same.get(found..).unwrap_or_default().iter().map(|indexed| indexed.place));
        }
        places.sort_unstable();
        for place in places {
            let Row { blob_type, name, executable, .. } = self.rows.at(place)?;
            let verdict = BlobVerdict::Missing;
            each(WrongBlob { verdict, index: None, blob_type, name, executable, data: None, content: None })?;
        }
        Ok(())
    }
}

fn indexed(rows: &mut Rows<'_>, options: &VerifyOptions<'_>) -> Result<Vec<Indexed>, Error> {
    let mut index = Vec::new();
    while let Some((place, row)) = rows.next()? {
        if !options.chooses(row.blob_type, row.name.text()) {
            continue;
        }
        index.push(Indexed { key: key_of(&digest_of(&row.key())), place, found: 0 });
    }
    index.sort_unstable();
    Ok(index)
}

/// Half of the digest of a key, which is enough to distinguish keys.
fn key_of(digest: &blake3::Hash) -> u128 {
    let (&[half, _], []) = digest.as_bytes().as_chunks::<16>() else { return 0 };
    u128::from_le_bytes(half)
}

/// The place of the next blob with a key that was not found before.
fn find(index: &mut [Indexed], key: u128) -> Option<u64> {
    let start = index.partition_point(|indexed| indexed.key < key);
    let same = index.get_mut(start..)?;
    let found = usize::try_from(same.first().filter(|first| first.key == key)?.found).ok()?;
    let place = same.get(found).filter(|next| next.key == key)?.place;
    let first = same.first_mut()?;
    first.found = first.found.saturating_add(1);
    Some(place)
}

fn wrong(blob: &BlobHash, verdict: BlobVerdict, data: Option<bool>, content: Option<bool>) -> Judged {
    let BlobHash { index, blob_type, name, executable, .. } = blob.clone();
    Judged::Wrong(Box::new(WrongBlob { verdict, index: Some(index), blob_type, name, executable, data, content }))
}
