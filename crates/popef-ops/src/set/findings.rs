//! What checks find after a change and did not find before.

use std::collections::HashMap;

use popef::File;
use popef::check::{CheckOptions, Finding, Severity, check};
use serde::Serialize;

/// A finding of the library's checks that a change has brought about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFinding {
    /// The rule that it breaks.
    pub rule: &'static str,
    /// How bad it is: an error or a warning.
    pub severity: Severity,
    /// The blob's number in the file, if it is about a blob.
    pub blob: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// The errors and warnings in `new` that are not in `old`.
pub(super) fn new_findings(old: &File, new: &File) -> Vec<NewFinding> {
    let [old, new] = [old, new].map(|file| check([file], &CheckOptions::new()).findings);
    let is_bad = |finding: &&Finding| finding.severity != Severity::Note;
    // What has only other figures, or stands at another byte, is not new.
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
