//! Renamed blobs, and references to them.

use std::collections::{BTreeMap, HashMap, HashSet};

use popef::types::{BlobType, Text, escape};
use popef::{Blob, File, Metadata};

use super::Rename;
use crate::error::{Code, Error};
use crate::near::{did_you_mean, quoted};

/// The references: anchors refer to tensors and feeds, metadata and opaque blobs to executables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Executable,
    Data,
    Opaque,
}

impl Kind {
    fn of(blob_type: BlobType) -> Option<Kind> {
        match blob_type {
            BlobType::PoplarExecutable => Some(Kind::Executable),
            BlobType::DataTensor | BlobType::DataFeed => Some(Kind::Data),
            BlobType::Opaque => Some(Kind::Opaque),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Executable => "an executable",
            Kind::Data => "a tensor or feed",
            Kind::Opaque => "an opaque blob",
        }
    }
}

/// What has which name. A file and a request can both have very many names.
struct Known<'f> {
    /// The blobs that may be renamed, by those names that are to be replaced.
    blobs: HashMap<Text<'static>, Vec<Blob<'f>>>,
    anchors: HashSet<Text<'static>>,
}

impl<'f> Known<'f> {
    fn of(
        file: &'f File,
        renames: &[Rename],
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        metadata: &BTreeMap<usize, Metadata>,
    ) -> Self {
        let mut blobs: HashMap<_, Vec<_>> = renames.iter().map(|rename| (rename.from.clone(), Vec::new())).collect();
        let named = file.blobs().filter(|_| !renames.is_empty()).filter(|blob| chosen(blob));
        for (blob, name) in named.filter_map(|blob| Some((blob, blob.name()?))) {
            if let Some(same) = blobs.get_mut(&name.into_owned()) {
                same.push(blob);
            }
        }
        let anchors = metadata.values().filter(|_| !renames.is_empty()).flat_map(|metadata| &metadata.anchors);
        Known { blobs, anchors: anchors.map(|anchor| anchor.name.clone()).collect() }
    }
}

/// The new names of a file's blobs.
#[derive(Default)]
pub(super) struct Names {
    by_blob: HashMap<usize, Text<'static>>,
    executables: HashMap<Text<'static>, Text<'static>>,
    data: HashMap<Text<'static>, Text<'static>>,
}

impl Names {
    /// Finds the renames. `metadata` is all metadata of the file, by the number of its blob.
    pub(super) fn of(
        file: &File,
        renames: &[Rename],
        references: bool,
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        metadata: &BTreeMap<usize, Metadata>,
    ) -> Result<Self, Error> {
        let mut names = Names::default();
        let known = Known::of(file, renames, chosen, metadata);
        for rename in renames {
            names.add(file, rename, references, &known)?;
        }
        names.check_taken(file)?;
        Ok(names)
    }

    fn add(&mut self, file: &File, rename: &Rename, references: bool, known: &Known<'_>) -> Result<(), Error> {
        let (old, new) = (&rename.from, &rename.to);
        let blobs = known.blobs.get(old).map(Vec::as_slice).unwrap_or_default();
        let kinds: HashSet<Kind> = blobs.iter().filter_map(|blob| Kind::of(blob.blob_type())).collect();
        let kind = match kinds.iter().copied().collect::<Vec<_>>().as_slice() {
            // What the user provides has no blob, but an anchor.
            [] if known.anchors.contains(old) => Kind::Data,
            [] => return Err(missing(file, old, known.anchors.iter().map(ToString::to_string))),
            [kind] => *kind,
            _ => return Err(ambiguous(old, &kinds)),
        };
        for blob in blobs {
            if self.by_blob.insert(blob.index(), new.clone()).is_some_and(|other| other != *new) {
                return Err(Error::new(Code::WrongArguments, format!("{} is renamed twice", quoted(old))));
            }
        }
        match kind {
            Kind::Executable if references => _ = self.executables.insert(old.clone(), new.clone()),
            Kind::Data if references => _ = self.data.insert(old.clone(), new.clone()),
            _ => {}
        }
        Ok(())
    }

    /// Fails if a new name is that of another blob of the same type. Opaque blobs of several models share their names.
    fn check_taken(&self, file: &File) -> Result<(), Error> {
        let taken = |name: &Text<'_>| {
            let message = format!("another blob of the same type has the name {}", quoted(name));
            Err(Error::new(Code::NameTaken, message))
        };
        let mut given = HashMap::new();
        for (index, new) in &self.by_blob {
            let Some(blob) = file.blob(*index).filter(|blob| blob.blob_type() != BlobType::Opaque) else { continue };
            if new.is_empty() && blob.blob_type() == BlobType::PoplarExecutable {
                return Err(Error::new(Code::WrongValue, "an executable needs a name that is not empty"));
            }
            let old = blob.name();
            if given.insert((blob.blob_type(), new.by_ref()), old.clone()).is_some_and(|other| other != old) {
                return taken(new);
            }
        }
        for blob in file.blobs().filter(|blob| !self.by_blob.contains_key(&blob.index())) {
            let Some(name) = blob.name() else { continue };
            if given.contains_key(&(blob.blob_type(), name.by_ref())) {
                return taken(&name);
            }
        }
        Ok(())
    }

    /// The new name of a blob, if it gets one.
    pub(super) fn of_blob(&self, index: usize) -> Option<&Text<'static>> {
        self.by_blob.get(&index)
    }

    /// The new name of an executable.
    pub(super) fn of_executable(&self, old: &Text<'_>) -> Option<&Text<'static>> {
        self.executables.get(&old.clone().into_owned())
    }

    /// Gives metadata the new names of the blobs that it refers to.
    pub(super) fn follow(&self, metadata: &mut Metadata) {
        if let Some(new) = self.of_executable(&metadata.executable) {
            metadata.executable = new.clone();
        }
        for anchor in &mut metadata.anchors {
            if let Some(new) = self.data.get(&anchor.name) {
                anchor.name = new.clone();
            }
        }
    }

    /// Whether metadata refers to a renamed blob.
    pub(super) fn concern(&self, metadata: &Metadata) -> bool {
        self.executables.contains_key(&metadata.executable)
            || (!self.data.is_empty() && metadata.anchors.iter().any(|anchor| self.data.contains_key(&anchor.name)))
    }
}

/// The name of a blob or an anchor for a given text: unchanged, or as it is shown, with escapes.
pub(super) fn name_in(file: &File, given: &str) -> Option<Text<'static>> {
    if any_name(file, &mut |name| *name == given) {
        return Some(given.to_owned().into());
    }
    if !given.contains('\\') {
        return None;
    }
    let mut found: Option<Text<'static>> = None;
    let mut is_another = |name: &Text<'_>| {
        let is_meant = escape(&name.to_string_lossy()) == given;
        is_meant && *found.get_or_insert_with(|| name.clone().into_owned()) != *name
    };
    // Names that are not UTF-8 may look the same. Then the intended one is unknown.
    let is_ambiguous = any_name(file, &mut is_another);
    found.filter(|_| !is_ambiguous)
}

/// Whether `is_it` accepts any name of a blob or an anchor.
fn any_name(file: &File, is_it: &mut dyn FnMut(&Text<'_>) -> bool) -> bool {
    if file.blobs().filter_map(|blob| blob.name()).any(|name| is_it(&name)) {
        return true;
    }
    let mut metadata = file.metadata().filter_map(|metadata| metadata.read().ok());
    metadata.any(|metadata| metadata.anchors.iter().any(|anchor| is_it(&anchor.name)))
}

fn missing(file: &File, old: &Text<'_>, anchors: impl Iterator<Item = String>) -> Error {
    let blobs = file.blobs().filter_map(|blob| blob.name()).map(|name| name.to_string());
    let near = did_you_mean(&old.to_string_lossy(), blobs.chain(anchors));
    Error::new(Code::NoSuchName, format!("no blob and no anchor has the name {}{near}", quoted(old)))
}

fn ambiguous(old: &Text<'_>, kinds: &HashSet<Kind>) -> Error {
    let all = [Kind::Executable, Kind::Data, Kind::Opaque].into_iter().filter(|kind| kinds.contains(kind));
    let all: Vec<_> = all.map(Kind::name).collect();
    Error::new(Code::Ambiguous, format!("{} is {}", quoted(old), all.join(" and also ")))
}
