use super::github::GitHub;
use super::json::{Document, Lines};
use super::junit::JUnit;
use super::options::FindingsOptions;
use super::renderer::FindingsRenderer;
use super::sarif::Sarif;
use super::text::Text;

/// The formats in which findings are shown. A new one is a [`FindingsRenderer`] in a file of its own, and an entry in each
/// function here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingsFormat {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// One JSON object per line and finding.
    Ndjson,
    /// SARIF 2.1.0, for code scanners.
    Sarif,
    /// Workflow commands, which GitHub Actions shows as annotations.
    GitHub,
    /// JUnit XML, for CI systems that show test results.
    JUnit,
}

impl FindingsFormat {
    /// All formats.
    pub const ALL: [FindingsFormat; 6] = [
        FindingsFormat::Text,
        FindingsFormat::Json,
        FindingsFormat::Ndjson,
        FindingsFormat::Sarif,
        FindingsFormat::GitHub,
        FindingsFormat::JUnit,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            FindingsFormat::Text => "text",
            FindingsFormat::Json => "json",
            FindingsFormat::Ndjson => "ndjson",
            FindingsFormat::Sarif => "sarif",
            FindingsFormat::GitHub => "github",
            FindingsFormat::JUnit => "junit",
        }
    }

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
