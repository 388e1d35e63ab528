use super::github::GitHub;
use super::json::{Document, Lines};
use super::junit::JUnit;
use super::options::FindingsOptions;
use super::renderer::FindingsRenderer;
use super::sarif::Sarif;
use super::text::Text;
use crate::output::named::named;

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
