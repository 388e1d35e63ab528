//! Whether what is packed fits together.

use popef::File;
use popef::check::{CheckOptions, check};

use super::part::Part;
use super::report::State;
use crate::error::{Code, Error};
use crate::extract::Kind;

/// The rules of the checks that say whether data fits its shape, and its shape the anchor.
const RULES: [&str; 5] = ["PE301", "PE302", "PE305", "PE306", "PE309"];

/// What does not fit, in words. What was so before the file was extracted does not count.
pub(super) fn problems(file: &File, parts: &[Part]) -> Vec<String> {
    let anchors_are_same = parts.iter().all(|part| part.state == State::Same || !matches!(part.kind, Kind::Metadata));
    let counts = |blob: usize| !anchors_are_same || parts.get(blob).is_none_or(|part| part.state != State::Same);
    let report = check([file], &CheckOptions::new());
    let findings = report.findings.into_iter().filter(|finding| RULES.contains(&finding.rule.id));
    findings.filter(|finding| finding.blob.is_none_or(counts)).map(|finding| finding.message).collect()
}

/// Fails if the file that was written does not have the blobs of the one that was put together.
pub(super) fn is_whole(written: &File, composed: &File) -> Result<(), Error> {
    let same = |(new, old): (popef::Blob<'_>, popef::Blob<'_>)| {
        new.blob_type() == old.blob_type() && new.name() == old.name() && new.version() == old.version()
    };
    match written.len() == composed.len() && written.blobs().zip(composed.blobs()).all(same) {
        true => Ok(()),
        false => Err(Error::new(Code::WrongArguments, "what was written is not what was to be written")),
    }
}
