//! Findings of checks in a new file that the files it was made from do not have.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use popef::File;
use popef_check::{CheckOptions, Finding, Loader, Severity, check};
use popef_payload::Framework;
use serde::Serialize;

use crate::error::{Code, Error};
use crate::output::{Store, Target};

/// A finding of the library's checks that an operation has caused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFinding {
    /// The rule that it breaks.
    pub rule: &'static str,
    /// The severity: an error or a warning.
    pub severity: Severity,
    /// The blob's number in the file, if it is about a blob.
    pub blob: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// The target of an operation that refuses findings if `strict`. If nothing is to be written, the new file becomes a temporary one
/// for the checks. Fails if the new file cannot be read before it is complete.
pub(crate) fn checked<'t, 'f>(
    strict: bool,
    target: Target<'t>,
    inputs: impl IntoIterator<Item = &'f File>,
) -> Result<Target<'t>, Error> {
    match target {
        Target::Stream(_) if strict => {
            let message =
                "what goes into a pipe cannot be checked before it is complete; write to a file, or allow the findings";
            Err(Error::new(Code::WrongArguments, message))
        }
        _ if strict && target.is_trial() => {
            target.check(inputs)?;
            Ok(Target::Store(Box::new(Unkept)))
        }
        _ => Ok(target),
    }
}

/// Where nothing stays of a new file.
struct Unkept;

impl Store for Unkept {
    fn check(&self, _: &[&Path]) -> Result<(), Error> {
        Ok(())
    }

    fn put(self: Box<Self>, _: fs::File) -> Result<(), Error> {
        Ok(())
    }
}

/// Fails if there are findings that must be refused.
pub(crate) fn refuse(strict: bool, findings: Vec<NewFinding>) -> Result<Vec<NewFinding>, Error> {
    if !strict || findings.is_empty() {
        return Ok(findings);
    }
    let all: Vec<_> =
        findings.iter().map(|finding| format!("{} {}: {}", finding.severity, finding.rule, finding.message)).collect();
    let message = format!("nothing was written, because checks find more than before: {}", all.join("; "));
    Err(Error::new(Code::NewFindings, message))
}

/// Also checks the new file for the frameworks that have a blob in it.
fn options(new: &File) -> CheckOptions {
    let mut options = CheckOptions::new();
    let frameworks: HashSet<_> = new.opaques().filter_map(|opaque| Framework::of_blob(&opaque)).collect();
    for (framework, loader) in [
        (Framework::Popart, Loader::Popart),
        (Framework::Poptorch, Loader::Poptorch),
        (Framework::Tensorflow, Loader::Tensorflow),
    ] {
        if frameworks.contains(&framework) {
            options.loader(loader);
        }
    }
    options
}

fn is_bad(finding: &&Finding) -> bool {
    finding.severity != Severity::Note
}

/// Returns the errors and warnings in a file that was made from others: all errors, because the new file is meant to be
/// whole, and the warnings that none of the others has. An error for one framework counts only if it is new. It is not
/// looked for without PopEF files to compare with.
pub(crate) fn findings_of_parts(parts: &[File], new: &File) -> Vec<NewFinding> {
    let options = if parts.is_empty() { CheckOptions::new() } else { options(new) };
    let key = |finding: &Finding| (finding.rule.id, finding.names.clone());
    let known: HashSet<_> =
        parts.iter().flat_map(|part| check([part], &options).findings).map(|finding| key(&finding)).collect();
    let always = |finding: &Finding| finding.severity == Severity::Error && finding.rule.condition().is_none();
    let found = check([new], &options).findings;
    let found = found.iter().filter(is_bad).filter(|finding| always(finding) || !known.contains(&key(finding)));
    found.map(NewFinding::of).collect()
}

/// Returns the errors and warnings in `new` that are not in `old`, whose changed copy it is.
pub(crate) fn new_findings(old: &File, new: &File) -> Vec<NewFinding> {
    let options = options(new);
    let [old, new] = [old, new].map(|file| check([file], &options).findings);
    // A finding that differs only in its figures or its byte is not new.
    let mut known = HashMap::<_, usize>::new();
    for finding in &old {
        let count = known.entry((finding.rule.id, finding.blob)).or_default();
        *count = count.saturating_add(1);
    }
    let (same, other): (Vec<&Finding>, Vec<&Finding>) =
        new.iter().filter(is_bad).partition(|finding| old.iter().any(|before| is_same(before, finding)));
    for finding in same {
        known.entry((finding.rule.id, finding.blob)).and_modify(|count| *count = count.saturating_sub(1));
    }
    let is_new = |finding: &&Finding| match known.get_mut(&(finding.rule.id, finding.blob)) {
        Some(count) if *count > 0 => {
            *count = count.saturating_sub(1);
            false
        }
        _ => true,
    };
    other.into_iter().filter(is_new).map(NewFinding::of).collect()
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    let of = |finding: &Finding| (finding.rule.id, finding.blob, finding.message.clone());
    of(one) == of(other)
}

impl NewFinding {
    fn of(finding: &Finding) -> Self {
        let Finding { rule, severity, blob, message, .. } = finding;
        NewFinding { rule: rule.id, severity: *severity, blob: *blob, message: message.clone() }
    }
}
