//! What only reading the data can tell.

use super::super::findings::{Findings, Spot};
use super::super::rule::{Rule, When};
use super::super::run::{Check, data};
use super::super::scan::{Counts, Scanned};
use super::super::severity::Severity;
use super::super::words::{count, quote};
use crate::error::ErrorCode;
use crate::model::Linked;
use crate::read::{Blob, Content, PoplarHeader};

pub(super) const RULES: &[Check] = &[
    Check {
        rule: Rule {
            id: "PE401",
            severity: Severity::Error,
            title: "a compressed executable that does not unpack",
            meaning: "The compressed data is damaged, or unpacks to another size than the blob says. The executable \
                      cannot be loaded.",
            mend: "Copy or export the file again.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| packed(blob, scanned, out, |code| !is_unknown(code))),
    },
    Check {
        rule: Rule {
            id: "PE402",
            severity: Severity::Error,
            title: "an executable compressed in an unknown way",
            meaning: "The blob says that its executable is compressed, and its first bytes are of no kind that is \
                      known: zlib, gzip, zstd or LZ4.",
            mend: "If it is not compressed at all, its uncompressedSize was never set: export it again. Else please \
                   report the file.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| packed(blob, scanned, out, is_unknown)),
    },
    Check {
        rule: Rule {
            id: "PE403",
            severity: Severity::Error,
            title: "booleans that are neither 0 nor 1",
            meaning: "A tensor of booleans has bytes other than 0 and 1. The data is not what its type says, or \
                      damaged.",
            mend: "Export the data again, as booleans or under the type that it has.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "boolean");
                (counts.not_bool > 0).then(|| format!("{} of {all} are neither 0 nor 1", counts.not_bool))
            });
        }),
    },
    Check {
        rule: Rule {
            id: "PE404",
            severity: Severity::Warning,
            title: "a tensor with NaN",
            meaning: "A tensor or feed has elements that are not a number. One such weight makes everything that is \
                      computed with it NaN: training diverged, or the data is damaged.",
            mend: "Look at the tensor, and export the model from a state before it diverged.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "element");
                (counts.nan > 0).then(|| format!("{} of {all} are NaN", counts.nan))
            });
        }),
    },
    Check {
        rule: Rule {
            id: "PE405",
            severity: Severity::Note,
            title: "a tensor with infinities",
            meaning: "A tensor or feed has infinite elements. In an attention mask they are meant; in weights they are \
                      an overflow.",
            mend: "If the tensor is no mask, look where it overflowed.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| {
            odd_elements(blob, scanned, out, |counts| {
                let all = count(counts.elements, "element");
                (counts.infinite > 0).then(|| format!("{} of {all} are infinite", counts.infinite))
            });
        }),
    },
    Check {
        rule: Rule {
            id: "PE406",
            severity: Severity::Error,
            title: "a Poplar executable larger than its blob",
            meaning: "The executable begins with Poplar's header, whose sizes call for more bytes than there are. It \
                      was cut before it was put into the file.",
            mend: "Export the model again.",
            when: When::Deep,
        },
        run: data(|blob, scanned, out| {
            let (Scanned::Executable(Ok(Some(header))), Content::Executable(executable)) = (scanned, blob.content())
            else {
                return;
            };
            let (needed, found) = (needed_by(header), executable.uncompressed_size());
            if needed > found.into() {
                out.add(Spot::data(blob.file, blob), [executable.name()], || {
                    let name = quote(&executable.name());
                    format!("executable {name} needs {needed} bytes by its Poplar header, and has {found}")
                });
            }
        }),
    },
];

fn packed(blob: &Linked<Blob<'_>>, scanned: &Scanned, out: &mut Findings<'_>, is_it: impl Fn(ErrorCode) -> bool) {
    let Scanned::Executable(Err(error)) = scanned else { return };
    if is_it(error.code()) {
        let name = blob.name().unwrap_or_default();
        out.add(Spot::data(blob.file, blob), [name.clone()], || {
            format!("executable {}: {}", quote(&name), error.reason())
        });
    }
}

/// Whether nothing tells how to unpack what is said to be compressed.
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

fn needed_by(header: &PoplarHeader) -> u128 {
    let parts = [header.archive_compressed_size, header.metadata_compressed_size];
    let header = u128::try_from(PoplarHeader::LEN).unwrap_or_default();
    parts.into_iter().fold(header, |sum, part| sum.saturating_add(part.into()))
}
