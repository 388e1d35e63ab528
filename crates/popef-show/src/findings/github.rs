//! Findings as workflow commands of GitHub Actions, which shows them as annotations of the run and the pull request.
//!
//! Texts from files are only in commands, where they are escaped. In other lines they could be commands themselves.

use std::io;
use std::path::Path;

use popef_check::Severity;

use super::FindingsRenderer;
use super::group::{Group, Totals, Verdict, is_shown, reason};
use super::text::summary;
use crate::output::escape::escape_rest;
use crate::output::out::Out;

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
            let title = format!("{}: {}", finding.rule.id, finding.rule.title);
            let (level, path) = (self.level(finding.severity), group.path(finding.file));
            Annotation { level, path, title: &title }.write(out, &group.text(finding))?;
        }
        for skipped in group.report.skipped.iter().filter(|skipped| is_shown(skipped, self.verbose && !self.quiet)) {
            let level = if skipped.failed { "error" } else { "notice" };
            let path = skipped.file.and_then(|file| group.path(file));
            Annotation { level, path, title: "not checked" }.write(out, &escape_rest(&reason(skipped)))?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()> {
        if self.quiet { Ok(()) } else { summary(totals, verdict).write(out, None) }
    }
}

struct Annotation<'a> {
    level: &'static str,
    path: Option<&'a Path>,
    title: &'a str,
}

impl Annotation<'_> {
    fn write(&self, out: &mut Out, message: &str) -> io::Result<()> {
        out.put("::").put(self.level).put(" ");
        if let Some(path) = self.path {
            out.put("file=").put(&property(&repository_path(path))).put(",");
        }
        out.put("title=").put(&property(self.title)).put("::").put(&data(message)).end_line()
    }
}

/// A path as GitHub knows it: with slashes, and without a leading `./`. Only what could mislead, also other runners, is changed.
fn repository_path(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
    escape_rest(&if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() })
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
