//! Examines everything before anything is written.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use popef::types::{BlobType, Text};
use popef::write::Packing;
use popef::{File, OpenOptions};

use super::check::{Checks, Messages};
use super::compose::{Composed, Piece};
use super::float8::Float8s;
use super::part::Part;
use super::report::State;
use super::seal::Seal;
use super::walk::Walk;
use super::{prefix_file, too_large};
use crate::error::{Code, Error};
use crate::extract::{INDEX, Kind};
use crate::formats::Place;
use crate::near::quoted;

/// The names that executables and opaque blobs get from other inputs, and the types that arrays of bytes get.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The name that the only executable without one gets.
    unnamed: Option<Text<'static>>,
    /// The name of the only executable, which opaque blobs get.
    only: Option<Text<'static>>,
    /// Whether there are executables or metadata.
    has_models: bool,
    float8s: Float8s,
}

/// The number of items, and the first one.
#[derive(Default)]
struct Single {
    count: usize,
    first: Option<Text<'static>>,
}

impl Single {
    fn add(&mut self, text: Text<'static>) {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert(text);
    }

    fn only(self) -> Option<Text<'static>> {
        self.first.filter(|_| self.count == 1)
    }
}

impl Names {
    pub(super) fn of(walk: &Walk<'_>) -> Result<Self, Error> {
        let (mut described, mut unnamed, mut named) = (Single::default(), 0usize, Single::default());
        let (mut has_models, mut float8s) = (false, Float8s::default());
        walk.parts_without_data(&mut |part| {
            has_models |= matches!(part.kind, Kind::Metadata | Kind::Executable(_));
            match (&part.kind, &part.metadata) {
                (Kind::Metadata, Some(metadata)) => {
                    described.add(metadata.executable.clone());
                    float8s.add(metadata);
                }
                (Kind::Executable(info), _) => {
                    unnamed = unnamed.saturating_add(usize::from(part.is_unnamed));
                    named.add(info.name.clone());
                }
                _ => {}
            }
            Ok(())
        })?;
        let described = described.only().filter(|name| !name.is_empty() && unnamed == 1);
        let only = match &described {
            Some(name) if named.count == 1 => Some(name.clone()),
            _ => named.only(),
        };
        Ok(Names { unnamed: described, only, has_models, float8s })
    }

    /// Gives a blob the name or the type that other inputs determine.
    pub(super) fn link(&self, part: &mut Part) -> Result<(), Error> {
        match (&mut part.kind, &self.unnamed, &self.only) {
            (Kind::Executable(info), Some(name), _) if part.is_unnamed => info.name = name.clone(),
            (Kind::Opaque(info), _, Some(name)) if part.is_unnamed => info.executable = name.clone(),
            (Kind::Tensor(_) | Kind::Feed(_), ..) => self.float8s.give_type(part)?,
            _ => {}
        }
        Ok(())
    }
}

/// What was found.
pub(super) struct Survey {
    /// The size of all blobs and of the bytes before them, without compressed executables.
    pub(super) expected: u64,
    /// The bytes before the first blob, as a file without blobs.
    pub(super) prefix: File,
    /// What does not fit together.
    pub(super) problems: Messages,
    /// Data that is valid but hardly intended.
    pub(super) warnings: Messages,
    pub(super) seal: Seal,
}

impl Survey {
    pub(super) fn of(walk: &Walk<'_>, names: &Names, compress: Option<Packing>) -> Result<Self, Error> {
        let prefix = walk.prefix()?;
        let mut checks = models(walk, names)?;
        let (mut size, mut expected) = (0u64, prefix.as_ref().map_or(0, Place::len));
        let mut seal = Seal::default();
        let (mut twice, mut first) = (Twice::default(), None);
        walk.parts(&mut |mut part| {
            names.link(&mut part)?;
            let head = part.head()?;
            seal.add_part(&part, &head);
            if part.is_data() {
                twice.add(&part);
                let is_feed = matches!(part.kind, Kind::Feed(_));
                checks.add(&head, part.len(), part.state == State::Same, is_feed)?;
            }
            let len = u64::try_from(head.len()).ok().and_then(|len| part.len().checked_add(len));
            let len = len.ok_or_else(too_large)?;
            size = len.checked_add(size).ok_or_else(too_large)?;
            if part.packing(compress).is_none() {
                expected = expected.saturating_add(len);
            }
            if prefix.is_some() {
                first.get_or_insert_with(|| (Arc::new(head), part.len()));
            }
            Ok(())
        })?;
        checks.finish()?;
        twice.check(walk)?;
        if let Some(prefix) = &prefix {
            check_prefix(prefix, first)?;
        }
        let prefix = prefix_file(prefix.as_ref())?;
        Ok(Survey { expected, prefix, problems: checks.problems, warnings: checks.warnings, seal })
    }
}

/// The executables and metadata that tensors and feeds are compared with.
fn models(walk: &Walk<'_>, names: &Names) -> Result<Checks, Error> {
    let (mut models, mut are_same) = (Vec::new(), true);
    if !names.has_models {
        return Ok(Checks::new(models, are_same));
    }
    walk.parts_without_data(&mut |mut part| {
        names.link(&mut part)?;
        if matches!(part.kind, Kind::Metadata | Kind::Executable(_)) {
            let head = part.head()?;
            are_same &= part.state == State::Same || part.is_executable();
            models.push((Arc::new(head), part.len()));
        }
        Ok(())
    })?;
    Ok(Checks::new(models, are_same))
}

/// Fails unless readers of the file skip these bytes before the first blob, which must be a pickle.
fn check_prefix(prefix: &Place, first: Option<(Arc<Vec<u8>>, u64)>) -> Result<(), Error> {
    let mut file = Composed::default();
    let (head, len) = first.unwrap_or_default();
    let blobs = usize::from(!head.is_empty());
    let pieces = [Piece::Place(prefix.clone()), Piece::bytes(head), Piece::Zeros(len)];
    pieces.into_iter().try_for_each(|piece| file.push(piece)).ok_or_else(too_large)?;
    let opened = file.open_with(OpenOptions::new().after_pickle(true));
    if opened.is_ok_and(|file| file.prefix().len() == prefix.len() && file.len() == blobs) {
        Ok(())
    } else {
        let message = format!(
            "no reader would skip these bytes: only a pickle can come before the first blob; see prefix in {INDEX}"
        );
        Err(Error::new(Code::BadIndex, message).in_file(prefix.path()))
    }
}

/// Finds tensors and feeds that are given twice. Extracted ones may have been duplicates before.
#[derive(Default)]
struct Twice {
    random: RandomState,
    /// Hashes of names. The last bit says whether it was not extracted.
    hashes: Vec<u64>,
}

impl Twice {
    fn hash(&self, part: &Part) -> u64 {
        let is_new = part.state == State::New;
        self.random.hash_one((part.blob_type().number(), part.name().as_bytes())) & !1 | u64::from(is_new)
    }

    fn add(&mut self, part: &Part) {
        self.hashes.push(self.hash(part));
    }

    fn check(mut self, walk: &Walk<'_>) -> Result<(), Error> {
        self.hashes.sort_unstable();
        let is_twice = |pair: &&[u64]| matches!(pair, [one, other] if one >> 1 == other >> 1 && (one | other) & 1 == 1);
        let Some(wanted) = self.hashes.windows(2).find(is_twice).and_then(|pair| pair.first()) else { return Ok(()) };
        let mut first: Option<String> = None;
        walk.parts(&mut |part| {
            if !part.is_data() || self.hash(&part) >> 1 != wanted >> 1 {
                return Ok(());
            }
            let Some(first) = &first else {
                first = Some(part.from);
                return Ok(());
            };
            let kind = if part.blob_type() == BlobType::DataFeed { "feed" } else { "tensor" };
            let place = if *first == part.from { String::new() } else { format!("in {first} and ") };
            let message = format!("{kind} {} is given twice: {place}in {}", quoted(&part.name()), part.from);
            Err(Error::new(Code::NameTaken, message))
        })
    }
}
