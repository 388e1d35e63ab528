//! Makes several files of one.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use popef::read::FileId;
use popef::types::{BlobType, Text};
use popef::{Blob, Content, File};
use popef_work::{Thread, Turn, aside};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::extract::names::Names;
use crate::folders::Made;
use crate::listed::{Item, Listed};
use crate::name::FilePath;
use crate::output::{Output, Target, TargetFolder};
use crate::progress::Progress;
use crate::rights::Most;
use crate::verify::has_same_head;

/// How a file is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SplitBy {
    /// Executables with metadata, opaque blobs and blobs of unknown types; tensors; feeds.
    Kind,
    /// One part for each executable that metadata names: the metadata, the executable, its opaque blobs, and the
    /// tensors and feeds that the anchors name. Blobs that belong to no executable form a part of their own.
    Model,
    /// Parts of at most this many bytes, in file order. A larger blob is a part of its own.
    Size(u64),
}

/// How a file is split.
#[derive(Clone, Copy)]
pub struct SplitOptions<'o> {
    /// What becomes a part.
    pub by: SplitBy,
    /// The common beginning of the names of all parts.
    pub stem: &'o OsStr,
    /// Which blobs are written.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

/// All blobs by kind, into files whose names begin with `part`.
impl Default for SplitOptions<'_> {
    fn default() -> Self {
        SplitOptions { by: SplitBy::Kind, stem: OsStr::new("part"), select: &|_| true }
    }
}

impl fmt::Debug for SplitOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitOptions").field("by", &self.by).field("stem", &self.stem).finish_non_exhaustive()
    }
}

/// The result for a file that was split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Split {
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// Blobs that are in several parts, because several models use them.
    pub shared: Listed<Item>,
    /// Files in the folder whose names look like parts, but that are not parts: an earlier split may have left them.
    /// They stay as they are, and merging all files of the folder would include them.
    pub left_over: Listed<FilePath>,
}

/// One of the files that a file was split into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its path.
    #[serde(flatten)]
    pub path: FilePath,
    /// How many blobs it has.
    pub blobs: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is larger than requested, because it has one large blob.
    pub too_large: bool,
}

/// Splits a file into several PopEF files. [`merge`](crate::merge) makes one file of them again. For parts by size,
/// with [`Keep::All`](crate::Keep::All), it is the same file.
///
/// Nothing appears until all parts are written and read back. If then one cannot be put in its place, those before it are removed
/// again, except where they replaced a file. What comes before the first blob goes into the first part. Names of blobs become safe
/// names of files, and nothing is written through links.
///
/// ```
/// use popef_ops::{Overwrite, Silent, SplitOptions, TargetFolder, split};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.popef");
/// # let mut writer = popef::Writer::create(&path)?;
/// # writer.write_executable("model", b"its bytes")?;
/// # writer.write_feed_bytes(&Default::default(), b"")?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let parts = folder.path().join("parts");
/// let options = SplitOptions { stem: "model".as_ref(), ..SplitOptions::default() };
/// assert_eq!(split(&file, TargetFolder::At(&parts, Overwrite::Never), &options, &Silent)?.parts.len(), 2);
/// assert_eq!(popef::File::open(parts.join("model-feeds.popef"))?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn split(
    file: &File,
    target: TargetFolder<'_>,
    options: &SplitOptions<'_>,
    progress: &dyn Progress,
) -> Result<Split, Error> {
    if Path::new(options.stem).file_name() != Some(options.stem) {
        let message = format!("{:?} cannot be the beginning of names: it is empty, or a path", options.stem);
        return Err(Error::new(Code::WrongArguments, message));
    }
    let plan = Plan::of(file, options)?;
    let names: Vec<OsString> = plan.names.iter().map(|name| file_name(options.stem, name)).collect();
    let are_new = check(file, target, &names)?;
    let _made = match target {
        // All parts share it, so none of them can remove it again.
        TargetFolder::At(folder, _) if !names.is_empty() => Some(Made::make(folder, Most::of([file]))?),
        _ => None,
    };
    let parts = plan.write(target, &names, &are_new, progress)?;
    Ok(Split { parts, shared: plan.shared(), left_over: left_over(file, target, options.stem, &names) })
}

/// Files in the folder whose names look like parts but that are not parts, except the input.
fn left_over(file: &File, target: TargetFolder<'_>, stem: &OsStr, names: &[OsString]) -> Listed<FilePath> {
    let mut left = Listed::default();
    let (TargetFolder::At(folder, _) | TargetFolder::Trial(folder, _)) = target else { return left };
    let is_other = |name: &OsString| is_named_like_a_part(name, stem) && !names.contains(name);
    // An unreadable folder is not a reason to fail.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<OsString> = entries.map(|entry| entry.file_name()).filter(is_other).collect();
    others.sort();
    for path in others.iter().map(|name| folder.join(name)) {
        let is_input = || file.id().is_some_and(|id| FileId::of_path(&path).is_ok_and(|other| other == id));
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() && !is_input() => left.push(found.len(), || path.as_path().into()),
            _ => {}
        }
    }
    left
}

fn is_named_like_a_part(name: &OsStr, stem: &OsStr) -> bool {
    let behind = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
    behind.is_some_and(|behind| behind.starts_with(b"-") && behind.ends_with(b".popef"))
}

/// Fails if something prevents writing the parts. Returns for each of them whether its path is free.
fn check(file: &File, target: TargetFolder<'_>, names: &[OsString]) -> Result<Vec<bool>, Error> {
    target.check()?;
    let is_new = |name: &OsString| {
        Target::In(target, name).check([file])?;
        Ok(!target.path_of(name).exists())
    };
    names.iter().map(is_new).collect()
}

fn file_name(stem: &OsStr, name: &str) -> OsString {
    let mut file = stem.to_owned();
    file.push("-");
    file.push(name);
    file.push(".popef");
    file
}

/// Which blobs go into which part.
struct Plan<'f> {
    file: Chosen<'f>,
    /// The endings of the names of the parts.
    names: Vec<String>,
    rule: Rule,
    /// The numbers of the parts in the rule. The rule may have more parts: a model without a chosen blob gives no part.
    numbers: Vec<usize>,
    /// Maximum size of a part.
    most: u64,
}

/// A file and the choice of its blobs that are written.
#[derive(Clone, Copy)]
struct Chosen<'f> {
    file: &'f File,
    select: &'f (dyn Fn(&Blob<'_>) -> bool + Sync),
}

impl<'f> Chosen<'f> {
    fn blobs(self) -> impl Iterator<Item = Blob<'f>> {
        self.file.blobs().filter(move |blob| (self.select)(blob))
    }
}

/// What assigns a blob to a part.
enum Rule {
    Kinds(Vec<Kind>),
    Ranges(Vec<Range<usize>>),
    Models(Models),
}

/// Some systems cannot write more files at the same time.
const MOST_PARTS: usize = 400;

impl<'f> Plan<'f> {
    fn of(file: &'f File, options: &SplitOptions<'f>) -> Result<Self, Error> {
        let SplitOptions { by, select, .. } = *options;
        let file = Chosen { file, select };
        let (names, rule) = match by {
            SplitBy::Kind => by_kind(file),
            SplitBy::Model => Models::of(file)?,
            SplitBy::Size(most) => by_size(file, most)?,
        };
        let most = if let SplitBy::Size(most) = by { most } else { u64::MAX };
        let mut plan = Plan { file, names: Vec::new(), rule, numbers: Vec::new(), most };
        for (number, name) in names.into_iter().enumerate() {
            if plan.blobs_of(number).next().is_some() {
                plan.numbers.push(number);
                plan.names.push(name);
            }
        }
        Ok(plan)
    }

    /// The blobs of a part, in file order.
    fn blobs(&self, part: usize) -> impl Iterator<Item = Blob<'f>> {
        self.numbers.get(part).into_iter().flat_map(|number| self.blobs_of(*number))
    }

    /// The blobs of a part by its number in the rule.
    fn blobs_of(&self, part: usize) -> Box<dyn Iterator<Item = Blob<'f>> + '_> {
        let blobs = self.file.blobs();
        match &self.rule {
            Rule::Kinds(kinds) => Box::new(blobs.filter(move |blob| kinds.get(part) == Some(&Kind::of(blob)))),
            Rule::Models(models) => Box::new(blobs.filter(move |blob| models.has(part, blob))),
            Rule::Ranges(ranges) => {
                let range = ranges.get(part).cloned().unwrap_or_default();
                let blobs = self.file.file.blobs().skip(range.start).take(range.len());
                Box::new(blobs.filter(|blob| (self.file.select)(blob)))
            }
        }
    }

    /// Writes all parts, and then puts all in their places.
    fn write<'t>(
        &self,
        target: TargetFolder<'t>,
        names: &'t [OsString],
        are_new: &[bool],
        progress: &'t dyn Progress,
    ) -> Result<Vec<Part>, Error> {
        let paths: Vec<PathBuf> = names.iter().map(|name| target.path_of(name)).collect();
        let sizes = (0..paths.len()).flat_map(|at| self.blobs(at)).map(|blob| blob.size());
        let file = self.file.file;
        progress.expect(sizes.fold(file.prefix().len(), u64::saturating_add));
        let mut parts = Vec::new();
        let outputs = self.settled(|settle| {
            for (at, (name, path)) in names.iter().zip(&paths).enumerate() {
                let mut output = Output::begin(Target::In(target, name), [file], progress)?;
                if at == 0 {
                    output.prefix_of(file)?;
                }
                let mut blobs = 0_u64;
                output.copy_all(self.blobs(at).inspect(|_| blobs = blobs.saturating_add(1)))?;
                let size = output.len();
                parts.push(Part { path: path.as_path().into(), blobs, size, too_large: size > self.most });
                output.flush()?;
                settle(output);
            }
            Ok(())
        })?;
        if !matches!(target, TargetFolder::Nowhere | TargetFolder::Trial(..)) {
            progress.ask_to_place()?;
        }
        place(outputs, &paths, are_new)?;
        Ok(parts)
    }

    /// Reads back the files that `make` passes on, one part after the other, and flushes them to disk, while `make`
    /// continues with the next.
    fn settled<'t>(
        &self,
        make: impl FnOnce(&mut dyn FnMut(Output<'t>)) -> Result<(), Error>,
    ) -> Result<Vec<Output<'t>>, Error> {
        let (sender, receiver) = mpsc::channel::<Output<'t>>();
        let settle = move |turn: &Turn| -> Result<Vec<Output<'t>>, Error> {
            let outputs = iter::from_fn(|| turn.wait(|| receiver.recv()).ok());
            let settled = outputs.enumerate().map(|(at, mut output)| {
                output.check_blobs(self.blobs(at), has_same_head)?;
                output.prepare()?;
                Ok(output)
            });
            settled.collect()
        };
        aside(Thread::IfFree, "popef-read-back", settle, |settled| {
            let made = make(&mut |output| _ = sender.send(output));
            drop(sender);
            made.and(settled.join().unwrap_or_else(|_| Err(ended())))
        })
    }

    /// The blobs that are in several parts.
    fn shared(&self) -> Listed<Item> {
        let mut shared = Listed::default();
        if let Rule::Models(models) = &self.rule {
            for blob in self.file.blobs().filter(|blob| models.is_shared(blob)) {
                shared.push(blob.size(), || Item::of(&blob));
            }
        }
        shared
    }
}

/// Puts all parts in their places. If one fails, the parts before it are removed, except where they replaced a file:
/// those are complete, and the only copy of their blobs.
fn place(outputs: Vec<Output<'_>>, paths: &[PathBuf], are_new: &[bool]) -> Result<(), Error> {
    for (at, output) in outputs.into_iter().enumerate() {
        if let Err(error) = output.place() {
            let placed = paths.iter().zip(are_new).take(at);
            placed.filter(|(_, is_new)| **is_new).for_each(|(path, _)| _ = fs::remove_file(path));
            return Err(error);
        }
    }
    Ok(())
}

fn ended() -> Error {
    Error::new(Code::NotVerified, "the thread that reads back ended early")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Executables,
    Tensors,
    Feeds,
}

impl Kind {
    const ALL: [(Kind, &'static str); 3] =
        [(Kind::Executables, "executables"), (Kind::Tensors, "tensors"), (Kind::Feeds, "feeds")];

    fn of(blob: &Blob<'_>) -> Self {
        match blob.blob_type() {
            BlobType::DataTensor => Kind::Tensors,
            BlobType::DataFeed => Kind::Feeds,
            _ => Kind::Executables,
        }
    }
}

/// A part for each kind that the file has.
fn by_kind(file: Chosen<'_>) -> (Vec<String>, Rule) {
    let (mut names, mut kinds) = (Vec::new(), Vec::new());
    for (kind, name) in Kind::ALL {
        if file.blobs().any(|blob| Kind::of(&blob) == kind) {
            names.push(name.to_owned());
            kinds.push(kind);
        }
    }
    (names, Rule::Kinds(kinds))
}

fn by_size(file: Chosen<'_>, most: u64) -> Result<(Vec<String>, Rule), Error> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let (mut start, mut size) = (0, file.file.prefix().len());
    for (number, blob) in file.blobs().enumerate() {
        let with_this = size.saturating_add(blob.size());
        if with_this > most && number > 0 {
            ranges.push(start..blob.index());
            check_count(ranges.len())?;
            (start, size) = (blob.index(), blob.size());
        } else {
            size = with_this;
        }
    }
    if file.blobs().next().is_some() {
        ranges.push(start..file.file.len());
    }
    check_count(ranges.len())?;
    // All numbers have the same number of digits, so that the names sort like the parts.
    let digits = ranges.len().to_string().len();
    let names = (1..=ranges.len()).map(|number| format!("{number:0digits$}")).collect();
    Ok((names, Rule::Ranges(ranges)))
}

fn check_count(parts: usize) -> Result<(), Error> {
    if parts <= MOST_PARTS {
        return Ok(());
    }
    Err(Error::new(Code::TooManyParts, format!("this would be more than {MOST_PARTS} parts")))
}

/// The parts of a file's models: one for each executable that metadata names.
struct Models {
    by_executable: HashMap<Text<'static>, usize>,
    hasher: RandomState,
    /// Hashes of the names of anchors with the parts whose metadata has them, sorted. If two names have the same hash, a part
    /// gets a blob more than it needs.
    anchors: Vec<(u64, usize)>,
    /// The part of the blobs that do not belong to a model.
    rest: usize,
}

impl Models {
    fn of(chosen: Chosen<'_>) -> Result<(Vec<String>, Rule), Error> {
        let file = chosen.file;
        let mut models =
            Models { by_executable: HashMap::new(), hasher: RandomState::new(), anchors: Vec::new(), rest: 0 };
        let mut made = Names::default();
        // No model gets this name.
        let rest = made.of(b"rest");
        let mut names = Vec::new();
        for blob in file.metadata() {
            let metadata = blob.read()?;
            let next = names.len();
            let part = *models.by_executable.entry(metadata.executable).or_insert(next);
            if part == next {
                names.push(made.of(blob.executable().as_bytes()));
                check_count(names.len())?;
            }
            let hashes = metadata.anchors.iter().map(|anchor| models.hasher.hash_one(&anchor.name));
            models.anchors.extend(hashes.map(|hash| (hash, part)));
        }
        models.anchors.sort_unstable();
        models.anchors.dedup();
        models.rest = names.len();
        if file.blobs().any(|blob| models.has(models.rest, &blob)) {
            names.push(rest);
        }
        Ok((names, Rule::Models(models)))
    }

    /// Whether a blob goes into a part.
    fn has(&self, part: usize, blob: &Blob<'_>) -> bool {
        match self.executable_of(blob) {
            Some(executable) => self.by_executable.get(&executable).copied().unwrap_or(self.rest) == part,
            None => match self.parts_of_data(blob) {
                [] => part == self.rest,
                parts => parts.binary_search_by_key(&part, |(_, part)| *part).is_ok(),
            },
        }
    }

    /// Whether a blob goes into several parts.
    fn is_shared(&self, blob: &Blob<'_>) -> bool {
        self.executable_of(blob).is_none() && self.parts_of_data(blob).len() > 1
    }

    /// The executable that a blob belongs to, or is. `None` for blobs that belong to anchors, or to no executable.
    fn executable_of<'b>(&self, blob: &Blob<'b>) -> Option<Text<'b>> {
        match blob.content() {
            Content::Executable(executable) => Some(executable.name()),
            Content::Metadata(metadata) => Some(metadata.executable()),
            Content::Opaque(opaque) => Some(opaque.executable()),
            _ => None,
        }
    }

    /// The parts of a tensor or a feed, each with the hash of its name.
    fn parts_of_data(&self, blob: &Blob<'_>) -> &[(u64, usize)] {
        let Some(name) = blob.as_data().map(|data| data.name()) else { return &[] };
        let hash = self.hasher.hash_one(&name);
        let start = self.anchors.partition_point(|(other, _)| *other < hash);
        let end = self.anchors.partition_point(|(other, _)| *other <= hash);
        self.anchors.get(start..end).unwrap_or_default()
    }
}
