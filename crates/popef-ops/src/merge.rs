//! Makes one file of several.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use popef::types::{BlobType, Text};
use popef::{Blob, File};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::findings::{NewFinding, checked, findings_of_parts, refuse};
use crate::listed::{Item, Listed, label, name_of};
use crate::name::FilePath;
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::read_back::Counted;
use crate::verify::{has_same_head, same_bytes};

/// How files are merged.
pub struct MergeOptions<'o> {
    /// What to do with blobs of the same type and name, but different content.
    pub keep: Keep,
    /// Whether executables count as equal if they unpack to the same bytes. Otherwise they must be stored in the same way.
    pub unpacked: bool,
    /// Whether to leave out the bytes before the first blob of a file, such as a pickle.
    pub drop_prefixes: bool,
    /// Whether nothing is written if the library's checks find something in the new file, as [`Merged::new_findings`] says.
    pub strict: bool,
    /// Which blobs are taken.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

/// Takes everything, and refuses conflicts.
impl Default for MergeOptions<'_> {
    fn default() -> Self {
        MergeOptions { keep: Keep::Neither, unpacked: false, drop_prefixes: false, strict: false, select: &|_| true }
    }
}

impl fmt::Debug for MergeOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeOptions")
            .field("keep", &self.keep)
            .field("unpacked", &self.unpacked)
            .field("drop_prefixes", &self.drop_prefixes)
            .field("strict", &self.strict)
            .finish_non_exhaustive()
    }
}

/// Which blobs to keep when several inputs have the same type and name with different content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// None: they are an error.
    #[default]
    Neither,
    /// The blobs of the first input.
    First,
    /// The blobs of the last input.
    Last,
    /// All blobs of all inputs, including equal ones. But the executables of different inputs must have different
    /// names: the first of equal ones is kept, and different ones are still an error.
    All,
}

/// What became of merged files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Merged {
    /// The size of the new file.
    pub size: u64,
    /// How many blobs it has.
    pub blobs: u64,
    /// The inputs, in order.
    pub inputs: Vec<MergedInput>,
    /// Blobs that were left out because another input has an equal one.
    pub duplicates: Listed<LeftOut>,
    /// Blobs that were left out because a blob of another input with the same type and name was kept.
    pub replaced: Listed<LeftOut>,
    /// The errors that the library's checks find in the new file, and the warnings that no input has. `None` if the
    /// file could not be read back.
    pub new_findings: Option<Vec<NewFinding>>,
}

/// One of several files that were merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedInput {
    /// Its path. `None` if it came through a pipe.
    #[serde(flatten)]
    pub path: Option<FilePath>,
    /// How many of its blobs are in the new file.
    pub blobs: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// A blob that was left out, and the one that is in the new file instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// The number of its file among the inputs, from 0 on.
    pub input: usize,
    /// The blob.
    #[serde(flatten)]
    pub item: Item,
    /// The blob that was kept.
    pub kept: Place,
}

/// The place of a blob among the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The number of its file among the inputs, from 0 on.
    pub input: usize,
    /// Its number in that file, from 0 on.
    pub blob: usize,
}

/// Writes the blobs of several files into one, in order.
///
/// Only blobs of different inputs are compared: blobs of one input stay together. Blobs with the same type, name and
/// content are written once. An input with several equal blobs keeps them all. Opaque blobs with the same name are
/// different if they belong to different executables. If two inputs have blobs of the same type and name, and each has
/// one that the other lacks, that is an error, which names both, unless [`MergeOptions::keep`] says otherwise.
///
/// The bytes before the first blob of the first file are kept. Such bytes in a later file are an error, because they
/// cannot be inside a file.
///
/// ```
/// use popef_ops::{MergeOptions, Overwrite, Silent, Target, merge};
///
/// # let folder = tempfile::tempdir()?;
/// # let [model, weights, whole] = ["a", "b", "c"].map(|name| folder.path().join(name));
/// # for path in [&model, &weights] {
/// #     let mut writer = popef::Writer::create(path)?;
/// #     writer.write_opaque(&Default::default(), b"the same in both")?;
/// #     writer.finish()?;
/// # }
/// let files = [popef::File::open(&model)?, popef::File::open(&weights)?];
/// let merged = merge(&files, Target::Path(&whole, Overwrite::Never), &MergeOptions::default(), &Silent)?;
/// assert_eq!((merged.blobs, merged.duplicates.count), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn merge(
    files: &[File],
    target: Target<'_>,
    options: &MergeOptions<'_>,
    progress: &dyn Progress,
) -> Result<Merged, Error> {
    check_prefixes(files, options)?;
    let target = checked(options.strict, target, files)?;
    let mut output = Output::begin(target, files, progress)?;
    let plan = Plan::of(files, options, progress)?;
    let (blobs, bytes) = sum(plan.all());
    let first = files.first().filter(|_| !options.drop_prefixes);
    progress.expect(first.map_or(0, |first| first.prefix().len()).saturating_add(bytes));
    first.map_or(Ok(()), |first| output.prefix_of(first))?;
    output.copy_all(plan.all())?;
    output.check_blobs(plan.all(), has_same_head)?;
    let mut new_findings = None;
    let written = output.finish_checked(|new| {
        new_findings = Some(refuse(options.strict, findings_of_parts(files, new))?);
        Ok(())
    })?;
    let (inputs, Plan { duplicates, replaced, .. }) = (plan.inputs(), plan);
    Ok(Merged { size: written.size, blobs, inputs, duplicates, replaced, new_findings })
}

/// Which blobs are taken.
struct Plan<'f> {
    files: &'f [File],
    /// For each blob of each file.
    taken: Vec<Vec<bool>>,
    duplicates: Listed<LeftOut>,
    replaced: Listed<LeftOut>,
}

/// A blob and the hash of its key, in as little memory as possible: there may be millions. Different keys may have the
/// same hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    hash: u32,
    /// The number of the blob among those of all files.
    number: u32,
}

/// A blob of an input, and the equal one of another input.
type Pair = (Place, Option<Place>);

impl<'f> Plan<'f> {
    fn of(files: &'f [File], options: &MergeOptions<'_>, progress: &dyn Progress) -> Result<Self, Error> {
        let select = |file: &File| file.blobs().map(|blob| (options.select)(&blob)).collect();
        let taken = files.iter().map(select).collect();
        let mut plan = Plan { files, taken, duplicates: Listed::default(), replaced: Listed::default() };
        if files.len() < 2 {
            return Ok(plan);
        }
        let places = plan.places_by_key(options.keep)?;
        let groups = places.chunk_by(|one, next| one.hash == next.hash).filter(|group| group.len() > 1);
        // The hashes differ from run to run, but the report must not.
        let mut firsts: Vec<Keyed> = groups.filter_map(|group| group.first().copied()).collect();
        firsts.sort_unstable_by_key(|first| first.number);
        for Keyed { hash, .. } in firsts {
            let start = places.partition_point(|other| other.hash < hash);
            let group = places.iter().skip(start).take_while(|other| other.hash == hash);
            plan.resolve(group.filter_map(|one| place_of(files, one.number)).collect(), options, progress)?;
        }
        Ok(plan)
    }

    /// The places of all blobs that are compared, sorted by hashes of the keys. A hash takes less memory than a name.
    fn places_by_key(&self, keep: Keep) -> Result<Vec<Keyed>, Error> {
        let is_compared = |blob: &Blob<'_>| keep != Keep::All || blob.blob_type() == BlobType::PoplarExecutable;
        let hasher = RandomState::new();
        let mut places = Vec::with_capacity(self.all().count());
        let mut start = 0_usize;
        for (file, opened) in self.files.iter().enumerate() {
            for blob in self.kept(file) {
                let Some(key) = key(&blob).filter(|_| is_compared(&blob)) else { continue };
                let number = start.saturating_add(blob.index());
                let number = u32::try_from(number).map_err(|_| too_many())?;
                // The upper half of the hash.
                let hash = u32::try_from(hasher.hash_one(key) >> u32::BITS).unwrap_or_default();
                places.push(Keyed { hash, number });
            }
            start = start.saturating_add(opened.len());
        }
        places.sort_unstable();
        Ok(places)
    }

    /// Decides which of several blobs are kept. Their keys have the same hash, so most likely they are the same.
    fn resolve(
        &mut self,
        mut places: Vec<Place>,
        options: &MergeOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        while let Some(first) = places.first().and_then(|first| self.key(*first)) {
            let (same, others): (Vec<_>, _) =
                places.into_iter().partition(|place| self.key(*place) == Some(first.clone()));
            places = others;
            self.resolve_same(&same, options, progress)?;
        }
        Ok(())
    }

    /// Decides which of several blobs with the same key are kept, one input after the other.
    fn resolve_same(
        &mut self,
        places: &[Place],
        options: &MergeOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let mut inputs: Vec<&[Place]> = places.chunk_by(|one, next| one.input == next.input).collect();
        if options.keep == Keep::Last {
            inputs.reverse();
        }
        let mut kept: Vec<Place> = Vec::new();
        for input in inputs {
            let (pairs, rival) = self.pairs(input, &kept, options, progress)?;
            for (place, same) in pairs {
                match (same, rival, options.keep) {
                    (Some(same), ..) => self.leave_out(place, same, true),
                    (None, None, _) => kept.push(place),
                    (None, Some(other), Keep::First | Keep::Last) => self.leave_out(place, other, false),
                    (None, Some(other), Keep::Neither | Keep::All) => return Err(self.conflict(other, place)),
                }
            }
        }
        Ok(())
    }

    /// Pairs each blob of an input with an equal one among the kept blobs, each of which is used once. Also returns a
    /// kept blob that the input lacks.
    fn pairs(
        &self,
        input: &[Place],
        kept: &[Place],
        options: &MergeOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<(Vec<Pair>, Option<Place>), Error> {
        // Millions of blobs may have the same name. An equal one after this many unpaired ones is not found.
        const MOST_COMPARED: usize = 16;
        // This input cannot reach further ones.
        let reached = input.len().saturating_add(MOST_COMPARED);
        let mut free: VecDeque<Place> = kept.iter().take(reached).copied().collect();
        let mut pairs = Vec::with_capacity(input.len());
        for place in input {
            let mut same = None;
            for at in 0..free.len().min(MOST_COMPARED) {
                let other = free.get(at).copied();
                if let Some(other) = other
                    && self.is_same_at(other, *place, options, progress)?
                {
                    same = free.remove(at);
                    break;
                }
            }
            pairs.push((*place, same));
        }
        Ok((pairs, free.front().copied()))
    }

    fn is_same_at(
        &self,
        one: Place,
        other: Place,
        options: &MergeOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<bool, Error> {
        match (self.blob(one), self.blob(other)) {
            (Some(one_blob), Some(other_blob)) => self.is_same(&one_blob, one, &other_blob, other, options, progress),
            _ => Ok(false),
        }
    }

    fn is_same(
        &self,
        one: &Blob<'_>,
        one_at: Place,
        other: &Blob<'_>,
        other_at: Place,
        options: &MergeOptions<'_>,
        progress: &dyn Progress,
    ) -> Result<bool, Error> {
        let id = |place: Place| self.files.get(place.input).and_then(File::id);
        let is_same_file = id(one_at).is_some() && id(one_at) == id(other_at);
        if is_same_file && one.offset() == other.offset() {
            return Ok(true);
        }
        if has_same_head(one, other)? {
            let told = Counted::expected(progress, one.data().len());
            let is_same = same_bytes(&mut one.data().reader(), &mut other.data().reader(), &told)?;
            told.tell_rest()?;
            if is_same {
                return Ok(true);
            }
        }
        let (Some(one), Some(other)) = (one.as_executable(), other.as_executable()) else { return Ok(false) };
        let may_be_same = options.unpacked
            && one.blob().version() == other.blob().version()
            && one.uncompressed_size() == other.uncompressed_size();
        if !may_be_same {
            return Ok(false);
        }
        let told = Counted::expected(progress, one.uncompressed_size());
        let is_same = same_bytes(&mut one.unpack()?, &mut other.unpack()?, &told)?;
        told.tell_rest()?;
        Ok(is_same)
    }

    fn leave_out(&mut self, place: Place, kept: Place, is_same: bool) {
        if let Some(taken) = self.taken.get_mut(place.input).and_then(|file| file.get_mut(place.blob)) {
            *taken = false;
        }
        let files = self.files;
        let Some(blob) = files.get(place.input).and_then(|file| file.blob(place.blob)) else { return };
        let list = if is_same { &mut self.duplicates } else { &mut self.replaced };
        list.push(blob.size(), || LeftOut { input: place.input, item: Item::of(&blob), kept });
    }

    fn conflict(&self, one: Place, other: Place) -> Error {
        let what = self.blob(other).as_ref().map(label).unwrap_or_default();
        let [one, other] = [one, other].map(|place| self.shown(place));
        Error::new(Code::Conflict, format!("{what} is in {one}, and with other content in {other}"))
    }

    fn shown(&self, place: Place) -> String {
        let path = self.files.get(place.input).and_then(File::path);
        match path {
            Some(path) => format!("{} (blob {})", path.display(), place.blob),
            None => format!("input {} (blob {})", place.input.saturating_add(1), place.blob),
        }
    }

    fn key(&self, place: Place) -> Option<Key<'f>> {
        key(&self.blob(place)?)
    }

    fn blob(&self, place: Place) -> Option<Blob<'f>> {
        self.files.get(place.input)?.blob(place.blob)
    }

    fn kept(&self, file: usize) -> impl Iterator<Item = Blob<'f>> {
        let taken = self.taken.get(file).map(Vec::as_slice).unwrap_or_default();
        let blobs = self.files.get(file).into_iter().flat_map(File::blobs);
        blobs.zip(taken).filter(|(_, taken)| **taken).map(|(blob, _)| blob)
    }

    /// All blobs that are taken.
    fn all(&self) -> impl Iterator<Item = Blob<'f>> {
        (0..self.files.len()).flat_map(|file| self.kept(file))
    }

    fn inputs(&self) -> Vec<MergedInput> {
        let input = |(at, file): (usize, &File)| {
            let (blobs, bytes) = sum(self.kept(at));
            MergedInput { path: file.path().map(FilePath::from), blobs, bytes }
        };
        self.files.iter().enumerate().map(input).collect()
    }
}

/// The place of a blob by its number among those of all files.
fn place_of(files: &[File], number: u32) -> Option<Place> {
    let mut blob = usize::try_from(number).ok()?;
    for (input, file) in files.iter().enumerate() {
        match blob.checked_sub(file.len()) {
            None => return Some(Place { input, blob }),
            Some(behind) => blob = behind,
        }
    }
    None
}

fn too_many() -> Error {
    Error::new(Code::WrongArguments, "these are more than 4,294,967,295 blobs; merge some of the files first")
}

/// Returns the number of blobs, and their size.
fn sum<'b>(blobs: impl Iterator<Item = Blob<'b>>) -> (u64, u64) {
    blobs.fold((0, 0), |(count, bytes): (u64, u64), blob| (count.saturating_add(1), bytes.saturating_add(blob.size())))
}

/// What identifies blobs of different files: type and name, and for an opaque blob its executable too.
type Key<'b> = (BlobType, Text<'b>, Text<'b>);

/// The key of a blob. `None` for blobs of unknown types: they have no name, so a file may have any number of them.
fn key<'b>(blob: &Blob<'b>) -> Option<Key<'b>> {
    if let BlobType::Other(_) = blob.blob_type() {
        return None;
    }
    let executable = blob.as_opaque().map(|opaque| opaque.executable()).unwrap_or_default();
    Some((blob.blob_type(), name_of(blob), executable))
}

/// Fails if bytes before PopEF would be lost.
fn check_prefixes(files: &[File], options: &MergeOptions<'_>) -> Result<(), Error> {
    let inside = files.iter().skip(1).find(|file| !file.prefix().is_empty() && !options.drop_prefixes);
    let Some(file) = inside else { return Ok(()) };
    let message = format!("{} bytes come before PopEF in it, which only the first file can have", file.prefix().len());
    let error = Error::new(Code::PrefixInside, message);
    Err(match file.path() {
        Some(path) => error.in_file(path),
        None => error,
    })
}
