use std::collections::HashSet;
use std::fmt;
use std::sync::OnceLock;

use popef::File;
use popef::types::Text;

/// The names that the files given together have data for: those of all tensors and feeds.
///
/// The data of an anchor comes from a tensor or feed of its name, or else from the user. The names are gathered at the first
/// question, because files of weights have many names and no anchor.
pub struct Provided<'f> {
    gather: Box<dyn Fn() -> HashSet<Text<'f>> + Sync + 'f>,
    names: OnceLock<HashSet<Text<'f>>>,
}

impl<'f> Provided<'f> {
    pub(crate) fn by(gather: impl Fn() -> HashSet<Text<'f>> + Sync + 'f) -> Self {
        Provided { gather: Box::new(gather), names: OnceLock::new() }
    }

    /// Whether there is data for an anchor of this name.
    pub fn contains(&self, anchor: &Text<'_>) -> bool {
        self.names.get_or_init(&self.gather).contains(anchor)
    }
}

impl fmt::Debug for Provided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provided").field("names", &self.names.get()).finish_non_exhaustive()
    }
}

/// The names that one file has data for.
pub(crate) fn names(file: &File) -> impl Iterator<Item = Text<'_>> {
    file.tensors().map(|tensor| tensor.name()).chain(file.feeds().map(|feed| feed.name()))
}
