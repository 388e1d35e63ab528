use crate::output::screen::Screen;

/// How findings are shown.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FindingsOptions {
    /// The terminal that text is broken into lines for; none breaks no lines.
    pub screen: Option<Screen>,
    /// Whether text says what each finding means.
    pub verbose: bool,
    /// Whether warnings are failures.
    pub strict: bool,
    /// Whether text and annotations leave out clean files, what was not checked by choice, and the summary. Other formats always
    /// have everything.
    pub quiet: bool,
}
