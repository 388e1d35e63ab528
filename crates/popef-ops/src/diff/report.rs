//! The result of a comparison, as plain values.

use std::fmt;

use popef::read::{PoplarHeader, Value};
use popef::types::{BlobType, Diagnostic};
use serde::{Serialize, Serializer};

use crate::name::Name;

/// The differences between a blob and its partner in the other file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobDiff {
    /// What became of the blob.
    pub status: Status,
    /// The type of the blob.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// The name in the first file, unless only the second has the blob. Metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// The blob in the first file.
    pub a: Option<Side>,
    /// The blob in the second file.
    pub b: Option<Side>,
    /// The fields, anchors and options that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldDiff>,
    /// How the elements of a tensor or a feed differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ValueDiff>,
    /// How data without elements differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<BytesDiff>,
    /// The part that cannot be compared, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Diagnostic>,
}

/// What became of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Status {
    /// Nothing differs.
    Same,
    /// All values are the same, or within the tolerance, but their bytes are not.
    Close,
    /// The blobs cannot be compared.
    NotComparable,
    /// Only its name differs.
    Renamed,
    /// Something else differs.
    Changed,
    /// Only the first file has it.
    Removed,
    /// Only the second file has it.
    Added,
}

/// A blob in one of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Side {
    /// The blob's number in its file, counted from 0.
    pub index: usize,
    /// Its offset in the file.
    pub offset: u64,
    /// Its size: header, info and data.
    pub size: u64,
    /// The size of its data.
    pub data_size: u64,
    /// The element type and shape, and the number of tensors, if the blob has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensors: Option<String>,
    /// Poplar's header, if the blob is an executable that differs and has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poplar_header: Option<PoplarHeader>,
}

/// A field that differs, or an anchor, an option or a program that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FieldDiff {
    /// The list that has the change: `anchors`, `engineOptions`, `deviceOptions` or `programsMap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<&'static str>,
    /// The name of the anchor or option, or the index of the program.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The field, by its name in the schema. `None` if the whole item is only on one side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// The value in the first file; null if it has no such field.
    pub a: serde_json::Value,
    /// The value in the second file; null if it has no such field.
    pub b: serde_json::Value,
}

impl FieldDiff {
    /// A field of the blob itself.
    pub(super) fn field(field: &'static str, a: serde_json::Value, b: serde_json::Value) -> Self {
        FieldDiff { list: None, name: None, field: Some(field), a, b }
    }

    /// Whether the field belongs to the key that pairs blobs.
    pub(super) fn is_key(&self) -> bool {
        self.list.is_none() && matches!(self.field, Some("name" | "executable"))
    }
}

/// How the elements of two tensors or feeds of the same type and shape differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ValueDiff {
    /// How many elements were compared.
    pub elements: u64,
    /// How many of them differ by more than the tolerance.
    pub different: u64,
    /// The number of tensors of a feed in which any element differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub different_tensors: Option<u64>,
    /// The largest difference of two elements, `|a - b|`. Null if the elements are not numbers.
    pub max_abs: Option<Amount>,
    /// The largest difference relative to the second file, `|a - b| / |b|`, where b is neither 0 nor infinite.
    pub max_rel: Option<Amount>,
    /// The number of different elements that are NaN on at least one side. The largest differences do not include them.
    pub not_a_number: u64,
    /// The first element that differs by more than the tolerance.
    pub first: Option<FirstDiff>,
}

/// The first element that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FirstDiff {
    /// The tensor of the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<u64>,
    /// The index in each dimension, outermost first.
    pub index: Vec<u64>,
    /// The element in the first file.
    pub a: Element,
    /// The element in the second file.
    pub b: Element,
}

/// How bytes differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BytesDiff {
    /// The number of bytes in the first file, unpacked if it is a compressed executable.
    pub a: u64,
    /// The number of bytes in the second file.
    pub b: u64,
    /// Where the first difference is, from the start of the data in the first file. Null if it was not looked for.
    pub first: Option<u64>,
    /// How many bytes differ where both have some. Null if they were not counted.
    pub different: Option<u64>,
    /// Whether only the bytes after the tensors were compared, and counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub behind_tensors: bool,
}

/// A difference of two numbers: exact for integers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// A difference of integers.
    Int(u64),
    /// A difference of floats, or a quotient.
    Float(f64),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Int(amount) => fmt::Display::fmt(amount, f),
            Amount::Float(amount) => fmt::Debug::fmt(amount, f),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Amount::Int(amount) => serializer.serialize_u64(amount),
            Amount::Float(amount) => float(amount, serializer, |serializer| serializer.serialize_f64(amount)),
        }
    }
}

/// An element as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Element {
    /// A number or a truth value.
    Value(Value),
    /// A byte whose meaning is unknown: of an `f8`, or of a `bool` that is neither 0 nor 1.
    Byte(u8),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Value(value) => value.fmt(f),
            Element::Byte(byte) => write!(f, "{byte:#04x}"),
        }
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Element::Value(Value::Bool(value)) => serializer.serialize_bool(value),
            Element::Value(Value::Int(value)) => serializer.serialize_i64(value),
            Element::Value(Value::UInt(value)) => serializer.serialize_u64(value),
            Element::Value(Value::F32(value)) => {
                float(value.into(), serializer, |serializer| serializer.serialize_f32(value))
            }
            Element::Value(value) => {
                float(value.to_f64(), serializer, |serializer| serializer.serialize_f64(value.to_f64()))
            }
            Element::Byte(_) => serializer.collect_str(self),
        }
    }
}

/// A float as `popef dump` writes it: JSON has no numbers for NaN and infinities.
fn float<S: Serializer>(
    value: f64,
    serializer: S,
    finite: impl FnOnce(S) -> Result<S::Ok, S::Error>,
) -> Result<S::Ok, S::Error> {
    match value {
        _ if value.is_finite() => finite(serializer),
        _ if value.is_nan() => serializer.serialize_str("NaN"),
        _ if value > 0.0 => serializer.serialize_str("Infinity"),
        _ => serializer.serialize_str("-Infinity"),
    }
}

/// The answer of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Verdict {
    /// The files are the same.
    Same,
    /// They differ.
    Different,
    /// No difference was found, but some blobs cannot be compared.
    NotComparable,
}

/// What a comparison comes to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffSummary {
    /// The answer.
    pub verdict: Verdict,
    /// Whether both paths lead to the same file. Then its data was not read.
    pub same_file: bool,
    /// Whether the order of the blobs that both have differs. Null unless an exact comparison was requested.
    pub reordered: Option<bool>,
    /// How the bytes before the first blob differ.
    pub prefix: Option<BytesDiff>,
    /// The number of blobs with each status. A blob and its partner count once.
    pub counts: Counts,
    /// The number of bytes that differ in blobs with the same meaning, because the meaning of these bytes is unknown:
    /// they follow tensors, or messages have fields of a later version or another layout. 0 if the comparison was
    /// stopped early, or is exact, because they count then. In files on other machines, this covers only messages of
    /// different length.
    pub ignored_bytes: u64,
}

/// The number of blobs with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the statuses")]
pub struct Counts {
    pub same: u64,
    pub close: u64,
    pub not_comparable: u64,
    pub renamed: u64,
    pub changed: u64,
    pub removed: u64,
    pub added: u64,
}

impl Counts {
    pub(super) fn count(&mut self, status: Status) {
        let count = match status {
            Status::Same => &mut self.same,
            Status::Close => &mut self.close,
            Status::NotComparable => &mut self.not_comparable,
            Status::Renamed => &mut self.renamed,
            Status::Changed => &mut self.changed,
            Status::Removed => &mut self.removed,
            Status::Added => &mut self.added,
        };
        *count = count.saturating_add(1);
    }

    /// How many blobs differ.
    pub fn different(&self) -> u64 {
        [self.renamed, self.changed, self.removed, self.added].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl DiffSummary {
    /// Whether anything is known to differ.
    pub(super) fn differs(&self) -> bool {
        self.counts.different() > 0 || self.prefix.is_some() || self.reordered == Some(true)
    }
}
