//! The differences between two files, by meaning: see [`diff`].

mod blob;
mod data;
mod executable;
mod metadata;
mod numbers;
mod pairs;
mod report;

use std::fmt;

use popef::error::ErrorCode;
use popef::{Blob, File};

use crate::error::Error;
use crate::progress::Progress;
use crate::work::{Load, Scratch, Task, Tasks, rows_in_order};
use blob::{Compared, How, Subject};
use data::Lot;
use numbers::Tally;
use pairs::Pair;

pub(crate) use metadata::sorted as sorted_items;
pub use numbers::Tolerance;
pub(crate) use pairs::{Key, canonical_order, key};
pub use report::{
    Amount, BlobDiff, BytesDiff, Counts, DiffSummary, Element, FieldDiff, FirstDiff, Side, Status, ValueDiff, Verdict,
};

/// How files are compared.
#[derive(Clone, Copy)]
pub struct DiffOptions<'o> {
    /// When elements of tensors and feeds are the same.
    pub tolerance: Tolerance,
    /// Whether the order, the versions, the compression and every byte must also be the same.
    pub exact: bool,
    /// Whether to stop at the first difference, if only the verdict is wanted. The counts are not complete then.
    pub stop_early: bool,
    /// Which blobs are compared.
    pub select: &'o (dyn Fn(&Blob<'_>) -> bool + Sync),
}

/// Everything by meaning, without a tolerance.
impl Default for DiffOptions<'_> {
    fn default() -> Self {
        DiffOptions { tolerance: Tolerance::default(), exact: false, stop_early: false, select: &|_| true }
    }
}

impl fmt::Debug for DiffOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiffOptions")
            .field("tolerance", &self.tolerance)
            .field("exact", &self.exact)
            .field("stop_early", &self.stop_early)
            .finish_non_exhaustive()
    }
}

/// Compares two files by meaning.
///
/// Blobs are paired by type and name, and opaque blobs also by executable. Metadata is compared field by field, tensors
/// and feeds by value, executables by their own bytes whether they are compressed or not, other blobs by their bytes.
/// Order, versions, compression, and bytes after tensors count only if [`exact`](DiffOptions::exact).
///
/// `each` is called for every blob that is not the same, in the order of the first file, then for the blobs that only
/// the second has. For each pair, 8 bytes are kept. While pairs are looked for, 16 bytes are kept for each blob of
/// either file, from the first whose partner is at another place.
///
/// Data is read in pieces and on all processors. Pieces with the same bytes are not examined further.
///
/// ```
/// use popef_ops::diff::{DiffOptions, Verdict, diff};
/// use popef_ops::Silent;
///
/// # use popef::types::TensorDataInfo;
/// # let file = |value: f32| {
/// #     let mut writer = popef::Writer::stream(Vec::new());
/// #     let tensor_info = popef::TensorInfo::new(popef::DataType::F32, [2]);
/// #     writer.write_tensor(&TensorDataInfo { name: "weights".into(), tensor_info }, &[1.0, value])?;
/// #     popef::File::from_bytes(writer.into_inner()?)
/// # };
/// let (a, b) = (file(2.0)?, file(2.5)?);
/// let mut differences = Vec::new();
/// let summary = diff(&a, &b, &DiffOptions::default(), &Silent, &mut |blob| {
///     differences.push(blob);
///     Ok(())
/// })?;
/// assert_eq!(summary.verdict, Verdict::Different);
/// let values = differences[0].values.as_ref().expect("the values of the tensor differ");
/// assert_eq!((values.different, values.max_abs.map(|max| max.to_string())), (1, Some("0.5".into())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn diff(
    a: &File,
    b: &File,
    options: &DiffOptions<'_>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(BlobDiff) -> Result<(), Error>,
) -> Result<DiffSummary, Error> {
    let same_file = a.id().is_some() && a.id() == b.id() && a.prefix().len() == b.prefix().len();
    let pairs = pairs::pairs(a, b, options.select);
    let reordered = options.exact.then(|| is_reordered(&pairs));
    let mut counts = Counts::default();
    if same_file {
        counts.same = u64::try_from(pairs.len()).unwrap_or(u64::MAX);
        return Ok(DiffSummary {
            verdict: Verdict::Same,
            same_file,
            reordered,
            prefix: None,
            counts,
            ignored_bytes: 0,
        });
    }
    let work = Work { a, b, pairs: &pairs, options, progress };
    let prefix = work.prefix()?;
    let mut summary = DiffSummary { verdict: Verdict::Same, same_file, reordered, prefix, counts, ignored_bytes: 0 };
    if options.stop_early {
        // A blob without a partner differs, whatever its data.
        let alone = pairs.iter().filter_map(|pair| pair.alone());
        alone.for_each(|status| summary.counts.count(status));
    }
    if !(options.stop_early && summary.differs()) {
        work.compare(&mut summary, each)?;
    }
    summary.verdict = match summary.counts.not_comparable {
        _ if summary.differs() => Verdict::Different,
        0 => Verdict::Same,
        _ => Verdict::NotComparable,
    };
    Ok(summary)
}

/// Whether the blobs that both files have are in another order.
fn is_reordered(pairs: &[Pair]) -> bool {
    !pairs.iter().filter(|pair| pair.a().is_some()).filter_map(|pair| pair.b()).is_sorted()
}

/// A comparison of two files.
struct Work<'f> {
    a: &'f File,
    b: &'f File,
    pairs: &'f [Pair],
    options: &'f DiffOptions<'f>,
    progress: &'f dyn Progress,
}

impl<'f> Work<'f> {
    /// How the bytes before the first blobs differ.
    fn prefix(&self) -> Result<Option<BytesDiff>, Error> {
        let lot = Lot::bytes(self.a.prefix(), self.b.prefix());
        self.progress.expect(lot.cost());
        let tally = lot.compare_all(&Tolerance::default(), &mut Scratch::default(), self.progress)?;
        Ok((tally.unequal || lot.lengths_differ()).then(|| lot.bytes_diff(&tally)))
    }

    fn subjects(&self) -> impl Iterator<Item = Subject<'f>> + use<'f> {
        let (a, b) = (self.a, self.b);
        let blob = |file: &'f File, index: Option<usize>| file.blob(index?);
        let near = a.id().is_some() && b.id().is_some();
        self.pairs.iter().filter_map(move |pair| Subject::of(blob(a, pair.a()), blob(b, pair.b()), near))
    }

    fn compare(
        &self,
        summary: &mut DiffSummary,
        each: &mut dyn FnMut(BlobDiff) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let DiffSummary { counts, ignored_bytes, .. } = summary;
        let cost = |sum: u64, subject: Subject<'_>| sum.saturating_add(cost(&subject, self.options));
        self.progress.expect(self.subjects().fold(0, cost));

        let mut pieces = Tally::default();
        let mut enough = false;
        let done = rows_in_order(
            Tasks::new(self.subjects(), |subject| load(subject, self.options)),
            |scratch, task| self.make(scratch, task),
            Made::rows,
            |made| {
                let found = match made {
                    Made::Piece(first, tally) if first => {
                        pieces = tally;
                        Vec::new()
                    }
                    Made::Piece(_, tally) => {
                        pieces.add(&tally);
                        Vec::new()
                    }
                    Made::Several(found) => found,
                    Made::End(subject) => vec![subject.finish(self.options, &pieces)?],
                };
                for Compared { status, report, ignored } in found {
                    counts.count(status);
                    *ignored_bytes = ignored_bytes.saturating_add(ignored);
                    report.map_or(Ok(()), |report| each(*report))?;
                }
                enough = self.options.stop_early && (counts.different() > 0 || pieces.different > 0);
                if enough { Err(Error::new(ErrorCode::Stopped, "enough is known")) } else { Ok(()) }
            },
        );
        if enough {
            // A difference in the middle of a blob was not yet counted.
            counts.changed = counts.changed.saturating_add(u64::from(counts.different() == 0));
            return Ok(());
        }
        done
    }

    fn make(&self, scratch: &mut Scratch, task: Task<Subject<'f>, Lot<'f>>) -> Result<Made<'f>, Error> {
        Ok(match task {
            Task::Piece(lot, range) => {
                let first = range.start == 0;
                Made::Piece(first, lot.compare(range, &self.options.tolerance, scratch, self.progress)?)
            }
            Task::End(subject) => Made::End(Box::new(subject)),
            Task::Several(subjects) => {
                let compare = |subject: Subject<'f>| subject.compare(self.options, scratch, self.progress);
                Made::Several(subjects.into_iter().map(compare).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// What became of a task.
enum Made<'f> {
    Several(Vec<Compared>),
    /// The result of a piece, and whether the piece is the first one.
    Piece(bool, Tally),
    End(Box<Subject<'f>>),
}

impl Made<'_> {
    fn rows(&self) -> usize {
        match self {
            Made::Several(found) => found.len(),
            Made::Piece(..) | Made::End(_) => 0,
        }
    }
}

fn load<'f>(subject: &Subject<'f>, options: &DiffOptions<'_>) -> Load<Lot<'f>> {
    match subject.how(options) {
        Ok(How::Lot(lot)) => Load::Pieces(lot, lot.common()),
        _ => Load::Whole(cost(subject, options)),
    }
}

/// The number of bytes to read to compare the data of a subject.
fn cost(subject: &Subject<'_>, options: &DiffOptions<'_>) -> u64 {
    match subject.how(options) {
        Ok(How::Lot(lot)) => lot.cost(),
        Ok(How::Unpacked(a, b)) => a.uncompressed_size().saturating_add(b.uncompressed_size()),
        Ok(How::Not) | Err(_) => 0,
    }
}
