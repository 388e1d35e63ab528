//! The renderers of findings: one for each format.

mod github;
pub(crate) mod group;
mod json;
mod junit;
mod sarif;
mod text;
mod uri;

use std::io;

use popef::seam::named;

use crate::output::out::Out;
use crate::output::{POPEF_FILE, Screen};
use github::GitHub;
use group::{Group, Totals, Verdict};
use json::{Document, Lines};
use junit::JUnit;
use sarif::Sarif;
use text::Text;

named! {
    /// The formats in which findings are shown. A new one is a [`FindingsRenderer`] in a file of its own, one line
    /// here, and one in `renderer`.
    #[non_exhaustive]
    pub enum FindingsFormat {
        /// For people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// One JSON object per line and finding.
        Ndjson = "ndjson",
        /// SARIF 2.1.0, for code scanners.
        Sarif = "sarif",
        /// Workflow commands, which GitHub Actions shows as annotations.
        GitHub = "github",
        /// JUnit XML, for CI systems that show test results.
        JUnit = "junit",
    }
}

impl FindingsFormat {
    /// The renderer.
    pub fn renderer(self, options: FindingsOptions) -> Box<dyn FindingsRenderer> {
        match self {
            FindingsFormat::Text => Box::new(Text::new(options)),
            FindingsFormat::Json => Box::new(Document::default()),
            FindingsFormat::Ndjson => Box::new(Lines),
            FindingsFormat::Sarif => Box::new(Sarif::new(options.tool)),
            FindingsFormat::GitHub => {
                Box::new(GitHub { quiet: options.quiet, verbose: options.verbose, strict: options.strict })
            }
            FindingsFormat::JUnit => Box::new(JUnit::new(options)),
        }
    }
}

/// How findings are shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FindingsOptions {
    /// The program that checks, for SARIF and JUnit.
    pub tool: &'static str,
    /// What text calls a file.
    pub file_word: &'static str,
    /// The terminal that text is broken into lines for; none breaks no lines.
    pub screen: Option<Screen>,
    /// Whether text says what each finding means, and annotations say what was not checked by choice.
    pub verbose: bool,
    /// Whether warnings are failures.
    pub strict: bool,
    /// Whether text and annotations leave out clean files, what was not checked by choice, and the summary. Other formats always
    /// have everything.
    pub quiet: bool,
}

impl Default for FindingsOptions {
    fn default() -> Self {
        FindingsOptions {
            tool: "popef",
            file_word: POPEF_FILE,
            screen: None,
            verbose: false,
            strict: false,
            quiet: false,
        }
    }
}

/// Shows findings in one format.
pub trait FindingsRenderer {
    /// Takes what came of one group of files. It is written now or at the end.
    fn group(&mut self, out: &mut Out, group: Group) -> io::Result<()>;

    /// Writes what comes after the last group.
    fn end(&mut self, out: &mut Out, totals: &Totals, verdict: Verdict) -> io::Result<()>;
}
