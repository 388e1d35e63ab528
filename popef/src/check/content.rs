//! What only reading the data can tell.

use std::io::Read as _;

use super::finding::{Out, Severity};
use super::options::{CheckOptions, Progress};
use super::quote::{count, quote};
use super::rule::{Rule, When};
use super::set::{Place, Set, Skips};
use crate::error::{Error, ErrorKind, Problem};
use crate::model::Linked;
use crate::read::{Blob, Content, Data, ExecutableBlob, File, PoplarHeader};
use crate::types::{DataType, Text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PE401",
        severity: Severity::Error,
        title: "a compressed executable that does not unpack",
        meaning: "The compressed data is damaged, or unpacks to another size than the blob says. The executable \
                  cannot be loaded.",
        mend: "Copy or export the file again.",
        when: When::Deep,
        run: |set, out| {
            let unknown = |error: &Error| matches!(error.problem(), Problem::UnknownCompression { .. });
            packed(set, out, |error| !unknown(error));
        },
    },
    Rule {
        id: "PE402",
        severity: Severity::Error,
        title: "an executable compressed in an unknown way",
        meaning: "The blob says that its executable is compressed, and its first bytes are of no kind that is known: \
                  zlib, gzip, zstd or LZ4.",
        mend: "If it is not compressed at all, its uncompressedSize was never set: export it again. Else please report \
               the file.",
        when: When::Deep,
        run: |set, out| packed(set, out, |error| matches!(error.problem(), Problem::UnknownCompression { .. })),
    },
    Rule {
        id: "PE403",
        severity: Severity::Error,
        title: "booleans that are neither 0 nor 1",
        meaning: "A tensor of booleans has bytes other than 0 and 1. The data is not what its type says, or damaged.",
        mend: "Export the data again, as booleans or under the type that it has.",
        when: When::Deep,
        run: |set, out| {
            odd_elements(
                set,
                out,
                |counts| counts.not_bool,
                |counts| format!("{} of {} are neither 0 nor 1", counts.not_bool, count(counts.elements, "boolean")),
            );
        },
    },
    Rule {
        id: "PE404",
        severity: Severity::Warning,
        title: "a tensor with NaN",
        meaning: "A tensor or feed has elements that are not a number. One such weight makes everything that is \
                  computed with it NaN: training diverged, or the data is damaged.",
        mend: "Look at the tensor, and export the model from a state before it diverged.",
        when: When::Deep,
        run: |set, out| {
            odd_elements(
                set,
                out,
                |counts| counts.nan,
                |counts| format!("{} of {} are NaN", counts.nan, count(counts.elements, "element")),
            );
        },
    },
    Rule {
        id: "PE405",
        severity: Severity::Note,
        title: "a tensor with infinities",
        meaning: "A tensor or feed has infinite elements. In an attention mask they are meant; in weights they are an \
                  overflow.",
        mend: "If the tensor is no mask, look where it overflowed.",
        when: When::Deep,
        run: |set, out| {
            odd_elements(
                set,
                out,
                |counts| counts.infinite,
                |counts| format!("{} of {} are infinite", counts.infinite, count(counts.elements, "element")),
            );
        },
    },
    Rule {
        id: "PE406",
        severity: Severity::Error,
        title: "a Poplar executable larger than its blob",
        meaning: "The executable begins with Poplar's header, whose sizes call for more bytes than there are. It was \
                  cut before it was put into the file.",
        mend: "Export the model again.",
        when: When::Deep,
        run: |set, out| {
            for misfit in &set.contents.misfits {
                out.add(misfit.place, [misfit.name.clone()], || {
                    let (needed, found) = (misfit.needed, misfit.found);
                    format!(
                        "executable {} needs {needed} bytes by its Poplar header, and has {found}",
                        quote(&misfit.name)
                    )
                });
            }
        },
    },
];

/// What reading all data found.
#[derive(Default)]
pub(super) struct Contents {
    packed: Vec<(Place, Text<'static>, Error)>,
    misfits: Vec<Misfit>,
    tensors: Vec<(Place, &'static str, Text<'static>, Counts)>,
    /// How many tensors and feeds are of type F8.
    meaningless: u64,
}

struct Misfit {
    place: Place,
    name: Text<'static>,
    needed: u128,
    found: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    elements: u64,
    nan: u64,
    infinite: u64,
    not_bool: u64,
}

fn packed(set: &Set<'_>, out: &mut Out<'_>, is_it: impl Fn(&Error) -> bool) {
    for (place, name, error) in set.contents.packed.iter().filter(|(.., error)| is_it(error)) {
        out.add(*place, [name.clone()], || format!("executable {}: {}", quote(name), error.reason()));
    }
}

fn odd_elements(
    set: &Set<'_>,
    out: &mut Out<'_>,
    number: impl Fn(&Counts) -> u64,
    message: impl Fn(&Counts) -> String,
) {
    for (place, kind, name, counts) in set.contents.tensors.iter().filter(|(.., counts)| number(counts) > 0) {
        out.add(*place, [name.clone()], || format!("{kind} {}: {}", quote(name), message(counts)));
    }
}

impl Contents {
    /// Reads all executables, tensors and feeds, a piece at a time, if the options ask for it.
    pub(super) fn of(
        files: &[&File],
        options: &CheckOptions,
        progress: &mut dyn FnMut(Progress),
        skips: &mut Skips<'_>,
    ) -> Self {
        let mut contents = Contents::default();
        let total = files.iter().flat_map(|file| file.blobs()).map(|blob| bytes_to_read(&blob)).sum_saturating();
        if total > 0 && !options.is_deep() {
            skips.left_out(
                format!("{} of executables, tensors and feeds", count(total, "byte")),
                "only a deep check reads them",
            );
        }
        if !options.is_deep() {
            return contents;
        }
        let mut reading = Reading { done: 0, total, progress };
        for (file, opened) in files.iter().enumerate() {
            for blob in opened.blobs() {
                if let Err(error) = contents.look_at(&Linked { file, blob }, &mut reading, skips) {
                    skips.failed(file, format!("the data of blob {}", blob.index()), &error);
                }
            }
        }
        if contents.meaningless > 0 {
            let what = format!("the elements of {} of type F8", count(contents.meaningless, "tensor"));
            skips.left_out(what, "what their bits mean is not known");
        }
        contents
    }

    fn look_at(
        &mut self,
        blob: &Linked<Blob<'_>>,
        reading: &mut Reading<'_>,
        skips: &mut Skips<'_>,
    ) -> Result<(), Error> {
        match blob.content() {
            Content::Executable(executable) => self.executable(blob.file, &executable, reading, skips),
            Content::Tensor(tensor) => match tensor.elements() {
                Ok(elements) => {
                    self.elements(blob, "tensor", tensor.name(), tensor.data_type(), &elements.data(), reading, skips)
                }
                // That the data is too short, or of no known type, is a finding of its own.
                Err(_) => Ok(()),
            },
            Content::Feed(feed) => {
                let surplus = feed.surplus();
                let len = feed.data().len().saturating_sub(surplus);
                match feed.item(0) {
                    Ok(_) => self.elements(
                        blob,
                        "feed",
                        feed.name(),
                        feed.data_type(),
                        &feed.data().range(0..len)?,
                        reading,
                        skips,
                    ),
                    Err(_) => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn executable(
        &mut self,
        file: usize,
        executable: &ExecutableBlob<'_>,
        reading: &mut Reading<'_>,
        skips: &mut Skips<'_>,
    ) -> Result<(), Error> {
        let place = Place::data(file, executable.blob());
        let name = || executable.name().into_owned();
        match unpack(executable, reading) {
            Ok(header) => {
                let needed = header.map_or(0, |header| needed_by(&header));
                let found = executable.uncompressed_size();
                if needed > found.into() {
                    self.misfits.push(Misfit { place, name: name(), needed, found });
                }
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.packed.push((place, name(), error));
                Ok(())
            }
            Err(error) if matches!(error.problem(), Problem::CompressionNotBuilt { .. }) => {
                skips.left_out(format!("executable {}", quote(&executable.name())), &error.reason());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "tensors and feeds share no type")]
    fn elements(
        &mut self,
        blob: &Linked<Blob<'_>>,
        kind: &'static str,
        name: Text<'_>,
        data_type: DataType,
        data: &Data<'_>,
        reading: &mut Reading<'_>,
        _skips: &mut Skips<'_>,
    ) -> Result<(), Error> {
        let Some(count) = counter(data_type) else {
            self.meaningless = self.meaningless.saturating_add(u64::from(data_type == DataType::F8));
            return Ok(());
        };
        let size = data_type.size().unwrap_or(1);
        let mut counts = Counts { elements: data.len().checked_div(size).unwrap_or_default(), ..Counts::default() };
        for_each_piece(data, reading, |piece| count(piece, &mut counts))?;
        if counts.nan.max(counts.infinite).max(counts.not_bool) > 0 {
            self.tensors.push((Place::data(blob.file, blob), kind, name.into_owned(), counts));
        }
        Ok(())
    }
}

/// How many bytes a deep check reads of a blob.
fn bytes_to_read(blob: &Blob<'_>) -> u64 {
    match blob.content() {
        Content::Executable(_) => blob.data().len(),
        Content::Tensor(tensor) if counter(tensor.data_type()).is_some() => {
            blob.data().len().saturating_sub(tensor.surplus())
        }
        Content::Feed(feed) if counter(feed.data_type()).is_some() => blob.data().len().saturating_sub(feed.surplus()),
        _ => 0,
    }
}

/// How far the reading is, and whom to tell.
struct Reading<'p> {
    done: u64,
    total: u64,
    progress: &'p mut dyn FnMut(Progress),
}

impl Reading<'_> {
    fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes).min(self.total);
        (self.progress)(Progress { done: self.done, total: self.total });
    }
}

/// A multiple of every element's size.
const PIECE: u64 = 256 << 10;

fn for_each_piece(data: &Data<'_>, reading: &mut Reading<'_>, mut see: impl FnMut(&[u8])) -> Result<(), Error> {
    let mut start = 0;
    while start < data.len() {
        let end = start.saturating_add(PIECE).min(data.len());
        see(&data.range(start..end)?.read()?);
        reading.advance(end.saturating_sub(start));
        start = end;
    }
    Ok(())
}

/// Reads an executable to its end if it is compressed, and gives its Poplar header.
///
/// One that is stored as it is has nothing to go wrong behind the header.
fn unpack(executable: &ExecutableBlob<'_>, reading: &mut Reading<'_>) -> Result<Option<PoplarHeader>, Error> {
    let header = executable.poplar_header()?;
    if executable.is_compressed() {
        let mut unpacked = executable.unpack()?;
        let mut piece = vec![0; 64 << 10];
        let mut given = 0u64;
        let (packed, size) = (executable.data().len(), executable.uncompressed_size().max(1));
        loop {
            let read = unpacked.read(&mut piece).map_err(|e| executable.unpack_error(e))?;
            if read == 0 {
                break;
            }
            given = given.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            let share = u128::from(given.min(size)).saturating_mul(packed.into()).checked_div(size.into());
            reading.show(u64::try_from(share.unwrap_or_default()).unwrap_or(u64::MAX));
        }
    }
    reading.advance(executable.data().len());
    Ok(header)
}

impl Reading<'_> {
    /// So far into the blob that is being read, without counting it yet.
    fn show(&mut self, within: u64) {
        let done = self.done.saturating_add(within).min(self.total);
        (self.progress)(Progress { done, total: self.total });
    }
}

fn needed_by(header: &PoplarHeader) -> u128 {
    let parts = [header.archive_compressed_size, header.metadata_compressed_size];
    let header = u128::try_from(PoplarHeader::LEN).unwrap_or_default();
    parts.into_iter().fold(header, |sum, part| sum.saturating_add(part.into()))
}

type Counter = fn(&[u8], &mut Counts);

/// How to count the elements of a type that are odd; none if none can be.
fn counter(data_type: DataType) -> Option<Counter> {
    Some(match data_type {
        DataType::Bool => |piece, counts| add(&mut counts.not_bool, piece.iter().filter(|&&byte| byte > 1).count()),
        DataType::F8143 | DataType::F8152 => {
            |piece, counts| add(&mut counts.nan, piece.iter().filter(|&&byte| byte == 0x80).count())
        }
        DataType::F16 => |piece, counts| {
            tally(
                piece.as_chunks().0.iter().map(|&bytes| u64::from(u16::from_le_bytes(bytes) & 0x7fff)),
                0x7c00,
                counts,
            );
        },
        DataType::F32 => |piece, counts| {
            let bits = |&bytes: &[u8; 4]| u64::from(u32::from_le_bytes(bytes) & 0x7fff_ffff);
            tally(piece.as_chunks().0.iter().map(bits), 0x7f80_0000, counts);
        },
        DataType::F64 => |piece, counts| {
            let bits = |&bytes: &[u8; 8]| u64::from_le_bytes(bytes) & (u64::MAX >> 1);
            tally(piece.as_chunks().0.iter().map(bits), 0x7ff0_0000_0000_0000, counts);
        },
        _ => return None,
    })
}

/// Counts what is infinite, and what is beyond.
fn tally(magnitudes: impl Iterator<Item = u64>, infinity: u64, counts: &mut Counts) {
    let (mut infinite, mut nan) = (0, 0);
    for magnitude in magnitudes {
        // No more than a piece has bytes, so neither wraps; said in this way the loop runs on vectors.
        infinite = usize::from(magnitude == infinity).wrapping_add(infinite);
        nan = usize::from(magnitude > infinity).wrapping_add(nan);
    }
    add(&mut counts.infinite, infinite);
    add(&mut counts.nan, nan);
}

fn add(sum: &mut u64, number: usize) {
    *sum = sum.saturating_add(u64::try_from(number).unwrap_or(u64::MAX));
}

trait SumSaturating {
    fn sum_saturating(self) -> u64;
}

impl<I: Iterator<Item = u64>> SumSaturating for I {
    fn sum_saturating(self) -> u64 {
        self.fold(0, u64::saturating_add)
    }
}
