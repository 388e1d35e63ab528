//! One blob and its partner.

use popef::read::{Data, DataBlob, ExecutableBlob};
use popef::{Blob, Content};
use serde_json::Value;

use super::DiffOptions;
use super::data::Lot;
use super::executable::unpacked;
use super::metadata;
use super::numbers::{Tally, Tolerance};
use super::pairs::key;
use super::report::{BlobDiff, BytesDiff, FieldDiff, Side, Status};
use crate::error::Error;
use crate::progress::Progress;
use crate::work::{Scratch, fault};

/// What is compared: a blob with its partner, or a blob without a partner.
#[derive(Clone, Copy)]
pub(super) enum Subject<'f> {
    Both(Couple<'f>),
    Removed(Blob<'f>),
    Added(Blob<'f>),
}

/// A blob and its partner.
#[derive(Clone, Copy)]
pub(super) struct Couple<'f> {
    a: Blob<'f>,
    b: Blob<'f>,
    /// Whether it costs little to read their messages once more.
    near: bool,
}

/// The result for a subject. It has a report unless both sides are the same.
pub(super) struct Compared {
    pub(super) status: Status,
    pub(super) report: Option<Box<BlobDiff>>,
    /// The number of differing bytes that this comparison ignores.
    pub(super) ignored: u64,
}

/// How the data of two blobs is compared.
pub(super) enum How<'f> {
    /// Values cannot be compared: one is missing, or types or shapes differ.
    Not,
    /// In pieces.
    Lot(Lot<'f>),
    /// Unpacked, from the start to the end.
    Unpacked(ExecutableBlob<'f>, ExecutableBlob<'f>),
}

/// What was found in the data.
enum Found<'t, 'f> {
    Nothing,
    Lot(&'t Lot<'f>, &'t Tally),
    Unpacked(BytesDiff),
}

impl<'f> Subject<'f> {
    /// `near` is whether it costs little to read messages once more.
    pub(super) fn of(a: Option<Blob<'f>>, b: Option<Blob<'f>>, near: bool) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(Subject::Both(Couple { a, b, near })),
            (Some(a), None) => Some(Subject::Removed(a)),
            (None, Some(b)) => Some(Subject::Added(b)),
            (None, None) => None,
        }
    }

    pub(super) fn how(&self, options: &DiffOptions<'_>) -> Result<How<'f>, Error> {
        match self {
            Subject::Both(couple) => couple.how(options),
            Subject::Removed(_) | Subject::Added(_) => Ok(How::Not),
        }
    }

    /// Compares all of it on this thread.
    pub(super) fn compare(
        &self,
        options: &DiffOptions<'_>,
        scratch: &mut Scratch,
        progress: &dyn Progress,
    ) -> Result<Compared, Error> {
        match self {
            Subject::Both(couple) => couple.or_not_comparable(couple.compare(options, scratch, progress)),
            Subject::Removed(blob) => Ok(alone(blob, Status::Removed)),
            Subject::Added(blob) => Ok(alone(blob, Status::Added)),
        }
    }

    /// Finishes a subject whose data was compared in pieces.
    pub(super) fn finish(&self, options: &DiffOptions<'_>, tally: &Tally) -> Result<Compared, Error> {
        let Subject::Both(couple) = self else { return self.compare(options, &mut Scratch::default(), &crate::Silent) };
        let judged = match couple.how(options)? {
            How::Lot(lot) => couple.judge(options, Found::Lot(&lot, tally)),
            _ => couple.judge(options, Found::Nothing),
        };
        couple.or_not_comparable(judged)
    }
}

fn alone(blob: &Blob<'_>, status: Status) -> Compared {
    let side = Some(side(blob));
    let (a, b) = if status == Status::Removed { (side, None) } else { (None, side) };
    Compared { status, report: Some(Box::new(report(status, blob, a, b))), ignored: 0 }
}

impl<'f> Couple<'f> {
    fn how(&self, options: &DiffOptions<'_>) -> Result<How<'f>, Error> {
        Ok(match (self.a.content(), self.b.content()) {
            // Metadata has no data with a meaning.
            (Content::Metadata(_), _) if !options.exact => How::Not,
            (Content::Executable(a), Content::Executable(b)) if is_unpacked(a, b, options) => How::Unpacked(a, b),
            _ => match (self.a.as_data(), self.b.as_data()) {
                (Some(a), Some(b)) => Lot::tensors(a, b)?.map_or(How::Not, How::Lot),
                _ => How::Lot(Lot::bytes(self.a.data(), self.b.data())),
            },
        })
    }

    fn compare(
        &self,
        options: &DiffOptions<'_>,
        scratch: &mut Scratch,
        progress: &dyn Progress,
    ) -> Result<Compared, Error> {
        match self.how(options)? {
            How::Not => self.judge(options, Found::Nothing),
            How::Lot(lot) => {
                let tally = lot.compare_all(&options.tolerance, scratch, progress)?;
                self.judge(options, Found::Lot(&lot, &tally))
            }
            How::Unpacked(a, b) => {
                let found = unpacked(a, b, scratch, progress)?;
                self.judge(options, found.map_or(Found::Nothing, Found::Unpacked))
            }
        }
    }

    /// Summarises the differences.
    fn judge(&self, options: &DiffOptions<'_>, found: Found<'_, 'f>) -> Result<Compared, Error> {
        let mut changes = changes(&self.a, &self.b, options.exact)?;
        let (mut bytes, mut values, mut close) = (None, None, false);
        match found {
            Found::Nothing => {}
            Found::Unpacked(diff) => bytes = Some(diff),
            Found::Lot(lot, tally) => {
                close = tally.unequal;
                values = if close { lot.value_diff(tally)? } else { None };
                if values.is_none() && (tally.different > 0 || lot.lengths_differ()) {
                    bytes = Some(lot.bytes_diff(tally));
                }
            }
        }
        if options.exact {
            bytes = bytes.map_or_else(|| surplus_diff(&self.a, &self.b), |bytes| Ok(Some(bytes)))?;
            exact_changes(&self.a, &self.b, &mut changes)?;
        }
        let differs = bytes.is_some() || values.as_ref().is_some_and(|values| values.different > 0 || options.exact);
        let renamed = key(&self.a) != key(&self.b);
        let status = match () {
            () if differs || changes.iter().any(|change| !change.is_key()) => Status::Changed,
            () if renamed => Status::Renamed,
            () if close => Status::Close,
            () => Status::Same,
        };
        let is_same = matches!(status, Status::Same | Status::Close);
        let ignored = if is_same && !options.exact && !options.stop_early { self.ignored()? } else { 0 };
        if status == Status::Same {
            return Ok(Compared { status, report: None, ignored });
        }
        let (mut a, mut b) = (side(&self.a), side(&self.b));
        if bytes.is_some() {
            a.poplar_header = poplar_header(&self.a);
            b.poplar_header = poplar_header(&self.b);
        }
        let report = BlobDiff { changes, values, bytes, ..report(status, &self.a, Some(a), Some(b)) };
        Ok(Compared { status, report: Some(Box::new(report)), ignored })
    }

    /// The number of bytes that differ after the tensors, and in messages that this library would write otherwise:
    /// fields of a later version, or another layout. Versions and compression have a meaning.
    fn ignored(&self) -> Result<u64, Error> {
        let Couple { a, b, near } = self;
        let surplus = surplus_diff(a, b)?.map_or(0, |diff| bytes_of_diff(&diff));
        let mut known = Vec::new();
        known_changes(a, b, &mut known);
        // Messages on other machines cost a request each.
        if !known.is_empty() || !(*near || a.head_bytes().len() != b.head_bytes().len()) {
            return Ok(surplus);
        }
        let differ = |a: Data<'f>, b: Data<'f>| -> Result<u64, Error> {
            let lot = Lot::bytes(a, b);
            let tally = lot.compare_all(&Tolerance::default(), &mut Scratch::default(), &crate::Silent)?;
            Ok(bytes_of_diff(&lot.bytes_diff(&tally)))
        };
        // The sizes of blobs are in their headers.
        let headers = if a.size() == b.size() { differ(a.header_bytes(), b.header_bytes())? } else { 0 };
        let messages = headers.saturating_add(differ(a.info_bytes(), b.info_bytes())?);
        let is_usual = messages == 0 || (a.has_usual_head()? && b.has_usual_head()?);
        Ok(if is_usual { surplus } else { surplus.saturating_add(messages) })
    }

    /// If a blob is damaged, the others can still be compared. Other errors end the comparison.
    fn or_not_comparable(&self, result: Result<Compared, Error>) -> Result<Compared, Error> {
        result.or_else(|error| {
            let found = fault(&error).filter(|fault| fault.blob().is_some()).map(popef::Error::describe);
            let Some(found) = found else { return Err(error) };
            let status = Status::NotComparable;
            let report = report(status, &self.a, Some(side(&self.a)), Some(side(&self.b)));
            Ok(Compared { status, report: Some(Box::new(BlobDiff { error: Some(found), ..report })), ignored: 0 })
        })
    }
}

fn is_unpacked(a: ExecutableBlob<'_>, b: ExecutableBlob<'_>, options: &DiffOptions<'_>) -> bool {
    !options.exact && (a.is_compressed() || b.is_compressed())
}

fn report(status: Status, blob: &Blob<'_>, a: Option<Side>, b: Option<Side>) -> BlobDiff {
    let (blob_type, name, _) = key(blob);
    let (changes, values, bytes, error) = (Vec::new(), None, None, None);
    BlobDiff { status, blob_type, name: name.into(), a, b, changes, values, bytes, error }
}

fn side(blob: &Blob<'_>) -> Side {
    let count = |tensors: DataBlob<'_>| {
        if tensors.is_feed() { format!("{} × ", tensors.num_tensors()) } else { String::new() }
    };
    let tensors = |tensors: DataBlob<'_>| format!("{}{} {}", count(tensors), tensors.data_type(), tensors.shape());
    Side {
        index: blob.index(),
        offset: blob.offset(),
        size: blob.size(),
        data_size: blob.data().len(),
        tensors: blob.as_data().map(tensors),
        poplar_header: None,
    }
}

/// Poplar's header. If it cannot be read, it is not shown.
fn poplar_header(blob: &Blob<'_>) -> Option<popef::read::PoplarHeader> {
    blob.as_executable()?.poplar_header().ok().flatten()
}

/// The fields of the info messages that differ.
fn changes<'f>(a: &Blob<'f>, b: &Blob<'f>, exact: bool) -> Result<Vec<FieldDiff>, Error> {
    if let (Some(of_a), Some(of_b)) = (a.as_metadata(), b.as_metadata()) {
        return if is_same(a.info_bytes(), b.info_bytes())? {
            Ok(Vec::new())
        } else {
            Ok(metadata::changes(&of_a.read()?, &of_b.read()?, exact))
        };
    }
    let tensors = |data: DataBlob<'f>| (data.data_type(), data.shape(), data.num_tensors());
    if key(a) == key(b) && a.as_data().map(tensors) == b.as_data().map(tensors) {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    let mut compare = |field, a: Value, b: Value| {
        if a != b {
            changes.push(FieldDiff::field(field, a, b));
        }
    };
    let [(_, name, executable), (_, name_of_b, executable_of_b)] = [key(a), key(b)];
    compare("name", metadata::json(&name), metadata::json(&name_of_b));
    compare("executable", metadata::json(&executable), metadata::json(&executable_of_b));
    if let (Some(a), Some(b)) = (a.as_data(), b.as_data()) {
        compare("dataType", metadata::json(&a.data_type()), metadata::json(&b.data_type()));
        compare("shape", a.shape().iter().collect(), b.shape().iter().collect());
        compare("numTensors", a.num_tensors().into(), b.num_tensors().into());
    }
    Ok(changes)
}

/// The number of bytes that differ, or are only on one side.
fn bytes_of_diff(diff: &BytesDiff) -> u64 {
    diff.different.unwrap_or(0).saturating_add(diff.a.abs_diff(diff.b))
}

/// The fields that have a meaning and count only if the comparison is exact.
fn known_changes(a: &Blob<'_>, b: &Blob<'_>, changes: &mut Vec<FieldDiff>) {
    if a.version() != b.version() {
        changes.push(FieldDiff::field("version", metadata::json(&a.version()), metadata::json(&b.version())));
    }
    if let (Some(a), Some(b)) = (a.as_executable(), b.as_executable())
        && a.info().uncompressed_size != b.info().uncompressed_size
    {
        let size = |size: Option<u64>| size.map_or(Value::Null, Value::from);
        let (a, b) = (size(a.info().uncompressed_size), size(b.info().uncompressed_size));
        changes.push(FieldDiff::field("uncompressedSize", a, b));
    }
}

/// Adds what an exact comparison checks besides the fields and the data.
fn exact_changes(a: &Blob<'_>, b: &Blob<'_>, changes: &mut Vec<FieldDiff>) -> Result<(), Error> {
    known_changes(a, b, changes);
    // The sizes of blobs are in their headers, and differ if their data does.
    let has_other_messages = || {
        let are_headers_same = a.size() != b.size() || is_same(a.header_bytes(), b.header_bytes())?;
        Ok::<_, Error>(!are_headers_same || !is_same(a.info_bytes(), b.info_bytes())?)
    };
    if changes.is_empty() && has_other_messages()? {
        let lengths = |blob: &Blob<'_>| Value::from(blob.head_bytes().len());
        changes.push(FieldDiff::field("messages", lengths(a), lengths(b)));
    }
    Ok(())
}

fn is_same(a: Data<'_>, b: Data<'_>) -> Result<bool, Error> {
    Ok(a.len() == b.len() && a.read()? == b.read()?)
}

/// How the bytes after the tensors differ.
fn surplus_diff<'f>(a: &Blob<'f>, b: &Blob<'f>) -> Result<Option<BytesDiff>, Error> {
    let (Some(of_a), Some(of_b)) = (a.as_data(), b.as_data()) else { return Ok(None) };
    let start = |tensors: DataBlob<'f>| tensors.data().len().saturating_sub(tensors.surplus());
    let behind = |tensors: DataBlob<'f>| tensors.data().range(start(tensors)..tensors.data().len());
    let lot = Lot::bytes(behind(of_a)?, behind(of_b)?);
    let tally = lot.compare_all(&Tolerance::default(), &mut Scratch::default(), &crate::Silent)?;
    Ok((tally.unequal || lot.lengths_differ()).then(|| {
        let diff = lot.bytes_diff(&tally);
        let first = diff.first.map(|first| first.saturating_add(start(of_a)));
        BytesDiff { first, behind_tensors: true, ..diff }
    }))
}
