use crate::output::heading::POPEF_FILE;
use crate::output::screen::Screen;

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
