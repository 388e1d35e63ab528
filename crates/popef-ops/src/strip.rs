//! Drops blobs from a file.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use popef::read::MetadataBlob;
use popef::types::{Anchor, TensorType, Text};
use popef::{Blob, Content, File};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::listed::{Item, Listed};
use crate::name::Name;
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::verify::has_same_head;

/// What is dropped.
pub struct StripOptions<'o> {
    /// Which blobs are dropped. All others stay.
    pub drop: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
    /// Whether to drop the bytes before the first blob, such as a pickle.
    pub drop_prefix: bool,
    /// Whether no file is written if nothing is dropped. Otherwise a copy is written.
    pub only_changes: bool,
}

/// Drops nothing.
impl Default for StripOptions<'_> {
    fn default() -> Self {
        StripOptions { drop: &|_| false, drop_prefix: false, only_changes: false }
    }
}

impl fmt::Debug for StripOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripOptions")
            .field("drop_prefix", &self.drop_prefix)
            .field("only_changes", &self.only_changes)
            .finish_non_exhaustive()
    }
}

/// The result for a file whose blobs were dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stripped {
    /// Whether a file was written. If the target is nowhere: whether one would be.
    pub written: bool,
    /// The old size of the file.
    pub size_before: u64,
    /// The new size of the file.
    pub size_after: u64,
    /// How many blobs stay.
    pub kept: u64,
    /// The blobs that were dropped.
    pub dropped: Listed<Item>,
    /// How many bytes before the first blob were dropped.
    pub dropped_prefix: u64,
    /// What no longer works in the new file, for the first thousand executables by name.
    pub broken: Vec<Broken>,
    /// The number of executables that no longer work completely.
    pub broken_count: u64,
}

/// What no longer works for one executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Broken {
    /// The name of the executable.
    #[serde(flatten)]
    pub executable: Name,
    /// Whether its metadata or opaque blobs stay, but the executable itself is dropped.
    pub without_executable: bool,
    /// Whether it stays, but all its metadata is dropped.
    pub without_metadata: bool,
    /// The number of inputs whose data is dropped, so that the model's user must provide it.
    pub inputs_without_data: u64,
    /// The names of the first ten of these inputs.
    pub inputs: Vec<Name>,
}

impl Broken {
    /// Maximum number of input names that are kept.
    const MOST_NAMED: usize = 10;
    /// Maximum number of executables that are kept.
    const MOST: usize = 1000;
}

/// Drops blobs from a file. All others are copied, in their order.
///
/// Reports what can no longer be loaded or run. Dropping all blobs is an error.
///
/// ```
/// use popef::types::BlobType;
/// use popef_ops::{Overwrite, Silent, StripOptions, Target, strip};
///
/// # let folder = tempfile::tempdir()?;
/// # let (path, small) = (folder.path().join("model.popef"), folder.path().join("small.popef"));
/// # let mut writer = popef::Writer::create(&path)?;
/// # writer.write_executable("model", b"its bytes")?;
/// # writer.write_feed_bytes(&Default::default(), b"")?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let feeds = |blob: &popef::Blob<'_>| blob.blob_type() == BlobType::DataFeed;
/// let options = StripOptions { drop: &feeds, drop_prefix: false, only_changes: false };
/// let stripped = strip(&file, Target::Path(&small, Overwrite::Never), &options, &Silent)?;
/// assert_eq!((stripped.kept, stripped.dropped.count), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn strip(
    file: &File,
    target: Target<'_>,
    options: &StripOptions<'_>,
    progress: &dyn Progress,
) -> Result<Stripped, Error> {
    let kept = || file.blobs().filter(|blob| !(options.drop)(blob));
    let mut stripped = Stripped {
        written: false,
        size_before: file.size(),
        size_after: file.size(),
        kept: 0,
        dropped: Listed::default(),
        dropped_prefix: if options.drop_prefix { file.prefix().len() } else { 0 },
        broken: Vec::new(),
        broken_count: 0,
    };
    for blob in file.blobs() {
        if (options.drop)(&blob) {
            stripped.dropped.push(blob.size(), || Item::of(&blob));
        } else {
            stripped.kept = stripped.kept.saturating_add(1);
        }
    }
    if stripped.kept == 0 && !stripped.dropped.is_empty() {
        return Err(Error::new(Code::NothingLeft, "this would drop all blobs of the file"));
    }
    if options.only_changes && stripped.dropped.is_empty() && stripped.dropped_prefix == 0 {
        return Ok(stripped);
    }
    let mut output = Output::begin(target, [file], progress)?;
    (stripped.broken_count, stripped.broken) = broken(file, options)?;
    let dropped = stripped.dropped.bytes.saturating_add(stripped.dropped_prefix);
    progress.expect(file.size().saturating_sub(dropped));
    if !options.drop_prefix {
        output.prefix_of(file)?;
    }
    output.copy_all(kept())?;
    output.check_blobs(kept(), has_same_head)?;
    let written = output.finish()?;
    Ok(Stripped { written: true, size_after: written.size, ..stripped })
}

/// What stays and what is dropped for one executable.
#[derive(Default)]
struct Parts {
    executable: Fate,
    metadata: Fate,
    opaques: Fate,
    inputs_without_data: u64,
}

impl Parts {
    fn lacks_executable(&self) -> bool {
        self.executable.is_gone() && (self.metadata.stays || self.opaques.stays)
    }

    fn lacks_metadata(&self) -> bool {
        self.metadata.is_gone() && self.executable.stays
    }

    fn is_broken(&self) -> bool {
        self.lacks_executable() || self.lacks_metadata() || self.inputs_without_data > 0
    }

    fn broken(&self, executable: &Text<'_>) -> Broken {
        Broken {
            executable: executable.by_ref().into(),
            without_executable: self.lacks_executable(),
            without_metadata: self.lacks_metadata(),
            inputs_without_data: self.inputs_without_data,
            inputs: Vec::new(),
        }
    }
}

/// Whether any blob of a kind stays, and whether any is dropped.
#[derive(Clone, Copy, Default)]
struct Fate {
    stays: bool,
    dropped: bool,
}

impl Fate {
    /// Whether all of them were dropped, and there was at least one.
    fn is_gone(self) -> bool {
        self.dropped && !self.stays
    }
}

/// Returns the number of executables that no longer work completely, and what no longer works for the first ones, by
/// name.
fn broken<'f>(file: &'f File, options: &StripOptions<'f>) -> Result<(u64, Vec<Broken>), Error> {
    let gone = Gone::of(file, options);
    let (mut count, mut found) = (0u64, BTreeMap::new());
    for (name, parts) in executables(file, options, &gone)? {
        if !parts.is_broken() {
            continue;
        }
        count = count.saturating_add(1);
        if found.len() < Broken::MOST {
            let broken = parts.broken(&name);
            found.insert(name, broken);
        }
    }
    for blob in kept_metadata(file, options) {
        let broken = found.get_mut(&blob.executable()).filter(|broken| broken.inputs_without_data > 0);
        let Some(Broken { inputs, .. }) = broken else { continue };
        let room = Broken::MOST_NAMED.saturating_sub(inputs.len());
        if room > 0 {
            let anchors = blob.read()?.anchors;
            inputs.extend(gone.inputs(&anchors).take(room).map(|anchor| Name::from(anchor.name.by_ref())));
        }
    }
    Ok((count, found.into_values().collect()))
}

/// What stays and what is dropped for each executable.
fn executables<'f>(
    file: &'f File,
    options: &StripOptions<'f>,
    gone: &Gone,
) -> Result<BTreeMap<Text<'f>, Parts>, Error> {
    let mut executables: BTreeMap<Text<'_>, Parts> = BTreeMap::new();
    for blob in file.blobs() {
        let (name, part): (_, fn(&mut Parts) -> &mut Fate) = match blob.content() {
            Content::Executable(executable) => (executable.name(), |parts| &mut parts.executable),
            Content::Metadata(metadata) => (metadata.executable(), |parts| &mut parts.metadata),
            Content::Opaque(opaque) => (opaque.executable(), |parts| &mut parts.opaques),
            _ => continue,
        };
        let fate = part(executables.entry(name).or_default());
        if (options.drop)(&blob) { fate.dropped = true } else { fate.stays = true }
    }
    if gone.names.is_empty() {
        return Ok(executables);
    }
    for blob in kept_metadata(file, options) {
        let inputs = gone.inputs(&blob.read()?.anchors).count();
        let parts = executables.entry(blob.executable()).or_default();
        parts.inputs_without_data = parts.inputs_without_data.saturating_add(u64::try_from(inputs).unwrap_or(u64::MAX));
    }
    Ok(executables)
}

fn kept_metadata<'f>(file: &'f File, options: &StripOptions<'f>) -> impl Iterator<Item = MetadataBlob<'f>> {
    file.metadata().filter(|metadata| !(options.drop)(metadata.blob()))
}

/// The names of tensors and feeds that no longer have data. Their hashes take less memory than names; two names with
/// the same hash are practically impossible.
struct Gone {
    hasher: RandomState,
    /// The hashes of dropped names, sorted, and whether another blob with the name stays.
    names: Vec<(u64, bool)>,
}

impl Gone {
    fn of(file: &File, options: &StripOptions<'_>) -> Self {
        let mut gone = Gone { hasher: RandomState::new(), names: Vec::new() };
        let data = |dropped| {
            let blobs = file.blobs().filter(move |blob| (options.drop)(blob) == dropped);
            blobs.filter_map(|blob| blob.as_data().map(|data| data.name()))
        };
        gone.names.extend(data(true).map(|name| (gone.hasher.hash_one(&name), false)));
        gone.names.sort_unstable();
        gone.names.dedup();
        if !gone.names.is_empty() {
            for name in data(false) {
                let found = gone.find(&name);
                found.and_then(|at| gone.names.get_mut(at)).into_iter().for_each(|(_, stays)| *stays = true);
            }
        }
        gone
    }

    fn find(&self, name: &Text<'_>) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.names.binary_search_by_key(&hash, |(hash, _)| *hash).ok()
    }

    fn has(&self, name: &Text<'_>) -> bool {
        self.find(name).and_then(|at| self.names.get(at)).is_some_and(|(_, stays)| !stays)
    }

    /// The inputs that no longer have data.
    fn inputs<'a>(&self, anchors: &'a [Anchor]) -> impl Iterator<Item = &'a Anchor> {
        anchors.iter().filter(|anchor| anchor.tensor_type == TensorType::Input && self.has(&anchor.name))
    }
}
