//! What differs between two profiles.

mod values;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::read::Report;
use values::{Key, Values, bytes_by_tile};

/// What a value of a profile belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum DiffSubject {
    /// The hardware.
    Target,
    /// The graph as a whole: numbers of its parts.
    Graph,
    /// The memory of tiles as a whole: the fullest tile, sums, what is live.
    Memory,
    /// The memory of each tile. All tiles that differ are one difference.
    Tile,
    /// A category of memory.
    Category,
    /// All vertex types of one name.
    VertexType,
    /// All compute sets of one name.
    ComputeSet,
    /// All exchanges of one kind.
    Exchange,
    /// All programs of one type.
    Program,
    /// An execution as a whole.
    Execution,
    /// All steps of one name and type.
    Step,
}

impl DiffSubject {
    /// All subjects, in the order of the differences.
    pub const ALL: [DiffSubject; 11] = [
        DiffSubject::Target,
        DiffSubject::Graph,
        DiffSubject::Memory,
        DiffSubject::Tile,
        DiffSubject::Category,
        DiffSubject::VertexType,
        DiffSubject::ComputeSet,
        DiffSubject::Exchange,
        DiffSubject::Program,
        DiffSubject::Execution,
        DiffSubject::Step,
    ];
}

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum DiffUnit {
    /// Bytes.
    Bytes,
    /// Cycles of tiles.
    Cycles,
    /// Cycles in a second.
    Hertz,
    /// Things.
    Count,
    /// A word, which has no unit.
    Word,
}

/// A value of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum DiffValue<'r> {
    /// Bytes, cycles, or a count.
    Number(u64),
    /// A word, such as the mode of profiling.
    Word(&'r str),
}

impl DiffValue<'_> {
    fn number(self) -> Option<u64> {
        match self {
            DiffValue::Number(number) => Some(number),
            DiffValue::Word(_) => None,
        }
    }
}

/// Numbers are the same if |a - b| <= absolute + relative * |b|.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiffTolerance {
    /// In the unit of the number: bytes, cycles, or a count.
    pub absolute: f64,
    /// As a part of the second number.
    pub relative: f64,
}

impl DiffTolerance {
    fn allows(&self, a: DiffValue<'_>, b: DiffValue<'_>) -> bool {
        if a == b {
            return true;
        }
        let Some((a, b)) = a.number().zip(b.number()) else { return false };
        float(a.abs_diff(b)) <= self.absolute + self.relative * float(b)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a tolerance needs no more")]
fn float(value: u64) -> f64 {
    value as f64
}

/// A value that is not the same in both profiles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ProfileDifference<'r> {
    /// What it belongs to.
    pub subject: DiffSubject,
    /// The name of the subject, if there are several and it has one.
    pub name: Option<&'r str>,
    /// The type of a step or of programs.
    #[cfg_attr(feature = "serde", serde(rename = "type", skip_serializing_if = "Option::is_none"))]
    pub kind: Option<&'r str>,
    /// The tiles that differ: the values are those of the one that differs most.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub tiles: Option<DifferentTiles>,
    /// What the value is.
    pub measure: &'static str,
    /// What it counts.
    pub unit: DiffUnit,
    /// The value in the first profile. `None` if only the second one has what it belongs to.
    pub a: Option<DiffValue<'r>>,
    /// The value in the second profile. `None` if only the first one has what it belongs to.
    pub b: Option<DiffValue<'r>>,
}

impl ProfileDifference<'_> {
    /// How much more the second one is, if both are numbers.
    pub fn change(&self) -> Option<i128> {
        let (a, b) = self.a?.number().zip(self.b?.number())?;
        Some(i128::from(b).saturating_sub(i128::from(a)))
    }

    fn weight(&self) -> u64 {
        let number = |value: Option<DiffValue<'_>>| value.and_then(DiffValue::number).unwrap_or_default();
        number(self.a).abs_diff(number(self.b))
    }
}

/// Which tiles differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DifferentTiles {
    /// The tile that differs most. Among equal ones, it is the first.
    #[cfg_attr(feature = "serde", serde(rename = "tile"))]
    pub largest: u32,
    /// How many tiles differ.
    #[cfg_attr(feature = "serde", serde(rename = "tiles"))]
    pub count: u64,
}

/// Values that could not be compared, because one of the profiles does not have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct NotCompared {
    /// What they belong to.
    pub subject: DiffSubject,
    /// What the values are. `None` if a whole section is missing.
    pub measure: Option<&'static str>,
    /// How many values these are.
    pub values: u64,
    /// Whether the first profile has them.
    pub in_a: bool,
    /// Whether the second profile has them.
    pub in_b: bool,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum ProfileVerdict {
    /// All values are the same.
    Same,
    /// They differ.
    Different,
    /// Nothing was found that differs, but something could not be compared, or there was nothing to compare.
    NotComparable,
}

/// What differs between two profiles: see [`profile_diff`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ProfileDiff<'r> {
    /// The answer.
    pub verdict: ProfileVerdict,
    /// The number of values that are the same.
    pub same_values: u64,
    /// The values that differ, by subject. In each, the largest changes come first.
    pub differences: Vec<ProfileDifference<'r>>,
    /// What was not compared.
    pub not_compared: Vec<NotCompared>,
}

/// Compares two profiles by what they say, and not by their order: categories, vertex types, compute sets and steps are paired by their
/// names, exchanges and programs by their kinds, tiles by their numbers. Values of one name or kind are summed up, because names need not be
/// unique. A name that only one of them has is a difference. If one of them has more tiles, those are not compared one by one.
///
/// Equal profiles can still differ in what is in no sum: the order of programs and of steps, a single exchange, the categories on a tile,
/// and what is live during a program.
///
/// A section or a value that only one of them has is not a difference: the other report does not say. Cycles of compute sets
/// and exchanges are those of one execution of each, measured ones only if both have an execution profile. `subjects` says what is compared.
///
/// ```
/// use poplar_inspect::profile::{DiffSubject, DiffTolerance, ProfileVerdict, ReadOptions, Report, profile_diff};
///
/// let report = |bytes: u64| {
///     let json = format!(
///         r#"{{"target": {{"numTiles": 1, "numIPUs": 1, "tilesPerIPU": 1, "type": "IPU"}},
///              "memory": {{"byTile": {{"totalIncludingGaps": [{bytes}]}}}}}}"#
///     );
///     Report::read(json.as_bytes(), &ReadOptions::default())
/// };
/// let (before, after) = (report(1000)?, report(900)?);
/// let diff = profile_diff(&before, &after, &DiffSubject::ALL, DiffTolerance::default());
/// assert_eq!(diff.verdict, ProfileVerdict::Different);
/// assert_eq!((diff.differences[0].measure, diff.differences[0].change()), ("fullestTile", Some(-100)));
///
/// let tolerance = DiffTolerance { absolute: 0.0, relative: 0.2 };
/// let diff = profile_diff(&before, &after, &[DiffSubject::Memory], tolerance);
/// assert_eq!(diff.verdict, ProfileVerdict::Same);
/// # Ok::<(), poplar_inspect::profile::Error>(())
/// ```
pub fn profile_diff<'r>(
    a: &'r Report,
    b: &'r Report,
    subjects: &[DiffSubject],
    tolerance: DiffTolerance,
) -> ProfileDiff<'r> {
    let both_executed = a.execution.is_some() && b.execution.is_some();
    let subjects: BTreeSet<_> = subjects.iter().copied().collect();
    let mut diff = Diff { tolerance, same: 0, differences: Vec::new(), not_compared: BTreeMap::new() };
    for subject in subjects {
        if subject == DiffSubject::Tile {
            diff.compare_tiles(a, b);
            continue;
        }
        let [one, other] = [a, b].map(|report| Values::of(report, subject, both_executed));
        match (one, other) {
            (Some(one), Some(other)) => diff.compare(subject, &one, &other),
            (None, None) => {}
            (one, other) => {
                let values = one.as_ref().or(other.as_ref()).map_or(0, Values::len);
                let missing =
                    NotCompared { subject, measure: None, values, in_a: one.is_some(), in_b: other.is_some() };
                diff.not_compared.insert((subject, None, missing.in_a), missing);
            }
        }
    }
    let verdict = match () {
        () if !diff.differences.is_empty() => ProfileVerdict::Different,
        () if diff.same > 0 && diff.not_compared.is_empty() => ProfileVerdict::Same,
        () => ProfileVerdict::NotComparable,
    };
    ProfileDiff {
        verdict,
        same_values: diff.same,
        differences: diff.differences,
        not_compared: diff.not_compared.into_values().collect(),
    }
}

struct Diff<'r> {
    tolerance: DiffTolerance,
    same: u64,
    differences: Vec<ProfileDifference<'r>>,
    not_compared: BTreeMap<(DiffSubject, Option<&'static str>, bool), NotCompared>,
}

impl<'r> Diff<'r> {
    fn compare(&mut self, subject: DiffSubject, a: &Values<'r>, b: &Values<'r>) {
        let mut found = Vec::new();
        let keys: BTreeSet<&Key<'r>> = a.keys().chain(b.keys()).collect();
        for key in keys {
            let (name, kind, measure, unit) = (key.name, key.kind, key.measure.name, key.measure.unit);
            let mut differ = |a, b| {
                let difference = ProfileDifference { subject, name, kind, tiles: None, measure, unit, a, b };
                found.push((key.measure.nth, difference));
            };
            match (a.get(key), b.get(key)) {
                (Some(Some(a)), Some(Some(b))) if self.tolerance.allows(a, b) => {
                    self.same = self.same.saturating_add(1);
                }
                (Some(Some(a)), Some(Some(b))) => differ(Some(a), Some(b)),
                (Some(Some(a)), None) => differ(Some(a), None),
                (None, Some(Some(b))) => differ(None, Some(b)),
                (Some(Some(_)), Some(None)) => self.unknown(subject, measure, true),
                (Some(None), Some(Some(_))) => self.unknown(subject, measure, false),
                _ => {}
            }
        }
        if subject.is_by_name() {
            found.sort_by_key(|(nth, difference)| (*nth, Reverse(difference.weight())));
        }
        self.differences.extend(found.into_iter().map(|(_, difference)| difference));
    }

    /// Compares the tiles that both have.
    fn compare_tiles(&mut self, a: &'r Report, b: &'r Report) {
        let subject = DiffSubject::Tile;
        for ((measure, a), (_, b)) in bytes_by_tile(a).into_iter().zip(bytes_by_tile(b)) {
            match (a, b) {
                ([], []) => {}
                (_, []) => self.unknown(subject, measure, true),
                ([], _) => self.unknown(subject, measure, false),
                (a, b) => {
                    let pairs = (0_u32..).zip(a.iter().copied().zip(b.iter().copied()));
                    let is_other = |(_, (a, b)): &(u32, (u64, u64))| {
                        !self.tolerance.allows(DiffValue::Number(*a), DiffValue::Number(*b))
                    };
                    let count = pairs.clone().filter(is_other).count() as u64;
                    let most = pairs.filter(is_other).min_by_key(|(_, (a, b))| Reverse(a.abs_diff(*b)));
                    let Some((largest, (a, b))) = most else {
                        self.same = self.same.saturating_add(1);
                        continue;
                    };
                    self.differences.push(ProfileDifference {
                        subject,
                        name: None,
                        kind: None,
                        tiles: Some(DifferentTiles { count, largest }),
                        measure,
                        unit: DiffUnit::Bytes,
                        a: Some(DiffValue::Number(a)),
                        b: Some(DiffValue::Number(b)),
                    });
                }
            }
        }
    }

    /// Notes a value that only one report has.
    fn unknown(&mut self, subject: DiffSubject, measure: &'static str, in_a: bool) {
        match self.not_compared.entry((subject, Some(measure), in_a)) {
            Entry::Occupied(mut known) => known.get_mut().values = known.get().values.saturating_add(1),
            Entry::Vacant(new) => {
                new.insert(NotCompared { subject, measure: Some(measure), values: 1, in_a, in_b: !in_a });
            }
        }
    }
}

impl DiffSubject {
    /// Whether a report has many of these, told apart by their names.
    fn is_by_name(self) -> bool {
        use DiffSubject::{Category, ComputeSet, Exchange, Program, Step, VertexType};
        matches!(self, Category | ComputeSet | Exchange | Program | Step | VertexType)
    }
}
