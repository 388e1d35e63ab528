//! Which blobs of the two files are compared with each other.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use popef::types::{BlobType, Text};
use popef::{Blob, Content, File};

use super::report::Status;

/// The number of a blob in each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    a: u32,
    b: u32,
}

/// Stands for no blob. Files never have this many.
const NONE: u32 = u32::MAX;

impl Pair {
    fn in_a(index: usize) -> Self {
        Pair { a: number(index), b: NONE }
    }

    fn in_b(index: usize) -> Self {
        Pair { a: NONE, b: number(index) }
    }

    pub(super) fn a(self) -> Option<usize> {
        index(self.a)
    }

    pub(super) fn b(self) -> Option<usize> {
        index(self.b)
    }

    /// The fate of a blob without a partner.
    pub(super) fn alone(self) -> Option<Status> {
        match (self.a, self.b) {
            (_, NONE) => Some(Status::Removed),
            (NONE, _) => Some(Status::Added),
            _ => None,
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

fn index(number: u32) -> Option<usize> {
    usize::try_from(number).ok().filter(|_| number != NONE)
}

/// The key that pairs blobs: type, name, and what else distinguishes blobs of one name.
pub(crate) type Key<'f> = (BlobType, Text<'f>, Text<'f>);

/// The key of a blob. Metadata has the name of its executable, and unknown types have an empty name.
pub(crate) fn key<'f>(blob: &Blob<'f>) -> Key<'f> {
    let (name, more) = match blob.content() {
        Content::Opaque(opaque) => (opaque.name(), opaque.executable()),
        Content::Metadata(metadata) => (metadata.executable(), Text::default()),
        _ => (blob.name().unwrap_or_default(), Text::default()),
    };
    (blob.blob_type(), name, more)
}

/// The numbers of all blobs in the order of their keys. Blobs with the same key are in file order.
///
/// The keys are read again for each comparison: kept, they would take much more memory than the numbers.
pub(crate) fn canonical_order(file: &File) -> Vec<u32> {
    let key = |number: u32| file.blob(index(number)?).map(|blob| key(&blob));
    let mut order: Vec<u32> = (0..file.len()).map(number).collect();
    order.sort_unstable_by(|one, other| key(*one).cmp(&key(*other)).then(one.cmp(other)));
    order
}

/// Pairs the blobs that are chosen, by their keys. Several with the same key are paired in their order.
///
/// The remaining blobs are paired only if one pairing is possible: one executable with one executable, the same with
/// metadata, and opaque blobs whose name is unique. Compilers put hashes into the names of executables, so two builds of
/// one model often have no names in common.
///
/// The pairs are in the order of the first file; blobs that only the second has come last.
pub(super) fn pairs(a: &File, b: &File, chosen: &dyn Fn(&Blob<'_>) -> bool) -> Vec<Pair> {
    let (mut of_a, mut of_b) = (a.blobs().filter(&chosen).peekable(), b.blobs().filter(&chosen).peekable());
    let mut pairs = Vec::new();
    // Most files that are compared have the same blobs in the same order.
    while let (Some(one), Some(other)) = (of_a.peek(), of_b.peek())
        && key(one) == key(other)
    {
        pairs.push(Pair { a: number(one.index()), b: number(other.index()) });
        of_a.next();
        of_b.next();
    }
    let hasher = RandomState::new();
    let keys = Keys { a, b };
    let paired = pairs.len();
    pairs.extend(of_a.map(|blob| Pair::in_a(blob.index())));
    let rest = pairs.iter().enumerate().skip(paired);
    let mut of_a: Vec<Hashed> = rest.map(|(at, pair)| keys.hashed(&hasher, a, pair.a, number(at))).collect();
    let mut of_b: Vec<Hashed> = of_b.map(|blob| keys.hashed(&hasher, b, number(blob.index()), 0)).collect();
    of_a.sort_unstable_by(|one, other| keys.order(a, one, a, other).then(one.index.cmp(&other.index)));
    of_b.sort_unstable_by(|one, other| keys.order(b, one, b, other).then(one.index.cmp(&other.index)));

    let mut left = Vec::new();
    let mut candidates = of_a.iter().peekable();
    for found in &of_b {
        while candidates.next_if(|candidate| keys.order(a, candidate, b, found) == Ordering::Less).is_some() {}
        match candidates.next_if(|candidate| keys.order(a, candidate, b, found) == Ordering::Equal) {
            Some(candidate) => join(&mut pairs, candidate.at, found.index),
            None => left.push(found.index),
        }
    }
    left.sort_unstable();
    keys.pair_the_rest(&mut pairs, &mut left);
    pairs.extend(left.into_iter().filter_map(index).map(Pair::in_b));
    pairs
}

fn join(pairs: &mut [Pair], at: u32, b: u32) {
    if let Some(pair) = index(at).and_then(|at| pairs.get_mut(at)) {
        pair.b = b;
    }
}

/// A blob by the hash of its key. Comparing hashes is much faster than comparing keys, and 16 bytes a blob are little.
struct Hashed {
    hash: u64,
    index: u32,
    /// The place among the pairs.
    at: u32,
}

struct Keys<'f> {
    a: &'f File,
    b: &'f File,
}

impl<'f> Keys<'f> {
    fn hashed(&self, hasher: &RandomState, file: &File, number: u32, at: u32) -> Hashed {
        let hash = index(number).and_then(|index| file.blob(index)).map_or(0, |blob| hasher.hash_one(key(&blob)));
        Hashed { hash, index: number, at }
    }

    fn order(&self, one: &'f File, hashed: &Hashed, other: &'f File, by: &Hashed) -> Ordering {
        let blob_of = |file: &'f File, hashed: &Hashed| file.blob(index(hashed.index)?);
        hashed.hash.cmp(&by.hash).then_with(|| match (blob_of(one, hashed), blob_of(other, by)) {
            (Some(one), Some(other)) => key(&one).cmp(&key(&other)),
            _ => Ordering::Equal,
        })
    }

    /// Pairs blobs that are the only ones of their kind on both sides.
    fn pair_the_rest(&self, pairs: &mut [Pair], left: &mut Vec<u32>) {
        if left.is_empty() {
            return;
        }
        let kind = |file: &'f File, number: u32| kind(&file.blob(index(number)?)?);
        let mut of_b: Vec<_> = left.iter().filter_map(|&number| Some((kind(self.b, number)?, number))).collect();
        let alone = pairs.iter_mut().filter(|pair| pair.b == NONE);
        let mut of_a: Vec<_> = alone.filter_map(|pair| Some((kind(self.a, pair.a)?, pair))).collect();
        of_a.sort_by(|(one, _), (other, _)| one.cmp(other));
        of_b.sort();
        let mut paired = Vec::new();
        for same in of_a.chunk_by_mut(|(one, _), (other, _)| one == other) {
            let [(kind, pair)] = same else { continue };
            let from = of_b.partition_point(|(other, _)| other < kind);
            let mut equal = of_b.get(from..).unwrap_or_default().iter().take_while(|(other, _)| other == kind);
            if let (Some((_, found)), None) = (equal.next(), equal.next()) {
                pair.b = *found;
                paired.push(*found);
            }
        }
        paired.sort_unstable();
        left.retain(|number| paired.binary_search(number).is_err());
    }
}

/// The property that must be unique for a pair without a common name.
fn kind<'f>(blob: &Blob<'f>) -> Option<(BlobType, Text<'f>)> {
    match blob.content() {
        Content::Executable(_) | Content::Metadata(_) => Some((blob.blob_type(), Text::default())),
        Content::Opaque(opaque) => Some((blob.blob_type(), opaque.name())),
        _ => None,
    }
}
