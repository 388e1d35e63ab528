//! Rules about the contents of executables, tensors and feeds.

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, data, executable, executable_and_data};
use super::super::scan::{Counts, Executable, Parts, Scanned};
use super::super::start::{Start, Stored, needed_by};
use super::super::words::{count, quote};
use popef::error::ErrorCode;
use popef::model::Linked;
use popef::read::{Blob, ExecutableBlob, PoplarHeader};
use popef_findings::{Rule, When};

pub(super) const RULES: &[Check] = &[
    Rule::error("PE401", "a compressed executable that does not unpack")
        .meaning(
            "The compressed data is damaged, or unpacks to another size than the blob states. The executable cannot be \
             loaded.",
        )
        .fix("If a fresh copy of the file has the same fault, the export failed: export the model again.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| packed(blob, scanned, out, |code| !is_unknown(code)))),
    Rule::note("PE402", "an executable with unknown compression")
        .meaning(
            "The blob states that its executable is compressed, and its first bytes are of no known format: zlib, \
             gzip, zstd or LZ4. So this library cannot unpack it, and most likely it is damaged. But which format the \
             vendor's library writes is not known, so this is a note.",
        )
        .fix(
            "If the executable is not compressed, its uncompressedSize was never set: export the model again. If it is \
             compressed in another format, please report that to the authors of this library.",
        )
        .run(executable(|executable, stored, out| {
            if let Stored::UnknownCompression(error) = stored {
                out.add(Spot::data(executable.file, executable.blob.blob()), [executable.name()], || {
                    format!("executable {}: {}", quote(&executable.name()), error.problem())
                });
            }
        })),
    Rule::note("PE403", "booleans that are neither 0 nor 1")
        .meaning(
            "A tensor of booleans has bytes other than 0 and 1. Most likely, the data does not have the stated type, \
             or is damaged. But the vendor does not say what the bytes of a boolean are, so this is a note.",
        )
        .fix("Export the data again, as booleans or with its real type.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "boolean");
                (counts.not_bool > 0).then(|| format!("{} of {all} are neither 0 nor 1", counts.not_bool))
            });
        })),
    Rule::warning("PE404", "a tensor with NaN")
        .meaning(
            "A tensor or feed has elements that are not a number. One such weight makes every result that is computed \
             from it NaN. Training diverged, or the data is damaged.",
        )
        .fix("Examine the tensor, and export the model from a state before training diverged.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "element");
                (counts.nan > 0).then(|| format!("{} of {all} are NaN", counts.nan))
            });
        })),
    Rule::note("PE405", "a tensor with infinities")
        .meaning(
            "A tensor or feed has infinite elements. In an attention mask they are intended. In weights they are an \
             overflow.",
        )
        .fix("If the tensor is not a mask, find out where it overflowed.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "element");
                (counts.infinite > 0).then(|| format!("{} of {all} are infinite", counts.infinite))
            });
        })),
    Rule::error("PE406", "a Poplar executable larger than its blob")
        .meaning(
            "The executable begins with Poplar's header, which states more bytes than there are. The executable was \
             cut before it was put into the file.",
        )
        .fix("Export the model again.")
        .run(executable_and_data(
            |executable, stored, out| {
                if let Stored::Plain(start) = stored {
                    cut(executable, start, out);
                }
            },
            |blob, scanned, out| {
                if let Some((executable, found)) = packed_executable(blob, scanned) {
                    cut(&executable, &found.start, out);
                }
            },
        )),
    Rule::error("PE407", "a Poplar executable with a damaged part")
        .meaning(
            "After Poplar's header follow the archive and Poplar's own metadata, compressed as LZ4 frames. One of them \
             is damaged: it is not LZ4, does not unpack, or unpacks to another size than the header states. Poplar \
             cannot load the executable. Every check examines the first bytes of both, and a deep check unpacks them. \
             If the whole executable is compressed, only a deep check examines the first bytes of the archive, and no \
             check unpacks the two.",
        )
        .fix("If a fresh copy of the file has the same fault, the export failed: export the model again.")
        .run(executable_and_data(
            |executable, stored, out| {
                if let Stored::Plain(start) = stored {
                    bad_part(executable, start, out);
                }
            },
            |blob, scanned, out| {
                if let Some((executable, found)) = packed_executable(blob, scanned) {
                    bad_part(&executable, &found.start, out);
                }
                damaged_part(blob, scanned, out);
            },
        )),
    Rule::note("PE408", "a tensor of equal elements")
        .meaning(
            "All elements of a tensor are 0, or the same number. Such weights were most likely never initialised or \
             loaded. (Only tensors with at least two dimensions and 16 elements are reported: vectors of biases and \
             scales often begin so.)",
        )
        .fix("If the tensor has trained weights, check how they were loaded before the export.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            let is_matrix = blob.as_data().is_some_and(|data| !data.is_feed() && data.shape().len() >= 2);
            odd_elements(blob, scanned, out, |counts| {
                let is_zero = counts.all_zero_or_same.filter(|_| is_matrix && counts.elements >= 16)?;
                let what = if is_zero { "0" } else { "the same number" };
                Some(format!("all {} are {what}", count(counts.elements, "element")))
            });
        })),
    Rule::note("PE409", "numbers with their bytes in the wrong order")
        .meaning(
            "The first numbers of a tensor or feed of type F32 or F64 are mostly extremely large or small, and almost \
             all have a usual size if their bytes are reversed. They were most likely written in big-endian order. \
             PopEF files are little-endian.",
        )
        .fix("Write the data again in little-endian order.")
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                counts.swapped.then(|| "its numbers only make sense with their bytes reversed".to_owned())
            });
        })),
    Rule::note("PE410", "an executable that is not like Poplar's")
        .meaning(
            "Poplar's executables are known to begin with the letters GC_EXE_ and a number, and an archive with \
             programs follows. This one begins with nothing that is known, or its archive is empty. It may be the \
             program of a version of Poplar that writes another form, or it may be no program at all, such as a text \
             or random bytes: then loading fails. The rule knows only what was found in public programs, so it is a \
             note.",
        )
        .fix(
            "If you do not know which program wrote the executable, get the file from who made it, or export the model \
             again. If all your executables begin with GC_EXE_, set PE410 to error in a policy.",
        )
        .when(When::Deep)
        .run(data(|blob, scanned, out| {
            let Scanned::Executable(Ok(Executable { start, .. })) = scanned else { return };
            let what = match start {
                Start::Unknown => "does not begin with GC_EXE_, as Poplar's do",
                Start::OtherPoplar => "begins with GC_EXE_, but not with a number that is known",
                Start::Poplar { header: PoplarHeader { archive_size, archive_compressed_size, .. }, .. }
                    if *archive_size == 0 || *archive_compressed_size == 0 =>
                {
                    "has Poplar's header, which states an empty archive"
                }
                _ => return,
            };
            // Another rule reports an executable without bytes.
            let Some(executable) = blob.content().into_executable().filter(|found| found.uncompressed_size() > 0)
            else {
                return;
            };
            out.add(Spot::data(blob.file, blob), [executable.name()], || {
                format!("executable {} {what}", quote(&executable.name()))
            });
        })),
];

/// Returns the executable if it is compressed, with what was found in it.
fn packed_executable<'a, 's>(
    blob: &Linked<Blob<'a>>,
    scanned: &'s Scanned,
) -> Option<(Linked<ExecutableBlob<'a>>, &'s Executable)> {
    let Scanned::Executable(Ok(found)) = scanned else { return None };
    let executable = blob.content().into_executable().filter(ExecutableBlob::is_compressed)?;
    Some((Linked::new(blob.file, executable), found))
}

fn cut(executable: &Linked<ExecutableBlob<'_>>, start: &Start, out: &mut Findings<'_>) {
    let found = executable.uncompressed_size();
    let message = match start {
        Start::CutPoplar => format!("is cut in Poplar's header: it has only {}", count(found, "byte")),
        Start::Poplar { header, .. } if needed_by(header) > found.into() => {
            format!("needs {} bytes according to its Poplar header, but has {found}", needed_by(header))
        }
        _ => return,
    };
    out.add(Spot::data(executable.file, executable.blob.blob()), [executable.name()], || {
        format!("executable {} {message}", quote(&executable.name()))
    });
}

fn bad_part(executable: &Linked<ExecutableBlob<'_>>, start: &Start, out: &mut Findings<'_>) {
    if let Start::Poplar { bad_part: Some(part), .. } = start {
        out.add(Spot::data(executable.file, executable.blob.blob()), [executable.name()], || {
            format!("executable {}: its {part} does not begin like an LZ4 frame", quote(&executable.name()))
        });
    }
}

fn damaged_part(blob: &Linked<Blob<'_>>, scanned: &Scanned, out: &mut Findings<'_>) {
    let Scanned::Executable(Ok(Executable { start, parts: Parts::Damaged(part, error) })) = scanned else { return };
    // A part that does not begin like an LZ4 frame was already reported.
    if !matches!(start, Start::Poplar { bad_part: Some(_), .. }) && !is_unknown(error.code()) {
        let name = blob.name().unwrap_or_default();
        out.add(Spot::data(blob.file, blob), [name.clone()], || {
            format!("executable {}: its {part} is damaged: {}", quote(&name), error.problem())
        });
    }
}

fn packed(blob: &Linked<Blob<'_>>, scanned: &Scanned, out: &mut Findings<'_>, is_it: impl Fn(ErrorCode) -> bool) {
    let Scanned::Executable(Err(error)) = scanned else { return };
    if is_it(error.code()) {
        let name = blob.name().unwrap_or_default();
        out.add(Spot::data(blob.file, blob), [name.clone()], || {
            format!("executable {}: {}", quote(&name), error.problem())
        });
    }
}

/// Returns whether the format of compression is unknown.
fn is_unknown(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::UnknownCompression | ErrorCode::CompressedDataMissing)
}

fn odd_elements(
    blob: &Linked<Blob<'_>>,
    scanned: &Scanned,
    out: &mut Findings<'_>,
    wrong: impl Fn(&Counts) -> Option<String>,
) {
    let (Scanned::Elements(counts), Some(data)) = (scanned, blob.as_data()) else { return };
    if let Some(wrong) = wrong(counts) {
        let kind = if data.is_feed() { "feed" } else { "tensor" };
        out.add(Spot::data(blob.file, blob), [data.name()], || format!("{kind} {}: {wrong}", quote(&data.name())));
    }
}
