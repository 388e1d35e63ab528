use super::group::{Totals, Verdict};
use crate::output::color::Kind;
use crate::output::paragraph::Paragraph;
use crate::output::units::counted;

const UNSAFE: &str = "not safe to unpickle";

/// `passed: 0 errors, 0 warnings, 0 notes in 3 files`. A file that is not safe to unpickle has not just passed.
pub(super) fn summary(totals: &Totals, verdict: Verdict) -> Paragraph {
    let line = Paragraph::new(0).hanging(4);
    let line = match verdict {
        Verdict::Passed if totals.unsafe_pickles > 0 => line.add(Kind::Warning, &format!("{UNSAFE}:")),
        Verdict::Passed => line.add(Kind::Name, "passed:"),
        Verdict::Failed => line.add(Kind::Error, "failed:"),
        Verdict::Incomplete => line.add(Kind::Error, "not finished:"),
    };
    let line = add_counts(line, totals);
    let rest = match (totals.failed, totals.left_out) {
        (0, 0) => String::new(),
        (0, _) => "; not everything was checked".to_owned(),
        (failed, _) => format!("; {} could not be checked", counted(failed, "thing", "things")),
    };
    let files = counted(totals.files, "file", "files");
    let is_unsafe = verdict != Verdict::Passed && totals.unsafe_pickles > 0;
    let unpickling = if is_unsafe { format!("; {UNSAFE}") } else { String::new() };
    line.add(Kind::Plain, &format!("in {files}{rest}{unpickling}"))
}

fn add_counts(line: Paragraph, totals: &Totals) -> Paragraph {
    let counts = [
        (Kind::Error, totals.errors, "error", ","),
        (Kind::Warning, totals.warnings, "warning", ","),
        (Kind::Note, totals.notes, "note", ""),
    ];
    counts.into_iter().fold(line, |line, (kind, count, what, end)| {
        let kind = if count > 0 { kind } else { Kind::Plain };
        line.add(kind, &format!("{}{end}", counted(count, what, &format!("{what}s"))))
    })
}
