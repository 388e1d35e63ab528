//! Who provides an anchor's data: a tensor or feed of its name in any of the files given, or else the user.

use std::collections::HashSet;
use std::sync::OnceLock;

use popef::File;
use popef::types::Text;

/// The names of all tensors and feeds of the files given together.
///
/// They are gathered when the first anchor asks: files of weights alone have names enough and no anchor.
pub(crate) struct Provided<'f> {
    gather: Box<dyn Fn() -> HashSet<Text<'f>> + Sync + 'f>,
    names: OnceLock<HashSet<Text<'f>>>,
}

impl<'f> Provided<'f> {
    pub(crate) fn by(gather: impl Fn() -> HashSet<Text<'f>> + Sync + 'f) -> Self {
        Provided { gather: Box::new(gather), names: OnceLock::new() }
    }

    /// Whether the data of an anchor of this name has to come from the user.
    pub(crate) fn by_user(&self, anchor: &Text<'_>) -> bool {
        !self.names.get_or_init(&self.gather).contains(anchor)
    }
}

/// The names that a file has data for.
pub(crate) fn names(file: &File) -> impl Iterator<Item = Text<'_>> {
    file.tensors().map(|tensor| tensor.name()).chain(file.feeds().map(|feed| feed.name()))
}
