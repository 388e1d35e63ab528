use super::json::{Document, Lines};
use super::renderer::FindingsRenderer;
use super::sarif::Sarif;
use super::text::Text;
use crate::output::screen::Screen;

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
}

impl FindingsFormat {
    /// All formats.
    pub const ALL: [FindingsFormat; 4] =
        [FindingsFormat::Text, FindingsFormat::Json, FindingsFormat::Ndjson, FindingsFormat::Sarif];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            FindingsFormat::Text => "text",
            FindingsFormat::Json => "json",
            FindingsFormat::Ndjson => "ndjson",
            FindingsFormat::Sarif => "sarif",
        }
    }

    /// The renderer. Text is broken into lines for the screen, and if it is `verbose`, says what each finding means.
    pub fn renderer(self, screen: Option<Screen>, verbose: bool) -> Box<dyn FindingsRenderer> {
        match self {
            FindingsFormat::Text => Box::new(Text::new(screen, verbose)),
            FindingsFormat::Json => Box::new(Document::default()),
            FindingsFormat::Ndjson => Box::new(Lines),
            FindingsFormat::Sarif => Box::new(Sarif::default()),
        }
    }
}
