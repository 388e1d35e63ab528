//! Findings as workflow commands of GitHub Actions, which shows them as annotations of the run and the pull request.
//!
//! Texts from files are only in commands, where they are escaped. In other lines they could be commands themselves.

use std::io;
use std::path::Path;

use popef_check::Severity;

use super::FindingsRenderer;
use super::group::{Group, Totals, Verdict, is_shown, reason};
use super::text::summary;
use crate::output::code::{GitHubData, GitHubProperty};
use crate::output::out::Out;
use crate::output::shown::{Show, Shown};

pub(super) struct GitHub {
    pub(super) quiet: bool,
    /// Whether checks that were left out by choice are notices. There is nothing to do about them, and each run of each file
    /// would have them.
    pub(super) verbose: bool,
    /// Whether warnings are failures.
    pub(super) strict: bool,
}

impl GitHub {
    /// Findings that fail the run are errors, so that the annotations say why it failed.
    fn level(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error => "error",
            Severity::Warning if self.strict => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        }
    }
}

impl FindingsRenderer for GitHub {
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()> {
        for finding in &group.report.findings {
            let title = shown!("{}: {}", finding.rule.id, finding.rule.title);
            annotation(out, self.level(finding.severity), group.path(finding.file), title, group.text(finding))?;
        }
        for skipped in group.report.skipped.iter().filter(|skipped| is_shown(skipped, self.verbose && !self.quiet)) {
            let level = if skipped.failed { "error" } else { "notice" };
            let path = skipped.file.and_then(|file| group.path(file));
            annotation(out, level, path, Shown::own("not checked"), Shown::message(&reason(skipped)))?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        if self.quiet { Ok(()) } else { summary(totals, verdict).write(out, None) }
    }
}

fn annotation(
    out: &mut Out,
    level: &'static str,
    path: Option<&Path>,
    title: impl Show,
    message: impl Show,
) -> io::Result<()> {
    let file = path.map(|path| code!(GitHubProperty: "file={},", repository_path(path))).unwrap_or_default();
    out.put("::").put(level).put(" ").code(file).code(code!(GitHubProperty: "title={}", title));
    out.code(code!(GitHubData: "::{}", message)).end_line()
}

/// A path as GitHub knows it: with slashes, and without a leading `./`. Only what could mislead, also other runners, is changed.
fn repository_path(path: &Path) -> Shown<'static> {
    let path = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
    Shown::message(&if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() })
}
